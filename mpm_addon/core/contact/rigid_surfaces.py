"""Surfaces of colliders that touch rigid bodies, as points and distances: the contacts of shapes that are not convex, and of sections.

Points on the surface of each are tested for their distance from the other. Convex shapes touch without this, see `contact_search`.
"""

import math
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..geometry.contact_points import ContactPoints, contact_points
from ..geometry.distance import DistanceQuery, exact_query
from ..geometry.hull import Hull, hull_of
from ..geometry.section import section_of
from ..geometry.shapes import Plane
from ..geometry.surface_elements import SurfaceElements, surface_elements
from ..scene.description import Scene
from .animated_obstacle import AnimatedObstacle
from .deforming_obstacle import DeformingObstacle
from .obstacle import Floats, Ints, Obstacle

# greatest dot product of two normals in contact: a point of a face touches what is in front of the face, not beside it
FACING = -0.3
# factor by which a point just outside a corner is farther from the middle, minus one
OUTSIDE = 1e-4
# distance that a vertex of a deforming mesh is moved toward a body, to test whether it leaves its own surface [cells]
WAY_OUT = 1e-3
# of the vertices of a deforming mesh in a cube of this size, only the nearest counts [cells]
CLOSEST = 0.5
# normals of one face have at least this dot product; gaps of a flat face differ from a plane by less than this share of its size
ALIKE, FLAT = 1.0 - 1e-9, 1e-6
# directions in which the outermost contacts of a face are used; none is along an edge of an axis-aligned box
_ANGLES = 2.0 * np.pi * (np.arange(16) + 0.37) / 16
_OUTWARD = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)
_NOTHING = np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)
# points of a surface with more than this are made where they are needed
MOST_POINTS = 20_000
# the least friction of sticky colliders
STICKY_FRICTION = 1.0


class _Found(NamedTuple):
    """Points of a surface and their normals, (n, 3), in a box of whole cubes with these corners (6,), all in its own coordinates."""

    cubes: Floats
    points: Floats
    normals: Floats


class RigidSurface:
    """The surface of a rigid collider, for contact with rigid bodies.

    Args:
        obstacle: the collider, with its pose, velocity and distance.
        scene: its scene; body: as below.

    Attributes:
        body: the number of the rigid body, or -1 for any other collider.
        hull: the shape as a hull, or None; see `geometry.hull`.
        is_half_space: whether it is a plane.
        points: on its surface, in its own coordinates; those of a surface with many are made where they are needed.
        middle: of the shape, in its own coordinates [m].
        radius: of the bounding ball about `middle` [m]; infinite for an infinite shape.
    """

    def __init__(self, obstacle: Obstacle, scene: Scene, body: int = -1) -> None:
        self.obstacle = obstacle
        self.body = body
        is_section = scene.solver.dimension == 2
        self._found: WeakKeyDictionary[Surface, _Found] = WeakKeyDictionary()
        self._is_section = is_section
        self._shape = section_of(obstacle.collider.shape) if is_section else obstacle.collider.shape
        self._spacing = max(scene.solver.grid_spacing, obstacle.point_spacing)
        self.is_half_space = isinstance(self._shape, Plane) and not is_section
        self.hull: Hull | None = None if is_section else hull_of(obstacle.collider.shape)
        self.middle, self.radius, self._half = np.zeros((1, 3)), math.inf, np.full(3, math.inf)
        bounds = self._shape.bounds()
        if np.isfinite(bounds[:, [0, 2]]).all():
            if is_section:
                bounds[:, 1] = 0.0
            self.middle = 0.5 * bounds.sum(axis=0)[None]
            self._half = 0.5 * (bounds[1] - bounds[0])
            self.radius = float(np.linalg.norm(self._half))

    @cached_property
    def points(self) -> ContactPoints:
        return contact_points(self._shape, self._spacing, MOST_POINTS)

    @cached_property
    def elements(self) -> SurfaceElements:
        """Of the surface, in its own coordinates, for pressure; the collider must be bounded."""
        spacing = self._spacing / self.obstacle.scale
        return surface_elements(self._shape, self.shape_distance, spacing, is_section=self._is_section)

    @cached_property
    def shape_distance(self) -> DistanceQuery:
        """The exact distance from the shape as it is, not thickened, in its own coordinates."""
        return exact_query(self._shape, 0.0)

    @cached_property
    def volume(self) -> float:
        """Of the shape, in its own coordinates [m^3, in 2D m^2]."""
        return self._shape.volume()

    @property
    def size(self) -> float:
        """The radius of the bounding ball in the world [m]."""
        return self.radius * self.obstacle.scale

    @cached_property
    def _known(self) -> tuple[Floats, Floats]:
        """All points of the surface and their normals, (n, 3)."""
        points = self.points.points if self.points.faces is None else self.points.faces.all()
        return points, self._outward(points)

    def _outward(self, points: Floats) -> Floats:
        # a corner has a normal just outside of it, between those of its faces
        return self.obstacle.shape_distance(points + OUTSIDE * (points - self.middle))[1]

    def _points_near(self, other: "Surface", reach: float) -> tuple[Floats, Floats]:
        """The points of this surface that may be nearer to another one than `reach` [m], and their normals, (n, 3)."""
        low, high = other.box()
        if self.points.faces is None or not np.isfinite(low).all():
            return self._known
        half = (0.5 * float(np.linalg.norm(high - low)) + reach) / self.obstacle.scale
        if not math.isfinite(half):
            return self._known
        middle = self.obstacle.local(0.5 * (low + high)[None])[0]
        # finding points takes long, so those of whole cubes are kept while the other surface moves within these
        size = 2.0 ** math.floor(math.log2(half))
        cubes = np.concatenate([np.floor((middle - half) / size), np.floor((middle + half) / size) + 1.0]) * size
        found = self._found.get(other)
        if found is None or not np.array_equal(found.cubes, cubes):
            points = self.points.faces.within(cubes[:3], cubes[3:])
            found = self._found[other] = _Found(cubes, points, self._outward(points))
        return found.points, found.normals

    def box(self) -> tuple[Floats, Floats]:
        """The corners of a box around it [m], each (3,); the collider must be in its pose."""
        if self.radius == math.inf:
            return np.full(3, -math.inf), np.full(3, math.inf)
        middle, reach = self.obstacle.world(self.middle)[0], self.radius * self.obstacle.scale
        return middle - reach, middle + reach

    def speed(self, around: Ints) -> float:
        """A bound on its speed [m/s]; for an infinite shape, at the node blocks `around` (n, 3)."""
        return self.obstacle.speed(around)

    def distance(self, points: Floats) -> tuple[Floats, Floats]:
        """The signed distance [m] of points (n, 3), shape (n,), and its gradient (n, 3), both exact."""
        return self.obstacle.distance(points, is_exact=True)

    def may_touch(self, points: Floats, reach: float) -> NDArray[np.bool_]:
        """Whether points (n, 3) may be nearer than `reach` [m]; a cheap bound."""
        if self.radius == math.inf:
            return np.ones(len(points), np.bool_)
        # a box in its own axes is tighter than a ball
        return (np.abs(self.obstacle.local(points) - self.middle) <= self._half + reach / self.obstacle.scale).all(axis=1)

    def near(self, other: "Surface", margin: float) -> tuple[Floats, Floats, Floats]:
        """The points of this surface nearer to another one than `margin` [m]: their positions, normals (k, 3) and gaps (k,)."""
        obstacle, mine = self.obstacle, self.points
        scale = obstacle.scale
        if self.is_half_space or other.distance(obstacle.world(self.middle))[0][0] > self.radius * scale + margin:
            return _NOTHING
        reach = margin + mine.radius * scale
        own, normals = self._points_near(other, reach)
        points, outward = obstacle.world(own), obstacle.rotated(normals)
        is_near = other.may_touch(points, reach)
        points, outward = points[is_near], outward[is_near]
        gap, normal = other.distance(points)
        if mine.radius == 0.0:
            is_facing = (outward * normal).sum(axis=1) < FACING
            points, gap, normal = points[is_facing], gap[is_facing], normal[is_facing]
        gap = gap - mine.radius * scale
        points = points - mine.radius * scale * normal
        if len(mine.rolls):
            axis_points, axis = obstacle.world(mine.rolls), obstacle.rotated(mine.axis[None])[0]
            _, out = other.distance(axis_points)
            across = out - (out @ axis)[:, None] * axis
            length = np.linalg.norm(across, axis=1)
            facing = length > 1e-3
            rolling = axis_points[facing] - mine.roll_radius * scale * across[facing] / length[facing, None]
            roll_gap, roll_normal = other.distance(rolling)
            points, gap, normal = np.concatenate([points, rolling]), np.concatenate([gap, roll_gap]), np.concatenate([normal, roll_normal])
        is_near = gap < margin
        return points[is_near], normal[is_near], gap[is_near]


class DeformingSurface:
    """The surface of a deforming collider, as `RigidSurface`; its points are its vertices in the current pose."""

    body = -1

    def __init__(self, obstacle: DeformingObstacle, spacing: float) -> None:
        self.obstacle = obstacle
        self._spacing = spacing

    def speed(self, around: Ints) -> float:
        return self.obstacle.fastest

    def distance(self, points: Floats) -> tuple[Floats, Floats]:
        return self.obstacle.distance(points)

    def box(self) -> tuple[Floats, Floats]:
        low, high = self.obstacle.bounds()
        return low, high

    def may_touch(self, points: Floats, reach: float) -> NDArray[np.bool_]:
        low, high = self.obstacle.bounds()
        return ((points > low - reach) & (points < high + reach)).all(axis=1)

    def near(self, other: RigidSurface, margin: float) -> tuple[Floats, Floats, Floats]:
        corners, offset = self.obstacle.corners()
        corners = corners[other.may_touch(corners, margin + offset)]
        gap, normal = other.distance(corners)
        gap = gap - offset
        near = np.flatnonzero(gap < margin)
        if not len(near):
            return _NOTHING
        way = WAY_OUT * self._spacing
        out = self.obstacle.distance(corners[near] - way * normal[near])[0] + offset
        near = near[out > -FACING * way]
        # of vertices close together, only the one nearest to the body
        near = near[np.argsort(gap[near], kind="stable")]
        _, first = np.unique(np.floor(corners[near] / (CLOSEST * self._spacing)), axis=0, return_index=True)
        near = near[np.sort(first)]
        return corners[near] - offset * normal[near], normal[near], gap[near]


Surface = RigidSurface | DeformingSurface


def touching(body: RigidSurface, other: Surface, margin: float) -> tuple[Floats, Floats, Floats]:
    """The contacts of a rigid body with another surface, nearer than `margin` [m].

    Returns:
        Their positions [m] and normals, toward the body, (k, 3), and gaps [m] (k,).
    """
    middle, reach = body.obstacle.world(body.middle), body.radius * body.obstacle.scale + margin
    if not other.may_touch(middle, reach)[0]:
        return _NOTHING
    # as far from a wall as most bodies are most of the time; vertices of a deforming mesh are looked at in any case
    if isinstance(other, RigidSurface) and other.distance(middle)[0][0] > reach:
        return _NOTHING
    points, normals, gaps = body.near(other, margin)
    # the points of a round body, with their radius, are exact for any surface
    if body.points.radius == 0.0:
        its_points, its_normals, its_gaps = other.near(body, margin)
        # moved to the body's side of the gap, with the normal toward the body
        points = np.concatenate([points, its_points - its_gaps[:, None] * its_normals])
        normals, gaps = np.concatenate([normals, -its_normals]), np.concatenate([gaps, its_gaps])
    kept = _supporting(points, normals, gaps)
    return points[kept], normals[kept], gaps[kept]


def _supporting(points: Floats, normals: Floats, gaps: Floats) -> Ints:
    """The contacts of a pair that imply all others, in order: for two faces that lie on each other, the outermost ones.

    If all normals are equal and the gap is an affine function of the position, so is the velocity that a contact requires. Sweeps
    over fewer contacts converge sooner; without this, a stack of many bodies leans.
    """
    every = np.arange(len(gaps))
    if len(gaps) <= 4:
        return every
    normal = normals[0]
    if ((normals @ normal) < ALIKE).any():
        return every
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first /= np.linalg.norm(first)
    flat = (points - points.mean(axis=0)) @ np.stack([first, np.cross(normal, first)], axis=1)
    plane = np.hstack([flat, np.ones((len(flat), 1))])
    size = float(np.abs(flat).max())
    if np.abs(plane @ np.linalg.lstsq(plane, gaps, rcond=None)[0] - gaps).max() > FLAT * size:
        return every
    return np.unique((flat @ _OUTWARD.T).argmax(axis=0))


def surface_of(obstacle: Obstacle | DeformingObstacle, scene: Scene) -> Surface:
    """The surface of a collider of a scene, for contact with rigid bodies."""
    if isinstance(obstacle, DeformingObstacle):
        return DeformingSurface(obstacle, scene.solver.grid_spacing)
    return RigidSurface(obstacle, scene)


def friction_of(obstacle: AnimatedObstacle) -> float:
    """The friction coefficient of a collider against rigid bodies."""
    friction, _ = obstacle.frictions
    return max(friction, STICKY_FRICTION) if obstacle.collider.surface == "sticky" else friction
