"""The deformation attributes of a frame."""

from __future__ import annotations

import numpy as np
import pytest

from mpm_addon.core.arithmetic.vector import LANE_COUNT
from mpm_addon.core.transfer.output import show_particles
from mpm_addon.core.transfer.rows import DEFORMATION, FLUID_ROW_COUNT, STATE


def shown(rows: int, fill: dict[int, float], is_fluid: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Density ratio, rotation and stretch of a vector of particles with the same values."""
    table = np.zeros((rows, LANE_COUNT), np.float32)
    for row, value in fill.items():
        table[row] = value
    places = np.arange(LANE_COUNT, dtype=np.int32)
    ratio, stress = np.empty(LANE_COUNT, np.float32), np.empty(LANE_COUNT, np.float32)
    rotation, stretch = np.empty((LANE_COUNT, 4), np.float32), np.empty((LANE_COUNT, 3), np.float32)
    show_particles(table, places, np.full(LANE_COUNT, is_fluid), ratio, stress, rotation, stretch)
    return ratio, rotation, stretch


def test_a_stretched_and_rotated_particle_shows_both() -> None:
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    f = turn @ np.diag([2.0, 0.5, 1.5])
    ratio, rotation, stretch = shown(DEFORMATION + 9, {DEFORMATION + index: value for index, value in enumerate(f.ravel())}, is_fluid=False)
    assert ratio == pytest.approx(1.5, rel=1e-5)
    assert stretch == pytest.approx(np.tile([2.0, 0.5, 1.5], (LANE_COUNT, 1)), rel=1e-5)
    assert rotation == pytest.approx(np.tile([0.5**0.5, 0.0, 0.0, 0.5**0.5], (LANE_COUNT, 1)), abs=1e-5)


def test_a_sheared_particle_has_the_lengths_of_its_edges() -> None:
    f = np.array([[1.0, 0.75, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    _, _, stretch = shown(DEFORMATION + 9, {DEFORMATION + index: value for index, value in enumerate(f.ravel())}, is_fluid=False)
    assert stretch == pytest.approx(np.tile([1.0, 1.25, 1.0], (LANE_COUNT, 1)), rel=1e-5)


def test_a_fluid_has_equal_stretches() -> None:
    _, rotation, stretch = shown(FLUID_ROW_COUNT, {STATE: 0.729}, is_fluid=True)
    assert stretch == pytest.approx(0.9, rel=1e-5)
    assert (rotation == [1.0, 0.0, 0.0, 0.0]).all()
