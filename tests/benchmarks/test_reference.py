"""The lean reference moves particles correctly, so that comparisons with it are meaningful."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.reference import GRAVITY, TIME_STEP, Particles, block, stepper
from benchmarks.reference_laws import LAWS, STATES
from benchmarks.scenes import SPACING

STEPS = 20
# each is compiled for itself
TRIED = [pytest.param(law, marks=pytest.mark.long) if law in ("snow", "sand") else law for law in LAWS]


def live(particles: Particles) -> NDArray[np.int64]:
    return np.concatenate([first + np.arange(count) for first, count in zip(particles.first, particles.filled, strict=True)])


@pytest.mark.parametrize("law", TRIED)
def test_matter_without_deformation_falls_freely(law: str) -> None:
    particles = block(law, 512)
    # off the floor, and between nodes
    particles.position[:] += 1.3
    before, slots = particles.position.copy(), live(particles)
    stepper(law, particles)(STEPS)
    # the first step finds an empty grid
    way = GRAVITY * TIME_STEP**2 / SPACING * STEPS * (STEPS - 1) / 2
    moved = (particles.position - before)[:, slots]
    assert moved[2] == pytest.approx(way, rel=2e-3)
    assert np.abs(moved[:2]).max() < 1e-5
    size, ones = STATES[law]
    assert np.abs(particles.state[:, slots] - np.isin(np.arange(size), ones)[:, None]).max() < 1e-5


@pytest.mark.parametrize("law", TRIED)
def test_squeezed_matter_pushes_its_surface_outward(law: str) -> None:
    particles = block(law, 512)
    particles.position[:] += 1.3
    _, ones = STATES[law]
    squeezed = 0.98 if law in ("water", "corotated") else 0.98**2
    particles.state[[number for number in ones if number != 6 or law == "corotated"]] *= squeezed
    before, slots = particles.position.copy(), live(particles)
    stepper(law, particles)(STEPS)
    center = before[:2, slots].mean(axis=1, keepdims=True)
    outward = ((particles.position - before)[:2, slots] * (before[:2, slots] - center)).sum()
    assert outward > 1.0
