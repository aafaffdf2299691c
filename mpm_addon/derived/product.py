"""A product: one kind of derived data, as the job that makes it sees it. Knows none of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from ..core.particles import Moment
from ..storage.container import Written
from ..storage.derived import Origin


class Forecast(NamedTuple):
    """The expected size of derived data.

    Attributes:
        frame_bytes: mean size of a frame.
    """

    frame_bytes: int


@dataclass(frozen=True)
class Made:
    """The derived data of a frame, before it is written.

    Attributes:
        moment: the frame.
        counts: how many it has of what it consists of, by names in the plural.
        write: writes the file at a path. Raises OSError.
    """

    moment: Moment
    counts: Mapping[str, int]
    write: Callable[[Path, Origin], Written]


# Makes frames, in order; calls the function often in the meantime, and it may raise. Raises MpmError.
Make = Callable[[Sequence[Moment], Callable[[], None]], Iterator[Made]]


class Product(Protocol):
    """One kind of derived data of a cache, with its settings."""

    @property
    def kind(self) -> str:
        """One of `storage.take.KINDS`."""
        ...

    @property
    def hash(self) -> str:
        """A hash that is equal for all settings that produce the same files."""
        ...

    @property
    def remedy(self) -> str:
        """What to do if it does not fit on the disk."""
        ...

    @property
    def emitters(self) -> tuple[int, ...]:
        """The emitters whose particles it covers."""
        ...

    def forecast(self, moments: Sequence[Moment]) -> Forecast:
        """The expected size of some frames. Raises MpmError."""
        ...

    def maker(self) -> AbstractContextManager[Make]:
        """The function that makes it, valid inside the block. Raises MpmError."""
        ...
