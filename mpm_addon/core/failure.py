"""Why a simulation became unstable, as data to report and display. Knows nothing of the solver."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .messages import Message

# ids listed in a message; the arrays hold all of them
LISTED_IDS = 8


class Kind(Enum):
    """What is wrong with the particles. The value is the word in files and events."""

    NOT_FINITE = "not_finite"
    INVERTED = "inverted"
    RUNAWAY = "runaway"


WORDS = {
    Kind.NOT_FINITE: "have values that are not finite",
    Kind.INVERTED: "are inverted or completely crushed",
    Kind.RUNAWAY: "are faster than anything in the scene can explain",
}


class Trouble(NamedTuple):
    """A problem found in a substep.

    Attributes:
        kind: what is wrong.
        subject: what it is about, for messages: 'Material "jelly"'.
        instance: number of the instance at fault, if there is one.
    """

    kind: Kind
    subject: str
    instance: int | None = None


@dataclass(frozen=True)
class Failure:
    """An instability that no shorter substep could fix.

    Attributes:
        kind: what is wrong.
        subject: what it is about: 'Material "jelly"', 'Collider "ball"', "The grid".
        frame: the frame that could not be computed.
        time: time of the failing substep [s].
        time_step: the shortest substep that was tried [s].
        shortening: how many times shorter that is than the first one that failed.
        id: ids of the particles concerned, ascending, (n,) int32.
        position: their last good positions [m], (n, 3) float32.
        emitters: the names of the emitters they come from.
        advice: what to change.
    """

    kind: Kind
    subject: str
    frame: int
    time: float
    time_step: float
    shortening: int
    id: NDArray[np.int32]
    position: NDArray[np.float32]
    emitters: tuple[str, ...]
    advice: str

    @property
    def message(self) -> Message:
        """The message that reports it."""
        parts = [f"unstable at frame {self.frame} ({self.time:.4g} s)"]
        parts.append(f" even with substeps {self.shortening} times shorter ({self.time_step:.3g} s)")
        if len(self.id):
            ids = ", ".join(str(number) for number in self.id[:LISTED_IDS]) + (", ..." if len(self.id) > LISTED_IDS else "")
            sources = ", ".join(f'"{name}"' for name in self.emitters)
            parts.append(f"; {len(self.id):,} particles {WORDS[self.kind]} (ids {ids}; emitter {sources})")
        return Message("".join(parts), (self.advice,), self.subject)
