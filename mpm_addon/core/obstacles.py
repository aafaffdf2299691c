"""Colliders and walls as the solver sees them: signed distance at the nodes of the blocks near them, and a rigid velocity."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .description import SIDES, Collider, Domain, Scene
from .errors import SceneError
from .geometry.distance import distance_query
from .geometry.motion import velocity_at
from .geometry.section import section_of
from .geometry.shapes.plane import Plane
from .kernels.blocks import ARENA, BLOCK, NODE
from .kernels.collision import collide_particles, fill_arenas
from .kernels.contact import (
    SEPARATE,
    SLIP,
    STICKY,
    collide_feet,
    collide_nodes,
    fill_nodes,
    find_surface,
    meet_feet,
    press_evenly,
    room_for_feet,
    share_momentum,
)
from .particle_store import ParticleStore

Floats = NDArray[np.float64]

SURFACE_NUMBERS = {"sticky": STICKY, "slip": SLIP, "separate": SEPARATE}
_NODES = np.arange(BLOCK)
# the nodes of a block, by dimension; in the plane they lie at its top, y = 0
_CORNERS = {
    2: np.stack(np.meshgrid(_NODES, [BLOCK], _NODES, indexing="ij"), axis=-1).reshape(-1, 3),
    3: np.stack(np.meshgrid(_NODES, _NODES, _NODES, indexing="ij"), axis=-1).reshape(-1, 3),
}
# a block is near where its middle is nearer than its farthest corner and one more cell
_NEAR = 0.5 * np.sqrt(3.0) * (BLOCK - 1) + 1.0


@dataclass
class _Field:
    """An obstacle near the nodes: the keys of the near blocks, ascending, and distance [m] and normal at their nodes."""

    keys: NDArray[np.int64]
    distance: Floats
    normal: Floats


class Obstacle:
    """One collider or wall.

    Args:
        filling: the mass of a node's cell full of the densest fluid [kg], 0 without fluids. Fluids meet an obstacle as if it were
            full of them: a pool then keeps its volume. Solids meet it as it is: what it takes from their nodes inside would be
            missing when they bounce.
    """

    def __init__(self, collider: Collider, scene: Scene, filling: float) -> None:
        self.name = collider.name
        self.spacing = scene.solver.grid_spacing
        self._surface = SURFACE_NUMBERS[collider.surface]
        self._friction = collider.friction
        self._motion = collider.motion
        self._fps = scene.time.fps
        self._filling = filling
        self._is_plane = scene.solver.dimension == 2
        shape = section_of(collider.shape, f'Collider "{collider.name}"') if self._is_plane else collider.shape
        self._corners = _CORNERS[scene.solver.dimension]
        self._query = distance_query(shape, self.spacing)
        self._is_moving = collider.motion is not None
        self._radius = float(np.linalg.norm(np.abs(shape.bounds()).max(axis=0)[[0, 2] if self._is_plane else [0, 1, 2]]))
        self._matrix = np.eye(4)
        self._rigid = np.zeros(9)
        self._seen = np.zeros(0, np.int64)
        self._field = _Field(self._seen, np.zeros((0, len(self._corners))), np.zeros((0, len(self._corners), 3)))
        self._rows = self._seen
        self._row_of_block = self._seen
        self._is_surface = np.zeros((0, len(self._corners)), np.bool_)
        self._surface_nodes = np.zeros((0, 2), np.int64)
        self._feet = room_for_feet(0)
        self._found = 0
        self._counted = np.zeros((0, len(self._corners)))
        self.near_blocks = self._seen
        self._arenas = np.zeros((0, ARENA, 1 if self._is_plane else ARENA, ARENA), np.float32)
        self._pushed = np.zeros(0)

    def move_to(self, frame: float) -> None:
        """Take the pose and velocity of a moment, in frames."""
        if self._motion is not None:
            self._matrix, linear, angular = velocity_at(self._motion, frame, self._fps)
            self._rigid = np.concatenate([linear, angular, self._matrix[:3, 3]])
            if self._is_plane:
                self._rigid[[1, 3, 5]] = 0.0

    def speed(self, store: ParticleStore) -> float:
        """A bound on the obstacle's speed [m/s]: of its farthest corner, or, where it has no end, at the blocks near it."""
        if not self._is_moving:
            return 0.0
        if math.isfinite(self._radius):
            scale = np.cbrt(abs(np.linalg.det(self._matrix[:3, :3])))
            return float(np.linalg.norm(self._rigid[:3]) + np.linalg.norm(self._rigid[3:6]) * self._radius * scale)
        if len(self._rows) == 0:
            return 0.0
        arm = (store.layout.node_coordinates[self._rows] + 0.5) * (BLOCK * self.spacing) - self._rigid[6:]
        return float(np.linalg.norm(self._rigid[:3] + np.cross(self._rigid[3:6], arm), axis=1).max())

    def meet(self, store: ParticleStore) -> None:
        """Find the distance at the nodes around the particles; nodes that a fixed obstacle has seen before are kept."""
        keys, coordinates = store.layout.node_keys, store.layout.node_coordinates
        if self._is_moving:
            self._field = self._measure(keys, coordinates)
        else:
            is_new = ~np.isin(keys, self._seen, assume_unique=True)
            is_kept = np.isin(self._field.keys, keys, assume_unique=True)
            added = self._measure(keys[is_new], coordinates[is_new])
            merged = np.concatenate([self._field.keys[is_kept], added.keys])
            order = np.argsort(merged)
            distance = np.concatenate([self._field.distance[is_kept], added.distance])
            normal = np.concatenate([self._field.normal[is_kept], added.normal])
            self._field = _Field(merged[order], distance[order], normal[order])
            self._seen = keys
        self._rows = np.searchsorted(keys, self._field.keys)
        self._row_of_block = np.full(len(keys), -1, np.int64)
        self._row_of_block[self._rows] = np.arange(len(self._rows))
        self._is_surface = np.zeros(self._field.distance.shape, np.bool_)
        self._counted = np.zeros(self._field.distance.shape)
        find_surface(self._rows, self._row_of_block, store.layout.node_neighbours, self._field.distance, self._is_surface)
        self._surface_nodes = np.argwhere(self._is_surface)
        self._feet = room_for_feet(len(self._surface_nodes))
        self._find_near_blocks(store)

    def _find_near_blocks(self, store: ParticleStore) -> None:
        """The particle blocks that can touch a node inside, and the distance in their arenas."""
        neighbours = store.layout.neighbours
        holds_inside = np.zeros(len(store.layout.node_keys), np.bool_)
        holds_inside[self._rows] = self._field.distance.min(axis=1, initial=np.inf) < 0.0
        near = np.flatnonzero(holds_inside[neighbours].any(axis=1))
        arenas = np.empty((len(near), *self._arenas.shape[1:]), np.float32)
        fill_arenas(near, neighbours, self._row_of_block, self._field.distance, self.spacing, arenas)
        is_touched = arenas.min(axis=(1, 2, 3), initial=np.inf) < 0.0
        self.near_blocks, self._arenas = near[is_touched], arenas[is_touched]
        self._pushed = np.zeros(len(self.near_blocks))

    def _measure(self, keys: NDArray[np.int64], coordinates: NDArray[np.int64]) -> _Field:
        middle = (BLOCK * coordinates + self._corners.mean(axis=0)) * self.spacing
        near = np.flatnonzero(self._distance(middle)[0] < _NEAR * self.spacing)
        nodes = (BLOCK * coordinates[near, None, :] + self._corners) * self.spacing
        distance, normal = self._distance(nodes.reshape(-1, 3))
        distance, normal = distance.reshape(-1, len(self._corners)), normal.reshape(-1, len(self._corners), 3)
        # far from a mesh the distance is only a bound, so that the middle alone does not tell
        is_near = distance.min(axis=1, initial=np.inf) < 0.99 * self.spacing
        return _Field(keys[near[is_near]], distance[is_near], normal[is_near])

    def _distance(self, points: Floats) -> tuple[Floats, Floats]:
        if not self._is_moving:
            return self._query(np.ascontiguousarray(points))
        rotation = self._matrix[:3, :3]
        scale = np.cbrt(abs(np.linalg.det(rotation)))
        local = (points - self._matrix[:3, 3]) @ np.linalg.inv(rotation).T
        distance, normal = self._query(np.ascontiguousarray(local))
        return distance * scale, normal @ rotation.T / scale

    def meet_matter(self, store: ParticleStore) -> None:
        """Find where matter is at the surface, and apply the obstacle to the nodes inside; once in a step, before `push_nodes`."""
        layout, field = store.layout, self._field
        collide_nodes(
            store.nodes, layout.node_coordinates, self._rows, field.distance, field.normal, self._is_surface,
            self._surface, self._friction, self._rigid, self.spacing, self._filling, self._counted,
        )  # fmt: skip
        self._found = meet_feet(
            store.nodes, layout.node_coordinates, layout.node_neighbours, self._surface_nodes, self._rows, self._row_of_block,
            field.distance, field.normal, self._rigid, self.spacing, self._feet,
        )  # fmt: skip
        if self._found:
            nodes = store.nodes.reshape(-1, NODE)
            share_momentum(nodes, self._feet, self._found, self._surface, self._counted.reshape(-1))
            if self._surface != STICKY:
                press_evenly(nodes, self._feet, self._found, self._surface)

    def push_nodes(self, store: ParticleStore) -> None:
        """Apply the obstacle to the velocities at the nodes around its surface."""
        if self._found:
            collide_feet(store.nodes.reshape(-1, NODE), self._feet, self._found, self._surface, self._friction)

    def fill(self, store: ParticleStore) -> None:
        """Count the nodes inside as filled, in the density that particles gather."""
        if self._filling > 0.0:
            fill_nodes(store.nodes, self._rows, self._field.distance, self._filling)

    def push_particles(self, store: ParticleStore, dt: float) -> float:
        """Push out the particles that came in during a step; returns how far, at most [cells]."""
        layout = store.layout
        if len(self.near_blocks):
            collide_particles(
                store.table, layout.first, store.body_count, self.near_blocks, self._arenas, layout.coordinates, layout.neighbours,
                self._row_of_block, self._field.distance, self._field.normal, self._rigid, dt, self.spacing, self._pushed,
            )  # fmt: skip
        return float(self._pushed.max(initial=0.0))

    @property
    def is_moving(self) -> bool:
        return self._is_moving


def obstacles_of(scene: Scene, filling: float) -> list[Obstacle]:
    """The scene's colliders and the closed sides of its domain."""
    return [Obstacle(collider, scene, filling) for collider in (*_walls(scene.domain, scene.solver.dimension), *scene.colliders)]


def _walls(domain: Domain, dimension: int) -> list[Collider]:
    if domain.corners is None:
        return []
    walls = []
    for number, name in enumerate(SIDES):
        side = domain.sides[name]
        axis, is_high = divmod(number, 2)
        if side.surface == "open" or (axis == 1 and dimension == 2):
            continue
        normal = np.zeros(3)
        normal[axis] = -1.0 if is_high else 1.0
        corner = domain.corners[is_high]
        shape = Plane(point=corner, normal=(normal[0], normal[1], normal[2]))
        walls.append(Collider(f"domain {name}", shape, surface=side.surface, friction=side.friction))
    return walls


def open_limits(domain: Domain, spacing: float, dimension: int) -> Floats:
    """The corners beyond which particles have left [cells], shape (2, 3); infinite where no side is open."""
    limits = np.array([[-np.inf] * 3, [np.inf] * 3])
    if domain.corners is not None:
        for number, name in enumerate(SIDES):
            axis, is_high = divmod(number, 2)
            if domain.sides[name].surface == "open" and not (axis == 1 and dimension == 2):
                limits[is_high, axis] = domain.corners[is_high][axis] / spacing
    return limits


def refuse_outside(scene: Scene, position: Floats, subject: str) -> None:
    """Refuse particles that begin behind a wall of the domain by more than half a cell.

    Raises:
        SceneError: naming `subject`, the side and how far.
    """
    corners = scene.domain.corners
    if corners is None:
        return
    for number, name in enumerate(SIDES):
        axis, is_high = divmod(number, 2)
        if axis == 1 and scene.solver.dimension == 2:
            continue
        beyond = (position[:, axis] - corners[is_high][axis]) * (1.0 if is_high else -1.0)
        if scene.domain.sides[name].surface != "open" and beyond.max() > 0.5 * scene.solver.grid_spacing:
            raise SceneError(
                f"{subject}: it reaches {beyond.max():.3g} m beyond the domain's side {name} at {corners[is_high][axis]:g} m; "
                "move it inside or make the domain larger."
            )
