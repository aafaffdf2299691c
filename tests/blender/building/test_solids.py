"""Solids of revolution have smooth outlines, and boxes that bend many faces."""

from __future__ import annotations

import numpy as np
import pytest

from mpm_addon.blender.building.solids import divided_box, smoothed
from mpm_addon.core.geometry.shapes import Mesh

QUARTER = [(float(np.cos(angle)), float(np.sin(angle))) for angle in np.linspace(0.0, 0.5 * np.pi, 6)]


def test_a_smoothed_profile_passes_through_its_points_along_the_curve() -> None:
    found = smoothed(QUARTER, parts=4)
    assert [found[0], *found[1:-1:4], found[-1]] == QUARTER
    # chords of 18 degrees miss the circle by 1.2 %
    inner = np.array(found[1:-1])
    np.testing.assert_allclose(np.linalg.norm(inner, axis=1), 1.0, atol=2e-3)


def test_the_ends_of_a_smoothed_profile_stay_straight() -> None:
    found = smoothed(QUARTER, parts=4)
    assert found[:2] == QUARTER[:2]
    assert found[-2:] == QUARTER[-2:]
    assert len(found) == 3 * 4 + 3


def test_a_divided_box_is_closed_and_as_large_as_its_size() -> None:
    size, rim = (0.6, 0.4, 0.2), 0.03
    found = divided_box(size, (4, 3, 2), rim)
    vertices = np.array(found.vertices)
    np.testing.assert_allclose(np.ptp(vertices, axis=0), size)
    triangles = np.array([[face[0], face[k], face[k + 1]] for face in found.faces for k in (1, 2)])
    mesh = Mesh(vertices, triangles)
    assert mesh.closed is mesh
    assert mesh.volume() == pytest.approx(0.6 * 0.4 * 0.2)
    assert mesh.area() == pytest.approx(2.0 * (0.6 * 0.4 + 0.6 * 0.2 + 0.4 * 0.2))
    # the faces of its sides without those along their edges are of equal size
    for axis, count in enumerate((4, 3, 2)):
        lines = np.unique(vertices[:, axis])
        np.testing.assert_allclose(np.diff(lines), [rim, *[(size[axis] - 2.0 * rim) / count] * count, rim])
