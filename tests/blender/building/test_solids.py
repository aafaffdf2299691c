"""Solids of revolution have smooth outlines."""

from __future__ import annotations

import numpy as np

from mpm_addon.blender.building.solids import smoothed

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
