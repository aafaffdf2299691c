"""Pinning: particles follow the places where they were emitted, which move with their emitter.

A rigid emitter moves a target with its pose, a deforming one with the nearest triangle. At full strength a particle is fixed to its
target; with less, a spring pulls it there. No state is stored between substeps, so that a simulation can be resumed.
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
from .pinned_particles import PinnedParticles, PinSprings, bind, find_targets, fix_nodes, fix_particles, pull_particles, scatter_pinned

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# time over which the speed of targets is measured [frames]
SPEED_INTERVAL = 1e-3


@dataclass(frozen=True)
class PinnedPlaces:
    """The places that particles are pinned to, on their emitters.

    Attributes:
        id: (n,) of the particles.
        emitter: (n,) number of the emitter.
        share: (n,) factor on the emitter's pin strength.
        corners: (n, 3) vertices of the emitter's mesh, or -1 if the emitter is rigid.
        weights: (n, 3) barycentric weights of a point on that triangle.
        anchor: (n, 3) in the emitter's local space, or relative to that point along the triangle's axes [m].
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
    """The pinned particles of a scene.

    Attributes:
        places: of all pinned particles emitted so far.
        blocks: the particle blocks that contain pinned particles, as of the last sort.
        speed: largest speed of a target, approximately [m/s].
        spring_speed: greatest speed that springs can cause [m/s], from positions at the last sort.
        reach: how far fixed particles move at most along an axis in this substep [cells].
    """

    def __init__(self, scene: Scene) -> None:
        self.places = PinnedPlaces.empty()
        self.blocks = np.zeros(0, np.int64)
        self.speed = self.spring_speed = 0.0
        self.reach = 0.0
        self._emitters = scene.emitters
        self._solver = scene.solver
        self._frame_rate = 1.0 / scene.time.frame_seconds
        self._is_used = any(emitter.has_pins for emitter in scene.emitters)
        self._first_vertex = np.cumsum([0, *(_vertex_count(emitter) for emitter in scene.emitters)])
        self._poses = np.tile(np.eye(4), (len(scene.emitters), 1, 1))
        self._vertices = np.zeros((int(self._first_vertex[-1]), 3))
        self._springs = PinSprings(*np.zeros((3, len(scene.emitters))))
        self._frame = 0.0
        self._live = self.places
        self._pinned = _pinned_particles(self.places, np.zeros(0, np.int64), np.zeros((0, 3), np.int64))
        self._first = self._near = np.zeros(0, np.int64)
        self._place_of_block = np.zeros((0, 0), np.int64)
        self._arenas = np.zeros((0, NODE * ARENA**scene.solver.dimension))

    def add(self, batch: Batch, first_id: int, frame: float) -> None:
        """Add an emitter's new particles, if it pins any, at a moment in frames."""
        emitter = self._emitters[batch.emitter_index]
        if not emitter.has_pins:
            return
        positions = np.ascontiguousarray(batch.points.position)
        count, share = len(positions), np.asarray(batch.painted.pin_share, np.float64)
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

    @property
    def slots(self) -> Ints:
        """The slots of the pinned particles in the table, as of the last sort."""
        return self._pinned.slots

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """The pinned places for a checkpoint; empty if no emitter pins particles."""
        return self.places.arrays() if self._is_used else {}

    def load(self, snapshot: Mapping[str, NDArray[Any]]) -> None:
        """Restore the arrays that `snapshot` returned."""
        # a checkpoint of the scene that this one continues has no pinned places if that pinned no particles
        if self._is_used and "pinned_id" in snapshot:
            self.places = PinnedPlaces.from_arrays(snapshot)

    def find(self, store: ParticleStore, frame: float) -> None:
        """Find the pinned particles in the table after a sort, at a moment in frames."""
        if len(self.places.id) == 0:
            return
        layout, ids = store.layout, store.ids[: store.layout.slot_count]
        place_of_id = np.full(max(int(ids.max(initial=0)), int(self.places.id[-1])) + 1, -1, np.int64)
        place_of_id[self.places.id] = np.arange(len(self.places.id))
        place = np.where(ids >= 0, place_of_id[ids], -1)
        slots = np.flatnonzero(place >= 0)
        self._live = self.places.taken(place[slots])
        is_bound = self._live.corners[:, :1] >= 0
        first = self._first_vertex[self._live.emitter][:, None]
        self._live = PinnedPlaces(**{**vars(self._live), "corners": np.where(is_bound, self._live.corners + first, -1)})
        block, instance = np.divmod(np.searchsorted(layout.first, slots, side="right") - 1, store.instance_count)
        self.blocks = np.unique(block)
        # pinned particles of one block and one velocity field share an arena; they lie one after another
        self._place_of_block = np.full((len(layout.keys), len(store.fields)), -1)
        groups, first = np.unique(block * len(store.fields) + np.array(store.field_of_instance)[instance], return_index=True)
        self._first = np.append(first, len(block))
        self._place_of_block.reshape(-1)[groups] = np.arange(len(groups))
        around = (each[self._place_of_block[:, field] >= 0] for field, each in enumerate(layout.field_neighbors))
        near = np.unique(np.concatenate([each.reshape(-1) for each in around]))
        self._near = near[near < layout.node_count]
        self._arenas = np.empty((len(groups), self._arenas.shape[1]))
        self.reach = 0.0
        self._pinned = pinned = _pinned_particles(self._live, slots, layout.coordinates[block])
        self._find_targets(frame + SPEED_INTERVAL, pinned.next_targets)
        self._find_targets(frame, pinned.targets)
        self.speed = self._farthest_move() * self._frame_rate / SPEED_INTERVAL
        # a spring of frequency w that is stretched by d can cause a speed of w d
        cells = store.table[POSITION : POSITION + 3, slots].T + BLOCK * pinned.blocks
        stretches = np.linalg.norm(pinned.targets - self._solver.grid_spacing * cells, axis=1)
        self.spring_speed = float((self._springs.frequencies[pinned.emitters] * stretches).max(initial=0.0))

    def move_to(self, frame: float) -> None:
        """Evaluate the emitters' pin settings at a moment, in frames."""
        self._frame = frame
        if not self._is_used:
            return
        for number, emitter in enumerate(self._emitters):
            self._springs.strengths[number] = value_at(emitter, "goal", frame)
            self._springs.frequencies[number] = 2.0 * math.pi * value_at(emitter, "goal_frequency", frame)
            self._springs.damping_ratios[number] = value_at(emitter, "goal_damping", frame)

    def pull(self, store: ParticleStore, dt: float) -> None:
        """Set or change velocities in the table for a substep [s], before it is scattered."""
        pinned, springs = self._pinned, self._springs
        if len(pinned.slots) == 0:
            return
        self._find_targets(self._frame + dt * self._frame_rate, pinned.next_targets)
        spacing, is_plane = self._solver.grid_spacing, self._solver.dimension == 2
        pull_particles(store.table, pinned, springs, dt, spacing, self._solver.max_displacement * spacing, is_plane)
        self.reach = float(pinned.moves.max())
        is_cubic = self._solver.kernel == "cubic"
        scatter_pinned(store.table, pinned, springs, self._first, spacing, is_cubic, is_plane, self._arenas)

    def fix_nodes(self, store: ParticleStore) -> None:
        """Move the nodes around fixed particles with them."""
        if len(self._pinned.slots):
            layout = store.layout
            fix_nodes(store.nodes, self._near, layout.node_arenas, layout.node_fields, self._place_of_block, self._arenas)

    def fix(self, store: ParticleStore, dt: float) -> None:
        """Move fixed particles to their targets after the substep."""
        pinned = self._pinned
        if len(pinned.slots) == 0:
            return
        fix_particles(store.table, pinned, self._springs, dt, self._solver.dimension == 2)
        self.speed = max(self.speed, self._farthest_move() / dt)
        self._pinned = pinned._replace(targets=pinned.next_targets, next_targets=pinned.targets)

    def _farthest_move(self) -> float:
        """The greatest distance that a target moves in the substep [m]."""
        return float(np.linalg.norm(self._pinned.next_targets - self._pinned.targets, axis=1).max(initial=0.0))

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


def _pinned_particles(places: PinnedPlaces, slots: Ints, blocks: Ints) -> PinnedParticles:
    """Pinned particles with empty targets and places."""
    targets, next_targets, positions = np.empty((3, len(slots), 3))
    return PinnedParticles(slots, blocks, places.emitter, places.share, targets, next_targets, positions, np.zeros(len(slots)))


def _vertex_count(emitter: Emitter) -> int:
    return 0 if emitter.motion is None or emitter.motion.vertices is None else emitter.motion.vertices.shape[1]
