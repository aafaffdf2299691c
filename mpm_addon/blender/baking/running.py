"""The processes that run at most once in a Blender: a bake, the making of surfaces or of skins, a pre-flight."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ..host.runtime import OfSession, runtime


class Closable(Protocol):
    """What can be ended at any time."""

    def close(self) -> None: ...


Process = TypeVar("Process", bound=Closable)


@dataclass
class Running(OfSession, Generic[Process]):
    """The running process of one kind, if any. Each kind has its own subclass."""

    process: Process | None = None

    @classmethod
    def current(cls) -> Process | None:
        """The running process of this Blender."""
        return runtime.of(cls).process

    @classmethod
    def start(cls, process: Process) -> Process:
        """Make a process the running one; returns it."""
        runtime.of(cls).process = process
        return process

    @classmethod
    def end(cls) -> None:
        """Stop and discard the running process, if any."""
        ended = cls.current()
        runtime.forget(cls)
        if ended is not None:
            ended.close()
