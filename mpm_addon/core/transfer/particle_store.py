"""The solver's particles in memory, sorted into blocks, with the node blocks around them. See `blocks` for the layout."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.vector import LANE_COUNT
from ..errors import SceneError, UnstableError
from . import blocks, sorting
from .blocks import NODE, Grid, Particles
from .extent import BOX, MARK_WORDS, Arenas, make_room, no_arenas
from .fields import Fields
from .grid import empty_grid
from .layout import PIECE_COUNT, Ints, Layout, blocks_around, packed, runs_of, unpacked
from .reach import find_extents
from .rows import DEFORMATION, FLUID_ROW_COUNT, MASS, POSITION, ROW_COUNT, VELOCITY, VELOCITY_GRADIENT, VOLUME, state_rows
from .scratch import CHUNK, SCRATCH_SIZE, Scratch

_REACH = blocks.BLOCK * (blocks.KEY_OFFSET - 2)
# particles whose blocks are computed at once
_CHUNK = 2**18


class Strayed(UnstableError):
    """Particles moved beyond the blocks around their own since the last sort."""


@dataclass(frozen=True)
class MaterialPoints:
    """Undeformed particles in the world.

    Attributes:
        position: [m], shape (n, 3); in 2D y is 0 here and in all vectors.
        velocity: [m/s], shape (n, 3).
        velocity_gradient: [1/s], shape (n, 9); a read-only view of one gradient if it is the same for all.
        mass: [kg], in 2D per meter of depth, shape (n,).
        volume: rest volumes [m^3], in 2D areas [m^2], shape (n,).
    """

    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    velocity_gradient: NDArray[np.float64]
    mass: NDArray[np.float64]
    volume: NDArray[np.float64]


class NewParticles(NamedTuple):
    """Particles to be added by the next sort.

    Attributes:
        table: (rows, n), positions relative to their blocks [cells].
        keys: (n,) keys of their blocks.
        ids, instances: (n,).
    """

    table: NDArray[Any]
    keys: Ints
    ids: NDArray[np.int32]
    instances: Ints


def new_particles(
    points: MaterialPoints, *, spacing: float, dtype: Any, first_id: int, instances: Ints, subject: str, row_count: int = ROW_COUNT
) -> NewParticles:
    """Particles for the next sort; the law's virgin state and stress are filled in later.

    Args:
        points: the particles.
        spacing: cell size [m].
        dtype: of the table, float32 or float64.
        first_id: id of the first particle; the others follow.
        instances: number of each particle's instance, (n,).
        subject: the emitter's name in messages.
        row_count: number of rows in the table.

    Raises:
        SceneError: a position is too far from the origin for the grid's keys.
    """
    position = points.position
    table, keys, farthest = np.zeros((row_count, len(position)), dtype), np.empty(len(position), np.int64), 0
    for start in range(0, len(position), _CHUNK):
        part = slice(start, start + _CHUNK)
        cells = position[part] / spacing
        coordinates = np.floor(np.floor(cells - 0.5) / blocks.BLOCK).astype(np.int64)
        farthest = max(farthest, int(np.abs(coordinates).max()))
        table[POSITION : POSITION + 3, part] = (cells - blocks.BLOCK * coordinates).T
        keys[part] = packed(coordinates)
    if farthest >= blocks.KEY_OFFSET - 2:
        distance, limit = np.abs(position).max(), _REACH * spacing
        raise SceneError(
            f"a particle lies {distance:g} m from the origin", f"at `grid_spacing` {spacing:g} m use at most {limit:g} m", subject=subject
        )
    table[VELOCITY : VELOCITY + 3] = points.velocity.T
    table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9] = points.velocity_gradient.T
    if row_count > FLUID_ROW_COUNT:
        table[[DEFORMATION, DEFORMATION + 4, DEFORMATION + 8]] = 1.0
    table[MASS] = points.mass
    table[VOLUME] = points.volume
    ids = np.arange(first_id, first_id + len(position), dtype=np.int32)
    return NewParticles(table, keys, ids, instances)


@dataclass
class _Source:
    """The input of a sort, stored so that the sort can be repeated."""

    particles: Particles
    layout: Layout
    new: NewParticles
    limits: NDArray[np.float64]


@dataclass
class _Reassigned:
    """Particles that go to other instances at the next sort: their slots, new instances, and columns (rows, n) from then on."""

    slots: Ints
    instances: Ints
    table: NDArray[Any]


class ParticleStore:
    """The particles and the sparse grid around them.

    `sort` copies the particles from one table to another in the new order. The old table stays unchanged until the next sort, so that
    `restore` can return to it.

    Args:
        instance_count: number of instances.
        dtype: float32 or float64.
        dimension: 3 or 2.
        is_flip: whether the nodes' velocities before forces and contact are stored, too.
        row_count: rows of the table, see `rows.row_count`.
        fields: instances of each velocity field, see `fields`; None if all instances share one.

    Attributes:
        field_of_instance: number of each instance's velocity field.
        node_speeds: (node blocks + 1, 4) the largest speed in each along x, y and z [m/s], that along z twice; see `grid.fastest_nodes`.
        is_carried: (instances,) whether each instance has a rest state and is moved by its rest nodes instead of the nodes in the world.
    """

    def __init__(
        self,
        instance_count: int,
        dtype: Any,
        dimension: int = 3,
        *,
        is_flip: bool = False,
        row_count: int = ROW_COUNT,
        fields: Fields | None = None,
    ) -> None:
        self.instance_count = instance_count
        self.fields = fields or (range(instance_count),)
        self.field_of_instance = [field for field, its in enumerate(self.fields) for _ in its]
        self.is_carried = np.zeros(instance_count, np.bool_)
        self._is_flip = is_flip
        self.dtype = np.dtype(dtype)
        self.dimension = dimension
        self.row_count = row_count
        self.table = np.zeros((self.row_count, LANE_COUNT), self.dtype)
        self.ids = np.full(LANE_COUNT, -1, np.int32)
        nothing = np.zeros(0, np.int64)
        self.layout = Layout(nothing, runs_of(nothing, instance_count), np.zeros((0, 6)), dimension, self.fields)
        self.particle_count = 0
        self.arenas = no_arenas(self.dtype)
        self.nodes, self.node_rows = self._empty_nodes(1)
        self.nodes_before, self.node_rows_before = self._empty_nodes(1)
        self.node_speeds = np.zeros((1, NODE), self.dtype)
        self.scratch = Scratch(aligned((PIECE_COUNT, SCRATCH_SIZE), self.dtype), np.zeros((PIECE_COUNT, CHUNK), np.int32))
        self._spare_table = self.table.copy()
        self._spare_ids = self.ids.copy()
        self._places = np.zeros(0, np.int8)
        self._origin = np.zeros(0, np.int32)
        self._source: _Source | None = None
        self._reassigned: _Reassigned | None = None

    @property
    def live(self) -> NDArray[np.bool_]:
        """Whether each slot holds a particle, not a massless copy, shape (slots,)."""
        return self.ids[: self.layout.slot_count] >= 0

    @property
    def particles(self) -> Particles:
        """The particles, for kernels."""
        return Particles(self.table, self.ids, self.layout.runs)

    def grid(self, spacing: float, field: int = 0) -> Grid:
        """The grid of a velocity field, for kernels, with its cell size [m]."""
        instances = self.fields[field]
        return Grid(spacing, self.layout.field_neighbors[field], self.nodes, self.nodes_before, instances.start, instances.stop)

    def sort(self, new: NewParticles | None = None, limits: NDArray[np.float64] | None = None) -> int:
        """Sort the particles into blocks, together with new ones.

        Args:
            new: particles to add.
            limits: (2, 3) lowest and highest corner [cells]; particles beyond them are removed.

        Returns:
            The number of particles that were removed.

        Raises:
            Strayed: a particle has moved beyond the blocks around its own; nothing is changed, and `restore` can be called.
            UnstableError: a particle has moved farther than the grid's keys can represent.
        """
        bounds = np.array([[-np.inf] * 3, [np.inf] * 3]) if limits is None else limits
        added = NewParticles(self.table[:, :0].copy(), np.zeros(0, np.int64), self.ids[:0], np.zeros(0, np.int64))
        changed = self._take_reassigned(bounds)
        source = _Source(self.particles, self.layout, joined([each for each in (changed, new) if each is not None] or [added]), bounds)
        left_out = self._sort(source)
        self._source = source
        return left_out

    def instances_of(self, slots: Ints) -> Ints:
        """The instances of the particles in some slots, (n,)."""
        return (np.searchsorted(self.layout.first, slots, side="right") - 1) % self.instance_count

    def reassign(self, slots: Ints, instances: Ints, table: NDArray[Any]) -> None:
        """Let particles go to other instances at the next sort, unless they are removed before it or by it.

        Args:
            slots: of the particles, (n,); none of an earlier call before the same sort.
            instances: their new instances, none of which is carried, (n,).
            table: their columns from then on, (rows, n); positions are those of the current table.
        """
        if (waiting := self._reassigned) is not None:
            slots, instances = np.append(waiting.slots, slots), np.append(waiting.instances, instances)
            table = np.concatenate([waiting.table, table], axis=1)
        self._reassigned = _Reassigned(slots, instances, table)

    def _take_reassigned(self, limits: NDArray[np.float64]) -> NewParticles | None:
        """Remove the particles that go to other instances from the table, and return them as new ones."""
        waiting, self._reassigned = self._reassigned, None
        if waiting is None:
            return None
        position = waiting.table[POSITION : POSITION + 3]
        block = (np.searchsorted(self.layout.first, waiting.slots, side="right") - 1) // self.instance_count
        coordinates = self.layout.coordinates[block]
        world = position.T.astype(np.float64) + blocks.BLOCK * coordinates
        shifts = np.floor((position.T.astype(np.float64) - 0.5) / blocks.BLOCK)
        # those that have left the limits or strayed are left to the sort
        is_within = ((world >= limits[0]) & (world <= limits[1]) & (np.abs(shifts) <= 1.0)).all(axis=1)
        its = np.flatnonzero(is_within & (self.ids[waiting.slots] >= 0))
        slots, shift = waiting.slots[its], shifts[its].astype(np.int64)
        table, ids = np.ascontiguousarray(waiting.table[:, its]), self.ids[slots]
        self.ids[slots] = -1
        table[POSITION : POSITION + 3] -= blocks.BLOCK * shift.T
        return NewParticles(table, packed(coordinates[its] + shift), ids, waiting.instances[its])

    def restore(self) -> None:
        """Return to the state at the last sort."""
        assert self._source is not None, "restore needs a sort before it"
        self._spare_table, self._spare_ids = self.table, self.ids
        self._sort(self._source)

    def _sort(self, source: "_Source") -> int:
        old, new = source.layout, source.new
        moves, left_out = self._count_moves(source)
        goes = np.empty((len(old.keys), 3**self.dimension), np.bool_)
        sorting.find_goers(moves, goes)
        around = blocks_around(old.keys, goes)
        if (np.abs(unpacked(around.keys)) >= blocks.KEY_OFFSET - 2).any():
            raise UnstableError(
                f"a particle was thrown more than {_REACH:,} cells from the origin",
                "bound the domain with open sides, or look for a collider that throws it out",
            )
        keys = np.union1d(around.keys, new.keys)
        targets = np.append(np.searchsorted(keys, around.keys), -1)[around.places]
        arrived = np.zeros((len(keys), self.instance_count), np.int64)
        sorting.count_arrivals(moves, targets, arrived)
        new_run = np.searchsorted(keys, new.keys) * self.instance_count + new.instances
        counts = arrived.reshape(-1) + np.bincount(new_run, minlength=arrived.size)
        runs = runs_of(counts, self.instance_count)
        self.particle_count = int(counts.sum())
        self._reserve(int(runs.first[-1]))
        sorting.place_arrivals(moves, targets, runs.first[:-1].reshape(-1, self.instance_count).copy())
        origins = sorting.Origins(self._origin, arrived.reshape(-1), counts)
        sorting.find_origins(old.runs, self._places, moves, origins.sources)
        self._place_new(new_run, runs.first, origins)
        result = Particles(self._spare_table, self._spare_ids, runs)
        sorting.copy_particles(source.particles, new, origins, self._places, self.dimension, result)
        self.table, self._spare_table = self._spare_table, source.particles.table
        self.ids, self._spare_ids = self._spare_ids, source.particles.ids
        self._lay_out(keys, result)
        return left_out

    def _count_moves(self, source: "_Source") -> tuple[NDArray[np.int32], int]:
        """The numbers of particles that go from each block to those around it, (blocks, instances, 27 or 9), and that are removed."""
        layout = source.layout
        if len(self._places) < layout.slot_count:
            self._places = np.empty(source.particles.table.shape[1], np.int8)
        moves = np.empty((len(layout.keys), self.instance_count, 3**self.dimension), np.int32)
        lost = np.zeros((PIECE_COUNT, 2), np.int64)
        sorting.count_moves(source.particles, layout.coordinates, source.limits, self._places, moves, lost)
        beyond, strays = lost.sum(axis=0)
        if strays:
            raise Strayed(
                f"{strays:,} particles were thrown more than {blocks.BLOCK} cells in a step, or nowhere; use a smaller `max_displacement`, "
                "or look for a collider that throws them out."
            )
        return moves, int(beyond)

    def _place_new(self, new_run: Ints, first: Ints, origins: sorting.Origins) -> None:
        """Place new particles after the old ones of their runs, in the order in which they were added."""
        order = np.argsort(new_run, kind="stable")
        ordered = new_run[order]
        place_in_run = np.arange(len(order)) - np.searchsorted(ordered, ordered)
        origins.sources[first[ordered] + origins.old_counts[ordered] + place_in_run] = order

    def _lay_out(self, keys: Ints, particles: Particles) -> None:
        """Make the layout of sorted particles, and clear the nodes if the node blocks have changed."""
        extents, old = np.empty((len(keys), 6)), self.layout
        find_extents(particles, extents)
        self.layout = Layout(keys, particles.runs, extents, self.dimension, self.fields, old)
        # one block more, for the number that stands for no node block
        count = self.layout.node_count + 1
        self._place_arenas(count)
        self.node_speeds = np.zeros((count, NODE), self.dtype)
        if self.layout.has_nodes_of(old):
            return
        for values, rows in (("nodes", "node_rows"), ("nodes_before", "node_rows_before"))[: 1 + self._is_flip]:
            if len(getattr(self, values)) >= count:
                empty_grid(getattr(self, values), getattr(self, rows), old.node_count)
            else:
                more_nodes, more_rows = self._empty_nodes(count)
                setattr(self, values, more_nodes)
                setattr(self, rows, more_rows)

    def _place_arenas(self, node_blocks: int) -> None:
        """Reserve the arenas of the layout's runs."""
        layout, runs = self.layout, len(self.layout.first) - 1
        rooms, reach = np.empty((self.instance_count, PIECE_COUNT), np.int64), np.empty((len(layout.keys), BOX), np.int8)
        size = make_room(layout.extents, layout.runs, self.dimension == 2, rooms, reach)
        values = self.arenas.values
        if len(values) < size:
            values = aligned((1, size + size // 4), self.dtype)[0]
        marks = np.zeros((node_blocks, MARK_WORDS), np.uint64)
        boxes = np.zeros((runs, BOX), np.int8)
        self.arenas = Arenas(values, np.zeros(runs, np.int64), rooms, boxes, reach, marks, marks.view(np.uint8), layout.node_instances)

    def _empty_nodes(self, count: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Zeros for node blocks, a quarter more than `count`, and for their rows."""
        count += count // 4
        return aligned((count, NODE * blocks.BLOCK**self.dimension), self.dtype), np.zeros(count, np.int32)

    def _reserve(self, slots: int) -> None:
        """Make the spare table large enough; it grows by a quarter so that emission does not reallocate in every frame."""
        capacity = (slots + slots // 4) // LANE_COUNT * LANE_COUNT + LANE_COUNT
        if self._spare_table.shape[1] < slots + LANE_COUNT:
            self._spare_table = aligned((self.row_count, capacity), self.dtype)
            self._spare_ids = np.full(capacity, -1, np.int32)
        if len(self._origin) < slots:
            self._origin = np.empty(capacity, np.int32)

    def positions(self, spacing: float) -> NDArray[np.float64]:
        """World positions of all slots [m], shape (slots, 3)."""
        layout = self.layout
        block = np.repeat(np.arange(len(layout.keys)), np.diff(layout.first[:: self.instance_count]))
        cells = self.table[POSITION : POSITION + 3, : layout.slot_count].T + blocks.BLOCK * layout.coordinates[block].astype(np.float64)
        return cells * spacing

    def states(self, count: int, slots: Ints) -> NDArray[Any]:
        """The states of the particles in some slots (n,), for laws with `count` states, shape (count, n)."""
        return self.table[list(state_rows(count))][:, slots]

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """The exact particles as arrays of a checkpoint, in the order of the slots: table, ids, instances and keys of their blocks."""
        live = np.flatnonzero(self.live)
        run = np.repeat(np.arange(len(self.layout.first) - 1), np.diff(self.layout.first))[live]
        return {
            "table": self.table[:, live],
            "ids": self.ids[live],
            "instances": run % self.instance_count,
            "keys": self.layout.keys[run // self.instance_count],
        }


def particles_of_snapshot(arrays: Mapping[str, NDArray[Any]]) -> NewParticles:
    """The particles in arrays that `ParticleStore.snapshot` returned."""
    return NewParticles(*(np.require(arrays[name], requirements=["C", "W"]) for name in ("table", "keys", "ids", "instances")))


def joined(parts: list[NewParticles]) -> NewParticles:
    """Several groups of new particles as one."""
    if len(parts) == 1:
        return parts[0]
    return NewParticles(*(np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)))


def aligned(shape: tuple[int, int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Zeros aligned to the processor's cache lines, so that no vector straddles two lines."""
    line = 64 // dtype.itemsize
    memory = np.zeros(shape[0] * shape[1] + line, dtype)
    start = -(memory.ctypes.data // dtype.itemsize) % line
    return memory[start : start + shape[0] * shape[1]].reshape(shape)
