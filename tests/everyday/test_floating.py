"""Rigid bodies in water float at the depth of their weight, and water does not enter them."""

import pytest

from .cases import floating
from .cases.floating import Floating
from .cases.setting import TESTED_OFFSET

SLOWLY = pytest.mark.xfail(reason="a squeezed layer of water passes on too little pressure, and holds a coarse crate back", strict=True)


def check_water(found: Floating) -> None:
    """The level rises by what is displaced, within 3 %, and no water is inside."""
    assert found.level == pytest.approx(1.0, abs=0.03)
    assert found.inside < 0.01


@pytest.mark.long
def test_a_crate_of_half_the_density_of_water_floats_half_submerged_after_three_and_after_ten_seconds() -> None:
    crate = floating.course(offset=TESTED_OFFSET, seconds=10.0)
    for seconds in (3.0, 10.0):
        found = crate.until(seconds)
        assert 0.45 < found.draft < 0.55
        check_water(found)


@pytest.mark.long
def test_a_crate_that_does_not_feel_the_whole_pressure_sinks_deeper() -> None:
    """Negative control."""
    assert floating.floating_plainly(offset=TESTED_OFFSET, seconds=2.0).draft > 0.6


@pytest.mark.long
def test_ice_floats_with_a_tenth_above_the_water() -> None:
    found = floating.floating(900.0, offset=TESTED_OFFSET, seconds=5.0)
    assert 0.85 < found.draft < 0.97
    check_water(found)


@pytest.mark.long
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_heavy_crate_sinks_to_the_floor(dimension: int) -> None:
    """Its bottom is within a tenth of a cell of it."""
    assert abs(floating.floating(2000.0, offset=TESTED_OFFSET, dimension=dimension).bottom) < 0.1


@pytest.mark.long
def test_in_two_dimensions_a_crate_and_ice_float_as_deep_as_they_are_heavy() -> None:
    crate = floating.floating(offset=TESTED_OFFSET, seconds=10.0, dimension=2)
    assert 0.45 < crate.draft < 0.55
    check_water(crate)
    ice = floating.floating(900.0, offset=TESTED_OFFSET, seconds=5.0, dimension=2)
    assert 0.85 < ice.draft < 0.97
    check_water(ice)


@pytest.mark.parametrize("dimension", [2, pytest.param(3, marks=pytest.mark.long)])
def test_a_submerged_crate_is_carried_by_what_it_displaces(dimension: int) -> None:
    assert floating.buoyancy(offset=TESTED_OFFSET, dimension=dimension) == pytest.approx(1.0, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, pytest.param(0.5, marks=[pytest.mark.long, SLOWLY]), pytest.param(1.0, marks=pytest.mark.long)])
def test_a_light_crate_at_the_bottom_rises(gap: float) -> None:
    """By more than half its height within three seconds."""
    assert floating.risen(gap, offset=TESTED_OFFSET) > 0.5


@pytest.mark.long
def test_without_pressure_below_it_a_light_crate_stays_at_the_bottom() -> None:
    """Negative control."""
    assert abs(floating.risen_without_uplift(offset=TESTED_OFFSET)) < 0.01


@pytest.mark.long
def test_a_crate_rises_once_the_water_is_deeper_than_its_draft() -> None:
    """Its draft is .4 of its height: where it would float .3 higher, it is over half of that after 3 s."""
    assert floating.risen(0.0, offset=TESTED_OFFSET, depth=1.0) > 0.15


@pytest.mark.slow
def test_a_crate_stays_in_water_that_is_shallower_than_its_draft() -> None:
    assert abs(floating.risen(0.0, offset=TESTED_OFFSET, depth=0.3)) < 0.01


@pytest.mark.slow
def test_water_behind_a_wall_does_not_lift_a_crate() -> None:
    """It stands in a dry box, whose wall is no thicker than a cell, in water as high as itself."""
    assert abs(floating.risen_in_a_dry_box(offset=TESTED_OFFSET)) < 1e-6


@pytest.mark.slow
def test_what_is_in_a_box_does_not_press_below_it() -> None:
    """A hollow body with water inside stands on a dry floor, with walls of a cell."""
    assert floating.pressure_below_a_filled_box(offset=TESTED_OFFSET) == 0.0
