"""The obstacles of a scene as the solver meets them: colliders and walls in groups, fixed ones and moving ones.

All obstacles of a group are met by one call of each kernel: with a call for each obstacle, small scenes would spend most of a step on
calls.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..geometry.shapes.plane import Plane
from ..scene.description import Collider, Scene
from ..scene.settings import SIDES, Domain
from ..transfer.blocks import ARENA
from ..transfer.grid import ALL_ROWS
from ..transfer.layout import Layout, places_of
from ..transfer.particle_store import ParticleStore
from ..transfer.reach import mark_reached
from .collision import SINK, collide_particles, count_pairs, find_pairs
from .deforming_obstacle import DeformingObstacle
from .exchange import move_feet, sum_inertia
from .expulsion import expel_nodes
from .impulses import collide_feet, fill_nodes, meet_matter
from .obstacle import EXPULSION_FRAMES, Floats, Ints, Obstacle, empty_field, joined_fields
from .surface import AT_SURFACE, DEEP, Deep, find_surface, order_nodes, place_feet, room_for_feet

# so far beyond its block does a block's arena reach [cells]
ARENA_MARGIN = 1.5
# matter is expelled so many times as fast as would be just in time
EXPULSION_HASTE = 2.0
# with fewer feet, starting threads takes longer than what they save
PARALLEL_FEET = 8000


class ObstacleGroup:
    """Obstacles that are all fixed, all rigid and moving, or all deforming.

    Args:
        filling: the mass of a node's cell full of the densest fluid [kg], 0 without fluids. Fluids meet an obstacle as if it were
            full of them: a pool then keeps its volume. Solids meet it as it is: what it takes from their nodes inside would be
            missing when they bounce.

    Attributes:
        is_moving: whether the obstacles move.
        due: the blocks that `due_blocks` told last.
    """

    def __init__(self, obstacles: Sequence[Obstacle | DeformingObstacle], scene: Scene, filling: float) -> None:
        self.obstacles = obstacles
        self.is_moving = any(obstacle.is_moving for obstacle in obstacles)
        self._spacing = scene.solver.grid_spacing
        self._dimension = scene.solver.dimension
        self._filling = filling
        self._surfaces = np.array([obstacle.surface for obstacle in obstacles])
        self._frictions = np.array([obstacle.friction for obstacle in obstacles])
        self._rigid = np.stack([obstacle.rigid for obstacle in obstacles])
        self._expulsion = np.zeros(len(obstacles))
        self._expulsion_rate = EXPULSION_HASTE / (EXPULSION_FRAMES * scene.time.frame_seconds)
        nothing = np.zeros(0, np.int64)
        self._seen = nothing
        self._layout: Layout | None = None
        self._reached = nothing
        self._field = empty_field(self._dimension)
        self._blocks = nothing
        self._row_of_block = np.zeros((len(obstacles), 0), np.int64)
        self._colours = np.zeros(3, np.int64)
        self._foot_count = 0
        self._feet = room_for_feet(0, 0, 0, np.float32)
        self._deep = Deep(nothing, nothing, nothing)
        self._inside = self._filled = nothing
        self._found = False
        self._near = nothing
        self._pair_first = nothing
        self._owners = nothing
        self._arenas = np.zeros((0, ARENA, 1 if self._dimension == 2 else ARENA, ARENA), np.float32)
        self._is_near = np.zeros(0, np.bool_)
        self._is_due = self._is_near
        self.due = nothing
        self._free_until = np.zeros(0)
        self._pushed = np.zeros(0)
        self._room = np.zeros(0)

    def begin_frame(self) -> None:
        """Make ready for what begins with a frame, or state between two."""
        for obstacle in self.obstacles:
            obstacle.begin_frame()

    def take_values(self, frame: float) -> None:
        """Take the animated values of a moment, in frames."""
        for number, obstacle in enumerate(self.obstacles):
            obstacle.take_values(frame)
            self._frictions[number], self._surfaces[number] = obstacle.friction, obstacle.surface

    def move_to(self, frame: float) -> None:
        """Take the poses and velocities of a moment, in frames."""
        for number, obstacle in enumerate(self.obstacles):
            obstacle.move_to(frame)
            self._rigid[number] = obstacle.rigid

    def speed(self, store: ParticleStore) -> float:
        """A bound on the speed of the obstacles, and of what they expel [m/s]."""
        fastest = float(self._expulsion.max())
        for number, obstacle in enumerate(self.obstacles):
            near = self._blocks[self._field.owners == number]
            fastest = max(fastest, obstacle.speed(store.layout.node_coordinates[near]))
        return fastest

    def meet(self, store: ParticleStore) -> None:
        """Find the obstacles among the nodes around the particles; what fixed ones are at nodes seen before is kept."""
        layout = store.layout
        self._measure(layout)
        keys, coordinates = layout.node_keys, layout.node_coordinates
        owners, distance = self._field.owners, self._field.distance
        self._blocks = places_of(self._field.keys, keys)
        # one more: a number that stands for no node block
        self._row_of_block = np.full((len(self.obstacles), len(keys) + 1), -1, np.int64)
        present = np.flatnonzero(self._blocks >= 0)
        self._row_of_block[owners[present], self._blocks[present]] = present
        holds_inside = np.zeros(self._row_of_block.shape, np.bool_)
        places = np.empty(distance.shape, np.uint8)
        if self._layout is not layout:
            # the first time after a sort, the particles are where they were sorted
            self._layout = layout
            self._reached = np.empty(len(keys) + 1, np.int64)
            mark_reached(layout.extents, layout.neighbours, self._reached)
        around = layout.node_neighbours(self._blocks[present])
        find_surface(owners, self._blocks, self._row_of_block, around, self._reached, distance, places, holds_inside)
        self._place_feet(places, around, coordinates, store)
        for number, obstacle in enumerate(self.obstacles):
            thickness = -distance[owners == number].min(initial=-self._spacing) if obstacle.is_expelling else 0.0
            self._expulsion[number] = self._expulsion_rate * thickness
        self._find_near_blocks(holds_inside, store)

    def _measure(self, layout: Layout) -> None:
        keys, coordinates = layout.node_keys, layout.node_coordinates
        if self.is_moving:
            self._field = joined_fields([obstacle.measure(n, keys, coordinates) for n, obstacle in enumerate(self.obstacles)])
            return
        is_new = places_of(keys, self._seen) < 0
        if is_new.any():
            is_kept = places_of(self._field.keys, keys) >= 0
            kept = self._field.rows(is_kept)
            added = [obstacle.measure(n, keys[is_new], coordinates[is_new]) for n, obstacle in enumerate(self.obstacles)]
            self._field = joined_fields([kept, *added])
            self._seen = keys

    def _place_feet(self, places: NDArray[np.uint8], around: Ints, coordinates: Ints, store: ParticleStore) -> None:
        field = self._field
        block_nodes = places.shape[1]
        surface, deep = np.flatnonzero(places == AT_SURFACE), np.flatnonzero(places == DEEP)
        slabs = self._slabs(places, coordinates)
        runs = int(self._colours[2]) * len(self.obstacles)
        order, first = np.empty_like(surface), np.empty(runs + 1, np.int64)
        order_nodes(surface, field.owners, slabs, len(self.obstacles), block_nodes, order, first)
        deep_order, deep_first = np.empty_like(deep), np.empty(runs + 1, np.int64)
        order_nodes(deep, field.owners, slabs, len(self.obstacles), block_nodes, deep_order, deep_first)
        self._deep = Deep(deep_first, self._numbers(deep_order, block_nodes), deep_order)
        self._foot_count = len(order)
        self._feet = room_for_feet(len(order), runs, places.size, store.dtype, self._feet)
        self._feet.first[: runs + 1] = first
        place_feet(
            order, field.owners, self._blocks, self._row_of_block, around, coordinates, field.distance, field.normal,
            field.velocity, self._rigid, self._spacing, self._feet,
        )  # fmt: skip
        if self._filling > 0.0:
            self._inside = np.concatenate([self._feet.nodes[: len(order)], self._deep.nodes])
            self._filled = np.unique(self._inside // block_nodes)

    def _numbers(self, row_nodes: Ints, block_nodes: int) -> Ints:
        """Nodes numbered through all blocks, from nodes numbered through the rows."""
        return self._blocks[row_nodes // block_nodes] * block_nodes + row_nodes % block_nodes

    def _slabs(self, places: NDArray[np.uint8], coordinates: Ints) -> Ints:
        """The place of each row's slab: along the axis where the fullest slab is emptiest, in the order of the two colours."""
        feet = np.count_nonzero(places == AT_SURFACE, axis=1)
        if feet.sum() < PARALLEL_FEET:
            self._colours[:] = 0, 1, 1
            return np.zeros(len(places), np.int64)
        least, best = math.inf, np.zeros(len(places), np.int64)
        for axis in range(3):
            values, slab = np.unique(coordinates[self._blocks, axis], return_inverse=True)
            fullest = np.bincount(slab, feet).max()
            if fullest < least:
                is_odd = (values & 1).astype(np.int64)
                rank = np.empty(len(values), np.int64)
                rank[np.argsort(is_odd, kind="stable")] = np.arange(len(values))
                least, best = fullest, rank[slab]
                self._colours[:] = 0, len(values) - is_odd.sum(), len(values)
        return best

    def _find_near_blocks(self, holds_inside: NDArray[np.bool_], store: ParticleStore) -> None:
        neighbours = store.layout.neighbours
        counts = np.empty(len(neighbours), np.int64)
        count_pairs(neighbours, holds_inside.any(axis=0), holds_inside, counts)
        self._near = np.flatnonzero(counts)
        self._pair_first = np.concatenate([[0], np.cumsum(counts[self._near])])
        pairs = int(self._pair_first[-1])
        self._owners = np.empty(pairs, np.int64)
        self._arenas = np.empty((pairs, *self._arenas.shape[1:]), np.float32)
        self._pushed, self._room = np.zeros(len(self._near)), np.zeros(pairs)
        self._free_until = np.full(pairs, -np.inf)
        self._is_near = np.empty(pairs, np.bool_)
        find_pairs(
            self._near, self._pair_first, neighbours, holds_inside, self._row_of_block, self._field.distance, self._spacing,
            self._owners, self._arenas, self._is_near,
        )  # fmt: skip
        self._is_due = self._is_near

    def meet_matter(self, store: ParticleStore) -> None:
        """Find where matter is at the surfaces, and apply obstacles to the nodes inside; once in a step, before `push_nodes`."""
        if self._foot_count + len(self._deep.nodes):
            self._found = meet_matter(
                store.nodes.reshape(-1), self._deep, self._feet, self._colours, self._blocks, store.layout.node_coordinates,
                self._field.normal, self._field.velocity, self._surfaces, self._frictions, self._rigid, self._spacing, self._filling,
            )  # fmt: skip
        else:
            self._found = False

    def push_nodes(self, store: ParticleStore) -> None:
        """Apply obstacles to the velocities at the nodes around their surfaces."""
        if self._found:
            collide_feet(store.nodes.reshape(-1), self._feet, self._colours, self._surfaces, self._frictions)
        if self._expulsion.any():
            expel_nodes(
                store.nodes, self._field.owners, self._blocks, store.layout.node_coordinates, self._field.distance, self._field.normal,
                self._field.velocity, self._rigid, self._expulsion, SINK, self._spacing,
            )  # fmt: skip

    def take_velocity(self, store: ParticleStore, velocity: Floats) -> None:
        """Let the one obstacle of the group have another velocity of its pivot [m/s] and angular velocity [rad/s], (6,), where it is."""
        self._rigid[0, :6] = velocity
        move_feet(
            self._foot_count, self._blocks, store.layout.node_coordinates, self._field.distance, self._field.normal, self._rigid[0],
            self._spacing, self._feet,
        )  # fmt: skip

    def touched_blocks(self, store: ParticleStore) -> Ints:
        """The node blocks whose nodes the obstacles may change."""
        if not self._foot_count + len(self._deep.nodes):
            return self._near[:0]
        present = self._blocks[self._blocks >= 0]
        blocks = np.unique(store.layout.node_neighbours(present)[present])
        return blocks[blocks >= 0]

    def touched_inertia(self, store: ParticleStore, origin: Floats) -> Floats:
        """The mass of the nodes inside or within a cell, and its moments about `origin` [m]; see `exchange.sum_inertia`; (10,)."""
        sums = np.empty((len(self._blocks), 10))
        sum_inertia(
            store.nodes, self._blocks, store.layout.node_coordinates, self._field.distance, self._spacing, origin, sums
        )  # fmt: skip
        return sums.sum(axis=0)

    def fill(self, store: ParticleStore) -> None:
        """Count the nodes inside as filled, in the density that particles gather."""
        if len(self._inside):
            fill_nodes(store.nodes.reshape(-1), self._inside, self._filling)
            store.node_rows[self._filled] = ALL_ROWS

    def due_blocks(self, drift: float) -> Ints:
        """The blocks with particles that could be pushed before all have drifted so far since the sort [cells]."""
        # beyond this a particle may come to lie beside its block's arena, which then does not tell what is near
        self._is_due = self._is_near & (self._free_until < drift) if drift <= ARENA_MARGIN else np.ones_like(self._is_near)
        self.due = self._near[np.logical_or.reduceat(self._is_due, self._pair_first[:-1])] if len(self._near) else self._near
        return self.due

    def push_particles(self, store: ParticleStore, dt: float, drift: float) -> float:
        """Push out the particles of the due blocks that came in during a step.

        Args:
            drift: how far particles have drifted since the sort, this step included [cells].

        Returns:
            How far they were pushed, at most [cells].
        """
        if not self._is_due.any():
            return 0.0
        layout = store.layout
        collide_particles(
            store.table, layout.first, store.body_count, self._near, self._is_due, self._pair_first, self._owners, self._arenas,
            layout.coordinates, layout.neighbours, self._row_of_block, self._field.distance, self._field.normal,
            self._field.velocity, self._rigid, dt, self._spacing, self._pushed, self._room,
        )  # fmt: skip
        # a drift is along each axis, and the distance changes by no more than a cell for a cell along any of them
        self._free_until[self._is_due] = drift + self._room[self._is_due] / self._dimension
        return float(self._pushed.max(initial=0.0))


def obstacles_of(scene: Scene, filling: float) -> list[ObstacleGroup]:
    """The scene's colliders but the dynamic ones, and the closed sides of its domain: fixed, rigid and moving, and deforming ones."""
    obstacles = [_obstacle(collider, scene) for collider in _passive_colliders(scene)]
    kinds = ((False, False), (True, False), (True, True))
    groups = ([each for each in obstacles if (each.is_moving, each.is_deforming) == kind] for kind in kinds)
    return [ObstacleGroup(group, scene, filling) for group in groups if group]


def _obstacle(collider: Collider, scene: Scene) -> Obstacle | DeformingObstacle:
    deforms = collider.motion is not None and collider.motion.vertices is not None
    return DeformingObstacle(collider, scene) if deforms else Obstacle(collider, scene)


def _passive_colliders(scene: Scene) -> list[Collider]:
    """The closed sides of the domain and the colliders that nothing moves but their motion; those that are never there left out."""
    colliders = (*_walls(scene.domain, scene.solver.dimension), *scene.colliders)
    return [collider for collider in colliders if not collider.dynamic and is_ever_there(collider)]


def is_ever_there(collider: Collider) -> bool:
    """Whether a collider is enabled at any time."""
    animation = collider.animation
    return bool(animation.values["enabled"].any()) if animation and "enabled" in animation.values else collider.enabled


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
                f"it reaches {beyond.max():.3g} m beyond the domain's side {name} at {corners[is_high][axis]:g} m",
                "move it inside or make the domain larger",
                subject=subject,
            )
