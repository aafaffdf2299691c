"""Warnings about the space between two colliders: openings too narrow for the cells, and colliders that close on material.

The distance between two shapes is the least sum of a point's distances to both: on the shortest path from one to the other this sum equals
the gap, and elsewhere it is larger.
"""

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from ..forecast.placement import bounds_at, in_shape, pose_of, shape_at
from ..geometry.rotation import Floats
from ..laws.law import FluidLaw
from ..messages import Message, SceneWarning, Topic
from ..scene.animation import value_at
from ..scene.description import Collider, Scene

# Width of an opening below which solids, or liquids, flow through it too slowly, and below which hardly anything passes [cells]:
# measured with sand and water that run out of a box (docs/manual/sizes.md).
NARROWEST_OPENING, NARROWEST_FOR_LIQUIDS = 6.0, 4.0
BLOCKED_OPENING = 3.0
# Colliders nearer to each other than this look as if they touched, and next to nothing passes between them [cells].
TOUCHING = 1.0
# Depth to which one collider may move into another without a warning [cells].
DEEPEST = 1.0

# A point lies in an opening if the sum of its distances to both colliders is less than this multiple of the gap.
IN_OPENING = 1.02

_POINTS, _ROUNDS = 3000, 4
_POSES = 8


def narrow_openings(scene: Scene) -> Iterator[SceneWarning]:
    """For each collider, the narrowest opening at the first frame between it and a later one in the scene, if it spans too few cells."""
    spacing, frame = scene.solver.grid_spacing, scene.time.frame_start
    is_liquid = all(isinstance(material.law, FluidLaw) for material in scene.materials.values())
    narrowest = NARROWEST_FOR_LIQUIDS if is_liquid else NARROWEST_OPENING
    found: dict[str, tuple[float, Collider]] = {}
    for first, second in _pairs(scene):
        if first.dynamic or second.dynamic or not (value_at(first, "enabled", frame) and value_at(second, "enabled", frame)):
            continue
        gap = gap_between(first, second, scene, frame, narrowest * spacing)
        is_narrow = TOUCHING * spacing < gap < 0.99 * narrowest * spacing and gap < found.get(first.name, (np.inf,))[0]
        if is_narrow and not _is_filled(first, second, scene, frame, gap):
            found[first.name] = gap, second
    for name, (gap, other) in found.items():
        cells = gap / spacing
        effect = "hardly any passes" if cells < BLOCKED_OPENING else "less passes than should"
        yield SceneWarning(
            Topic.NARROW_OPENING,
            Message(
                f'the opening between it and collider "{other.name}" is only {gap:.2g} m, {cells:.2g} times the cell size of '
                f"{spacing:g} m: if material flows through it, {effect}",
                (f"close it, make it at least {narrowest:g} cells wide, or use a `grid_spacing` of at most {gap / narrowest:.2g} m",),
                f'Collider "{name}"',
            ),
        )


def closing_colliders(scene: Scene) -> Iterator[SceneWarning]:
    """Colliders that start apart and then move rigidly into one another."""
    spacing = scene.solver.grid_spacing
    for first, second in _pairs(scene):
        mover, other = (first, second) if _moves(first) else (second, first)
        if mover.dynamic or other.dynamic or not _moves(mover) or _deforms(first) or _deforms(second):
            continue
        frames = np.linspace(scene.time.frame_start, scene.time.frame_end, _POSES)
        depths = [_depth(mover, other, scene, float(frame)) for frame in frames]
        deepest = int(np.argmax(depths))
        if depths[0] <= 0.0 and depths[deepest] > DEEPEST * spacing:
            yield SceneWarning(
                Topic.CLOSING_COLLIDER,
                Message(
                    f'it moves {depths[deepest]:.2g} m into collider "{other.name}" by frame {frames[deepest]:.0f}, '
                    f"more than the cell size of {spacing:g} m: material between them is crushed and then moves incorrectly",
                    ("stop it before they meet, or make one of them dynamic so that it gives way",),
                    f'Collider "{mover.name}"',
                ),
            )


def gap_between(first: Collider, second: Collider, scene: Scene, frame: float, reach: float) -> float:
    """The shortest distance between two colliders [m], to a few percent; infinite beyond `reach`, not positive if they overlap."""
    low, high = _common_box(first, second, frame, reach)
    if (low >= high).any():
        return np.inf
    total = _nearest(low, high, scene, lambda points: _distance(first, frame, points) + _distance(second, frame, points))
    return total if total < reach else np.inf


def _is_filled(first: Collider, second: Collider, scene: Scene, frame: float, gap: float) -> bool:
    """Whether other colliders fill most of an opening of width `gap` [m]: at its median point, one is nearer than half the width."""
    others = [each for each in scene.colliders if each not in (first, second) and value_at(each, "enabled", frame)]
    low, high = _common_box(first, second, frame, gap)
    points = _points(low, high, np.random.default_rng(1), scene)
    points = points[_distance(first, frame, points) + _distance(second, frame, points) < IN_OPENING * gap]
    if not others or not len(points):
        return False
    return bool(np.median(np.min([_distance(each, frame, points) for each in others], axis=0)) < 0.5 * gap)


def _points(low: Floats, high: Floats, random: np.random.Generator, scene: Scene) -> Floats:
    """Points in a box, shape (n, 3) [m]."""
    points = low + random.random((_POINTS, 3)) * (high - low)
    if scene.solver.dimension == 2:
        points[:, 1] = 0.0
    return points


def _depth(first: Collider, second: Collider, scene: Scene, frame: float) -> float:
    """How deep two colliders overlap [m]: the depth of the point that is deepest in both; not positive if they do not."""
    if not (value_at(first, "enabled", frame) and value_at(second, "enabled", frame)):
        return 0.0
    low, high = _common_box(first, second, frame, 0.0)
    if (low >= high).any():
        return 0.0
    # the point deepest in both is equally far from both surfaces
    return -2.0 * _nearest(low, high, scene, lambda points: np.maximum(_distance(first, frame, points), _distance(second, frame, points)))


def _nearest(low: Floats, high: Floats, scene: Scene, measure: Callable[[Floats], Floats]) -> float:
    """The least value of a function of points (n, 3) in a box, searched more finely around the best point of each round."""
    random, best = np.random.default_rng(0), np.inf
    least, most = low, high
    for _ in range(_ROUNDS):
        points = _points(least, most, random, scene)
        values = measure(points)
        place = int(values.argmin())
        best = min(best, float(values[place]))
        reach = 0.15 * (most - least)
        least, most = np.maximum(low, points[place] - reach), np.minimum(high, points[place] + reach)
    return best


def _common_box(first: Collider, second: Collider, frame: float, reach: float) -> tuple[Floats, Floats]:
    """The box within `reach` [m] of both, or an empty one if it is not finite."""
    (low, high), (other_low, other_high) = bounds_at(first, frame), bounds_at(second, frame)
    low, high = np.maximum(low, other_low) - reach, np.minimum(high, other_high) + reach
    return (low, high) if np.isfinite(high - low).all() else (high, high)


def _pairs(scene: Scene) -> Iterator[tuple[Collider, Collider]]:
    return combinations(scene.colliders, 2)


def _moves(collider: Collider) -> bool:
    return collider.motion is not None and len(collider.motion.frames) > 1


def _deforms(collider: Collider) -> bool:
    return collider.motion is not None and collider.motion.vertices is not None


def _distance(item: Collider, frame: float, points: Floats) -> Floats:
    """The signed distance of points in the world [m], shape (n,)."""
    pose = pose_of(item, frame)
    scale = 1.0 if pose is None else float(np.cbrt(abs(np.linalg.det(pose[:3, :3]))))
    return scale * shape_at(item, frame).signed_distance(np.ascontiguousarray(in_shape(item, frame, points)))
