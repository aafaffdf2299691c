"""What made a simulation stop, for whoever tells and shows it. Knows nothing of the solver."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .messages import Message

# so many ids stand in a message; all are in the arrays
TOLD_IDS = 8


class Kind(Enum):
    """What is wrong with a state. The value is the word in files and events."""

    NOT_FINITE = "not_finite"
    INVERTED = "inverted"
    RUNAWAY = "runaway"


WORDS = {
    Kind.NOT_FINITE: "are not finite numbers any more",
    Kind.INVERTED: "are turned inside out or squeezed to nothing",
    Kind.RUNAWAY: "are faster than anything there could make them",
}


class Trouble(NamedTuple):
    """What a step found.

    Attributes:
        kind: what is wrong.
        subject: with what, for messages: 'Material "jelly"'.
        body: number of the body, where one is at fault.
    """

    kind: Kind
    subject: str
    body: int | None = None


@dataclass(frozen=True)
class Failure:
    """An instability that no shorter step mended.

    Attributes:
        kind: what is wrong.
        subject: with what: 'Material "jelly"', 'Collider "ball"', "The grid".
        frame: the frame that could not be computed.
        time: of the failing step [s].
        time_step: the shortest that was tried [s].
        shortening: how many times shorter that is than the first that failed.
        id: (n,) int32, of the particles concerned, ascending.
        position: (n, 3) float32, where they were last when all was well [m].
        emitters: the names of those that they come from.
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
        """What is told of it."""
        parts = [f"unstable at frame {self.frame} ({self.time:.4g} s)"]
        parts.append(f" even with steps {self.shortening} times shorter ({self.time_step:.3g} s)")
        if len(self.id):
            ids = ", ".join(str(number) for number in self.id[:TOLD_IDS]) + (", ..." if len(self.id) > TOLD_IDS else "")
            sources = ", ".join(f'"{name}"' for name in self.emitters)
            parts.append(f"; {len(self.id):,} particles {WORDS[self.kind]} (ids {ids}; emitter {sources})")
        return Message("".join(parts), (self.advice,), self.subject)
