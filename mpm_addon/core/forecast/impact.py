"""The time and speed of the first impact of an emitter's particles: boxes on ballistic paths. Plain numpy, for estimates."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..emission.schedule import first_frame, frame_of_once, in_plane
from ..geometry.rotation import Floats
from ..geometry.shapes import Plane
from ..scene.animation import value_at
from ..scene.description import Collider, Emitter, Scene
from .placement import bounds_at, in_shape

# Sampled moments of a flight, and poses of a moving collider.
_MOMENTS = 400
_POSES = 60


class Impact(NamedTuple):
    """The first contact of an emitter's particles.

    Attributes:
        seconds: time since the scene's first frame [s].
        speed: relative speed of impact [m/s].
    """

    seconds: float
    speed: float


class _Flight(NamedTuple):
    """The bounding box of an emitter's particles in free fall.

    Attributes:
        low, high: corners at each moment [m], shape (n, 3).
        velocity: [m/s], shape (n, 3).
        is_emitted: whether the particles have been emitted at each moment, shape (n,).
    """

    low: Floats
    high: Floats
    velocity: Floats
    is_emitted: np.ndarray


def first_impact(scene: Scene, emitter: Emitter) -> Impact | None:
    """The first impact of an emitter's particles on a collider, a wall or another emitter's particles; None if there is none in the scene.

    Every shape but a plane is replaced by its bounding box. Particles that begin inside a box, as in a bowl, hit its sides from within.
    """
    return _earliest(scene, emitter, scene.colliders, [other for other in scene.emitters if other is not emitter])


def breaking_impact(scene: Scene, emitter: Emitter, bearable: float) -> Impact | None:
    """The first impact on an emitter's body that is faster than it bears [m/s]; None if there is none in the scene.

    After a slower one it stays where it is. Dynamic colliders fly freely from where they begin, and also stay there. If no flight of theirs
    breaks it, the impact is when one could have reached it at that speed, whatever it has met on its way.
    """
    seconds = np.linspace(0.0, (len(scene.time.frames) - 1) * scene.time.frame_seconds, _MOMENTS)
    start = _flight(scene, emitter, seconds)
    if start is None:
        return None
    colliders = [each for each in scene.colliders if each.is_ever_enabled]
    dynamic = [_dynamic_flight(scene, each, seconds) for each in colliders if each.dynamic]
    flights = [_flight(scene, other, seconds) for other in scene.emitters if other is not emitter]
    others = [*(each for each in flights if each is not None), *dynamic]

    def earliest(own: _Flight, above: float) -> Impact | None:
        touches = [*_walls(scene, own), *(_collider(scene, each, own, seconds) for each in colliders)]
        touches += [_boxes(own, other) for other in others]
        found = [_first(own, velocity, is_touching & own.is_emitted, seconds, above) for is_touching, velocity in touches]
        return min((each for each in found if each is not None), default=None)

    first = earliest(start, -math.inf)
    if first is not None and first.speed > bearable:
        return first
    own = start if first is None else _stopped(start, int(np.searchsorted(seconds, first.seconds)))
    if (later := earliest(own, bearable)) is not None:
        return later
    reached = [_reached(scene, own, each, seconds, bearable) for each in dynamic]
    return min((each for each in reached if each is not None), default=None)


def _dynamic_flight(scene: Scene, collider: Collider, seconds: Floats) -> _Flight:
    low, high = bounds_at(collider, scene.time.frame_start)
    start, gravity = in_plane(collider.velocity, scene), in_plane(scene.solver.gravity, scene)
    time = seconds[:, None]
    path = start * time + 0.5 * gravity * time**2
    return _Flight(low + path, high + path, start + gravity * time, np.ones(len(seconds), np.bool_))


def _stopped(flight: _Flight, moment: int) -> _Flight:
    """A flight that ends at a moment."""
    kept = np.minimum(np.arange(len(flight.low)), moment)
    is_moving = np.arange(len(flight.low))[:, None] <= moment
    return flight._replace(low=flight.low[kept], high=flight.high[kept], velocity=np.where(is_moving, flight.velocity, 0.0))


def _reached(scene: Scene, own: _Flight, other: _Flight, seconds: Floats, bearable: float) -> Impact | None:
    """When something could have reached a body on any path at a speed that breaks it: at no more than their speeds and their falls."""
    gap = float(np.linalg.norm(np.maximum(np.maximum(own.low[0] - other.high[0], other.low[0] - own.high[0]), 0.0)))
    gravity = float(np.linalg.norm(in_plane(scene.solver.gravity, scene)))
    starts = float(np.linalg.norm(own.velocity[0]) + np.linalg.norm(other.velocity[0]))
    speed, path = starts + 2.0 * gravity * seconds, (starts + gravity * seconds) * seconds
    is_reached = (path >= gap) & (speed > bearable) & own.is_emitted
    moment = int(np.argmax(is_reached))
    return Impact(float(seconds[moment]), float(speed[moment])) if is_reached.any() else None


def fall(scene: Scene, emitter: Emitter, end: float) -> Impact:
    """The speed of an emitter's particles at a time [s] until which nothing stops them."""
    flight = _flight(scene, emitter, np.array([end]))
    return Impact(end, 0.0 if flight is None else float(np.linalg.norm(flight.velocity[0])))


def first_stop(scene: Scene, emitter: Emitter) -> Impact | None:
    """As `first_impact`, but only on what does not fall itself: walls, and colliders that are not dynamic."""
    return _earliest(scene, emitter, [each for each in scene.colliders if each.is_ever_enabled and not each.dynamic], [])


def _earliest(scene: Scene, emitter: Emitter, colliders: Iterable[Collider], others: Iterable[Emitter]) -> Impact | None:
    seconds = np.linspace(0.0, (len(scene.time.frames) - 1) * scene.time.frame_seconds, _MOMENTS)
    own = _flight(scene, emitter, seconds)
    if own is None:
        return None
    touches = [*_walls(scene, own), *(_collider(scene, each, own, seconds) for each in colliders)]
    flights = (_flight(scene, other, seconds) for other in others)
    touches += [_boxes(own, other) for other in flights if other is not None]
    found = [_first(own, velocity, is_touching & own.is_emitted, seconds) for is_touching, velocity in touches]
    return min((impact for impact in found if impact is not None), default=None)


# Whether there is contact at each moment, (n,), and the velocity of the other object, (n, 3) or (3,).
_Touch = tuple[np.ndarray, Floats]


def _first(own: _Flight, velocity: Floats, is_touching: np.ndarray, seconds: Floats, above: float = -math.inf) -> Impact | None:
    """The first contact at a relative speed above a limit [m/s]."""
    speed = np.linalg.norm(own.velocity - velocity, axis=1)
    is_impact = is_touching & (speed > above)
    if not is_impact.any():
        return None
    moment = int(np.argmax(is_impact))
    return Impact(float(seconds[moment]), float(speed[moment]))


def _flight(scene: Scene, emitter: Emitter, seconds: Floats) -> _Flight | None:
    frame = frame_of_once(emitter, scene) if emitter.mode == "once" else first_frame(emitter, scene)
    if frame is None:
        return None
    frame = max(frame, scene.time.frame_start)
    time = np.maximum(seconds - (frame - scene.time.frame_start) * scene.time.frame_seconds, 0.0)[:, None]
    start, gravity = in_plane(value_at(emitter, "velocity", frame), scene), in_plane(scene.solver.gravity, scene)
    low, high = bounds_at(emitter, frame)
    path = start * time + 0.5 * gravity * time**2
    return _Flight(low + path, high + path, start + gravity * time, seconds >= (frame - scene.time.frame_start) * scene.time.frame_seconds)


def _walls(scene: Scene, own: _Flight) -> Iterator[_Touch]:
    corners = scene.domain.corners
    if corners is None:
        return
    for axis, name in enumerate("xyz"):
        if axis == 1 and scene.solver.dimension == 2:
            continue
        for end, is_beyond in (("min", own.low[:, axis] <= corners[0][axis]), ("max", own.high[:, axis] >= corners[1][axis])):
            if scene.domain.sides[f"{name}_{end}"].surface != "open":
                # touching a wall is no impact: particles that move away from it or along it do not hit it
                inward = 1.0 if end == "min" else -1.0
                yield is_beyond & (inward * own.velocity[:, axis] < 0.0), np.zeros(3)


def _collider(scene: Scene, collider: Collider, own: _Flight, seconds: Floats) -> _Touch:
    if isinstance(collider.shape, Plane):
        return _plane(scene, collider, own), np.zeros(3)
    if collider.motion is None:
        low, high = bounds_at(collider, scene.time.frame_start)
        still = np.zeros_like(own.velocity)
        return _boxes(own, _Flight(np.tile(low, (len(seconds), 1)), np.tile(high, (len(seconds), 1)), still, own.is_emitted))
    times = np.linspace(seconds[0], seconds[-1], _POSES)
    boxes = np.array([bounds_at(collider, scene.time.frame_start + time / scene.time.frame_seconds) for time in times])
    velocities = np.gradient(boxes.mean(axis=1), times, axis=0)
    between: Callable[[Floats], Floats] = lambda values: np.stack([np.interp(seconds, times, column) for column in values.T], axis=1)  # noqa: E731
    return _boxes(own, _Flight(between(boxes[:, 0]), between(boxes[:, 1]), between(velocities), own.is_emitted))


def _plane(scene: Scene, collider: Collider, own: _Flight) -> np.ndarray:
    corners = np.array([np.where(choice, own.high, own.low) for choice in np.ndindex(2, 2, 2)])
    local = in_shape(collider, scene.time.frame_start, corners.reshape(-1, 3))
    return (collider.shape.signed_distance(local).reshape(8, -1) <= 0.0).any(axis=0)


def _boxes(own: _Flight, other: _Flight) -> _Touch:
    """Whether two boxes touch at each moment; if one begins inside the other, whether it has reached a side of it."""
    is_apart = ((own.low > other.high) | (own.high < other.low)).any(axis=1)
    is_within = ((own.low > other.low) & (own.high < other.high)).all(axis=1)
    start = int(np.argmax(own.is_emitted & other.is_emitted))
    is_touching = ~is_within if is_within[start] else ~is_apart
    return is_touching & other.is_emitted, other.velocity


def stiffened_wave_speeds(scene: Scene, wave_speeds: list[float]) -> list[tuple[float, float]]:
    """For each emitter: when its material hardens [s], and its wave speed from then on [m/s].

    Args:
        wave_speeds: wave speeds in the emitters' materials as emitted [m/s].
    """
    found = []
    for emitter, speed in zip(scene.emitters, wave_speeds, strict=True):
        law = scene.materials[emitter.material].law
        impact = first_impact(scene, emitter) if law.stiffening(speed, math.inf) > 1.0 else None
        found.append((0.0, speed) if impact is None else (impact.seconds, speed * law.stiffening(speed, impact.speed)))
    return found
