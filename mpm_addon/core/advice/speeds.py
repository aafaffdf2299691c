"""Warnings about particles that begin so fast that their speed alone makes a bake take very long."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..emission.schedule import first_frame, frame_of_once, in_plane, last_frame, own_speed
from ..forecast.estimate import wave_speed_of
from ..forecast.stiffness import follows_speed
from ..messages import Message, SceneWarning, Topic
from ..scene.animation import value_at
from ..scene.description import Emitter, Scene

# Most substeps per frame that speeds may need without a warning.
MOST_SUBSTEPS = 2_000


class _Start(NamedTuple):
    """The greatest speed at which an emitter's particles begin [m/s], how much of it is its object's own, and the frame."""

    speed: float
    inherited: float
    frame: int


def fast_emitters(scene: Scene) -> Iterator[SceneWarning]:
    """A warning for each emitter whose particles begin so fast that they alone need very many substeps in a frame."""
    solver, seconds = scene.solver, scene.time.frame_seconds
    if solver.time_step is not None:
        return
    for emitter in scene.emitters:
        start = max((_start(scene, emitter, frame) for frame in _frames(scene, emitter)), default=None)
        if start is None:
            continue
        tamed = start.speed if solver.max_speed is None else min(start.speed, solver.max_speed)
        substeps = tamed * seconds / (min(solver.cfl, solver.max_displacement) * solver.grid_spacing)
        # waves that are faster need the shorter substeps, unless they follow from the speed
        is_cause = tamed > wave_speed_of(emitter, scene) or follows_speed(scene, emitter.material)
        if substeps <= MOST_SUBSTEPS or not is_cause:
            continue
        is_own = start.inherited <= 0.5 * start.speed
        share = "" if is_own else f", {_rounded(start.inherited)} m/s of it from the motion of its object"
        slower = "use a smaller `velocity`" if is_own else "move the object more slowly, use a smaller `inherit_velocity`"
        problem = (
            f"its particles begin at {_rounded(start.speed)} m/s at frame {start.frame}{share}, which alone needs about "
            f"{_rounded(substeps)} substeps per frame, more than {MOST_SUBSTEPS:,}"
        )
        remedies = (f"{slower}, a `max_speed`, or a larger `grid_spacing`",)
        yield SceneWarning(Topic.FAST_EMITTER, Message(problem, remedies, _subject(emitter)))


def _frames(scene: Scene, emitter: Emitter) -> range:
    """The frames of the scene at which an emitter may emit; those at which its speed can differ from the first."""
    if emitter.mode == "once":
        frame = frame_of_once(emitter, scene)
        return range(0) if frame is None else range(frame, frame + 1)
    first, last = max(first_frame(emitter, scene), scene.time.frame_start), min(last_frame(emitter, scene), scene.time.frame_end)
    return range(first, first + 1 if emitter.motion is None and emitter.animation is None else last + 1)


def _start(scene: Scene, emitter: Emitter, frame: int) -> _Start:
    """An upper bound at a frame; zero if the emitter is disabled then."""
    if not value_at(emitter, "enabled", frame):
        return _Start(0.0, 0.0, frame)
    radius = 0.5 * float(np.linalg.norm(np.diff(emitter.shape.bounds(), axis=0)))
    turn = math.radians(float(np.linalg.norm(value_at(emitter, "angular_velocity", frame))))
    speed = float(np.linalg.norm(in_plane(value_at(emitter, "velocity", frame), scene)))
    speed += abs(float(value_at(emitter, "normal_velocity", frame))) + turn * radius + 3.0 * emitter.velocity_spread
    inherited = abs(float(value_at(emitter, "inherit_velocity", frame))) * own_speed(scene, emitter, frame)
    return _Start(speed + inherited, inherited, frame)


def _rounded(count: float) -> str:
    """A number with two digits: 83,000."""
    unit = 10 ** (math.floor(math.log10(count)) - 1)
    return f"{unit * round(count / unit):,}"


def _subject(emitter: Emitter) -> str:
    return f'Emitter "{emitter.name}"'
