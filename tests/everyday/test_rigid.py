"""Rigid bodies rebound by their restitution."""

import pytest

from .cases import rigid
from .cases.setting import OFFSETS


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("restitution", [0.5, 0.8, 1.0])
def test_a_ball_rebounds_to_the_square_of_the_restitution(restitution: float, offset: float) -> None:
    """Whether the plane has it, the ball or both; without one it stays where it falls, which is the negative control."""
    assert rigid.rebound(restitution, 0.0, offset=offset) == pytest.approx(restitution**2, rel=0.02)
    assert rigid.rebound(0.3, restitution, offset=offset) == pytest.approx(restitution**2, rel=0.02)
    assert rigid.rebound(0.0, 0.0, offset=offset) < 0.01


@pytest.mark.parametrize("spacing", [0.02, 0.2])
def test_the_rebound_does_not_depend_on_the_cells(spacing: float) -> None:
    assert rigid.rebound(0.7, 0.0, spacing=spacing) == pytest.approx(0.49, rel=0.02)


def test_two_bodies_have_the_product_of_their_restitutions() -> None:
    """As in Blender; equal balls leave with (1 - e) / 2 and (1 + e) / 2 of the speed."""
    assert rigid.balls(0.8, 0.5) == pytest.approx((0.3, 0.7), abs=1e-3)
    assert rigid.balls(0.8, 0.0) == pytest.approx((0.5, 0.5), abs=1e-3)
