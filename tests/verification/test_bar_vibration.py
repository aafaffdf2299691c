"""Waves along a bar: stiffness, inertia and the order of convergence with the grid spacing."""

import numpy as np
import pytest

from .cases.bar import PERIOD, bar_vibration
from .cases.convergence import observed_order

BOTH_DIMENSIONS = pytest.mark.parametrize("dimension", [2, pytest.param(3, marks=pytest.mark.long)])


@BOTH_DIMENSIONS
def test_a_bar_held_at_both_ends_swings_with_the_period_of_its_first_mode(dimension: int) -> None:
    """T = 2 L / c = 5 s, c = sqrt(E / rho), nu = 0 (Rayleigh 1877, The Theory of Sound, section 150)."""
    coarse, fine = bar_vibration(dimension, 25), bar_vibration(dimension, 50)
    assert coarse.period == pytest.approx(PERIOD, rel=0.02)
    assert fine.period == pytest.approx(PERIOD, rel=0.01)
    assert coarse.kept >= 0.94
    # a stiffer bar swings faster: half the period with four times the modulus
    assert bar_vibration(dimension, 25, young_modulus=400.0).period == pytest.approx(0.5 * coarse.period, rel=0.005)


@BOTH_DIMENSIONS
def test_the_error_of_the_period_halves_with_the_grid_spacing(dimension: int) -> None:
    cells = np.array([25, 50, 100])
    errors = np.array([bar_vibration(dimension, int(count)).period / PERIOD - 1.0 for count in cells])
    assert observed_order(1.0 / cells, errors) == pytest.approx(1.0, abs=0.15)


@pytest.mark.long
def test_pic_damps_the_bar_nearly_to_rest() -> None:
    """Negative control: after five periods PIC has little left of what APIC keeps."""
    assert bar_vibration(2, 25, transfer="pic").kept < 0.2
