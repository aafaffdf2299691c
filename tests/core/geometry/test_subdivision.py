"""Subdivisions: what readers make of a list of bisected edges."""

import numpy as np
import pytest

from mpm_addon.core.geometry.subdivision import Subdivision

# A square of two triangles, whose diagonal is bisected, and then two of its sides.
SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
TWO = np.array([[0, 1, 2], [0, 2, 3]])
BISECTED = Subdivision(np.array([[0, 2], [0, 1], [2, 3]], np.int32), np.array([1, 2], np.int32))


def test_edges_are_bisected_in_all_their_triangles() -> None:
    found = BISECTED.applied(TWO, 4)
    expected = [[0, 3, 4], [0, 4, 5], [1, 2, 4], [1, 4, 5], [2, 4, 6], [3, 4, 6]]
    assert sorted(sorted(each) for each in found.triangles.tolist()) == expected
    assert found.source.tolist() == [0, 0, 0, 1, 1, 1]
    points = BISECTED.between(SQUARE)
    np.testing.assert_allclose(points[4:], [[0.5, 0.5, 0.0], [0.5, 0.0, 0.0], [0.5, 1.0, 0.0]])
    corners = points[found.triangles]
    # all still face upward, and cover the square
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2] / 2
    assert area.min() > 0.0
    assert area.sum() == pytest.approx(1.0)


def test_triangles_with_a_vertex_twice_stay_in_their_place() -> None:
    found = BISECTED.applied(np.array([[0, 1, 2], [0, 2, 2], [0, 2, 3]]), 4)
    assert found.source.tolist() == [0, 0, 0, 1, 2, 2, 2]
    assert found.triangles[3].tolist() == [0, 2, 2]


def test_the_subdivision_of_another_mesh_is_refused() -> None:
    with pytest.raises(ValueError, match="two edges of a triangle"):
        Subdivision(np.array([[0, 1], [0, 2]], np.int32), np.array([2], np.int32)).applied(TWO, 4)


def test_keys_differ_where_subdivisions_do() -> None:
    others = [BISECTED._replace(rounds=np.array([2, 1], np.int32)), BISECTED._replace(ends=BISECTED.ends[::-1].copy())]
    assert len({BISECTED.key, *(each.key for each in others)}) == 3
