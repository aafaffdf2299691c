"""The deformation attributes of a frame."""

from __future__ import annotations

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.arithmetic.vector import LANE_COUNT
from mpm_addon.core.scene.description import Emitter
from mpm_addon.core.transfer.output import show_particles
from mpm_addon.core.transfer.rows import DEFORMATION, FLUID_ROW_COUNT, STATE
from tests.core.scenes import LATTICE, box, material, scene


def shown(rows: int, fill: dict[int, float], is_fluid: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Volume ratio, rotation and stretch of a vector of particles with the same values."""
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


@pytest.mark.parametrize(("dimension", "kernel"), [(2, "quadratic"), (3, "quadratic"), (3, "cubic")])
def test_density_ratio_tells_how_dense_the_particles_lie_and_volume_ratio_how_they_are_deformed(dimension: int, kernel: str) -> None:
    """Of two bodies with velocity fields of their own, the other with three times the mass."""
    lattice = {"sampling": "lattice", "particles_per_cell": 2**dimension}
    emitters = (
        Emitter("full", box((0.0, 0.0, 0.0), 0.4), "corotated", body="full", **lattice),
        Emitter("heavy", box((0.6, 0.0, 0.0), 0.4), "corotated", body="heavy", mass_scale=3.0, **lattice),
    )
    solver = {"gravity": (0.0, 0.0, 0.0), "dimension": dimension, "kernel": kernel}
    still = scene(*emitters, materials=(material("corotated"),), frames=2, **solver)
    for frame in simulate(still):
        center = np.array([[0.0, 0.0, 0.0], [0.6, 0.0, 0.0]])[frame.attribute("emitter_index")]
        depth = 0.2 - np.abs(frame.position - center)[:, [0, 2] if dimension == 2 else [0, 1, 2]].max(axis=1)
        density = frame.attribute("density_ratio")
        # deeper than the spline reaches it is one, whatever the mass; just below a flat surface the spline finds half of it outside
        assert density[depth > 0.1] == pytest.approx(1.0, abs=0.01)
        assert 0.3 < density[depth < 0.02].mean() < 0.75
        assert frame.attribute("volume_ratio") == pytest.approx(1.0, abs=1e-5)


def test_two_blocks_in_one_place_are_twice_as_dense_and_not_deformed() -> None:
    twice = [Emitter(name, box((0.0, 0.0, 0.0), 0.4), "stress_free", **LATTICE) for name in ("one", "other")]
    frame = next(simulate(scene(*twice, materials=(material("stress_free"),), frames=2, gravity=(0.0, 0.0, 0.0))))
    inside = np.abs(frame.position).max(axis=1) < 0.1
    assert frame.attribute("density_ratio")[inside] == pytest.approx(2.0, abs=0.01)
    assert frame.attribute("volume_ratio") == pytest.approx(1.0, abs=1e-6)
