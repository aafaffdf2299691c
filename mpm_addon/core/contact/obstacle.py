"""One rigid collider or wall: its pose and velocity, and its signed distance at the nodes of the blocks near it."""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..geometry.distance import DistanceQuery, distance_query, exact_query
from ..geometry.motion import velocity_at
from ..geometry.section import section_of
from ..geometry.shapes.mesh import Mesh
from ..geometry.thickness import thickening
from ..scene.animation import value_at
from ..scene.description import Collider, Scene
from ..transfer.blocks import BLOCK
from .feet import SEPARATE, SLIP, STICKY

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# so long is matter expelled by an obstacle that has appeared around it [frames]
EXPULSION_FRAMES = 10.0
SURFACE_NUMBERS = {"sticky": STICKY, "slip": SLIP, "separate": SEPARATE}
_NODES = np.arange(BLOCK)
# the nodes of a block, by dimension; in the plane they lie at its top, y = 0
CORNERS = {
    2: np.stack(np.meshgrid(_NODES, [BLOCK], _NODES, indexing="ij"), axis=-1).reshape(-1, 3),
    3: np.stack(np.meshgrid(_NODES, _NODES, _NODES, indexing="ij"), axis=-1).reshape(-1, 3),
}
# a block is near where its middle is nearer than its farthest corner and one more cell
_NEAR = 0.5 * np.sqrt(3.0) * (BLOCK - 1) + 1.0

# How far a distance near the surface may be from the true one [cells]: from samples, in the angle of two walls, and by rounding.
SAMPLED_ERROR = 0.2
EXACT_ERROR = 0.02


class Field(NamedTuple):
    """Obstacles near the nodes, a row for each pair of an obstacle and a node block near it, ascending by both.

    Attributes:
        owners: (rows,) number of the obstacle; keys: (rows,) of the block.
        distance: (rows, block nodes) [m], positive outside; normal: (rows, block nodes, 3) unit vectors, outward.
        velocity: (rows, block nodes, 3) of deforming obstacles at their nearest point [m/s]; (0, block nodes, 3) for rigid ones.
    """

    owners: Ints
    keys: Ints
    distance: Floats
    normal: Floats
    velocity: Floats

    def rows(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> "Field":
        """Some of the rows."""
        velocity = self.velocity[chosen] if len(self.velocity) else self.velocity
        return Field(self.owners[chosen], self.keys[chosen], self.distance[chosen], self.normal[chosen], velocity)


def joined_fields(fields: list[Field]) -> Field:
    """Several fields as one; a pair of an obstacle and a block may be in one of them only."""
    joined = Field._make(np.concatenate(parts) for parts in zip(*fields, strict=True))
    order = np.lexsort((joined.keys, joined.owners))
    return joined if np.array_equal(order, np.arange(len(order))) else joined.rows(order)


def empty_field(dimension: int) -> Field:
    nothing, count = np.zeros(0, np.int64), BLOCK**dimension
    return Field(nothing, nothing, np.zeros((0, count)), np.zeros((0, count, 3)), np.zeros((0, count, 3)))


class AnimatedObstacle:
    """What of a collider changes from frame to frame besides its pose.

    Attributes:
        name, collider: what it is made from.
        surface, friction: how matter meets it, see `impulses`.
        is_present: whether it is there; is_expelling: whether it has come just now, and matter is to leave its inside.
    """

    def __init__(self, collider: Collider) -> None:
        self.name = collider.name
        self.collider = collider
        self.surface = SURFACE_NUMBERS[collider.surface]
        self.friction = collider.friction
        self.is_present = True
        self.is_expelling = False

    def begin_frame(self) -> None:
        """Forget what was found out on the way to a frame, or state between two: a simulation may be continued from there."""

    def take_values(self, frame: float) -> None:
        """Take the animated values of a moment, in frames."""
        if self.collider.animation is not None:
            self.friction = value_at(self.collider, "friction", frame)
            self.is_present = value_at(self.collider, "enabled", frame)
            self.is_expelling = self.is_present and frame - _appearance(self.collider, frame) < EXPULSION_FRAMES
            # what held matter at once would hold what is to leave
            kind = "separate" if self.is_expelling and self.collider.surface == "sticky" else self.collider.surface
            self.surface = SURFACE_NUMBERS[kind]


class Obstacle(AnimatedObstacle):
    """One collider or wall.

    Args:
        pivot: the point of the shape that velocities are given at, in its own coordinates [m]: a dynamic one's centre of mass.

    Attributes:
        rigid: (9,) velocity of its pivot [m/s], angular velocity [rad/s], pivot [m].
        is_moving: whether it ever moves, or comes and goes.
        pivot: (3,); scale: its size over the shape's.
    """

    is_deforming = False

    def __init__(self, collider: Collider, scene: Scene, pivot: Floats | None = None) -> None:
        super().__init__(collider)
        self.is_moving = collider.motion is not None or collider.dynamic or _is_animated(collider, "enabled")
        self.pivot = np.zeros(3) if pivot is None else pivot
        self.rigid = np.concatenate([np.zeros(6), self.pivot])
        self._spacing = scene.solver.grid_spacing
        self._motion = None if collider.dynamic else collider.motion
        self._frame_rate = 1.0 / scene.time.frame_seconds
        self._is_plane = scene.solver.dimension == 2
        shape = section_of(collider.shape, f'Collider "{collider.name}"') if self._is_plane else collider.shape
        self._shape = shape
        self._corners = CORNERS[scene.solver.dimension]
        self._query = distance_query(shape, self._spacing)
        axes = [0, 2] if self._is_plane else [0, 1, 2]
        self._radius = float(np.linalg.norm(np.abs(shape.bounds() - self.pivot).max(axis=0)[axes]))
        self._matrix, self._inverse = np.eye(4), np.eye(3)
        self.scale = 1.0

    def move_to(self, frame: float) -> None:
        """Take the pose and velocity of a moment, in frames; a dynamic one's are given by `place`."""
        if self._motion is not None:
            matrix, linear, angular = velocity_at(self._motion, frame, self._frame_rate)
            self.place(matrix, linear, angular)

    def place(self, matrix: Floats, linear: Floats, angular: Floats) -> None:
        """Take a pose (4, 4), world from local, the velocity of the pivot [m/s] and the angular velocity [rad/s]."""
        self._matrix, self._inverse = matrix, np.linalg.inv(matrix[:3, :3])
        self.scale = float(np.cbrt(abs(np.linalg.det(matrix[:3, :3]))))
        self.rigid = np.concatenate([linear, angular, matrix[:3, :3] @ self.pivot + matrix[:3, 3]])
        if self._is_plane:
            self.rigid[[1, 3, 5]] = 0.0

    @property
    def center(self) -> Floats:
        """Where its pivot is [m], shape (3,)."""
        return self.rigid[6:]

    def world(self, points: Floats) -> Floats:
        """Where points (n, 3) of the shape are [m]."""
        return points @ self._matrix[:3, :3].T + self._matrix[:3, 3]

    def turned(self, directions: Floats) -> Floats:
        """Where unit directions (n, 3) of the shape point."""
        return directions @ self._matrix[:3, :3].T / self.scale

    def shape_distance(self, points: Floats) -> tuple[Floats, Floats]:
        """The distance [m] of points (n, 3) in the shape's own coordinates, shape (n,), and its gradient (n, 3)."""
        return self._query(np.ascontiguousarray(points))

    def velocity_at(self, points: Floats) -> Floats:
        """Its velocity at points (n, 3) [m/s]."""
        return self.rigid[:3] + np.cross(self.rigid[3:6], points - self.rigid[6:])

    def speed(self, near: Ints) -> float:
        """A bound on the obstacle's speed [m/s]: of its farthest corner, or, where it has no end, at the blocks near it (n, 3)."""
        if not self.is_moving or not self.is_present:
            return 0.0
        if math.isfinite(self._radius):
            return float(np.linalg.norm(self.rigid[:3]) + np.linalg.norm(self.rigid[3:6]) * self._radius * self.scale)
        return float(np.linalg.norm(self.velocity_at((near + 0.5) * (BLOCK * self._spacing)), axis=1).max(initial=0.0))

    def measure(self, number: int, keys: Ints, coordinates: Ints) -> Field:
        """The distance at the nodes of those blocks that are near, for the obstacle number `number`."""
        if not self.is_present:
            return empty_field(2 if self._is_plane else 3)
        middle = (BLOCK * coordinates + self._corners.mean(axis=0)) * self._spacing
        near = np.flatnonzero(self.distance(middle)[0] < _NEAR * self._spacing)
        nodes = (BLOCK * coordinates[near, None, :] + self._corners) * self._spacing
        distance, normal = self.distance(nodes.reshape(-1, 3))
        distance, normal = distance.reshape(-1, len(self._corners)), normal.reshape(-1, len(self._corners), 3)
        # far from a mesh the distance is only a bound, so that the middle alone does not tell
        is_near = distance.min(axis=1, initial=np.inf) < 0.99 * self._spacing
        if not is_near.all():
            near, distance, normal = near[is_near], distance[is_near], normal[is_near]
        return Field(np.full(len(near), number), keys[near], distance, normal, np.zeros((0, *normal.shape[1:])))

    def holds(self, points: Floats, *, is_body: bool) -> NDArray[np.bool_]:
        """Which points (n, 3) [m] lie in it.

        Args:
            is_body: whether they are a body that may touch it: then those count as outside that are no deeper than the distance
                may err, and those that lie only in what a thin obstacle is thickened by.
        """
        error = (SAMPLED_ERROR if isinstance(self._shape, Mesh) else EXACT_ERROR) * self._spacing
        allowance = error + 0.5 * self.scale * thickening(self._shape, self._spacing)
        return self.distance(points)[0] < (-allowance if is_body else 0.0)

    @cached_property
    def _exact(self) -> DistanceQuery:
        return exact_query(self._shape, self._spacing)

    def distance(self, points: Floats, *, is_exact: bool = False) -> tuple[Floats, Floats]:
        """The signed distance [m] of points (n, 3), shape (n,), positive outside, and its gradient (n, 3).

        That from a mesh is sampled, and a bound where it is more than a cell, unless it is to be exact.
        """
        query = self._exact if is_exact else self._query
        if not self.is_moving:
            return query(np.ascontiguousarray(points))
        local = (points - self._matrix[:3, 3]) @ self._inverse.T
        distance, normal = query(np.ascontiguousarray(local))
        return distance * self.scale, normal @ self._matrix[:3, :3].T / self.scale


def _appearance(collider: Collider, frame: float) -> float:
    """The frame at which a collider that is enabled last became so; minus infinity for one that always was."""
    animation = collider.animation
    if animation is None or "enabled" not in animation.values:
        return -math.inf
    absent = np.flatnonzero((animation.values["enabled"] < 0.5) & (animation.frames <= frame))
    return float(animation.frames[absent[-1] + 1]) if len(absent) else -math.inf


def _is_animated(collider: Collider, name: str) -> bool:
    return collider.animation is not None and name in collider.animation.values
