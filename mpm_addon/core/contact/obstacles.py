"""The colliders of a scene in groups: fixed ones, moving ones and deforming ones. The walls of the domain are fixed colliders.

Each kernel handles all colliders of a group in one call: with a call per collider, small scenes would spend most of a substep on calls.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..geometry.shapes.plane import Plane
from ..scene.description import Collider, Scene
from ..transfer.layout import Layout, places_of
from ..transfer.particle_store import ParticleStore
from ..transfer.reach import mark_reached
from .animated_obstacle import EXPULSION_FRAMES
from .coverage import find_covered
from .deforming_obstacle import DeformingObstacle
from .exchange import sum_inertia
from .expulsion import expel_nodes
from .footing import Footing, numbered
from .impulses import ROUNDS
from .near_particles import NearParticles
from .obstacle import MOST_LAG, Floats, Ints, Obstacle, empty_field, joined_fields, nodes_of
from .pairs import SINK
from .sides import walls_of
from .surface import DEEP, LevelSets, find_surface
from .thin_walls import CUBIC_REACH, QUADRATIC_REACH, SUNKEN, Sides, recalled, sides_of, turn_nodes
from .union import join_solids

# material is expelled this many times faster than needed to leave in time
EXPULSION_HASTE = 2.0
# Material above a surface sinks onto it at this share of the speed of free fall from the height of a cell, at most. Contact begins before
# it touches: it lands too high, by up to three quarters of a cell. It bears its whole weight meanwhile, so friction does not change.
SETTLING = 0.2
# the nodes around a point of a surface are nearer to it than this: the diagonal of a cell [cells]
FOOT_REACH = 1.75


class Fields(NamedTuple):
    """The velocity fields of a simulation.

    Attributes:
        is_fluid: whether each has only fluids, shape (fields,).
        settles: whether the material of each sinks onto what it has landed on, shape (fields,). Loose material would stop too soon if it
            were held until it touches.
        filling: the mass of a cell full of the first fluid where each has fluids [kg], else 0, shape (fields,). For fluids, a collider
            counts as full of it, so that a pool keeps its volume. For solids it does not: the momentum that it would take from their nodes
            inside would be missing when they bounce.
        fluids: the instances that are fluids.
    """

    is_fluid: NDArray[np.bool_]
    settles: NDArray[np.bool_]
    filling: NDArray[np.float64]
    fluids: Ints

    def of(self, blocks: Ints) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float64]]:
        """These for node blocks, given the field of each."""
        return self.is_fluid[blocks], self.settles[blocks], self.filling[blocks]


class ObstacleGroup:
    """Colliders that are all fixed, all rigid and moving, or all deforming.

    Args:
        fields: the velocity fields.

    Attributes:
        is_moving: whether the colliders move.
        spacing: cell size [m].
        footing: the nodes at the surfaces and inside.
    """

    def __init__(self, obstacles: Sequence[Obstacle | DeformingObstacle], scene: Scene, fields: Fields) -> None:
        self.obstacles = obstacles
        self.is_moving = any(obstacle.is_moving for obstacle in obstacles)
        self.spacing = scene.solver.grid_spacing
        self._dimension = scene.solver.dimension
        self._is_cubic = scene.solver.kernel == "cubic"
        self._reach = (SUNKEN + (CUBIC_REACH if self._is_cubic else QUADRATIC_REACH)) * self.spacing
        # where water sinks onto what moves, floating bodies sink too deep, and thin walls leak more
        self._fields = fields._replace(settles=fields.settles & ~fields.is_fluid) if self.is_moving else fields
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
        # a rigid body floats by the pressure on its surface; the motion of other colliders does not depend on it
        is_exact = any(obstacle.collider.dynamic for obstacle in obstacles)
        self.footing = Footing(len(obstacles), self._dimension, is_exact=is_exact, is_moving=self.is_moving)
        self._settling = 0.0
        self._filled = nothing
        self._shares = np.zeros(0, np.float32)
        self._sides: Sides | None = None
        self._near = NearParticles(self._dimension, self.spacing)

    def begin_frame(self) -> None:
        """Prepare for a frame or subframe."""
        self._layout = None
        for obstacle in self.obstacles:
            obstacle.begin_frame()

    def take_values(self, frame: float) -> None:
        """Update animated values for a time, in frames."""
        for number, obstacle in enumerate(self.obstacles):
            if obstacle.collider.animation is not None:
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

    def follow(self, store: ParticleStore) -> bool:
        """Find the surfaces of moving colliders again if they have moved by more than `MOST_LAG` since; returns whether they were found."""
        if self._layout is store.layout and max(obstacle.lag() for obstacle in self.obstacles) <= MOST_LAG * self.spacing:
            self.footing.take_motion(self._level_sets)
            return False
        self.find_surfaces(store)
        return True

    def find_surfaces(self, store: ParticleStore) -> None:
        """Find the colliders' surfaces among the nodes around the particles; distances of fixed colliders at known nodes are reused."""
        layout = store.layout
        for obstacle in self.obstacles:
            obstacle.note_pose()
        self._measure(layout)
        field = self._field
        self._level_sets = self._locate(layout)
        blocks = self._level_sets.blocks
        holds_inside = np.zeros(self._level_sets.row_of_block.shape, np.bool_)
        places = np.empty(self._level_sets.distance.shape, np.uint8)
        if self._layout is not layout:
            # the first time after a sort, particles have not moved since that
            self._layout = layout
            self._reached = np.empty(len(layout.node_keys) + 1, np.int64)
            mark_reached(layout.extents, layout.places, self._reached)
            self._reached = self._reached[np.append(layout.origins, -1)]
        around = layout.node_neighbors(blocks[blocks >= 0])
        held = self._face_material(around, store)
        find_surface(self._level_sets, around, self._reached, places, holds_inside)
        places[held > 0] = DEEP
        self.footing.place(self._level_sets, places, held, around, store)
        if self._fields.filling.any():
            self._find_covered(places.shape)
        for number, obstacle in enumerate(self.obstacles):
            thickness = -field.distance[field.owners == number].min(initial=-self.spacing) if obstacle.is_expelling else 0.0
            self._expulsion[number] = self._expulsion_rate * thickness
        self._near.find(self._level_sets, holds_inside, store)

    def _face_material(self, around: Ints, store: ParticleStore) -> NDArray[np.uint8]:
        """Turn the nodes near thin colliders toward the side that has material; returns how nodes are held, see `turn_nodes`."""
        level_sets, layout = self._level_sets, store.layout
        held = np.zeros(level_sets.distance.shape, np.uint8)
        # marks of a moving collider are reused until its surface has moved too far or the particles are sorted
        before = self._sides
        now = recalled(before, level_sets) if before is not None and before.layout is layout else None
        if now is None:
            now = self._sides = sides_of(level_sets, around, store, self._is_half_space)
        if now.has_back.any():
            distance, normal = level_sets.distance.copy(), level_sets.normal.copy()
            turn_nodes(level_sets, around, self._reach, now.has_front, now.has_back, distance, normal, held)
            self._level_sets = level_sets._replace(distance=distance, normal=normal)
        return held

    def _empty_level_sets(self) -> LevelSets:
        field, nothing = self._field, np.zeros(0, np.int64)
        rows, places = np.zeros((len(self.obstacles), 1), np.int64) - 1, np.zeros((0, 3), np.int64)
        values = field.distance, field.normal, field.velocity
        kinds = self._fields.of(nothing)
        return LevelSets(nothing, nothing, rows, places, *kinds, *values, self._motions, self.spacing)

    def _locate(self, layout: Layout) -> LevelSets:
        """The level sets of the field at the node blocks: a row for each, including twins, so that each velocity field has its own feet."""
        field = self._field
        blocks = places_of(field.keys, layout.node_keys)
        if layout.has_twins:
            rows, blocks = layout.with_twins(blocks)
            field = field.rows(rows)
        self._is_hidden = field.is_hidden
        # one column more, for the number that stands for no node block
        row_of_block = np.full((len(self.obstacles), layout.node_count + 1), -1, np.int64)
        present = np.flatnonzero(blocks >= 0)
        row_of_block[field.owners[present], blocks[present]] = present
        values = field.distance, field.normal, field.velocity
        kinds = self._fields.of(layout.node_fields)
        return LevelSets(field.owners, blocks, row_of_block, layout.node_coordinates, *kinds, *values, self._motions, self.spacing)

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
                nodes = nodes_of(coordinates[places_of(field.keys, keys)], self._dimension) * self.spacing
                join_solids(field, number, fixed, nodes, self.spacing)
            self._field = joined_fields([kept, *added])
            self._seen = keys

    def _find_covered(self, shape: tuple[int, ...]) -> None:
        shares = np.empty(shape, np.float32)
        find_covered(self._level_sets, self._reached, self._is_cubic, shares)
        shares[self._is_hidden] = 0.0
        found = np.flatnonzero(shares)
        self._shares = shares.reshape(-1)[found]
        self._filled = numbered(self._level_sets, found, shape[1])

    def take_gravity(self, gravity: Floats) -> None:
        """Set the acceleration [m/s^2], shape (3,), with which material settles on the colliders."""
        self._settling = SETTLING * math.sqrt(float(np.linalg.norm(gravity)) * self.spacing)

    def apply_initial_impulses(self, store: ParticleStore) -> None:
        """Apply colliders to the nodes inside, and find material at their surfaces; before `apply_contact_impulses` in each substep."""
        self.footing.apply_initial_impulses(store.nodes.reshape(-1), self._surfaces, self._frictions, self._settling)

    def apply_contact_impulses(self, store: ParticleStore, *, rounds: int = 1) -> None:
        """Correct the velocities of the material at the surfaces of the colliders.

        Args:
            rounds: 1, after which something else may act and another call follows; or all of a substep, ROUNDS, if nothing else does.
        """
        nodes = store.nodes.reshape(-1)
        if rounds < ROUNDS:
            self.footing.solve_lone_feet(nodes, self._surfaces, self._frictions)
        self.footing.apply_contact_impulses(nodes, self._surfaces, self._frictions, rounds)
        if self._expulsion.any():
            expel_nodes(store.nodes, self._level_sets, self._expulsion, SINK)

    def take_velocity(self, velocity: Floats) -> None:
        """Set the velocity of the pivot [m/s] and the angular velocity [rad/s] (6,) of the group's only collider, without moving it."""
        self._motions[0, :6] = velocity
        self.footing.take_motion(self._level_sets)

    def touched_blocks(self, store: ParticleStore) -> Ints:
        """The node blocks whose nodes the colliders may change."""
        if self.footing.is_empty:
            return np.zeros(0, np.int64)
        present = self._level_sets.blocks[self._level_sets.blocks >= 0]
        blocks = np.unique(store.layout.node_neighbors(present)[present])
        return blocks[blocks >= 0]

    def mark_touched(self, marked: Ints) -> None:
        """Mark the nodes that the colliders may change: (node blocks + 1,), one bit per node."""
        level_sets, size = self._level_sets, 8
        rows = np.flatnonzero(level_sets.blocks >= 0)
        if self.footing.is_empty or not len(rows):
            return
        is_close = level_sets.distance[rows] < FOOT_REACH * self.spacing
        packed = np.zeros((len(rows), size), np.uint8)
        packed[:, : is_close.shape[1] // size] = np.packbits(is_close, axis=1, bitorder="little")
        np.bitwise_or.at(marked, level_sets.blocks[rows], packed.view(np.int64)[:, 0])

    def touched_inertia(self, store: ParticleStore, origin: Floats) -> Floats:
        """The mass of the nodes inside or within a cell, and its moments about `origin` [m], (10,); see `exchange.sum_inertia`."""
        sums = np.empty((len(self._level_sets.blocks), 10))
        sum_inertia(store.nodes, self._level_sets, origin, sums)
        return sums.sum(axis=0)

    @property
    def cover(self) -> tuple[Ints, NDArray[np.float32]]:
        """The nodes whose kernels these colliders cover in part, once for each collider, and the covered shares."""
        return self._filled, self._shares

    @property
    def due(self) -> Ints:
        """The last result of `due_blocks`."""
        return self._near.due

    def due_blocks(self, speeds: NDArray[np.floating], dt: float, least: float, drift: float) -> Ints:
        """The blocks with particles that could be pushed after a substep; see `NearParticles.due_blocks`."""
        return self._near.due_blocks(speeds, dt, least, drift)

    def moved(self, distance: float) -> None:
        """Account for particles having moved by up to this distance other than with the nodes [cells]."""
        self._near.moved(distance)

    def push_particles(self, store: ParticleStore, dt: float, drift: float) -> float:
        """Push out the particles of the due blocks that sank in during a substep; see `NearParticles.push`."""
        return self._near.push(self._level_sets, store, dt, drift)


def obstacles_of(scene: Scene, fields: Fields) -> list[ObstacleGroup]:
    """The scene's colliders except rigid bodies, and the closed sides of its domain, in groups: fixed, rigid and moving, deforming.

    Args: see `ObstacleGroup`.
    """
    obstacles = [_obstacle(collider, scene) for collider in _passive_colliders(scene)]
    kinds = ((False, False), (True, False), (True, True))
    groups = ([each for each in obstacles if (each.is_moving, each.is_deforming) == kind] for kind in kinds)
    return [ObstacleGroup(group, scene, fields) for group in groups if group]


def _obstacle(collider: Collider, scene: Scene) -> Obstacle | DeformingObstacle:
    deforms = collider.motion is not None and collider.motion.vertices is not None
    return DeformingObstacle(collider, scene) if deforms else Obstacle(collider, scene)


def _passive_colliders(scene: Scene) -> list[Collider]:
    """The closed sides of the domain, and the colliders that are not rigid bodies and not always disabled."""
    colliders = (*walls_of(scene.domain, scene.solver.dimension), *scene.colliders)
    return [collider for collider in colliders if not collider.dynamic and collider.is_ever_enabled]
