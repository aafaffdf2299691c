"""The collapse of a column of water against the experiment of Martin and Moyce 1952."""

import numpy as np
import pytest

from .cases.dam_break import dam_break, measured_front
from .cases.setting import GRAVITY


def deviation(run: object, time: np.ndarray, front: np.ndarray) -> np.ndarray:
    return np.abs(run.at(time) / front - 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "sampling"), [(2, "lattice"), (2, "poisson"), pytest.param(3, "lattice", marks=pytest.mark.long)])
def test_the_front_of_a_breaking_dam_runs_as_it_was_measured(dimension: int, sampling: str) -> None:
    """Z(T) for n^2 = 2 within 6 % in the mean and 12 % at most; its slope from T = 1.43 on is 1.309."""
    time, front = measured_front()
    run = dam_break(dimension, sampling=sampling)
    assert deviation(run, time, front).mean() <= 0.06
    assert deviation(run, time, front).max() <= 0.12
    late = time >= 1.43
    assert np.polyfit(time[late], run.at(time[late]), 1)[0] == pytest.approx(1.309, rel=0.06)


@pytest.mark.long
def test_the_comparison_sees_a_wrong_gravity_and_a_gate_that_takes_no_time() -> None:
    """Negative controls."""
    time, front = measured_front()
    assert deviation(dam_break(2, gravity=0.7 * GRAVITY), time, front).mean() > 0.06
    assert deviation(dam_break(2, gate_release=0.0), time, front).mean() > 0.06
