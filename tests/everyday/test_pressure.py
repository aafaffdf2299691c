"""Resting water has hydrostatic pressure in any container."""

import numpy as np
import pytest

from .cases import pressure
from .cases.setting import TESTED_OFFSET


@pytest.mark.parametrize("walls", ["domain", "boxes", "mesh"])
def test_resting_water_presses_with_its_weight(walls: str) -> None:
    """Inside, on the floor, and on each wall."""
    found = pressure.rest(walls, offset=TESTED_OFFSET, seconds=2.0)
    assert np.abs(found.pressure).max() < 0.05
    assert found.floor == pytest.approx(1.0, abs=0.05)
    assert found.walls == pytest.approx((1.0,) * 4, abs=0.05)
