"""Goals: particles that their emitter holds to the place where they came into the scene, carried along by its motion.

A rigid emitter carries a place by its pose, a deforming one by the triangle that was nearest. With a goal of 1 a particle is there
at every moment; with less, a spring pulls it there. Nothing is remembered of the steps, so that a simulation can be continued.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..geometry.motion import pose_at, vertices_at
from ..geometry.shapes.mesh import Mesh
from ..geometry.surface import closest_points
from ..scene.animation import value_at
from ..scene.description import Emitter, Scene
from ..transfer.blocks import ARENA, BLOCK, NODE
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import POSITION
from .emission import Batch
from .holding import bind, find_targets, hold_nodes, hold_particles, pull_particles, spread_held

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# the stretch of time over which the speed of what carries the particles is measured [frames]
GLANCE = 1e-3


@dataclass(frozen=True)
class PinnedPlaces:
    """Places that are carried along.

    Attributes:
        id: (n,) of the particles; emitter: (n,) what carries them.
        share: (n,) factor on the emitter's goal.
        corners: (n, 3) vertices of the emitter's mesh, or -1 where a pose carries the particle.
        weights: (n, 3) barycentric weights of these.
        anchor: (n, 3) in the emitter's local space, or along the triangle's axes [m].
    """

    id: NDArray[np.int32]
    emitter: Ints
    share: Floats
    corners: Ints
    weights: Floats
    anchor: Floats

    @classmethod
    def empty(cls) -> "PinnedPlaces":
        nothing = np.zeros(0)
        rows = np.zeros((0, 3))
        return cls(nothing.astype(np.int32), nothing.astype(np.int64), nothing, rows.astype(np.int64), rows, rows)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {f"pinned_{field.name}": getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "PinnedPlaces":
        return cls(*(arrays[f"pinned_{field.name}"] for field in fields(cls)))

    def joined(self, other: "PinnedPlaces") -> "PinnedPlaces":
        return PinnedPlaces(*(np.concatenate([getattr(self, field.name), getattr(other, field.name)]) for field in fields(self)))

    def taken(self, order: Ints) -> "PinnedPlaces":
        return PinnedPlaces(*(np.ascontiguousarray(getattr(self, field.name)[order]) for field in fields(self)))


class Pins:
    """The particles of a scene that are held or pulled.

    Attributes:
        places: of all that were ever emitted.
        blocks: the particle blocks that hold one, since the last sort.
        speed: of what carries them, about [m/s].
        spring_speed: to which springs can bring what they pull [m/s], as it lay after the last sort.
        reach: how far held ones go along an axis in the present step, at most [cells].
    """

    def __init__(self, scene: Scene) -> None:
        self.places = PinnedPlaces.empty()
        self.blocks = np.zeros(0, np.int64)
        self.speed = self.spring_speed = 0.0
        self.reach = 0.0
        self._emitters = scene.emitters
        self._solver = scene.solver
        self._frame_rate = 1.0 / scene.time.frame_seconds
        self._is_used = any(emitter.has_goal for emitter in scene.emitters)
        self._first_vertex = np.cumsum([0, *(_vertex_count(emitter) for emitter in scene.emitters)])
        self._poses = np.tile(np.eye(4), (len(scene.emitters), 1, 1))
        self._vertices = np.zeros((int(self._first_vertex[-1]), 3))
        self._goals, self._frequencies, self._dampings = np.zeros((3, len(scene.emitters)))
        self._frame = 0.0
        self._live = self.places
        self._slots = np.zeros(0, np.int64)
        self._coordinates = np.zeros((0, 3), np.int64)
        self._targets = self._next = self._ways = np.zeros((0, 3))
        self._reach = np.zeros(0)
        self._first = self._place_of_block = self._near = np.zeros(0, np.int64)
        self._arenas = np.zeros((0, NODE * ARENA**scene.solver.dimension))

    def add(self, batch: Batch, first_id: int, frame: float) -> None:
        """Take up an emitter's new particles, where it holds any, at a moment in frames."""
        emitter = self._emitters[batch.emitter_index]
        if not emitter.has_goal:
            return
        count, positions = len(batch.position), np.ascontiguousarray(batch.position)
        share = np.ones(count) if batch.goal is None else np.asarray(batch.goal, np.float64)
        corners, weights = np.full((count, 3), -1), np.zeros((count, 3))
        motion = emitter.motion
        if motion is not None and motion.vertices is not None:
            assert isinstance(emitter.shape, Mesh), "only a mesh has vertices that move"
            vertices, triangles = vertices_at(motion, frame, self._frame_rate)[0], np.asarray(emitter.shape.triangles, np.int64)
            nearest, weights = closest_points(Mesh(vertices=vertices, triangles=triangles), positions)
            corners, anchor = triangles[nearest], np.empty((count, 3))
            bind(vertices, corners, weights, positions, anchor)
        else:
            back = np.eye(4) if motion is None else np.linalg.inv(pose_at(motion, frame))
            anchor = positions @ back[:3, :3].T + back[:3, 3]
        ids = np.arange(first_id, first_id + count, dtype=np.int32)
        self.places = self.places.joined(PinnedPlaces(ids, np.full(count, batch.emitter_index), share, corners, weights, anchor))

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """What a simulation is continued with; nothing where no emitter holds particles."""
        return self.places.arrays() if self._is_used else {}

    def load(self, snapshot: Mapping[str, NDArray[Any]]) -> None:
        """Take up what `snapshot` gave."""
        # a scene that goes on from another one may be the first to hold particles
        if self._is_used and "pinned_id" in snapshot:
            self.places = PinnedPlaces.from_arrays(snapshot)

    def find(self, store: ParticleStore, frame: float) -> None:
        """Find the particles in the table after a sort, at a moment in frames."""
        if len(self.places.id) == 0:
            return
        layout, ids = store.layout, store.ids[: store.layout.slot_count]
        place_of_id = np.full(max(int(ids.max(initial=0)), int(self.places.id[-1])) + 1, -1, np.int64)
        place_of_id[self.places.id] = np.arange(len(self.places.id))
        place = np.where(ids >= 0, place_of_id[ids], -1)
        self._slots = np.flatnonzero(place >= 0)
        self._live = self.places.taken(place[self._slots])
        is_bound = self._live.corners[:, :1] >= 0
        first = self._first_vertex[self._live.emitter][:, None]
        self._live = PinnedPlaces(**{**vars(self._live), "corners": np.where(is_bound, self._live.corners + first, -1)})
        block = (np.searchsorted(layout.first, self._slots, side="right") - 1) // store.body_count
        self._coordinates = layout.coordinates[block]
        self.blocks, first = np.unique(block, return_index=True)
        self._first = np.append(first, len(block))
        self._place_of_block = np.full(len(layout.keys), -1)
        self._place_of_block[self.blocks] = np.arange(len(self.blocks))
        near = np.unique(layout.neighbours[self.blocks])
        self._near = near[near < layout.node_count]
        self._arenas = np.empty((len(self.blocks), self._arenas.shape[1]))
        count = len(self._slots)
        self._targets, self._next, self._ways = np.empty((3, count, 3))
        self._reach, self.reach = np.zeros(count), 0.0
        self._find_targets(frame + GLANCE, self._next)
        self._find_targets(frame, self._targets)
        self.speed = float(np.linalg.norm(self._next - self._targets, axis=1).max(initial=0.0)) * self._frame_rate / GLANCE
        # a spring of frequency w that is stretched by d gives w d
        cells = store.table[POSITION : POSITION + 3, self._slots].T + BLOCK * self._coordinates
        ways = np.linalg.norm(self._targets - self._solver.grid_spacing * cells, axis=1)
        self.spring_speed = float((self._frequencies[self._live.emitter] * ways).max(initial=0.0))

    def move_to(self, frame: float) -> None:
        """Take the values of a moment, in frames."""
        self._frame = frame
        if not self._is_used:
            return
        for number, emitter in enumerate(self._emitters):
            self._goals[number] = value_at(emitter, "goal", frame)
            self._frequencies[number] = 2.0 * math.pi * value_at(emitter, "goal_frequency", frame)
            self._dampings[number] = value_at(emitter, "goal_damping", frame)

    def pull(self, store: ParticleStore, dt: float) -> None:
        """Set or change the velocities in the table for a step [s], before it is scattered."""
        if len(self._slots) == 0:
            return
        self._find_targets(self._frame + dt * self._frame_rate, self._next)
        live, solver = self._live, self._solver
        pull_particles(
            store.table, self._slots, self._coordinates, live.share, live.emitter, self._goals, self._frequencies, self._dampings,
            self._targets, self._next, dt, solver.grid_spacing, solver.max_displacement * solver.grid_spacing,
            solver.dimension == 2, self._ways, self._reach,
        )  # fmt: skip
        self.reach = float(self._reach.max())
        spread_held(
            store.table, self._slots, self._first, live.share, live.emitter, self._goals, solver.grid_spacing,
            solver.kernel == "cubic", solver.dimension == 2, self._arenas,
        )  # fmt: skip

    def hold_nodes(self, store: ParticleStore) -> None:
        """Let the nodes around held particles move as these do in the step."""
        if len(self._slots):
            hold_nodes(store.nodes, self._near, store.layout.node_arenas, self._place_of_block, self._arenas)

    def hold(self, store: ParticleStore, dt: float) -> None:
        """Put held particles where they should be after the step."""
        if len(self._slots) == 0:
            return
        hold_particles(
            store.table, self._slots, self._live.share, self._live.emitter, self._goals, self._targets, self._next, dt,
            self._solver.dimension == 2, self._ways,
        )  # fmt: skip
        self.speed = max(self.speed, float(np.linalg.norm(self._next - self._targets, axis=1).max()) / dt)
        self._targets, self._next = self._next, self._targets

    def _find_targets(self, frame: float, targets: Floats) -> None:
        for number in np.unique(self._live.emitter):
            motion = self._emitters[number].motion
            if motion is not None and motion.vertices is not None:
                vertices, _ = vertices_at(motion, frame, self._frame_rate)
                self._vertices[self._first_vertex[number] : self._first_vertex[number + 1]] = vertices
            elif motion is not None:
                self._poses[number] = pose_at(motion, frame)
        live = self._live
        find_targets(live.emitter, self._poses, self._vertices, live.corners, live.weights, live.anchor, targets)


def _vertex_count(emitter: Emitter) -> int:
    return 0 if emitter.motion is None or emitter.motion.vertices is None else emitter.motion.vertices.shape[1]
