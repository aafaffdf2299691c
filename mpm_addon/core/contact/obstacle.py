"""One rigid collider or wall: its pose and velocity, and its signed distance at the nodes of the blocks near it.

A collider that moves is measured again only if it has moved by part of a cell, if it may touch other blocks, if the blocks change, or at a
new frame. Until then, the distance at a node changes with the motion of the nearest point of its surface. See also `ObstacleGroup`, which
finds its surface among the nodes again only if it has moved by more than `MOST_LAG`.
"""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..geometry.distance import ON_SURFACE, DistanceQuery, distance_query, exact_query
from ..geometry.motion import velocity_at
from ..geometry.section import section_of
from ..geometry.shapes.mesh import Mesh
from ..geometry.thickness import thickening
from ..scene.description import Collider, Scene
from ..transfer.blocks import BLOCK
from .animated_obstacle import AnimatedObstacle
from .coverage import COVER_REACH
from .moved_distance import move_distance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NODES = np.arange(BLOCK)
# the nodes of a block, by dimension; in 2D they are at its top, y = 0
CORNERS = {
    2: np.stack(np.meshgrid(_NODES, [BLOCK], _NODES, indexing="ij"), axis=-1).reshape(-1, 3),
    3: np.stack(np.meshgrid(_NODES, _NODES, _NODES, indexing="ij"), axis=-1).reshape(-1, 3),
}
# distance that what is at a node may move before a collider is measured again [cells]
MOST_WAY = 0.1
# distance that a collider may move before its surface is found again among the nodes [cells]
MOST_LAG = 0.02
# the distance is needed at nodes that are nearer than this: the reach of a collider's cover, and what its surface may lag [cells]
_NEEDED = COVER_REACH + MOST_LAG
# a block is near if one of its nodes is nearer than that and what the surface may move until the next measurement [cells]
_REACH = _NEEDED + MOST_WAY
# half the diagonal of a block's nodes [cells]
_RADIUS = 0.5 * np.sqrt(3.0) * (BLOCK - 1)
# a smaller change of its size does not count as one
_SAME_SIZE = 1e-9

# greatest errors of a distance near the surface [cells]: of samples in a corner between two walls, and of rounding
SAMPLED_ERROR = 0.2
EXACT_ERROR = 0.02
# the distance of the points that stand for the surface of a piece in contacts, in edges of a cube of the same volume
PIECE_POINTS = 1.0


class Field(NamedTuple):
    """Signed distances of colliders, one row per pair of a collider and a node block near it, sorted by both.

    Attributes:
        owners: number of the collider, shape (rows,).
        keys: of the block, shape (rows,).
        distance, normal, velocity: as in `surface.LevelSets`.
        is_hidden: whether a node's nearest surface belongs to a nearer fixed collider, so that this one covers no further space, shape
            (rows, block nodes).
    """

    owners: Ints
    keys: Ints
    distance: Floats
    normal: Floats
    velocity: Floats
    is_hidden: NDArray[np.bool_]

    def rows(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> "Field":
        """Some of the rows."""
        velocity = self.velocity[chosen] if len(self.velocity) else self.velocity
        return Field(self.owners[chosen], self.keys[chosen], self.distance[chosen], self.normal[chosen], velocity, self.is_hidden[chosen])


def nodes_of(coordinates: Ints, dimension: int) -> Ints:
    """The nodes of blocks (n, 3) [cells], shape (n, block nodes, 3)."""
    return BLOCK * coordinates[:, None, :] + CORNERS[dimension]


def field_of(number: int, keys: Ints, distance: Floats, normal: Floats, velocity: Floats) -> Field:
    """The field of one collider, at blocks with these keys; arguments as for `Field`."""
    return Field(np.full(len(keys), number), keys, distance, normal, velocity, np.zeros(distance.shape, np.bool_))


def joined_fields(fields: list[Field]) -> Field:
    """Several fields joined into one; each pair of a collider and a block may be in only one of them."""
    joined = Field._make(np.concatenate(parts) for parts in zip(*fields, strict=True))
    order = np.lexsort((joined.keys, joined.owners))
    return joined if np.array_equal(order, np.arange(len(order))) else joined.rows(order)


class _Measured(NamedTuple):
    """A field, and what it was measured from.

    Attributes:
        field: the field, of the blocks that were near.
        keys: of all blocks, shape (blocks,).
        matrix: the pose (4, 4).
        nodes: of the blocks that were near [m], (rows, n, 3).
        middles: of the others [m], (others, 3).
        rooms: how far what is at their nodes may move before the collider may touch them [m], (others,).
    """

    field: Field
    keys: Ints
    matrix: Floats
    nodes: Floats
    middles: Floats
    rooms: Floats

    def is_apart(self, back: Floats, radius: float) -> bool:
        """Whether the collider cannot touch the other blocks yet.

        Args:
            back: (4, 4) the rigid motion from where something is now to where it was.
            radius: of a block [m].
        """
        turn = back[:3, :3] - np.eye(3)
        ways = np.linalg.norm(self.middles @ turn.T + back[:3, 3], axis=1) + radius * np.linalg.norm(turn)
        return bool((ways <= self.rooms).all())


def empty_field(dimension: int) -> Field:
    count = BLOCK**dimension
    return field_of(0, np.zeros(0, np.int64), np.zeros((0, count)), np.zeros((0, count, 3)), np.zeros((0, count, 3)))


class Obstacle(AnimatedObstacle):
    """One rigid collider or wall.

    Args:
        pivot: the point that the velocity refers to, in the shape's coordinates [m]: a rigid body's center of mass.
        is_piece: whether it is a piece of a broken body. Other colliders meet its own surface, even if it is thinner than a cell; the
            distance from the thickened one is only sampled once there are particles.

    Attributes:
        rigid: (9,) velocity of its pivot [m/s], angular velocity [rad/s], pivot [m].
        is_moving: whether it ever moves, appears or disappears.
        pivot: (3,) as above.
        scale: factor on lengths, world over shape.
        point_spacing: the least distance of the points that stand for its surface in contacts [m].
    """

    is_deforming = False

    def __init__(self, collider: Collider, scene: Scene, pivot: Floats | None = None, *, is_piece: bool = False) -> None:
        super().__init__(collider)
        self._is_piece = is_piece
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
        axes = [0, 2] if self._is_plane else [0, 1, 2]
        self._radius = float(np.linalg.norm(np.abs(shape.bounds() - self.pivot).max(axis=0)[axes]))
        self._matrix = self._noted = np.eye(4)
        # of the pose, once something needs them
        self._known_inverse: Floats | None = None
        self._known_scale: float | None = None
        self._measured: _Measured | None = None
        # a piece has many small faces
        self.point_spacing = PIECE_POINTS * float(np.cbrt(shape.volume())) if is_piece else 0.0

    def begin_frame(self) -> None:
        """Measure again at the next moment, so that nothing depends on when this was last done."""
        self._measured = None

    def move_to(self, frame: float) -> None:
        """Update pose and velocity for a time, in frames; those of a rigid body are set by `place`."""
        if self._motion is not None:
            matrix, linear, angular = velocity_at(self._motion, frame, self._frame_rate)
            self.place(matrix, linear, angular)

    def note_pose(self) -> None:
        super().note_pose()
        self._noted = self._matrix

    def _way(self) -> float:
        change = self._matrix - self._noted
        shift = change[:3, :3] @ self.pivot + change[:3, 3]
        turn = float(np.linalg.norm(change[:3, :3]))
        return float(np.linalg.norm(shift)) + (turn * self._radius if turn > 0.0 else 0.0)

    def place(self, matrix: Floats, linear: Floats, angular: Floats) -> None:
        """Set the pose (4, 4), world from local, the velocity of the pivot [m/s] and the angular velocity [rad/s]."""
        self._matrix, self._known_inverse, self._known_scale = matrix, None, None
        self.rigid = np.concatenate([linear, angular, matrix[:3, :3] @ self.pivot + matrix[:3, 3]])
        if self._is_plane:
            self.rigid[[1, 3, 5]] = 0.0

    @property
    def _inverse(self) -> Floats:
        if self._known_inverse is None:
            self._known_inverse = np.linalg.inv(self._matrix[:3, :3])
        return self._known_inverse

    @property
    def scale(self) -> float:
        """Lengths in the world over those of the shape."""
        if self._known_scale is None:
            self._known_scale = float(np.cbrt(abs(np.linalg.det(self._matrix[:3, :3]))))
        return self._known_scale

    @property
    def pose(self) -> tuple[Floats, Floats]:
        """World from local: the linear part (3, 3) and the origin (3,)."""
        return self._matrix[:3, :3], self._matrix[:3, 3]

    @property
    def center(self) -> Floats:
        """The position of its pivot [m], shape (3,)."""
        return self.rigid[6:]

    def world(self, points: Floats) -> Floats:
        """The world positions [m] of points (n, 3) of the shape."""
        return points @ self._matrix[:3, :3].T + self._matrix[:3, 3]

    def local(self, points: Floats) -> Floats:
        """The positions [m] in the shape's own coordinates of points (n, 3) in the world."""
        return (points - self._matrix[:3, 3]) @ self._inverse.T

    def rotated(self, directions: Floats) -> Floats:
        """The world directions of unit directions (n, 3) of the shape."""
        return directions @ self._matrix[:3, :3].T / self.scale

    def shape_distance(self, points: Floats) -> tuple[Floats, Floats]:
        """The distance [m] of points (n, 3) in the shape's own coordinates, shape (n,), and its gradient (n, 3)."""
        return (self._exact if self._is_piece else self._query)(np.ascontiguousarray(points))

    def velocity_at(self, points: Floats) -> Floats:
        """Its velocity at points (n, 3) [m/s]."""
        return self.rigid[:3] + np.cross(self.rigid[3:6], points - self.rigid[6:])

    def speed(self, near: Ints) -> float:
        """A bound on the speed [m/s]: of its farthest corner or, for an infinite shape, at the blocks near it (n, 3)."""
        if not self.is_moving or not self.is_present:
            return 0.0
        if math.isfinite(self._radius):
            return float(np.linalg.norm(self.rigid[:3]) + np.linalg.norm(self.rigid[3:6]) * self._radius * self.scale)
        return float(np.linalg.norm(self.velocity_at((near + 0.5) * (BLOCK * self._spacing)), axis=1).max(initial=0.0))

    def measure(self, number: int, keys: Ints, coordinates: Ints) -> Field:
        """The distance at the nodes of the blocks that are near, for the collider with this number."""
        if not self.is_present or not len(keys):
            return empty_field(2 if self._is_plane else 3)
        if self._measured is not None and self._measured.keys is keys:
            moved = self._moved(self._measured)
            if moved is not None:
                return moved
        middle = (BLOCK * coordinates + self._corners.mean(axis=0)) * self._spacing
        rooms = self.distance(middle)[0] - (_RADIUS + _NEEDED) * self._spacing
        near = np.flatnonzero(rooms < MOST_WAY * self._spacing)
        nodes = nodes_of(coordinates[near], 2 if self._is_plane else 3) * self._spacing
        distance, normal = self.distance(nodes.reshape(-1, 3))
        distance, normal = distance.reshape(nodes.shape[:2]), normal.reshape(nodes.shape)
        # far from a moving mesh the distance is only a bound, so the middle of a block alone is not enough
        nearest = distance.min(axis=1, initial=np.inf)
        rooms[near] = nearest - _NEEDED * self._spacing
        is_near = nearest < _REACH * self._spacing
        if not is_near.all():
            near, distance, normal, nodes = near[is_near], distance[is_near], normal[is_near], nodes[is_near]
        field = self._field(number, keys[near], distance, normal)
        if self.is_moving:
            others = np.delete(np.arange(len(keys)), near)
            self._measured = _Measured(field, keys, self._matrix, nodes, middle[others], rooms[others])
        return field

    def _moved(self, before: _Measured) -> Field | None:
        """An earlier field in the current pose, to first order in the motion since; None if it was too far."""
        # where the material points that are at a place now were then
        back = before.matrix @ np.linalg.inv(self._matrix)
        size = float(np.cbrt(abs(np.linalg.det(back[:3, :3]))))
        if abs(size - 1.0) > _SAME_SIZE or not before.is_apart(back, _RADIUS * self._spacing):
            return None
        field = before.field
        distance, normal, ways = np.empty_like(field.distance), np.empty_like(field.normal), np.zeros(len(field.distance))
        move_distance(field.distance, field.normal, before.nodes, np.ascontiguousarray(back[:3]), distance, normal, ways)
        if ways.max(initial=0.0) > MOST_WAY * self._spacing:
            return None
        return self._field(int(field.owners[0]) if len(field.owners) else 0, field.keys, distance, normal)

    def _field(self, number: int, keys: Ints, distance: Floats, normal: Floats) -> Field:
        # rounding must not decide whether a node on the surface is inside: a wall would block or leak by chance
        distance[np.abs(distance) < ON_SURFACE * self._spacing] = 0.0
        return field_of(number, keys, distance, normal, np.zeros((0, *normal.shape[1:])))

    def is_within(self, low: Floats, high: Floats) -> bool:
        """Whether a fixed collider may reach into a box with these corners (3,) [m]."""
        bounds = self._shape.bounds()
        return bool((bounds[0] <= high).all() and (bounds[1] >= low).all())

    def contains(self, points: Floats, *, is_whole_shape: bool) -> NDArray[np.bool_]:
        """Which points (n, 3) [m] are inside.

        Args:
            is_whole_shape: whether they fill a whole shape at once, which may touch it. Points then count as outside if they are no
                deeper than the error of the distance plus the thickness added to a thin collider.
        """
        error = (SAMPLED_ERROR if isinstance(self._shape, Mesh) and self.is_moving else EXACT_ERROR) * self._spacing
        allowance = error + 0.5 * self.scale * thickening(self._shape, self._spacing)
        return self.distance(points)[0] < (-allowance if is_whole_shape else 0.0)

    @cached_property
    def _query(self) -> DistanceQuery:
        # the distance from a fixed collider is measured once per node, that from a moving one again and again
        return distance_query(self._shape, self._spacing) if self.is_moving else self._exact

    @cached_property
    def _exact(self) -> DistanceQuery:
        return exact_query(self._shape, 0.0 if self._is_piece else self._spacing)

    def distance(self, points: Floats, *, is_exact: bool = False) -> tuple[Floats, Floats]:
        """The signed distance [m] of points (n, 3), shape (n,), positive outside, and its gradient (n, 3).

        From a moving mesh it is sampled, and only a bound beyond a cell, unless `is_exact`.
        """
        query = self._exact if is_exact else self._query
        if not self.is_moving:
            return query(np.ascontiguousarray(points))
        distance, normal = query(np.ascontiguousarray(self.local(points)))
        return distance * self.scale, normal @ self._matrix[:3, :3].T / self.scale


def _is_animated(collider: Collider, name: str) -> bool:
    return collider.animation is not None and name in collider.animation.values
