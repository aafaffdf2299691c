"""Warnings about material that is lost: it falls and nothing stops it, or leaves the domain through an open side before it hits anything.

Before a bake, both follow from the free flight of an emitter's bounding box (`forecast.impact`), which cannot tell what happens after the
first impact. During the bake, frames tell what has fallen past all colliders.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..emission.schedule import frame_of_once, in_plane
from ..forecast.impact import first_stop
from ..forecast.placement import bounds_at
from ..geometry.rotation import Floats
from ..messages import Message, SceneWarning, Topic
from ..particles import Frame
from ..scene.animation import value_at
from ..scene.description import Emitter, Scene
from ..scene.settings import LAST_FRAME, SIDES

# A fall over fewer cells is short.
LEAST_FALL = 10.0
# What is reached in so many times the frames counts as below an emitter: this is 16 times as far.
_LONGER = 4

# Largest share of an emitter's particles that may have fallen past all colliders without a warning.
LARGEST_FALLEN = 0.1

_FLOOR = "add a collider below it, such as a floor"


def lost_material(scene: Scene) -> Iterator[SceneWarning]:
    """A warning for each emitter whose particles fall or fly away without hitting anything."""
    if not _only_falls(scene):
        return
    for emitter in scene.emitters:
        frame = frame_of_once(emitter, scene)
        if frame is None or emitter.goal > 0.0 or (emitter.animation is not None and "goal" in emitter.animation.values):
            continue
        frame = max(frame, scene.time.frame_start)
        impact = first_stop(scene, emitter)
        found = _leaving(scene, emitter, frame, np.inf if impact is None else impact.seconds)
        if found is None and impact is None:
            found = _falling(scene, emitter, frame)
        if found is not None:
            yield found


def _leaving(scene: Scene, emitter: Emitter, frame: int, until: float) -> SceneWarning | None:
    """A warning if an emitter's particles, at first inside the domain, are beyond an open side of it before a time [s]."""
    corners = scene.domain.corners
    if corners is None:
        return None
    axes = [0, 1, 2] if scene.solver.dimension == 3 else [0, 2]
    start = bounds_at(emitter, frame)
    if any(start[0, axis] < corners[0][axis] or start[1, axis] > corners[1][axis] for axis in axes):
        return None
    for number in range(frame, scene.time.frame_end + 1):
        low, high = _flown(scene, emitter, frame, number)
        if scene.time.seconds_at(number) > until or _meets_outflow(scene, low, high, number):
            return None
        for axis in axes:
            for is_high, side in enumerate(SIDES[2 * axis : 2 * axis + 2]):
                is_beyond = low[axis] > corners[1][axis] if is_high else high[axis] < corners[0][axis]
                if is_beyond and scene.domain.sides[side].surface == "open":
                    words = f"all of it has left the domain through the open side {side} by frame {number}, before it hits anything"
                    remedies = ("close that side, enlarge the domain, or put a collider in its way",)
                    return SceneWarning(Topic.LEAVES_DOMAIN, Message(words, remedies, _subject(emitter)))
    return None


def _falling(scene: Scene, emitter: Emitter, frame: int) -> SceneWarning | None:
    """A warning if gravity takes an emitter's particles farther than they are large, until the last frame."""
    gravity = in_plane(scene.solver.gravity, scene)
    strength = float(np.linalg.norm(gravity))
    seconds = scene.time.seconds_at(scene.time.frame_end) - scene.time.seconds_at(frame)
    low, high = bounds_at(emitter, frame)
    if 0.5 * strength * seconds**2 <= max(float(np.linalg.norm(high - low)), LEAST_FALL * scene.solver.grid_spacing):
        return None
    if any(_meets_outflow(scene, *_flown(scene, emitter, frame, number), number) for number in range(frame, scene.time.frame_end + 1)):
        return None
    landing = _landing(scene, emitter)
    if landing is not None:
        later = f"it falls freely and reaches nothing before the last frame, {scene.time.frame_end}: it would land at about frame {landing}"
        return SceneWarning(Topic.FALLS_FREELY, Message(later, ("use more frames, or let it start lower",), _subject(emitter)))
    missed = [each.name for each in scene.colliders if not each.dynamic]
    beside = f': collider "{missed[0]}" is not in its path' if len(missed) == 1 else ": no collider is in its path" if missed else ""
    words = f"it falls freely until the last frame, because nothing is below it{beside}"
    return SceneWarning(Topic.FALLS_FREELY, Message(words, (_FLOOR,), _subject(emitter)))


def _landing(scene: Scene, emitter: Emitter) -> int | None:
    """The frame after the scene's last one at which an emitter's particles would hit something; None if nothing is in their path."""
    time = scene.time
    later = min(time.frame_end + (_LONGER - 1) * len(time.frames), LAST_FRAME)
    impact = first_stop(replace(scene, time=replace(time, frame_end=later)), emitter)
    return None if impact is None else math.ceil(time.frame_start + impact.seconds / time.frame_seconds)


def _flown(scene: Scene, emitter: Emitter, start: int, frame: int) -> tuple[Floats, Floats]:
    """The corners of the box of particles at a frame, in free flight since their first frame [m]."""
    seconds = scene.time.seconds_at(frame) - scene.time.seconds_at(start)
    velocity, gravity = in_plane(value_at(emitter, "velocity", start), scene), in_plane(scene.solver.gravity, scene)
    low, high = bounds_at(emitter, start) + velocity * seconds + 0.5 * gravity * seconds**2
    return low, high


def _meets_outflow(scene: Scene, low: Floats, high: Floats, frame: int) -> bool:
    boxes = (bounds_at(each, frame) for each in scene.outflows)
    return any(bool(((low <= box[1]) & (high >= box[0])).all()) for box in boxes)


def fallen_of(frame: Frame, scene: Scene) -> SceneWarning | None:
    """A warning about the emitter of which most has fallen past all colliders and outflows, if that is more than `LARGEST_FALLEN`."""
    gravity = in_plane(scene.solver.gravity, scene)
    strength = float(np.linalg.norm(gravity))
    ends = [each for each in scene.colliders if not each.dynamic]
    if strength == 0.0 or not ends or scene.domain.kind != "unbounded" or not _only_falls(scene):
        return None
    down = gravity / strength
    axes = down != 0.0
    boxes = (bounds_at(each, frame.number)[:, axes] for each in (*ends, *scene.outflows))
    lowest = max(float(np.where(down[axes] > 0.0, high, low) @ down[axes]) for low, high in boxes)
    is_past = (frame.position @ down > lowest + LEAST_FALL * scene.solver.grid_spacing) & (frame.velocity @ down > 0.0)
    if not is_past.any():
        return None
    emitter, count = frame.attribute("emitter_index"), len(scene.emitters)
    share = np.bincount(emitter[is_past], minlength=count) / np.maximum(np.bincount(emitter, minlength=count), 1)
    worst = int(share.argmax())
    if share[worst] <= LARGEST_FALLEN:
        return None
    words = f"{share[worst]:.0%} of its particles have fallen past all colliders by frame {frame.number}, and nothing is below them"
    return SceneWarning(Topic.FALLEN, Message(words, ("add a floor, or an outflow that removes them",), _subject(scene.emitters[worst])))


def _only_falls(scene: Scene) -> bool:
    """Whether nothing but gravity, which stays the same, and drag acts on particles in flight."""
    is_keyed = scene.solver.animation is not None and "gravity" in scene.solver.animation.values
    return not is_keyed and all(force.kind == "drag" for force in scene.forces)


def _subject(emitter: Emitter) -> str:
    return f'Emitter "{emitter.name}"'
