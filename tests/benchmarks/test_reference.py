"""The lean reference moves matter as it should: what it is compared by must be worth the comparison."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.reference import CHUNK, GRAVITY, TIME_STEP, Particles, block, stepper
from benchmarks.reference_laws import LAWS, STATES
from benchmarks.reference_transfer import SCRATCH_SIZE
from benchmarks.scenes import SPACING

STEPS = 20


def live(particles: Particles) -> NDArray[np.int64]:
    return np.concatenate([first + np.arange(count) for first, count in zip(particles.first, particles.filled, strict=True)])


def advanced(law: str, particles: Particles, steps: int = STEPS) -> None:
    grid, spare = np.zeros((2, 4 * particles.cells**3 + 64), np.float32)
    slabs = len(particles.first)
    scratch, index = np.zeros((slabs, SCRATCH_SIZE), np.float32), np.zeros((slabs, CHUNK), np.int32)
    stepper(law)(steps, *particles, grid, spare, scratch, index)


@pytest.mark.parametrize("law", LAWS)
def test_matter_without_deformation_falls_freely(law: str) -> None:
    particles = block(law, 512)
    # off the floor, and between nodes
    particles.position[:] += 1.3
    before, slots = particles.position.copy(), live(particles)
    advanced(law, particles)
    # the first step finds an empty grid
    way = GRAVITY * TIME_STEP**2 / SPACING * STEPS * (STEPS - 1) / 2
    moved = (particles.position - before)[:, slots]
    assert moved[2] == pytest.approx(way, rel=2e-3)
    assert np.abs(moved[:2]).max() < 1e-5
    size, ones = STATES[law]
    assert np.abs(particles.state[:, slots] - np.isin(np.arange(size), ones)[:, None]).max() < 1e-5


@pytest.mark.parametrize("law", LAWS)
def test_squeezed_matter_pushes_its_surface_outward(law: str) -> None:
    particles = block(law, 512)
    particles.position[:] += 1.3
    _, ones = STATES[law]
    squeezed = 0.98 if law in ("water", "corotated") else 0.98**2
    particles.state[[number for number in ones if number != 6 or law == "corotated"]] *= squeezed
    before, slots = particles.position.copy(), live(particles)
    advanced(law, particles)
    centre = before[:2, slots].mean(axis=1, keepdims=True)
    outward = ((particles.position - before)[:2, slots] * (before[:2, slots] - centre)).sum()
    assert outward > 1.0
