"""The frames in which an emitter emits, its flow rate and the speed of its particles, as functions of time. Plain numpy; no numba."""

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..geometry.motion import velocity_at, vertices_at
from ..scene.animation import value_at
from ..scene.description import Emitter, Scene

Floats = NDArray[np.float64]

# How far particles may move between two moments of emission [cells].
LARGEST_GAP = 0.5


def in_plane(vectors: Any, scene: Scene) -> Floats:
    """A copy of vectors (..., 3), with y = 0 in 2D."""
    return np.array(vectors, dtype=np.float64) * [1.0, scene.solver.dimension - 2.0, 1.0]


def first_frame(emitter: Emitter, scene: Scene) -> int:
    """The first frame in which an emitter may emit."""
    return scene.time.frame_start if emitter.frame_start is None else emitter.frame_start


def last_frame(emitter: Emitter, scene: Scene) -> int:
    """The last frame in which an emitter may emit."""
    return scene.time.frame_end if emitter.frame_end is None else emitter.frame_end


def frame_of_once(emitter: Emitter, scene: Scene) -> int | None:
    """The first frame at which an emitter is enabled, between its first and last frame."""
    frames = range(first_frame(emitter, scene), last_frame(emitter, scene) + 1)
    return next((frame for frame in frames if value_at(emitter, "enabled", frame)), None)


def has_flow_rate(emitter: Emitter) -> bool:
    """Whether an inflow is limited by a flow rate."""
    return emitter.flow_rate is not None or (emitter.animation is not None and "flow_rate" in emitter.animation.values)


def volume_due(scene: Scene, emitter: Emitter, frame: float) -> float:
    """The volume emitted from the emitter's first frame up to a moment, by its flow rate [m^3], in 2D the area [m^2].

    Between keys the flow rate is linear and the enabled flag constant, so trapezoids are exact.
    """
    start = float(max(first_frame(emitter, scene), scene.time.frame_start))
    keys = [] if emitter.animation is None else [float(key) for key in emitter.animation.frames if start < key < frame]
    total, times = 0.0, [start, *keys, frame]
    for before, after in itertools.pairwise(times):
        if value_at(emitter, "enabled", before):
            mean = 0.5 * (value_at(emitter, "flow_rate", before) + value_at(emitter, "flow_rate", after))
            total += mean * (after - before) * scene.time.frame_seconds
    return total


def greatest_speed(scene: Scene, emitter: Emitter, frame: int) -> float:
    """An upper bound on the speed of emitted particles, and of the emitter, between a frame and the next [m/s]."""
    keys = [each.frames for each in (emitter.motion, emitter.animation) if each is not None]
    times = [frame, frame + 1, *(key for frames in keys for key in frames if frame < key < frame + 1)]
    radius = 0.5 * float(np.linalg.norm(np.diff(emitter.shape.bounds(), axis=0)))
    fastest = 0.0
    for time in times:
        turn = math.radians(float(np.linalg.norm(value_at(emitter, "angular_velocity", time))))
        speed = float(np.linalg.norm(in_plane(value_at(emitter, "velocity", time), scene)))
        speed += abs(float(value_at(emitter, "normal_velocity", time))) + turn * radius
        share = abs(float(value_at(emitter, "inherit_velocity", time)))
        fastest = max(fastest, speed + max(1.0, share) * own_speed(scene, emitter, time))
    # particles at rest reach this speed after falling half a cell
    changes = () if scene.solver.animation is None else scene.solver.animation.frames
    times = [frame, frame + 1, *(key for key in changes if frame < key < frame + 1)]
    weight = max(float(np.linalg.norm(in_plane(value_at(scene.solver, "gravity", time), scene))) for time in times)
    return fastest + math.sqrt(2.0 * LARGEST_GAP * weight * scene.solver.grid_spacing)


def own_speed(scene: Scene, emitter: Emitter, frame: float) -> float:
    """An upper bound on the speed of the emitter's object [m/s]."""
    motion, frame_rate = emitter.motion, 1.0 / scene.time.frame_seconds
    if motion is None:
        return 0.0
    if motion.matrices is None:
        return float(np.linalg.norm(vertices_at(motion, frame, frame_rate)[1], axis=1).max())
    matrix, linear, angular = velocity_at(motion, frame, frame_rate)
    radius = float(np.linalg.norm(np.abs(emitter.shape.bounds()).max(axis=0))) * float(np.cbrt(abs(np.linalg.det(matrix[:3, :3]))))
    return float(np.linalg.norm(linear) + np.linalg.norm(angular) * radius)
