"""Rigid bodies rebound by their restitution, and stand on each other."""

from unittest import mock

import numpy as np
import pytest

from mpm_addon.core.contact import coupling
from mpm_addon.core.contact.rigid_impulses import SweepLimits

from .cases import rigid
from .cases.setting import OFFSETS

# each restitution, at different offsets
BRIEF = [(0.5, 0.5), (0.8, 0.25), (1.0, 0.75)]
REBOUNDS = [(restitution, offset) for restitution in (0.5, 0.8, 1.0) for offset in OFFSETS]


@pytest.mark.parametrize(
    ("restitution", "offset"), [pytest.param(*each, marks=[] if each in BRIEF else pytest.mark.long) for each in REBOUNDS]
)
def test_a_ball_rebounds_to_the_square_of_the_restitution(restitution: float, offset: float) -> None:
    """Whether the plane has it, the ball or both; without one it stays where it falls, which is the negative control."""
    assert rigid.rebound(restitution, 0.0, offset=offset) == pytest.approx(restitution**2, rel=1.5e-3)
    assert rigid.rebound(0.3, restitution, offset=offset) == pytest.approx(restitution**2, rel=1.5e-3)
    assert rigid.rebound(0.0, 0.0, offset=offset) < 0.01


@pytest.mark.parametrize("spacing", [0.02, 0.2])
def test_the_rebound_does_not_depend_on_the_cells(spacing: float) -> None:
    assert rigid.rebound(0.7, 0.0, spacing=spacing) == pytest.approx(0.49, rel=0.02)


def test_two_bodies_have_the_product_of_their_restitutions() -> None:
    """As in Blender; equal balls leave with (1 - e) / 2 and (1 + e) / 2 of the speed."""
    assert rigid.balls(0.8, 0.5) == pytest.approx((0.3, 0.7), abs=1e-3)
    assert rigid.balls(0.8, 0.0) == pytest.approx((0.5, 0.5), abs=1e-3)


def test_nine_bricks_on_each_other_stand() -> None:
    """In a second the highest moves by less than a hundredth of its length."""
    centers = rigid.stack()
    assert np.abs(centers - centers[0]).max() < 0.002


@pytest.mark.long
def test_they_lean_if_contacts_are_not_solved_to_the_end() -> None:
    """Negative control: few sweeps, which begin anew in every substep."""

    def nothing(first: np.ndarray, *_: object) -> np.ndarray:
        return np.zeros((len(first), 4))

    few = SweepLimits(0, 0, 0, 1.0, 0.0)
    with mock.patch.object(coupling, "while_moving", lambda _gained: few), mock.patch.object(coupling, "forces_of", nothing):
        centers = rigid.stack.__wrapped__(seconds=0.5)
    assert np.abs(centers - centers[0]).max() > 0.004


@pytest.mark.slow
def test_they_fall_when_a_ball_hits_them() -> None:
    """The highest onto the floor, and none into it."""
    centers = rigid.stack(hit=10.0)
    assert centers[0, -1, 2] == pytest.approx(0.51)
    assert centers[-1, -1, 2] < 0.3
    assert centers[:, :, 2].min() > 0.025
