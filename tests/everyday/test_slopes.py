"""Jelly on slopes slides by Coulomb's law, stands or tips, and solids touch the floors that they have landed on."""

import pytest

from .cases import finite_elements, slopes
from .cases.setting import TESTED_OFFSET

CREEP = 1e-3
GAP = 0.25
TOUCHED = 0.5


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(("angle", "friction"), [(5.0, 0.0), (20.0, 0.2), (35.0, 0.5), (50.0, 0.5)])
def test_a_flat_jelly_slides_down_a_slope_by_coulombs_law(angle: float, friction: float, dimension: int) -> None:
    run = slopes.slide(angle, friction, offset=TESTED_OFFSET, dimension=dimension)
    assert run.acceleration == pytest.approx(slopes.coulomb(angle, friction), rel=0.02)


@pytest.mark.parametrize(("angle", "friction"), [(5.0, 0.2), (20.0, 0.5), (35.0, 1.0)])
def test_a_flat_jelly_stands_on_a_slope_with_enough_friction(angle: float, friction: float) -> None:
    assert abs(slopes.slide(angle, friction, offset=TESTED_OFFSET, seconds=2.0).creep) < CREEP


def test_a_cube_of_jelly_tips_and_rolls_down_a_slope_as_finite_elements_do() -> None:
    """So soft a cube leans downhill and swings over, faster than by Coulomb's law: that of a block that slides is the control."""
    seconds = 0.8
    size = (slopes.CUBE[0] * slopes.SPACING, slopes.CUBE[2] * slopes.SPACING)
    expected = finite_elements.slid(35.0, 0.5, size=size, law=slopes.JELLY, seconds=seconds)
    assert slopes.slide(35.0, 0.5, size=slopes.CUBE, offset=TESTED_OFFSET, seconds=seconds).speed[-1] == pytest.approx(expected, rel=0.1)
    assert expected > 1.4 * slopes.coulomb(35.0, 0.5) * seconds


def test_finite_elements_slide_by_coulombs_law() -> None:
    flat = (slopes.FLAT[0] * slopes.SPACING, slopes.FLAT[2] * slopes.SPACING)
    speed = finite_elements.slid(35.0, 0.2, size=flat, law=slopes.JELLY, seconds=0.5)
    assert speed == pytest.approx(0.5 * slopes.coulomb(35.0, 0.2), rel=0.03)


@pytest.mark.parametrize(("angle", "friction"), [(20.0, 0.5), pytest.param(35.0, 0.9, marks=pytest.mark.long)])
def test_a_jelly_stands_on_a_pinned_jelly_slope(angle: float, friction: float) -> None:
    assert abs(slopes.jelly_slope(angle, friction, offset=0.5).creep) < CREEP


@pytest.mark.long
def test_a_jelly_sinks_into_a_pinned_slope_that_gives_way() -> None:
    """Negative control."""
    with slopes.giving_way():
        assert slopes.jelly_slope.__wrapped__(20.0, 0.5, offset=0.5).creep > 5.0 * CREEP


@pytest.mark.parametrize("offset", [0.0, 0.25, 0.75])
@pytest.mark.parametrize("law", ["jelly", "snow"])
def test_a_solid_touches_the_floor_that_it_has_fallen_on(law: str, offset: float) -> None:
    assert abs(slopes.landed(law, offset=offset)) < GAP


@pytest.mark.parametrize("offset", [0.25, 0.5])
def test_a_jelly_touches_the_box_that_has_thrown_it_up(offset: float) -> None:
    assert abs(slopes.landed(offset=offset, lift=True)) < GAP


@pytest.mark.long
def test_without_settling_a_solid_rests_above_the_floor() -> None:
    """Negative control."""
    assert slopes.landed_at_once("jelly") > TOUCHED
    assert slopes.landed_at_once("snow") > TOUCHED
    assert slopes.landed_at_once("jelly", offset=0.25, lift=True) > TOUCHED
    assert slopes.landed_at_once("jelly", has_sand=True) > TOUCHED


def test_a_jelly_beside_sand_touches_the_floor() -> None:
    """Only loose material does not settle; a jelly that did not would rest .8 cells above it."""
    assert abs(slopes.landed(offset=0.0, has_sand=True)) < GAP
