"""The colliders of a scene in groups: fixed ones, moving ones and deforming ones. The walls of the domain are fixed colliders.

Each kernel handles all colliders of a group in one call: with a call per collider, small scenes would spend most of a substep on calls.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..geometry.shapes.plane import Plane
from ..scene.description import Collider, Scene
from ..transfer.blocks import ARENA, NODE
from ..transfer.layout import Layout, places_of
from ..transfer.particle_store import ParticleStore
from ..transfer.reach import mark_reached
from .collision import collide_particles, find_due
from .covering import find_covered
from .deforming_obstacle import DeformingObstacle
from .exchange import move_feet, sum_inertia
from .expulsion import expel_nodes
from .facing import STUCK, Sides, recalled, sides_of, turn_nodes
from .impulses import apply_contact_impulses, apply_initial_impulses
from .obstacle import EXPULSION_FRAMES, Floats, Ints, Obstacle, empty_field, joined_fields, nodes_of
from .pairs import SINK, Pairs, count_pairs, find_pairs
from .sides import walls_of
from .slabs import find_levels, no_slabs, slabs_of
from .surface import (
    AT_SURFACE,
    DEEP,
    LINEAR_CORNERS,
    SPLINE_CORNERS,
    DeepNodes,
    LevelSets,
    find_edges,
    find_surface,
    order_nodes,
    place_feet,
    room_for_feet,
)
from .union import join_solids

# how far a block's arena reaches beyond the block [cells]
ARENA_MARGIN = 1.5
# material is expelled so many times faster than needed to be out in time
EXPULSION_HASTE = 2.0
# with fewer feet, threads do not pay off; at colliders that move, slabs are found in every substep
PARALLEL_FEET, PARALLEL_FEET_MOVING = 1000, 4000


class ObstacleGroup:
    """Colliders that are all fixed, all rigid and moving, or all deforming.

    Args:
        filling: the mass of a cell full of the first fluid [kg], 0 without fluids. For fluids a collider counts as full of it, so
            that a pool keeps its volume. For solids it does not: the momentum it would take from their nodes inside would be missing
            when they bounce.
        fluid_fields: whether each velocity field has only fluids, shape (fields,).

    Attributes:
        is_moving: whether the colliders move.
        due: the last result of `due_blocks`.
    """

    def __init__(
        self, obstacles: Sequence[Obstacle | DeformingObstacle], scene: Scene, filling: float, fluid_fields: NDArray[np.bool_]
    ) -> None:
        self.obstacles = obstacles
        self.is_moving = any(obstacle.is_moving for obstacle in obstacles)
        # a rigid body floats by the pressure that it feels; others need not feel it
        self._is_exact = any(obstacle.collider.dynamic for obstacle in obstacles)
        self._spacing = scene.solver.grid_spacing
        self._dimension = scene.solver.dimension
        self._is_cubic = scene.solver.kernel == "cubic"
        self._filling = filling
        self._fluid_fields = fluid_fields
        self._surfaces = np.array([obstacle.surface for obstacle in obstacles])
        self._frictions = np.array([obstacle.frictions for obstacle in obstacles])
        self._motions = np.stack([obstacle.rigid for obstacle in obstacles])
        self._is_half_space = np.array([isinstance(obstacle.collider.shape, Plane) for obstacle in obstacles])
        self._expulsion = np.zeros(len(obstacles))
        self._expulsion_rate = EXPULSION_HASTE / (EXPULSION_FRAMES * scene.time.frame_seconds)
        nothing = np.zeros(0, np.int64)
        self._seen = nothing
        self._layout: Layout | None = None
        self._reached = nothing
        self._field = empty_field(self._dimension)
        self._is_hidden = self._field.is_hidden
        self._level_sets = self._empty_level_sets()
        self._slabs = no_slabs(len(obstacles))
        self._foot_count = 0
        self._feet = room_for_feet(0, 0, 0, np.float32, LINEAR_CORNERS)
        self._deep = DeepNodes(nothing, nothing, nothing, np.zeros(0, np.bool_))
        self._filled = nothing
        self._shares = np.zeros(0, np.float32)
        self._sides: Sides | None = None
        self._found = False
        self._pairs = self._room_for_pairs(nothing, nothing, nothing.reshape(0, 1))
        self.due = self._due = nothing

    def begin_frame(self) -> None:
        """Prepare for a frame, or for a state between two."""
        for obstacle in self.obstacles:
            obstacle.begin_frame()

    def take_values(self, frame: float) -> None:
        """Update animated values for a time, in frames."""
        for number, obstacle in enumerate(self.obstacles):
            obstacle.take_values(frame)
            self._frictions[number], self._surfaces[number] = obstacle.frictions, obstacle.surface

    def move_to(self, frame: float) -> None:
        """Update poses and velocities for a time, in frames."""
        for number, obstacle in enumerate(self.obstacles):
            obstacle.move_to(frame)
            self._motions[number] = obstacle.rigid

    def speed(self, store: ParticleStore) -> float:
        """A bound on the speed of the colliders and of the material that they expel [m/s]."""
        fastest = float(self._expulsion.max())
        for number, obstacle in enumerate(self.obstacles):
            near = self._level_sets.blocks[self._level_sets.owners == number]
            fastest = max(fastest, obstacle.speed(store.layout.node_coordinates[near]))
        return fastest

    def find_surfaces(self, store: ParticleStore) -> None:
        """Find the colliders' surfaces among the nodes around the particles; distances of fixed colliders at known nodes are kept."""
        layout = store.layout
        self._measure(layout)
        field = self._field
        self._level_sets = self._locate(layout)
        blocks = self._level_sets.blocks
        holds_inside = np.zeros(self._level_sets.row_of_block.shape, np.bool_)
        places = np.empty(self._level_sets.distance.shape, np.uint8)
        if self._layout is not layout:
            # the first time after a sort, particles have not moved since
            self._layout = layout
            self._reached = np.empty(len(layout.node_keys) + 1, np.int64)
            mark_reached(layout.extents, layout.places, self._reached)
            self._reached = self._reached[np.append(layout.origins, -1)]
        around = layout.node_neighbors(blocks[blocks >= 0])
        held = self._face_material(around, store)
        find_surface(self._level_sets, around, self._reached, places, holds_inside)
        places[held > 0] = DEEP
        self._place_feet(places, held, around, store)
        for number, obstacle in enumerate(self.obstacles):
            thickness = -field.distance[field.owners == number].min(initial=-self._spacing) if obstacle.is_expelling else 0.0
            self._expulsion[number] = self._expulsion_rate * thickness
        self._find_pairs(holds_inside, store)

    def _face_material(self, around: Ints, store: ParticleStore) -> NDArray[np.uint8]:
        """Turn the nodes near thin colliders toward the side that has material; returns which are held, see `turn_nodes`."""
        level_sets, layout = self._level_sets, store.layout
        held = np.zeros(level_sets.distance.shape, np.uint8)
        # a collider that moves keeps its marks until its surface or the particles have moved
        before = self._sides
        now = recalled(before, level_sets) if before is not None and before.layout is layout else None
        if now is None:
            now = self._sides = sides_of(level_sets, around, store, self._is_half_space)
        if now.has_back.any():
            distance, normal = level_sets.distance.copy(), level_sets.normal.copy()
            turn_nodes(level_sets, around, now.has_front, now.has_back, distance, normal, held)
            self._level_sets = level_sets._replace(distance=distance, normal=normal)
        return held

    def _empty_level_sets(self) -> LevelSets:
        field, nothing = self._field, np.zeros(0, np.int64)
        rows, places = np.zeros((len(self.obstacles), 1), np.int64) - 1, np.zeros((0, 3), np.int64)
        values = field.distance, field.normal, field.velocity
        return LevelSets(nothing, nothing, rows, places, np.zeros(0, np.bool_), *values, self._motions, self._spacing)

    def _locate(self, layout: Layout) -> LevelSets:
        """The level sets in the field among the node blocks: a row for each of these, twins included, so that each velocity field has
        feet of its own."""
        field = self._field
        blocks = places_of(field.keys, layout.node_keys)
        if layout.has_twins:
            rows, blocks = layout.with_twins(blocks)
            field = field.rows(rows)
        self._is_hidden = field.is_hidden
        # one more: a number that stands for no node block
        row_of_block = np.full((len(self.obstacles), layout.node_count + 1), -1, np.int64)
        present = np.flatnonzero(blocks >= 0)
        row_of_block[field.owners[present], blocks[present]] = present
        values = field.distance, field.normal, field.velocity
        is_fluid = self._fluid_fields[layout.node_fields]
        return LevelSets(field.owners, blocks, row_of_block, layout.node_coordinates, is_fluid, *values, self._motions, self._spacing)

    def _measure(self, layout: Layout) -> None:
        keys = layout.node_keys
        coordinates = layout.node_coordinates[: len(keys)]
        if self.is_moving:
            self._field = joined_fields([obstacle.measure(n, keys, coordinates) for n, obstacle in enumerate(self.obstacles)])
            return
        is_new = places_of(keys, self._seen) < 0
        if is_new.any():
            is_kept = places_of(self._field.keys, keys) >= 0
            kept = self._field.rows(is_kept)
            added = [obstacle.measure(n, keys[is_new], coordinates[is_new]) for n, obstacle in enumerate(self.obstacles)]
            fixed = [obstacle for obstacle in self.obstacles if isinstance(obstacle, Obstacle)]
            for number, field in enumerate(added):
                nodes = nodes_of(coordinates[places_of(field.keys, keys)], self._dimension) * self._spacing
                join_solids(field, number, fixed, nodes, self._spacing)
            self._field = joined_fields([kept, *added])
            self._seen = keys

    def _place_feet(self, places: NDArray[np.uint8], held: NDArray[np.uint8], around: Ints, store: ParticleStore) -> None:
        owners = self._level_sets.owners
        block_nodes = places.shape[1]
        surface, deep = np.flatnonzero(places == AT_SURFACE), np.flatnonzero(places == DEEP)
        its = self._level_sets
        coordinates = its.coordinates[its.blocks]
        least = PARALLEL_FEET_MOVING if self.is_moving else PARALLEL_FEET
        slabs, self._slabs = slabs_of(np.count_nonzero(places == AT_SURFACE, axis=1), coordinates, len(self.obstacles), least)
        runs = int(self._slabs.slab_count) * len(self.obstacles)
        deep_order, deep_first = np.empty_like(deep), np.empty(runs + 1, np.int64)
        order_nodes(deep, owners, slabs, len(self.obstacles), block_nodes, deep_order, deep_first)
        deep = deep[deep_order]
        self._deep = DeepNodes(deep_first, self._numbers(deep, block_nodes), deep, held.reshape(-1)[deep] == STUCK)
        depths, normals = -its.distance.reshape(-1)[surface] / its.spacing, its.normal.reshape(-1, 3)[surface]
        if self._is_exact:
            surface, depths, normals = self._with_edges(surface, depths, normals, around)
        order, first = np.empty_like(surface), np.empty(runs + 1, np.int64)
        order_nodes(surface, owners, slabs, len(self.obstacles), block_nodes, order, first)
        self._foot_count = len(order)
        corners = SPLINE_CORNERS if self._is_exact and self._dimension == 3 else LINEAR_CORNERS
        self._feet = room_for_feet(len(order), runs, places.size, store.dtype, corners, self._feet)
        self._feet.first[: runs + 1] = first
        place_feet(surface[order], depths[order], normals[order], self._level_sets, around, self._feet)
        if self._slabs.cuts.size > 2:
            find_levels(self._feet, self._deep, self._slabs, store.nodes.size // NODE)
        if self._filling > 0.0:
            shares = np.empty(places.shape, np.float32)
            find_covered(self._level_sets, self._reached, self._is_cubic, shares)
            shares[self._is_hidden] = 0.0
            found = np.flatnonzero(shares)
            self._shares = shares.reshape(-1)[found]
            self._filled = self._numbers(found, block_nodes)

    def _with_edges(self, surface: Ints, depths: Floats, normals: Floats, around: Ints) -> tuple[Ints, Floats, Floats]:
        """The nodes (n,), depths (n,) and normals (n, 3) of feet, with those of the further ones at edges behind them."""
        found, more_depths, more_normals = np.empty(6 * len(surface), np.int64), np.empty(6 * len(surface)), np.empty((6 * len(surface), 3))
        count = find_edges(surface, self._level_sets, around, found, more_depths, more_normals)
        found, more_depths, more_normals = found[:count], more_depths[:count], more_normals[:count]
        return np.concatenate([surface, found]), np.concatenate([depths, more_depths]), np.concatenate([normals, more_normals])

    def _numbers(self, row_nodes: Ints, block_nodes: int) -> Ints:
        """Nodes numbered through all node blocks, from nodes numbered through the rows."""
        return self._level_sets.blocks[row_nodes // block_nodes] * block_nodes + row_nodes % block_nodes

    def _find_pairs(self, holds_inside: NDArray[np.bool_], store: ParticleStore) -> None:
        neighbors = store.layout.neighbors
        counts = np.empty(len(neighbors), np.int64)
        count_pairs(neighbors, holds_inside.any(axis=0), holds_inside, counts)
        near = np.flatnonzero(counts)
        around = np.concatenate([its[near] for its in store.layout.field_neighbors], axis=1)
        self._pairs = self._room_for_pairs(near, counts[near], around)
        self._due = np.empty(len(near), np.int64)
        find_pairs(self._pairs, neighbors, holds_inside, self._level_sets)
        self._pairs.is_due[:] = self._pairs.is_near

    def _room_for_pairs(self, blocks: Ints, counts: Ints, around: Ints) -> Pairs:
        """Arrays for pairs of these particle blocks (k,), so many of each; around: see `Pairs`."""
        first = np.concatenate([[0], np.cumsum(counts)])
        count = int(first[-1])
        arenas = np.empty((count, ARENA, 1 if self._dimension == 2 else ARENA, ARENA), np.float32)
        is_near, is_due = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        owners, bounds, falls = np.empty(count, np.int64), np.zeros((count, 5)), np.zeros((count, 3))
        return Pairs(blocks, first, owners, arenas, bounds, falls, around, is_near, is_due, np.zeros(len(blocks)), np.zeros(count))

    def apply_initial_impulses(self, store: ParticleStore) -> None:
        """Apply colliders to the nodes inside, and find material at their surfaces; before `apply_contact_impulses` in each substep."""
        self._found = False
        if self._foot_count + len(self._deep.nodes):
            nodes, surfaces, frictions = store.nodes.reshape(-1), self._surfaces, self._frictions
            self._found = apply_initial_impulses(
                nodes, self._deep, self._feet, self._slabs, self._level_sets, surfaces, frictions, self._filling
            )

    def apply_contact_impulses(self, store: ParticleStore) -> None:
        """Correct the velocities of the material at the surfaces of the colliders."""
        if self._found:
            apply_contact_impulses(store.nodes.reshape(-1), self._feet, self._slabs, self._surfaces, self._frictions)
        if self._expulsion.any():
            expel_nodes(store.nodes, self._level_sets, self._expulsion, SINK)

    def take_velocity(self, velocity: Floats) -> None:
        """Give the only collider of the group, in place, a velocity of its pivot [m/s] and an angular velocity [rad/s], (6,)."""
        self._motions[0, :6] = velocity
        move_feet(self._foot_count, self._level_sets, self._feet)

    def touched_blocks(self, store: ParticleStore) -> Ints:
        """The node blocks whose nodes the colliders may change."""
        if not self._foot_count + len(self._deep.nodes):
            return np.zeros(0, np.int64)
        present = self._level_sets.blocks[self._level_sets.blocks >= 0]
        blocks = np.unique(store.layout.node_neighbors(present)[present])
        return blocks[blocks >= 0]

    def touched_inertia(self, store: ParticleStore, origin: Floats) -> Floats:
        """The mass of the nodes inside or within a cell, and its moments about `origin` [m], (10,); see `exchange.sum_inertia`."""
        sums = np.empty((len(self._level_sets.blocks), 10))
        sum_inertia(store.nodes, self._level_sets, origin, sums)
        return sums.sum(axis=0)

    @property
    def cover(self) -> tuple[Ints, NDArray[np.float32]]:
        """The nodes that these colliders cover some of, one for each collider, and which share of their kernel."""
        return self._filled, self._shares

    def due_blocks(self, speeds: NDArray[np.floating], dt: float, least: float, drift: float) -> Ints:
        """The blocks with particles that could be pushed after a substep; once in each.

        Args:
            speeds: see `fastest_nodes`.
            dt: length of the substep [s].
            least: how far particles may move in any case [cells].
            drift: how far they may have drifted since the sort, this substep included [cells].
        """
        pairs = self._pairs
        # beyond the margin a particle may be outside its block's arena
        count = find_due(pairs, speeds, dt / self._spacing, least, drift <= ARENA_MARGIN, self._due) if len(pairs.blocks) else 0
        self.due = self._due[:count]
        return self.due

    def moved(self, distance: float) -> None:
        """Note that other colliders pushed particles by so much, at most [cells]."""
        if distance > 0.0:
            self._pairs.room[:] -= distance * self._pairs.falls.sum(axis=1)

    def push_particles(self, store: ParticleStore, dt: float, drift: float) -> float:
        """Push out the particles of the due blocks that came in during a substep.

        Args:
            drift: how far particles have drifted since the sort, this substep included [cells].

        Returns:
            How far they were pushed, at most [cells].
        """
        pairs, layout = self._pairs, store.layout
        if not len(self.due):
            return 0.0
        places, around, is_within = layout.coordinates, layout.neighbors, drift <= ARENA_MARGIN
        collide_particles(store.table, layout.first, store.body_count, places, around, pairs, self._level_sets, dt, is_within)
        return float(pairs.pushed.max(initial=0.0))


def obstacles_of(scene: Scene, filling: float, fluid_fields: NDArray[np.bool_]) -> list[ObstacleGroup]:
    """The scene's colliders without rigid bodies, and the closed sides of its domain: fixed, rigid and moving, and deforming ones.

    Args: see `ObstacleGroup`.
    """
    obstacles = [_obstacle(collider, scene) for collider in _passive_colliders(scene)]
    kinds = ((False, False), (True, False), (True, True))
    groups = ([each for each in obstacles if (each.is_moving, each.is_deforming) == kind] for kind in kinds)
    return [ObstacleGroup(group, scene, filling, fluid_fields) for group in groups if group]


def _obstacle(collider: Collider, scene: Scene) -> Obstacle | DeformingObstacle:
    deforms = collider.motion is not None and collider.motion.vertices is not None
    return DeformingObstacle(collider, scene) if deforms else Obstacle(collider, scene)


def _passive_colliders(scene: Scene) -> list[Collider]:
    """The closed sides of the domain, and the colliders that are no rigid bodies and not always disabled."""
    colliders = (*walls_of(scene.domain, scene.solver.dimension), *scene.colliders)
    return [collider for collider in colliders if not collider.dynamic and is_ever_there(collider)]


def is_ever_there(collider: Collider) -> bool:
    """Whether a collider is enabled at any time."""
    animation = collider.animation
    return bool(animation.values["enabled"].any()) if animation and "enabled" in animation.values else collider.enabled
