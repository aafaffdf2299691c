"""The interface's state, in one place: each module declares a class for its own, which is created on first use.

    @dataclass
    class Problems(OfFile):
        by_object: dict[str, Message] = field(default_factory=dict)

    runtime.of(Problems).by_object

Classes of `OfFile` are dropped when another file is opened, before other handlers run; all others when the add-on is unregistered.
"""

from typing import Any, TypeVar


class OfSession:
    """State that outlives the open file: processes, resources from Blender, facts that hold for any file."""


class OfFile:
    """State of the open file."""


Kind = TypeVar("Kind", bound=OfSession | OfFile)


class Runtime:
    """All state."""

    def __init__(self) -> None:
        self._known: dict[type[Any], Any] = {}

    def of(self, kind: type[Kind]) -> Kind:
        """The single instance of a class."""
        found = self._known.get(kind)
        # a render calls this from its own thread: both threads must get the same instance
        return self._known.setdefault(kind, kind()) if found is None else found

    def forget(self, *kinds: type[OfSession] | type[OfFile]) -> None:
        """Drop the instances of these classes."""
        for kind in kinds:
            self._known.pop(kind, None)

    def forget_file(self) -> None:
        """Drop the state of the file that was open."""
        self.forget(*[kind for kind in self._known if issubclass(kind, OfFile)])

    def end(self) -> None:
        """Drop everything."""
        self._known.clear()


runtime = Runtime()
