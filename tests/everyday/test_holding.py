"""What should hold, holds."""

import pytest

from .cases import holding
from .cases.setting import OFFSETS, TESTED_OFFSET


@pytest.mark.parametrize("wall", [2.0, 3.0])
@pytest.mark.parametrize("offset", OFFSETS)
def test_a_cup_of_boxes_that_touch_holds_water(wall: float, offset: float) -> None:
    assert holding.leak(offset=offset, wall=wall) == 0.0


def test_walls_on_a_plane_hold_water() -> None:
    assert holding.leak(offset=TESTED_OFFSET, on_plane=True) == 0.0


@pytest.mark.parametrize("degrees", [0.0, 20.0])
@pytest.mark.parametrize("wall", [2.0, 3.0])
def test_a_tilted_cup_of_meshes_holds_water(wall: float, degrees: float) -> None:
    assert holding.leak(offset=TESTED_OFFSET, wall=wall, degrees=degrees) == 0.0


def test_colliders_that_do_not_act_as_one_leak_at_their_seams() -> None:
    """Negative control."""
    assert holding.leak(offset=TESTED_OFFSET, is_joined=False) > 0.05
