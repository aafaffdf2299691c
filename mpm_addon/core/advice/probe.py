"""How long a bake will take, extrapolated from a few seconds of real substeps."""

import contextlib
import math
import time
from dataclasses import dataclass

from ..errors import Cancelled
from ..forecast.estimate import particles_at_frames
from ..scene.description import Scene
from ..stepping.simulation import Progress, Simulation

# Wall time to measure [s].
PROBE_SECONDS = 5.0
# The first substeps load kernels and touch new memory.
WARM_UP = 3


@dataclass(frozen=True)
class Probe:
    """A measurement of substeps, and the prediction from it.

    Attributes:
        seconds: wall time of the measured substeps [s].
        substeps: their number.
        time_step: their mean length [s].
        expected_substeps: substeps of all frames.
        expected_seconds: wall time of all frames, without compiling, sampling and writing [s].
    """

    seconds: float
    substeps: int
    time_step: float
    expected_substeps: int
    expected_seconds: float


def probe(scene: Scene, *, seconds: float = PROBE_SECONDS) -> Probe:
    """Simulate the beginning of a scene and extrapolate: wall time is proportional to particles times substeps.

    Args:
        scene: the scene.
        seconds: wall time to spend on substeps; sampling the emitters and compiling are extra.

    Raises:
        SceneError, UnstableError: as the bake would.
    """
    record = _Record(scene, seconds)
    with contextlib.suppress(Cancelled):
        for _ in Simulation(scene, report=record.add).frames():
            pass
    return record.probe()


class _Record:
    """A line for every substep: wall time [s], particles, fractional frame."""

    def __init__(self, scene: Scene, seconds: float) -> None:
        self._scene = scene
        self._seconds = seconds
        self._lines: list[tuple[float, int, float]] = []

    def add(self, progress: Progress) -> None:
        """Record a substep. Raises Cancelled once enough are recorded."""
        if progress.stage != "simulating":
            # measuring starts after the last preparation
            self._lines[:] = [(time.perf_counter(), 0, float(self._scene.time.frame_start))]
            return
        self._lines.append((time.perf_counter(), progress.particles, progress.frame - 1 + progress.fraction))
        if len(self._lines) > WARM_UP + 1 and self._lines[-1][0] - self._lines[0][0] > self._seconds:
            raise Cancelled("the probe has measured enough")

    def probe(self) -> Probe:
        """The prediction from the substeps after the warm-up."""
        lines = self._lines[min(WARM_UP, len(self._lines) - 2) :] if len(self._lines) > 2 else self._lines
        (start, _, first), (end, _, last) = lines[0], lines[-1]
        steps = len(lines) - 1
        if steps < 1 or last <= first:
            return Probe(0.0, 0, 0.0, 0, 0.0)
        frame_steps = steps / (last - first)
        cost = (end - start) / max(1, sum(particles for _, particles, _ in lines[1:]))
        at_frames = particles_at_frames(self._scene)[1:]
        particle_steps = sum(max(1.0, particles) * frame_steps for particles in at_frames)
        return Probe(
            seconds=end - start,
            substeps=steps,
            time_step=self._scene.time.frame_seconds / frame_steps,
            expected_substeps=math.ceil(len(at_frames) * frame_steps),
            expected_seconds=cost * particle_steps,
        )
