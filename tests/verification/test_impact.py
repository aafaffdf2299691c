"""Elastic balls: what a collision conserves."""

from unittest import mock

import numpy as np
import pytest

from mpm_addon.core.contact import footing

from .cases.impact import SPEED, bouncing_ball, colliding_balls

GIVES_ENERGY = pytest.mark.xfail(reason="bodies that overlap and slide are parted: .4 and .6 % of the energy in 5 ms", strict=True)
TAKES_ENERGY = pytest.mark.xfail(reason="with forces from the current state: .70 of the height instead of .78, 10.5 % less", strict=True)


@pytest.mark.parametrize("body", ["", "one"])
@pytest.mark.parametrize(("dimension", "cells", "least"), [(2, 50, 0.93), pytest.param(3, 25, 0.9, marks=pytest.mark.long)])
def test_two_elastic_balls_that_meet_head_on_exchange_their_velocities(dimension: int, cells: int, least: float, body: str) -> None:
    """Momentum stays zero, the motion is symmetric, and they part nearly as fast as they met: at a thirtieth of the speed of sound
    little of the energy stays in vibrations, and contact costs some (measured .969 and .938, as one body .968 and .946)."""
    collision = colliding_balls(dimension, cells=cells, body=body)
    assert np.abs(collision.momentum).max() < 1e-12
    assert np.abs(collision.velocities.sum(axis=1)).max() < 1e-12 * SPEED
    assert np.abs(collision.centers.sum(axis=1)).max() < 1e-12
    assert least < collision.restitution < 1.0
    # negative control: balls of wet snow hardly part
    assert colliding_balls(dimension, cells=25, law="snow").restitution < 0.5


@pytest.mark.parametrize("body", [pytest.param("", marks=GIVES_ENERGY), "one"])
@pytest.mark.parametrize(("dimension", "cells"), [(2, 50), pytest.param(3, 25, marks=pytest.mark.long)])
def test_elastic_balls_that_meet_never_gain_energy(dimension: int, cells: int, body: str) -> None:
    assert np.diff(colliding_balls(dimension, cells=cells, body=body).energy).max() < 1e-3


@pytest.mark.parametrize(("dimension", "cells"), [(2, 20), (3, 20)])
def test_an_elastic_ball_bounces_back_to_most_of_its_height(dimension: int, cells: int) -> None:
    bounce = bouncing_ball(dimension, cells=cells)
    assert 0.75 < bounce.rebound < 1.0


@pytest.mark.parametrize(
    ("dimension", "offset", "reference", "within"),
    [
        *((dimension, offset, "rest", 0.05) for dimension, offset in ((2, 0.25), (2, 0.5), (2, 0.75), (3, 0.75))),
        *((dimension, offset, "current", 0.1) for dimension, offset in ((2, 0.25), (2, 0.5), (3, 0.75))),
        pytest.param(2, 0.75, "current", 0.1, marks=TAKES_ENERGY),
    ],
)
def test_a_ball_rebounds_as_high_wherever_between_two_nodes_the_floor_lies(
    dimension: int, offset: float, reference: str, within: float
) -> None:
    """Measured within 3.7 and 10.5 %; if it were stopped at a surface .75 cells above a node, 11 and 16 %."""
    expected = bouncing_ball(dimension, cells=20, reference=reference).rebound
    assert bouncing_ball(dimension, cells=20, offset=offset, reference=reference).rebound == pytest.approx(expected, rel=within)


@pytest.mark.long
def test_a_ball_that_is_stopped_at_a_surface_far_above_a_node_rebounds_less() -> None:
    """Negative control."""
    with mock.patch.object(footing, "STOPPED_AT", 1.0):
        stopped = bouncing_ball.__wrapped__(2, cells=20, offset=0.75, reference="rest").rebound
    assert stopped < 0.92 * bouncing_ball(2, cells=20, reference="rest").rebound


@pytest.mark.parametrize("offset", [0.0, 0.5])
def test_a_ball_with_forces_from_its_rest_state_rebounds_as_high(offset: float) -> None:
    """Measured .84 and .80; .60 and .48 if changes are not lengthened."""
    assert 0.75 < bouncing_ball(2, cells=20, offset=offset, reference="rest").rebound < 1.0


@pytest.mark.parametrize(("dimension", "cells", "least"), [(2, 50, 0.92), pytest.param(3, 25, 0.93, marks=pytest.mark.long)])
def test_two_balls_with_forces_from_their_rest_state_exchange_their_velocities(dimension: int, cells: int, least: float) -> None:
    """Measured .943 and .961; .83 and .62 if changes are not lengthened."""
    collision = colliding_balls(dimension, cells=cells, reference="rest")
    assert np.abs(collision.momentum).max() < 1e-12
    assert least < collision.restitution < 1.0
