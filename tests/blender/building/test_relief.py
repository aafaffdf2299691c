"""Uneven ground: noise is smooth and always the same, and slabs are closed bodies between their heights."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from mpm_addon.blender.building.relief import noise, slab, spread
from mpm_addon.blender.building.solids import Solid, ball, lofted
from mpm_addon.core.geometry.shapes import Mesh


def triangles(solid: Solid) -> list[tuple[int, int, int]]:
    return [(first, one, other) for first, *others in solid.faces for one, other in itertools.pairwise(others)]


def volume(solid: Solid) -> float:
    """The volume that faces enclose, positive if they face outward."""
    corners = np.array(solid.vertices)[triangles(solid)]
    return float(np.linalg.det(corners).sum()) / 6.0


def is_closed(solid: Solid) -> bool:
    """Whether each edge has one face on either side, in opposite directions."""
    edges = Counter(edge for face in solid.faces for edge in zip(face, (*face[1:], face[0]), strict=True))
    return all(count == 1 and edges[other, one] == 1 for (one, other), count in edges.items())


def test_a_slab_is_closed_and_faces_outward() -> None:
    made = slab([0.0, 1.0, 3.0], [0.0, 0.5, 1.0, 2.0], lambda x, y: 0.1 * x - 1.0, lambda x, y: 0.1 * x + 0.5)
    assert is_closed(made)
    # 1.5 m thick over 3 m by 2 m
    assert volume(made) == pytest.approx(9.0)


def test_a_surface_through_rings_is_closed_and_faces_outward() -> None:
    square = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
    made = lofted([[(x, y, height) for x, y in square] for height in (0.0, 2.0, 3.0)], (0.0, 0.0, 0.0), (0.0, 0.0, 3.0))
    assert is_closed(made)
    assert volume(made) == pytest.approx(12.0)
    assert is_closed(ball(1.0, steps=12))


def test_a_slab_can_be_filled() -> None:
    def ground(x: float, y: float) -> float:
        return noise(x, y, size=0.7)

    places = spread(-1.0, 1.0, 0.2)
    made = slab(places, places, ground, lambda x, y: ground(x, y) + 0.5)
    shape = Mesh(vertices=np.array(made.vertices), triangles=np.array(triangles(made)))
    inside, below, above = ([0.0, 0.0, ground(0.0, 0.0) + height] for height in (0.25, -0.25, 0.75))
    assert (shape.signed_distance(np.array([inside, below, above])) < 0.0).tolist() == [True, False, False]


def test_noise_is_smooth_and_within_its_bounds() -> None:
    values = np.array([noise(0.01 * step, 0.3, size=1.0, octaves=3, seed=4) for step in range(1000)])
    assert 0.3 < np.abs(values).max() < 1.75
    # the steepest octave changes by 3.75 in a quarter of the size
    assert np.abs(np.diff(values)).max() < 0.12
    assert abs(values.mean()) < 0.3


def test_seeds_give_different_noise() -> None:
    one, other = ([noise(0.37 * step, 0.2, size=1.0, seed=seed) for step in range(50)] for seed in (0, 9))
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.5
    assert one == [noise(0.37 * step, 0.2, size=1.0, seed=0) for step in range(50)]


def test_places_are_spread_from_end_to_end_and_farther_apart_away_from_the_middle() -> None:
    places = spread(-2.0, 3.0, 0.1, growth=1.2)
    assert (places[0], places[-1]) == (-2.0, 3.0)
    assert 0.0 in places
    steps = np.diff(places)
    assert steps.min() > 0.0
    assert steps.max() > 0.4
    assert max(np.diff(spread(-1.0, 1.0, 0.25))) == pytest.approx(0.25)
