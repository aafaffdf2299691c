"""What can be made from cached frames, as the job that makes it sees it: it knows neither surfaces nor skins."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from ..core.particles import Moment
from ..storage.container import Written
from ..storage.derived import Origin


class Forecast(NamedTuple):
    """What will be made.

    Attributes:
        triangles: of the largest frame that was looked at.
        frame_bytes: of a mean frame.
    """

    triangles: int
    frame_bytes: int


@dataclass(frozen=True)
class Made:
    """What was made of a frame, not written yet.

    Attributes:
        moment: the frame.
        vertices, triangles: how many.
        write: writes the file at a path. Raises OSError.
    """

    moment: Moment
    vertices: int
    triangles: int
    write: Callable[[Path, Origin], Written]


# Makes frames, in order, given what is called often meanwhile and may raise. Raises MpmError.
Make = Callable[[Sequence[Moment], Callable[[], None]], Iterator[Made]]


class Product(Protocol):
    """One kind of derived data of a cache, with its settings."""

    @property
    def kind(self) -> str:
        """One of `storage.take.KINDS`."""
        ...

    @property
    def hash(self) -> str:
        """The same for all settings that give the same files."""
        ...

    @property
    def remedy(self) -> str:
        """What to do if there is no room for it."""
        ...

    @property
    def emitters(self) -> tuple[int, ...]:
        """The emitters whose particles it covers."""
        ...

    def forecast(self, moments: Sequence[Moment]) -> Forecast:
        """The size of what is made of some frames. Raises MpmError."""
        ...

    def maker(self) -> AbstractContextManager[Make]:
        """What makes it, inside the block. Raises MpmError."""
        ...
