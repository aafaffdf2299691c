"""Wall and CPU seconds of a simulation's steps, apart from what comes between frames."""

import time
from collections.abc import Iterator
from typing import Any

from mpm_addon.core.particles import Frame
from mpm_addon.core.stepping.simulation import Progress, Simulation

from .worker import Round


class Stopwatch:
    """Hand `report` to a simulation, and let `next_frame` advance it.

    Attributes:
        sorts: how often the particles were sorted inside of frames.
    """

    def __init__(self) -> None:
        self._began = self._last = (0.0, 0.0)
        self._is_stepping = False
        self.sorts = 0

    def report(self, progress: Progress) -> None:
        if progress.stage == "simulating":
            self._last = _now()
            # what is sorted behind the last step belongs to the frame
            self._is_stepping = progress.fraction < 1.0

    def watch(self, simulation: Simulation) -> None:
        """Count the sorts of a simulation."""
        sort = simulation.store.sort

        def counted(*arguments: Any, **keywords: Any) -> int:
            self.sorts += self._is_stepping
            return sort(*arguments, **keywords)

        simulation.store.sort = counted

    def next_frame(self, frames: Iterator[Frame]) -> tuple[Frame, Round]:
        """The next frame, and its steps as a round: with the sorts among them, without emission and output at the frame's end."""
        self._began = self._last = _now()
        frame = next(frames)
        (wall, cpu), (began_wall, began_cpu) = self._last, self._began
        steps = frame.statistics.particles * frame.statistics.substeps
        return frame, {"particle_steps": float(steps), "wall": wall - began_wall, "cpu": cpu - began_cpu}


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def added(rounds: list[Round]) -> Round:
    """Several rounds as one."""
    return {key: sum(each[key] for each in rounds) for key in ("particle_steps", "wall", "cpu")}
