"""What the interface remembers, in one place: a class for each thing that a module remembers, made when it is first asked for.

    @dataclass
    class Problems(OfFile):
        by_object: dict[str, str] = field(default_factory=dict)

    runtime.of(Problems).by_object

What is `OfFile` is dropped when another file is open, before any other handler hears of it; everything else when the add-on is
unregistered.
"""

from typing import Any, TypeVar


class OfSession:
    """What outlives the file that is open: processes, what Blender handed out, what is true of any file."""


class OfFile:
    """What belongs to the file that is open."""


Kind = TypeVar("Kind", bound=OfSession | OfFile)


class Runtime:
    """Everything that is remembered."""

    def __init__(self) -> None:
        self._known: dict[type[Any], Any] = {}

    def of(self, kind: type[Kind]) -> Kind:
        """The one object of a class."""
        found = self._known.get(kind)
        # a render asks from a thread of its own: both get the object of whoever was first
        return self._known.setdefault(kind, kind()) if found is None else found

    def forget(self, *kinds: type[OfSession] | type[OfFile]) -> None:
        """Drop the objects of these classes."""
        for kind in kinds:
            self._known.pop(kind, None)

    def forget_file(self) -> None:
        """Drop what belongs to the file that was open."""
        self.forget(*[kind for kind in self._known if issubclass(kind, OfFile)])

    def end(self) -> None:
        """Drop everything."""
        self._known.clear()


runtime = Runtime()
