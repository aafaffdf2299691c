"""The processes that run at most once in a Blender: a bake, a pre-flight."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ...storage.events import Event, OnEvent
from ..host.runtime import OfSession, runtime


class Closable(Protocol):
    """What can be ended at any time."""

    def close(self) -> None: ...


class Polled(Closable, Protocol):
    """What reports events until it is finished."""

    @property
    def is_finished(self) -> bool: ...

    def poll(self) -> list[Event]: ...


Process = TypeVar("Process", bound=Closable)
_POLL_SECONDS = 0.05


def wait_for(process: Polled, on_event: OnEvent | None = None, is_busy: Callable[[], bool] = lambda: False) -> None:
    """Poll a process until it is finished, then close it.

    Args:
        process: the process.
        on_event: called with every event.
        is_busy: whether the work happens in the polls themselves, so that there is no pause between them.
    """
    try:
        while not process.is_finished:
            for event in process.poll():
                if on_event is not None:
                    on_event(event)
            if not is_busy():
                time.sleep(_POLL_SECONDS)
    finally:
        process.close()


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
