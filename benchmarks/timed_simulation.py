"""A simulation whose steps are timed separately from the work between frames."""

import time
from typing import Any

from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.description import Scene
from mpm_addon.core.stepping.simulation import Progress, Simulation

from .measuring import Round


class TimedSimulation:
    """A simulation of a scene, after its initial frame or after a snapshot.

    Attributes:
        sorts: number of times the particles were sorted between steps; not counted after a snapshot.
    """

    def __init__(self, scene: Scene, snapshot: dict[str, Any] | None = None) -> None:
        self.sorts = 0
        self._is_stepping = False
        self._last = (0.0, 0.0)
        self.simulation = Simulation(scene, snapshot=snapshot, report=self._note)
        self._frames = self.simulation.frames()
        if snapshot is None:
            next(self._frames)
            self._sort, self.simulation.store.sort = self.simulation.store.sort, self._count_sort

    def next_frame(self) -> tuple[Frame, Round]:
        """The next frame, and its steps as a round, with the sorts between them, but without emission and output at the end."""
        began = self._last = _now()
        frame = next(self._frames)
        steps = frame.statistics.particles * frame.statistics.substeps
        return frame, {"particle_steps": float(steps), "wall": self._last[0] - began[0], "cpu": self._last[1] - began[1]}

    def _note(self, progress: Progress) -> None:
        if progress.stage == "simulating":
            self._last = _now()
            # a sort after the last step belongs to the frame
            self._is_stepping = progress.fraction < 1.0

    def _count_sort(self, *arguments: Any, **keywords: Any) -> int:
        self.sorts += self._is_stepping
        return self._sort(*arguments, **keywords)


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def total(rounds: list[Round]) -> Round:
    """Several rounds as one."""
    return {key: sum(each[key] for each in rounds) for key in ("particle_steps", "wall", "cpu")}
