"""Rigid bodies in water float as deep as they are heavy, and the water stays out of them."""

import pytest

from .cases import floating
from .cases.floating import Floating
from .cases.setting import TESTED_OFFSET


def check_water(found: Floating) -> None:
    """The level rises by what is displaced, within 3 %, and no water is inside."""
    assert found.level == pytest.approx(1.0, abs=0.03)
    assert found.inside < 0.01


def test_a_crate_of_half_the_density_of_water_floats_half_submerged() -> None:
    found = floating.floating(offset=TESTED_OFFSET)
    assert 0.45 < found.draft < 0.55
    check_water(found)


def test_a_crate_that_does_not_feel_the_whole_pressure_sinks_deeper() -> None:
    """Negative control."""
    assert floating.floating_plainly(offset=TESTED_OFFSET, seconds=2.0).draft > 0.6
