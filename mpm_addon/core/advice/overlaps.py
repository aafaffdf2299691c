"""Warnings about emitters that share space with colliders, where nothing is emitted, or with each other, where material is too dense."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..emission.schedule import frame_of_once
from ..forecast.placement import bounds_at, in_shape, in_world, pose_of, shape_at
from ..geometry.outline import Outline
from ..geometry.rotation import Floats
from ..geometry.section import section_of
from ..geometry.shapes import Mesh, Points
from ..geometry.thickness import is_solid
from ..messages import Message, SceneWarning, Topic
from ..scene.animation import value_at
from ..scene.description import Collider, Emitter, Scene
from ..scene.shape import Shape

# Largest share of an emitter's volume inside a collider without a warning.
LARGEST_OVERLAP = 0.01
# Largest share of an emitter's volume inside another emitter without a warning: shapes that are only meant to touch overlap a little.
LARGEST_SHARED = 0.03

_INSIDE_POINTS = 20_000
_SHARED_POINTS = 1_000


def overlaps(scene: Scene) -> Iterator[SceneWarning]:
    """A warning for each emitter and collider, and for each emitter and another, that share more space than is allowed."""
    yield from _in_colliders(scene)
    yield from _in_emitters(scene)


def _in_colliders(scene: Scene) -> Iterator[SceneWarning]:
    for emitter in scene.emitters:
        frame = first_emission(emitter, scene)
        if frame is None:
            continue
        points: Floats | None = None
        for collider in scene.colliders:
            is_clamp = emitter.mode == "once" and collider.surface == "sticky"
            if is_clamp or not value_at(collider, "enabled", frame):
                continue
            low, high = bounds_at(emitter, frame)
            other_low, other_high = bounds_at(collider, frame)
            if (low >= other_high).any() or (high <= other_low).any() or not has_inside(collider, collider.shape):
                continue
            points = _inside_points(emitter, frame, scene.solver.dimension) if points is None else points
            share = float((_distance(collider, frame, points) < 0.0).mean()) if len(points) else 0.0
            if share > LARGEST_OVERLAP:
                yield SceneWarning(
                    Topic.OVERLAP,
                    Message(
                        f'{share:.0%} of its volume is inside collider "{collider.name}" at frame {frame}, '
                        f"more than {LARGEST_OVERLAP:.0%}: no particles are emitted there",
                        ("move them apart",),
                        _subject(emitter),
                    ),
                )


@dataclass(frozen=True)
class _Filled:
    """An emitter that fills its volume at once.

    Attributes:
        frame: when it does.
        bounds: its bounding box then [m], shape (2, 3).
        volume: [m^3], in 2D its area [m^2]; None for a cloud of points.
    """

    emitter: Emitter
    frame: int
    bounds: Floats
    volume: float | None


def _in_emitters(scene: Scene) -> Iterator[SceneWarning]:
    """One warning for each emitter that shares space with others, about the one with which it shares most."""
    filled = [each for emitter in scene.emitters if (each := _filled(emitter, scene)) is not None]
    most: dict[str, tuple[float, _Filled, _Filled]] = {}
    for one, other in itertools.combinations(filled, 2):
        if one.frame != other.frame or (one.bounds[0] >= other.bounds[1]).any() or (other.bounds[0] >= one.bounds[1]).any():
            continue
        share, smaller, larger = _shared(one, other, scene.solver.dimension)
        if share > max(LARGEST_SHARED, most.get(smaller.emitter.name, (0.0,))[0]):
            most[smaller.emitter.name] = share, smaller, larger
    for share, smaller, larger in most.values():
        yield SceneWarning(
            Topic.OVERLAP,
            Message(
                f'{share:.0%} of its volume is inside emitter "{larger.emitter.name}", and both emit at frame {smaller.frame}: '
                "material begins twice as dense there, and bursts apart",
                ("move them apart, or cut one out of the other (in Blender: Boolean modifier)",),
                _subject(smaller.emitter),
            ),
        )


def _filled(emitter: Emitter, scene: Scene) -> _Filled | None:
    """None for an emitter that never emits, emits only where there is space, or covers its surface."""
    frame = first_emission(emitter, scene)
    if frame is None or emitter.mode != "once" or emitter.source != "volume":
        return None
    return _Filled(emitter, frame, bounds_at(emitter, frame), _volume(emitter, frame, scene.solver.dimension))


def _volume(emitter: Emitter, frame: int, dimension: int) -> float | None:
    shape = shape_at(emitter, frame)
    if isinstance(shape, Points):
        return None
    pose = pose_of(emitter, frame)
    scale = 1.0 if pose is None else float(np.cbrt(abs(np.linalg.det(pose[:3, :3]))))
    solid = shape if dimension == 3 else section_of(shape, _subject(emitter))
    return float(solid.volume()) * scale**dimension


def _shared(one: _Filled, other: _Filled, dimension: int) -> tuple[float, _Filled, _Filled]:
    """The share that the smaller of two emitters has inside the larger, and both; a cloud of points counts as the smaller one."""
    if one.volume is None or other.volume is None:
        cloud, solid = (one, other) if one.volume is None else (other, one)
        if solid.volume is None:
            return 0.0, cloud, solid
        points = _inside_points(cloud.emitter, cloud.frame, dimension)
        is_near = ((points > solid.bounds[0]) & (points < solid.bounds[1])).all(axis=1)
        return float((_distance(solid.emitter, solid.frame, points[is_near]) < 0.0).sum()) / len(points), cloud, solid
    smaller, larger = sorted((one, other), key=lambda each: each.volume or 0.0)
    low, high = np.maximum(one.bounds[0], other.bounds[0]), np.minimum(one.bounds[1], other.bounds[1])
    box = float(np.prod((high - low)[:: 4 - dimension]))
    if box <= LARGEST_SHARED * (smaller.volume or 0.0):
        return 0.0, smaller, larger
    points = low + np.random.default_rng(0).random((_SHARED_POINTS, 3)) * (high - low)
    points[:, 1] *= dimension - 2
    inside = points[_distance(smaller.emitter, smaller.frame, points) < 0.0]
    inside = inside[_distance(larger.emitter, larger.frame, inside) < 0.0] if len(inside) else inside
    return min(1.0, box * len(inside) / _SHARED_POINTS / (smaller.volume or np.inf)), smaller, larger


def has_inside(item: Emitter | Collider, shape: Shape) -> bool:
    """Whether the inside is used; an open mesh acts as a sheet collider."""
    return isinstance(item, Emitter) or not isinstance(shape, Mesh | Outline) or is_solid(shape)


def first_emission(emitter: Emitter, scene: Scene) -> int | None:
    """The frame at which an emitter first emits, or None if it never does."""
    first = frame_of_once(emitter, scene)
    return None if first is None else max(scene.time.frame_start, first)


def _inside_points(emitter: Emitter, frame: int, dimension: int) -> Floats:
    """Points in the world, uniformly inside an emitter, shape (n, 3)."""
    if isinstance(emitter.shape, Points):
        step = -(-len(emitter.shape.position) // _INSIDE_POINTS)
        return in_world(emitter, frame, np.asarray(emitter.shape.position, np.float64)[::step]) * [1.0, dimension - 2.0, 1.0]
    low, high = bounds_at(emitter, frame)
    points = low + np.random.default_rng(0).random((_INSIDE_POINTS, 3)) * (high - low)
    points[:, 1] *= dimension - 2
    return points[_distance(emitter, frame, points) < 0.0]


def _distance(item: Emitter | Collider, frame: int, points: Floats) -> Floats:
    """The signed distance of points in the world, except for the pose's scale, shape (n,)."""
    return shape_at(item, frame).signed_distance(np.ascontiguousarray(in_shape(item, frame, points)))


def _subject(item: Emitter | Collider) -> str:
    return f'{type(item).__name__} "{item.name}"'
