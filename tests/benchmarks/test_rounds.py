"""The rounds that count, and the figures computed from them."""

from __future__ import annotations

import pytest

from benchmarks.rounds import Spread, kept_rounds, spread, summary


def turn(rate: float, busy: float, wall: float = 2.0) -> dict[str, float]:
    return {"particle_steps": rate * wall, "wall": wall, "cpu": busy * wall}


def test_a_spread_is_the_least_the_median_and_the_greatest() -> None:
    assert spread([3.0, 1.0, 2.0, 10.0]) == Spread(1.0, 2.5, 10.0)


@pytest.mark.parametrize(("threads", "kept"), [(1, [0, 1, 2]), (2, [2]), (4, [])])
def test_a_round_counts_where_every_program_had_its_threads(threads: int, kept: list[int]) -> None:
    rounds = {
        "ours": [turn(1.0, 1.99), turn(1.0, 1.5), turn(1.0, 1.81)],
        "theirs": [turn(1.0, 1.79), turn(1.0, 1.99), turn(1.0, 1.9)],
    }
    assert kept_rounds(rounds, threads) == kept


def test_ratios_are_of_the_same_round() -> None:
    rounds = {
        "ours": [turn(40.0, 1.0), turn(20.0, 1.0), turn(60.0, 1.0)],
        "theirs": [turn(4.0, 1.0), turn(1.0, 1.0), turn(3.0, 1.0)],
        "slow": [turn(1.0, 1.0), turn(1.0, 1.0), turn(1.0, 1.0)],
    }
    said = summary(rounds, 1)
    assert said.ratios == {"theirs": Spread(10.0, 20.0, 20.0), "slow": Spread(20.0, 40.0, 60.0)}
    assert said.rates["ours"] == Spread(20.0, 40.0, 60.0)
    assert (said.kept, said.total) == (3, 3)


def test_rounds_that_do_not_count_leave_no_trace() -> None:
    rounds = {"ours": [turn(40.0, 2.0), turn(1.0, 1.0)], "theirs": [turn(4.0, 2.0), turn(1.0, 2.0)]}
    said = summary(rounds, 2)
    assert said.ratios["theirs"] == Spread(10.0, 10.0, 10.0)
    assert said.busy["ours"] == Spread(2.0, 2.0, 2.0)
    assert (said.kept, said.total) == (1, 2)


def test_where_no_round_counts_all_are_shown_and_none_is_called_kept() -> None:
    said = summary({"ours": [turn(10.0, 1.0), turn(20.0, 1.2)]}, 2)
    assert (said.kept, said.total) == (0, 2)
    assert said.rates["ours"] == Spread(10.0, 15.0, 20.0)
