"""One attempt to bake: ends with one event, whatever happens, also before there is anything to simulate."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ..core.errors import Cancelled, MpmError, SceneError, Stopped, UnstableError
from ..core.forecast.estimate import Estimate
from ..core.messages import Message, message_of
from ..storage.failure import summary
from .job import Job
from .reporter import Event, OnEvent


class Attempt:
    """An attempt to bake a scene, from before there is a job until its end.

    Args:
        scene_path: the scene, for messages.
        emit: called with the last event, unless the bake is done.
    """

    def __init__(self, scene_path: str | Path, emit: OnEvent) -> None:
        self._scene_path = str(scene_path)
        self._emit = emit
        self._job: Job | None = None

    @contextlib.contextmanager
    def reported(self) -> Iterator[None]:
        """Report errors, also those before there is a job. Raises interrupts and a lack of memory as Cancelled and SceneError."""
        try:
            yield
        except BaseException as error:
            ending = self._ending(error)
            if self._job is None:
                self._emit(ending)
            if isinstance(error, KeyboardInterrupt):
                raise Cancelled.of(message_of(ending)) from error
            if isinstance(error, MemoryError):
                raise SceneError.of(message_of(ending)) from error
            raise

    def run(self, job: Job, cost: Estimate) -> None:
        """Run the job, and record how it ends while it still holds the cache's lock."""
        self._job = job
        try:
            job.run(cost)
        except BaseException as error:
            if isinstance(error, UnstableError) and error.failure is not None:
                job.keep(error.failure)
            job.end(self._ending(error))
            raise

    def stop(self) -> None:
        """Ask the bake to stop; before its first substep, interrupts it."""
        if self._job is None or not self._job.is_stepping:
            raise KeyboardInterrupt
        self._job.stop()

    def _ending(self, error: BaseException) -> Event:
        """The last event of a bake that did not finish."""
        if isinstance(error, (Cancelled, KeyboardInterrupt)):
            message = self._job.words() if self._job is not None else Message("canceled before the bake began")
            return {"event": "cancelled", **message.fields()}
        if isinstance(error, Stopped):
            return {"event": "stopped", "reason": error.reason, **error.message.fields()}
        if isinstance(error, UnstableError) and error.failure is not None:
            return {"event": "error", **error.message.fields(), "failure": summary(error.failure)}
        if isinstance(error, MpmError):
            return {"event": "error", **error.message.fields()}
        if isinstance(error, MemoryError):
            remedy = "use a larger grid_spacing or close other programs"
            return {"event": "error", **Message("out of memory", (remedy,), self._scene_path).fields()}
        return {"event": "error", **Message(f"{type(error).__name__}: {error}").fields()}
