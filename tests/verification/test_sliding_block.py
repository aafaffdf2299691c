"""Coulomb friction on a slope."""

import numpy as np
import pytest

from .cases.setting import GRAVITY
from .cases.sliding_block import FRICTION, SPACING, Slide, sliding_block

BOTH_DIMENSIONS = pytest.mark.parametrize("dimension", [2, 3])
TILTED = pytest.mark.parametrize(
    ("dimension", "is_floor_tilted"),
    [
        pytest.param(2, False, marks=pytest.mark.long, id="tilted gravity-2"),
        pytest.param(3, False, id="tilted gravity-3"),
        pytest.param(2, True, id="tilted floor-2"),
        pytest.param(3, True, marks=pytest.mark.long, id="tilted floor-3"),
    ],
)


def expected_way(slide: Slide, angle: float, friction: float) -> float:
    """x = g (sin - mu cos) t^2 / 2."""
    acceleration = GRAVITY * (np.sin(np.radians(angle)) - friction * np.cos(np.radians(angle)))
    return float(acceleration * slide.time[-1] ** 2 / 2.0)


@TILTED
@pytest.mark.parametrize("angle", [pytest.param(24.0, marks=pytest.mark.long), 35.0])
def test_a_block_slides_down_a_slope_as_coulomb_says(dimension: int, is_floor_tilted: bool, angle: float) -> None:
    slide = sliding_block(dimension, angle, is_floor_tilted=is_floor_tilted)
    assert slide.way[-1] == pytest.approx(expected_way(slide, angle, FRICTION), rel=0.01)
    # negative control: without friction it would come much farther
    free = sliding_block(dimension, angle, friction=0.0, is_floor_tilted=is_floor_tilted)
    assert free.way[-1] == pytest.approx(expected_way(free, angle, 0.0), rel=0.01)
    assert free.way[-1] > 1.3 * slide.way[-1]


@TILTED
def test_a_block_stays_on_a_slope_below_the_angle_of_friction(dimension: int, is_floor_tilted: bool) -> None:
    slide = sliding_block(dimension, 10.0, is_floor_tilted=is_floor_tilted)
    assert np.abs(slide.way + slide.speed * slide.time).max() < 0.01 * SPACING


@BOTH_DIMENSIONS
@pytest.mark.parametrize("offset", [pytest.param(0.25, marks=pytest.mark.long), 0.5, pytest.param(0.75, marks=pytest.mark.long)])
def test_friction_does_not_depend_on_where_between_two_nodes_the_floor_lies(dimension: int, offset: float) -> None:
    slide = sliding_block(dimension, 24.0, offset=offset)
    assert slide.way[-1] == pytest.approx(expected_way(slide, 24.0, FRICTION), rel=0.01)
    assert np.abs(sliding_block(dimension, 10.0, offset=offset).way).max() < 0.01 * SPACING
