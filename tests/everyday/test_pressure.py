"""Resting water has hydrostatic pressure in any container."""

import numpy as np
import pytest

from .cases import pressure
from .cases.setting import TESTED_OFFSET


@pytest.mark.parametrize("walls", [*(pytest.param(each, marks=pytest.mark.long) for each in ("domain", "boxes")), "mesh"])
def test_resting_water_presses_with_its_weight(walls: str) -> None:
    """Inside, on the floor, and on each wall."""
    found = pressure.rest(walls, offset=TESTED_OFFSET, seconds=2.0)
    # the pressure is that of J; the grid's density, below the layer with the surface, says the same
    assert found.density[:-1] == pytest.approx(1.0, abs=0.03)
    assert np.abs(found.pressure).max() < 0.05
    assert found.floor == pytest.approx(1.0, abs=0.05)
    assert found.walls == pytest.approx((1.0,) * 4, abs=0.05)


def test_falling_water_changes_its_momentum_by_gravity_and_walls_alone() -> None:
    """Whatever its volume does."""
    assert pressure.unexplained_momentum(offset=TESTED_OFFSET) < 1e-5


@pytest.mark.long
def test_a_wind_is_seen_in_the_momentum() -> None:
    """Negative control."""
    assert pressure.unexplained_momentum(offset=TESTED_OFFSET, wind=0.01 * pressure.GRAVITY) == pytest.approx(0.01, rel=0.05)
