"""What stands below objects in a scene: the artist's own ground, which a quick effect must not cover with another."""

from dataclasses import dataclass

import numpy as np

from ...core.errors import SceneError
from ..host.blender_types import BlenderObject, Context
from ..host.meshes import SURFACE_TYPES, Floats, matrix_array, moved, read_geometry, world_bounds

# a surface that rises by less than this share of its width is flat
_FLAT = 1e-3
# directions in which the corners of an outline are looked for
_DIRECTIONS = 128
# how far an object may reach into its ground, as a share of its height, and its contents into its sides, as a share of its width
_SUNK = 0.1


@dataclass(frozen=True)
class Ground:
    """A collider or a rendered object below another.

    Attributes:
        item: the object.
        height: of its surface below the middle of the other [Blender units].
        bounds: of the object in world space, shape (2, 3).
        encloses: whether it also has a surface above the other's middle, as a room has.
        outline: the corners of its convex hull seen from above, counterclockwise, shape (n, 2).
    """

    item: BlenderObject
    height: float
    bounds: Floats
    encloses: bool
    outline: Floats

    @property
    def width(self) -> float:
        """The longer horizontal side of its bounds [Blender units]."""
        return float((self.bounds[1] - self.bounds[0])[:2].max())

    @property
    def is_flat(self) -> bool:
        """Whether it is a level plane."""
        return bool(self.bounds[1, 2] - self.bounds[0, 2] <= _FLAT * self.width)


def grounds_below(context: Context, bounds: Floats, without: list[BlenderObject]) -> list[Ground]:
    """What something falls on, what that stands on, and so on: scenery and colliders, from top to bottom.

    Args:
        bounds: of what stands above in world space, shape (2, 3).
        without: objects that do not count.
    """
    colliders = [item for item in context.scene.objects if item.mpm.type == "collider" and item.type in SURFACE_TYPES]
    left = [item for item in (*colliders, *scenery(context)) if item not in without]
    found: list[Ground] = []
    while (ground := _closest_below(context, bounds, left)) is not None:
        found.append(ground)
        left.remove(ground.item)
        bounds = ground.bounds
    return found


def _closest_below(context: Context, bounds: Floats, items: list[BlenderObject]) -> Ground | None:
    found = [ground for item in items if (ground := _ground(context, item, bounds)) is not None]
    if not found:
        return None
    top = max(found, key=lambda each: each.height)
    # the hidden floor of a plane lies at its height
    hidden = [each for each in found if each.item.mpm.type == "collider" and top.height - each.height <= _FLAT * top.width]
    return max(hidden or [top], key=lambda each: each.height)


def scenery(context: Context) -> list[BlenderObject]:
    """The rendered objects with a surface that have no part in the simulation."""
    return [item for item in context.scene.objects if _is_scenery(item)]


def _is_scenery(item: BlenderObject) -> bool:
    return item.type in SURFACE_TYPES and item.mpm.type == "none" and not item.mpm.cache and not item.hide_render and item.visible_get()


def _ground(context: Context, item: BlenderObject, bounds: Floats) -> Ground | None:
    evaluated = item.evaluated_get(context.evaluated_depsgraph_get())
    its, middle = world_bounds(evaluated), bounds.mean(axis=0)
    limit = bounds[0, 2] + _SUNK * (bounds[1, 2] - bounds[0, 2])
    if (its[0, :2] > middle[:2]).any() or (its[1, :2] < middle[:2]).any() or its[0, 2] > limit or _is_content(its, bounds):
        return None
    try:
        geometry = read_geometry(evaluated, f'Object "{item.name}"')
    except SceneError:  # what has no readable surface, such as an empty curve, is no ground
        return None
    triangles = moved(geometry.vertices, matrix_array(evaluated.matrix_world))[geometry.triangles]
    heights = _crossings(triangles, middle[:2])
    below = heights[heights <= limit]
    if not below.size:
        return None
    return Ground(item, float(below.max()), its, bool((heights > limit).any()), _outline(triangles.reshape(-1, 3)[:, :2]))


def _is_content(its: Floats, bounds: Floats) -> bool:
    """Whether something stands in something else, as what fills a vase does; it may look out at the top, and reach into the sides."""
    margin = _SUNK * (bounds[1, :2] - bounds[0, :2])
    is_within = (its[0, :2] >= bounds[0, :2] - margin).all() and (its[1, :2] <= bounds[1, :2] + margin).all()
    return bool(is_within and its[0, 2] >= bounds[0, 2])


def _outline(points: Floats) -> Floats:
    """The points (n, 2) that are farthest in some direction, counterclockwise."""
    angles = (np.arange(_DIRECTIONS) + 0.5) * (2.0 * np.pi / _DIRECTIONS)
    points = np.unique(points, axis=0)
    farthest = (points @ np.stack([np.cos(angles), np.sin(angles)])).argmax(axis=0)
    return points[farthest[farthest != np.roll(farthest, 1)]]


def _crossings(triangles: Floats, place: Floats) -> Floats:
    """The heights at which triangles (n, 3, 3) cross a vertical line through a place (2,), shape (k,)."""
    ways = triangles[:, :, :2] - place
    areas = np.stack([_cross(ways[:, (n + 1) % 3], ways[:, (n + 2) % 3]) for n in range(3)], axis=1)
    total = areas.sum(axis=1)
    is_crossed = ((areas >= 0.0).all(axis=1) | (areas <= 0.0).all(axis=1)) & (total != 0.0)
    shares = areas[is_crossed] / total[is_crossed, None]
    return (shares * triangles[is_crossed, :, 2]).sum(axis=1)


def _cross(one: Floats, other: Floats) -> Floats:
    return one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]
