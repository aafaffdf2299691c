"""Groups of runs: which of them share vectors of slots."""

from __future__ import annotations

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.arithmetic.vector import LANE_COUNT
from mpm_addon.core.geometry.shapes.points import Points
from mpm_addon.core.scene.description import Emitter
from mpm_addon.core.transfer.layout import runs_of
from mpm_addon.core.transfer.packing import group_end
from mpm_addon.core.transfer.scratch import CHUNK
from tests.core.scenes import material, scene


@pytest.mark.parametrize("instance_count", [1, 3])
@pytest.mark.parametrize("most", [1, 5, 70, 300])
def test_groups_are_whole_vectors_of_one_instance_and_hold_every_run_once(instance_count: int, most: int) -> None:
    generator = np.random.default_rng(most)
    counts = generator.integers(0, most + 1, 400 * instance_count) * generator.integers(0, 2, 400 * instance_count)
    runs = runs_of(counts, instance_count)
    first, owner = runs.first, np.full(runs.first[-1], -1)
    assert (np.diff(first) >= counts).all()
    for instance in range(instance_count):
        for low, high in zip(runs.pieces[:-1], runs.pieces[1:], strict=True):
            block = low
            while block < high:
                end = group_end(runs, instance, block, high)
                members = np.arange(block, end) * instance_count + instance
                begin, behind = first[members[0]], first[members[-1] + 1]
                if counts[members].any():
                    assert begin % LANE_COUNT == behind % LANE_COUNT == 0
                    # room is left at the end alone, and less than a vector
                    assert behind - begin == -(-counts[members].sum() // LANE_COUNT) * LANE_COUNT
                    assert behind - begin <= CHUNK or np.count_nonzero(counts[members]) == 1
                    assert (owner[begin:behind] == -1).all()
                    owner[begin:behind] = instance
                block = end
    assert (owner >= 0).all()


def test_particles_that_are_alone_fill_their_vectors() -> None:
    runs = runs_of(np.ones(64 * CHUNK, np.int64), 1)
    assert runs.first[-1] == 64 * CHUNK


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_particles_that_are_alone_fly_on_as_they_were(precision: str) -> None:
    """Of two materials, in neighboring blocks of the grid and far from all others: each has its own velocity and keeps it."""
    generator = np.random.default_rng(3)
    cells = np.stack(np.meshgrid(*[np.arange(6)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    emitters = []
    for number, name in enumerate(("snow", "water")):
        position = (8.0 * cells + 4.0 * number + 1.0 + generator.uniform(0.0, 1.0, cells.shape)) * 0.05
        velocity = generator.uniform(-0.2, 0.2, cells.shape)
        emitters.append(Emitter(name, Points(position, velocity, np.full(len(position), 1e-5)), name))
    described = scene(
        *emitters,
        materials=(material("snow"), material("water")),
        frames=4,
        gravity=(0.0, 0.0, 0.0),
        precision=precision,
        grid_spacing=0.05,
    )
    first, *_, last = simulate(described)
    seconds = (described.time.frame_end - described.time.frame_start) / described.time.fps
    before, after = np.argsort(first.id), np.argsort(last.id)
    expected = first.position[before] + seconds * first.velocity[before]
    assert np.abs(last.position[after] - expected).max() < 1e-5
    assert np.abs(last.velocity[after] - first.velocity[before]).max() < 1e-5
