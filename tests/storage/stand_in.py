"""A small deterministic simulation in place of the real one, with all that storage and bakes need, in milliseconds.

Particles drift with constant velocity; the state is continued from a snapshot exactly. Run as a program it bakes with
this simulation, so that a test can kill it: `python stand_in.py SCENE CACHE SUBSTEPS SECONDS_PER_SUBSTEP [json]`. While the file
that STAND_IN_HALT in the environment names is there, it does not get beyond frame 5.
"""

import json
import os
import sys
import time as clock
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mpm_addon.bake import Order, bake
from mpm_addon.core.errors import Cancelled, SceneError, UnstableError
from mpm_addon.core.failure import Failure, Kind
from mpm_addon.core.messages import SceneWarning
from mpm_addon.core.particles import ATTRIBUTES, BIRTH, Frame, FrameStatistics, Moment
from mpm_addon.core.scene.description import Scene
from mpm_addon.core.stepping.continuation import refuse_another_state
from mpm_addon.storage import open_cache
from mpm_addon.storage.events import Event

PARTICLES = 200
# [m] that particles move at once where another scene takes them up
PUSH = 0.25
HALT, HALT_FRAME = "STAND_IN_HALT", 5
MODULE = "mpm_addon.core.stepping.simulation"
# The first take in a cache.
TAKE = Path("takes/0001")

SCENE = """
schema = 1
name = "small"
[time]
frame_end = {frame_end}
subframes = {subframes}
[solver]
grid_spacing = 0.05
seed = {seed}
[cache]
checkpoint_interval = {checkpoint_interval}
precision = "{precision}"
[materials.jelly]
law = "corotated"
[[emitters]]
name = "ball"
material = "jelly"
shape = {{ kind = "sphere", radius = 0.2 }}
"""


@dataclass(frozen=True)
class Progress:
    stage: str
    frame: int
    fraction: float
    substeps: int
    particles: int
    time_step: float
    kernels: tuple[int, int] = (0, 0)


def failure_at(frame: int) -> Failure:
    """What stops this simulation: ten particles in a row."""
    ids = np.arange(5, 15, dtype=np.int32)
    position = np.stack([0.1 * ids, 0.0 * ids, 1.0 + 0.0 * ids], axis=1).astype(np.float32)
    advice = "use a smaller cfl than 1, such as 0.4"
    return Failure(Kind.INVERTED, 'Material "jelly"', frame, 0.125, 1e-6, 64, ids, position, ("ball",), advice)


class Simulation:
    """The interface of `core.simulation.Simulation`."""

    substeps = 4
    kernel_problems: tuple[SceneWarning, ...] = ()
    pause = 0.0
    # particles that are born at every frame after the first
    inflow = 0
    fails_at: int | None = None
    # 0 if all are stored
    kernels_to_compile = 2
    # why there is no first frame
    refuses = ""

    def __init__(
        self, scene: Scene, *, snapshot: dict[str, Any] | None = None, before: Any = None, report: Callable[..., Any] | None = None
    ):
        self._scene = scene
        self._report = report or (lambda progress: None)
        if snapshot is None:
            random = np.random.default_rng(scene.solver.seed)
            self._number = scene.time.frame_start - 1
            self._part = 0
            self._position = random.random((PARTICLES, 3))
            self._velocity = random.standard_normal((PARTICLES, 3))
            self._rest = np.zeros((PARTICLES, 3), np.float32)
            self._birth = np.zeros(PARTICLES)
        else:
            self._number = int(snapshot["number"])
            self._part = 0
            self._position = snapshot["position"].copy()
            self._velocity = snapshot["velocity"].copy()
            self._rest, self._birth = snapshot["rest"], snapshot["birth"]
        if before is not None:
            refuse_another_state(before, scene)
            self._position += PUSH

    def frames(self) -> Iterator[Frame]:
        kernels = self.kernels_to_compile
        for compiled in (0, *range(kernels + 1)) if kernels else ():
            self._report(Progress("compiling", self._number, compiled / kernels, 0, 0, 0.0, kernels=(compiled, kernels)))
        self._report(Progress("preparing", self._number, 0.0, 0, 0, 0.0))
        if self.refuses:
            raise SceneError(self.refuses)
        while self._number < self._scene.time.frame_end:
            number = self._number + 1
            substeps = self.substeps if number > self._scene.time.frame_start else 0
            parts = self._scene.time.subframes + 1
            for step in range(substeps):
                if (step * parts) % substeps == 0 and step:
                    self._part = step * parts // substeps
                    yield self._frame(step)
                self._report(Progress("simulating", number, step / substeps, step, PARTICLES, 0.01))
                clock.sleep(self.pause)
                self._position += self._velocity * (self._scene.time.frame_seconds / substeps)
            self._emit(number if substeps else None)
            if number == self.fails_at:
                failure = failure_at(number)
                raise UnstableError.of_failure(failure)
            self._number, self._part = number, 0
            yield self._frame(substeps)
            self._halt()

    def _halt(self) -> None:
        """Wait at frame 5 while a test wants it; requests to pause and to stop are heard."""
        halt = Path(os.environ.get(HALT, os.devnull))
        while self._number == HALT_FRAME and halt.is_file():
            self._report(Progress("simulating", HALT_FRAME + 1, 0.0, 0, PARTICLES, 0.01))
            clock.sleep(0.01)

    def snapshot(self) -> dict[str, Any]:
        state = {"position": self._position, "velocity": self._velocity, "rest": self._rest, "birth": self._birth}
        return {"number": np.array(self._number), **state}

    def _emit(self, number: int | None) -> None:
        """Add the particles that are born at a frame."""
        if number is None or not self.inflow:
            return
        new = np.random.default_rng((self._scene.solver.seed, number)).random((2, self.inflow, 3))
        self._position = np.concatenate([self._position, new[0]])
        self._velocity = np.concatenate([self._velocity, new[1]])
        self._rest = np.concatenate([self._rest, new[0].astype(np.float32)])
        self._birth = np.concatenate([self._birth, np.full(self.inflow, self._scene.time.seconds_at(number))])

    def _frame(self, substeps: int) -> Frame:
        count = len(self._position)
        arrays = {
            name: np.zeros((count, kind.components) if kind.components > 1 else count, dtype=kind.dtype)
            for name, kind in ATTRIBUTES.items()
        }
        arrays["position"] = self._position.astype(np.float32)
        arrays["velocity"] = self._velocity.astype(np.float32)
        arrays["id"] = np.arange(count, dtype=np.int32)
        arrays["rest_position"] = self._rest
        momentum = tuple(float(part) for part in self._velocity.sum(axis=0))
        energy = float(0.5 * (self._velocity**2).sum())
        statistics = FrameStatistics(count, 0, substeps, energy, momentum, float(count), clock.perf_counter())
        moment = Moment(self._number, self._part, self._scene.time.subframes + 1 if self._part else 1)
        births = {"rest_position": arrays["rest_position"], BIRTH: self._birth}
        time = self._scene.time.seconds_at(moment.frame)
        arrays["age"] = (time - self._birth).astype(np.float32)
        return Frame(self._number, time, arrays, statistics, moment.part, moment.parts, births=births)


def module(simulation: type[Simulation] = Simulation) -> types.ModuleType:
    """A module to stand in `sys.modules` for the real one."""
    stand_in = types.ModuleType(MODULE)
    stand_in.Simulation = simulation  # type: ignore[attr-defined]
    return stand_in


def write_small_scene(
    folder: Path, *, frame_end: int = 6, seed: int = 0, subframes: int = 0, checkpoint_interval: int = 1, precision: str = "compact"
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = SCENE.format(frame_end=frame_end, seed=seed, subframes=subframes, checkpoint_interval=checkpoint_interval, precision=precision)
    (folder / "scene.toml").write_text(text)
    return folder


def bake_here(scene: Path, cache: Path, **options: Any) -> list[dict[str, Any]]:
    """Bake in this process and return the events."""
    events: list[dict[str, Any]] = []
    bake(scene, cache, Order(**options), on_event=lambda event: events.append(event.fields()))
    return events


def frame_bytes(cache: Path) -> dict[str, bytes]:
    """The bytes of the files of a cache's frames."""
    return {path.name: path.read_bytes() for path in sorted((open_cache(cache).takes[-1].folder / "frames").iterdir())}


def contents(cache: Path, take: int) -> dict[str, bytes]:
    """The bytes of a take's own frames, by file name."""
    folder = open_cache(cache, take=take).takes[-1].folder / "frames"
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def main() -> None:
    scene, cache, substeps, pause, *form = sys.argv[1:]
    Simulation.substeps, Simulation.pause = int(substeps), float(pause)
    sys.modules[MODULE] = module()

    def tell(event: Event) -> None:
        told = event.fields()
        print(*([json.dumps(told)] if form else [event.word, told.get("frame", "")]), flush=True)

    try:
        bake(scene, cache, on_event=tell)
    except Cancelled:
        sys.exit(130)


if __name__ == "__main__":
    main()
