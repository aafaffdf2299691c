"""One attempt to bake: ends with one event, whatever happens, also before there is anything to simulate."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ..core.errors import Cancelled, SceneError, UnstableError
from ..core.forecast.estimate import Estimate
from ..core.messages import Message
from ..storage.events import Ending, OnEvent, ending_of
from .job import Job


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
                raise Cancelled.of(ending.message) from error
            if isinstance(error, MemoryError):
                raise SceneError.of(ending.message) from error
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

    def _ending(self, error: BaseException) -> Ending:
        """The last event of a bake that did not finish."""
        return ending_of(
            error,
            canceled=self._job.words() if self._job is not None else Message("canceled before the bake began"),
            out_of_memory=Message("out of memory", ("use a larger `grid_spacing` or close other programs",), self._scene_path),
        )
