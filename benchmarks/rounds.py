"""Selects the rounds that count, and computes their medians and ratios. Uses neither a clock nor numba."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .measuring import Round

# A round counts if every program had this share of its threads: 1.8 CPU seconds per second on two.
LEAST_BUSY = 0.9

Rounds = Mapping[str, Sequence[Round]]


class Spread(NamedTuple):
    """The minimum, median and maximum of several values."""

    low: float
    median: float
    high: float


@dataclass(frozen=True)
class Summary:
    """Several programs that took turns.

    Attributes:
        kept, total: rounds that count, and all rounds. If none counts, all are used, and `kept` is 0.
        rates: particle-steps per second of wall time, by program.
        busy: CPU seconds over wall seconds, by program.
        ratios: speed of the first program relative to each other one, round by round.
    """

    kept: int
    total: int
    rates: Mapping[str, Spread]
    busy: Mapping[str, Spread]
    ratios: Mapping[str, Spread]


def spread(values: Sequence[float]) -> Spread:
    return Spread(min(values), statistics.median(values), max(values))


def rate(each: Round) -> float:
    """Particle-steps per second of wall time."""
    return each["particle_steps"] / each["wall"]


def busy(each: Round) -> float:
    """CPU seconds over wall seconds."""
    return each["cpu"] / each["wall"]


def kept_rounds(rounds: Rounds, threads: int) -> list[int]:
    """The numbers of the rounds in which every program had its threads to itself."""
    count = min(len(mine) for mine in rounds.values())
    return [n for n in range(count) if all(busy(mine[n]) > LEAST_BUSY * threads for mine in rounds.values())]


def summary(rounds: Rounds, threads: int) -> Summary:
    """The summary of programs that took turns; others are compared with the first program."""
    kept = kept_rounds(rounds, threads)
    total = min(len(mine) for mine in rounds.values())
    counted = kept or list(range(total))
    chosen = {name: [mine[n] for n in counted] for name, mine in rounds.items()}
    first, *others = chosen
    return Summary(
        kept=len(kept),
        total=total,
        rates={name: spread([rate(each) for each in mine]) for name, mine in chosen.items()},
        busy={name: spread([busy(each) for each in mine]) for name, mine in chosen.items()},
        ratios={
            name: spread([rate(ours) / rate(theirs) for ours, theirs in zip(chosen[first], chosen[name], strict=True)]) for name in others
        },
    )
