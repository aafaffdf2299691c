"""What stands below objects in a scene: the artist's own ground, which a quick effect must not cover with another."""

from dataclasses import dataclass

import numpy as np

from ...core.errors import SceneError
from ...core.geometry.shapes.mesh import Mesh
from ..host.blender_types import BlenderObject, Context
from ..host.meshes import SURFACE_TYPES, Floats, matrix_array, may_instance, moved, read_geometry, world_bounds, world_surface

# a surface that rises by less than this share of its width is flat
_FLAT = 1e-3
# places along each side of an object at which to look below it; an odd number has one in the middle
_PLACES = 5
# directions in which the corners of an outline are looked for
_DIRECTIONS = 128
# how far an object may reach into its ground, as a share of its height, and its contents into its sides, as a share of its width
_SUNK = 0.1


@dataclass(frozen=True)
class Ground:
    """A collider or a rendered object below another.

    Attributes:
        item: the object.
        height: of its surface where it is below the other [Blender units].
        bounds: of the object in world space, shape (2, 3).
        encloses: whether it also has a surface above the other, as a room has.
        surface: its triangles.
    """

    item: BlenderObject
    height: float
    bounds: Floats
    encloses: bool
    surface: "_Surface"

    @property
    def outline(self) -> Floats:
        """The corners of its convex hull seen from above, counterclockwise, shape (n, 2)."""
        return _outline(self.surface.triangles.reshape(-1, 3)[:, :2])

    @property
    def width(self) -> float:
        """The longer horizontal side of its bounds [Blender units]."""
        return float((self.bounds[1] - self.bounds[0])[:2].max())

    @property
    def is_flat(self) -> bool:
        """Whether it is a level plane."""
        return bool(self.bounds[1, 2] - self.bounds[0, 2] <= _FLAT * self.width)


def grounds_below(context: Context, shape: Mesh, without: list[BlenderObject]) -> list[Ground]:
    """What something falls on, what that stands on, and so on: scenery and colliders.

    Args:
        shape: the surface of what stands above, in world space.
        without: objects that do not count.
    """
    colliders = [item for item in context.scene.objects if item.mpm.type == "collider" and item.type in SURFACE_TYPES]
    search = _Search(context, [item for item in (*colliders, *scenery(context)) if item not in without])
    bounds = shape.bounds()
    grounds = [search.closest_below(place, bounds, is_middle=number == 0) for number, place in enumerate(_places(shape))]
    found = {ground.item.name: ground for ground in grounds if ground is not None}
    left = list(found.values())
    while left:
        above = left.pop()
        ground = search.closest_below(above.bounds.mean(axis=0)[:2], above.bounds, is_middle=True, without=above.item)
        if ground is not None and ground.item.name not in found:
            found[ground.item.name] = ground
            left.append(ground)
    return list(found.values())


def _places(shape: Mesh) -> list[Floats]:
    """Where to look below something: below its middle, and at places of a grid that are below its surface."""
    low, high = shape.bounds()[:, :2]
    steps = (np.arange(_PLACES) + 0.5) / _PLACES
    grid = [low + np.array([x, y]) * (high - low) for x in steps for y in steps]
    surface = _Surface.of(shape.vertices[shape.triangles])
    return [0.5 * (low + high), *(place for place in grid if surface.crossings(place).size)]


class _Search:
    """Looks for what is below something else; reads each object once, and only if it can be there."""

    def __init__(self, context: Context, items: list[BlenderObject]) -> None:
        self._depsgraph = context.evaluated_depsgraph_get()
        self._items = [(item, item.evaluated_get(self._depsgraph)) for item in items]
        self._surfaces: dict[str, _Surface | None] = {}
        self._bounds = {item.name: self._bounds_of(item, evaluated) for item, evaluated in self._items}

    def closest_below(self, place: Floats, bounds: Floats, *, is_middle: bool, without: BlenderObject | None = None) -> Ground | None:
        """What is closest below something at one place (2,).

        Args:
            bounds: of what stands above, shape (2, 3).
            is_middle: whether what also has a surface above counts, as a room does; elsewhere, it is a wall beside.
            without: an object that does not count.
        """
        grounds = [self._ground(item, evaluated, place, bounds) for item, evaluated in self._items if item != without]
        found = [ground for ground in grounds if ground is not None and (is_middle or not ground.encloses)]
        if not found:
            return None
        top = max(found, key=lambda each: each.height)
        # the hidden floor of a plane lies at its height
        hidden = [each for each in found if each.item.mpm.type == "collider" and top.height - each.height <= _FLAT * top.width]
        return max(hidden or [top], key=lambda each: each.height)

    def _ground(self, item: BlenderObject, evaluated: BlenderObject, place: Floats, bounds: Floats) -> Ground | None:
        its = self._bounds[item.name]
        limit = bounds[0, 2] + _SUNK * (bounds[1, 2] - bounds[0, 2])
        if (its[0, :2] > place).any() or (its[1, :2] < place).any() or its[0, 2] > limit or _is_content(its, bounds):
            return None
        surface = self._surface(item, evaluated)
        heights = np.empty(0) if surface is None else surface.crossings(place)
        below = heights[heights <= limit]
        if surface is None or not below.size:
            return None
        return Ground(item, float(below.max()), its, bool((heights > limit).any()), surface)

    def _bounds_of(self, item: BlenderObject, evaluated: BlenderObject) -> Floats:
        # Blender's box is without instances
        surface = self._surface(item, evaluated) if _is_of_instances(evaluated) else None
        return world_bounds(evaluated) if surface is None or not len(surface.triangles) else surface.bounds()

    def _surface(self, item: BlenderObject, evaluated: BlenderObject) -> "_Surface | None":
        if item.name not in self._surfaces:
            self._surfaces[item.name] = self._read(evaluated)
        return self._surfaces[item.name]

    def _read(self, evaluated: BlenderObject) -> "_Surface | None":
        subject = f'Object "{evaluated.name}"'
        try:
            if _is_of_instances(evaluated):
                vertices, triangles = world_surface(evaluated, self._depsgraph, subject)
                return _Surface.of(vertices[triangles])
            geometry = read_geometry(evaluated, subject)
        except SceneError:  # what has no readable surface, such as an empty curve, is no ground
            return None
        return _Surface.of(moved(geometry.vertices, matrix_array(evaluated.matrix_world))[geometry.triangles])


def scenery(context: Context) -> list[BlenderObject]:
    """The rendered objects with a surface that have no part in the simulation."""
    return [item for item in context.scene.objects if _is_scenery(item)]


def _is_scenery(item: BlenderObject) -> bool:
    return item.type in SURFACE_TYPES and item.mpm.type == "none" and not item.mpm.cache and not item.hide_render and item.visible_get()


@dataclass(frozen=True)
class _Surface:
    """Triangles (n, 3, 3) in world space, and their bounds from above, (n, 2) each."""

    triangles: Floats
    low: Floats
    high: Floats

    @staticmethod
    def of(triangles: Floats) -> "_Surface":
        return _Surface(triangles, triangles[:, :, :2].min(axis=1), triangles[:, :, :2].max(axis=1))

    def bounds(self) -> Floats:
        """The axis-aligned bounding box, shape (2, 3)."""
        return np.stack([self.triangles.min(axis=(0, 1)), self.triangles.max(axis=(0, 1))])

    def crossings(self, place: Floats) -> Floats:
        """The heights at which the triangles cross a vertical line through a place (2,), shape (k,)."""
        triangles = self.triangles[((self.low <= place) & (place <= self.high)).all(axis=1)]
        ways = triangles[:, :, :2] - place
        areas = np.stack([_cross(ways[:, (n + 1) % 3], ways[:, (n + 2) % 3]) for n in range(3)], axis=1)
        total = areas.sum(axis=1)
        is_crossed = ((areas >= 0.0).all(axis=1) | (areas <= 0.0).all(axis=1)) & (total != 0.0)
        shares = areas[is_crossed] / total[is_crossed, None]
        return (shares * triangles[is_crossed, :, 2]).sum(axis=1)


def _is_of_instances(evaluated: BlenderObject) -> bool:
    """Whether an object has no mesh but those that it instances. One that has is ground without them, as a meadow without its grass."""
    return evaluated.type == "MESH" and not len(evaluated.data.vertices) and may_instance(evaluated)


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


def _cross(one: Floats, other: Floats) -> Floats:
    return one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]
