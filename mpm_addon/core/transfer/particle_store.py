"""The solver's particles in memory: sorted into blocks, with the grid's blocks around them. See `blocks` for the layout."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.vector import LANE_COUNT
from ..errors import SceneError, UnstableError
from . import blocks, sorting
from .blocks import NODE
from .extent import BOX, MARK_WORDS, Arenas, make_room, no_arenas
from .fields import Fields
from .grid import empty_grid
from .layout import PIECE_COUNT, Ints, Layout, Runs, blocks_around, packed, runs_of, unpacked
from .reach import find_extents
from .rows import DEFORMATION, FLUID_ROW_COUNT, MASS, POSITION, ROW_COUNT, VELOCITY, VELOCITY_GRADIENT, VOLUME, state_rows
from .scratch import CHUNK, SCRATCH_SIZE

_REACH = blocks.BLOCK * (blocks.KEY_OFFSET - 2)
# particles whose first places are found at once
_CHUNK = 2**18


class Strayed(UnstableError):
    """Particles moved past the blocks around their own since the last sort."""


@dataclass
class NewParticles:
    """Particles that wait to be sorted in.

    Attributes:
        table: (rows, n), positions relative to their blocks [cells].
        keys: (n,) keys of their blocks.
        ids, bodies: (n,).
    """

    table: NDArray[Any]
    keys: Ints
    ids: NDArray[np.int32]
    bodies: Ints


def new_particles(
    position: NDArray[np.float64],
    velocity: NDArray[np.float64],
    velocity_gradient: NDArray[np.float64],
    mass: NDArray[np.float64],
    volume: NDArray[np.float64],
    *,
    spacing: float,
    dtype: Any,
    first_id: int,
    bodies: Ints,
    subject: str,
    row_count: int = ROW_COUNT,
) -> NewParticles:
    """Undeformed particles at world positions [m]; the law's virgin state and stress are still to be filled in.

    Args:
        position, velocity, mass, volume: of each, (n, 3) or (n,); velocity_gradient: (n, 9).
        bodies: number of the body of each, (n,).

    Raises:
        SceneError: naming `subject`, where a position is too far from the origin for the grid's keys.
    """
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
            f"a particle lies {distance:g} m from the origin", f"at grid_spacing {spacing:g} m use at most {limit:g} m", subject=subject
        )
    table[VELOCITY : VELOCITY + 3] = velocity.T
    table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9] = velocity_gradient.T
    if row_count > FLUID_ROW_COUNT:
        table[[DEFORMATION, DEFORMATION + 4, DEFORMATION + 8]] = 1.0
    table[MASS] = mass
    table[VOLUME] = volume
    ids = np.arange(first_id, first_id + len(position), dtype=np.int32)
    return NewParticles(table, keys, ids, bodies)


@dataclass
class _Source:
    """What a sort read: it can be read again."""

    table: NDArray[Any]
    ids: NDArray[np.int32]
    layout: Layout
    new: NewParticles
    limits: NDArray[np.float64]


class ParticleStore:
    """The particles and the sparse grid around them.

    `sort` writes the particles of one table, in new order, to the other; the old one stays as it was until the next sort, so
    that `restore` can go back to it.

    Args:
        body_count: how many bodies there are.
        dtype: float32 or float64.
        dimension: 3 or 2.
        is_flip: whether the nodes' velocities before a step are kept.
        row_count: the rows of the table, see `rows.row_count`.
        fields: the bodies of each velocity field, see `fields`; None where all bodies share one.

    Attributes:
        field_of_body: the number of each body's velocity field.
    """

    def __init__(
        self, body_count: int, dtype: Any, dimension: int = 3, *, is_flip: bool = False, row_count: int = ROW_COUNT,
        fields: Fields | None = None,
    ) -> None:  # fmt: skip
        self.body_count = body_count
        self.fields = fields or (range(body_count),)
        self.field_of_body = [field for field, its in enumerate(self.fields) for _ in its]
        self._is_flip = is_flip
        self.dtype = np.dtype(dtype)
        self.dimension = dimension
        self.row_count = row_count
        self.table = np.zeros((self.row_count, LANE_COUNT), self.dtype)
        self.ids = np.full(LANE_COUNT, -1, np.int32)
        nothing = np.zeros(0, np.int64)
        self.layout = Layout(nothing, runs_of(nothing, body_count), np.zeros((0, 6)), dimension, self.fields)
        self.particle_count = 0
        self.arenas = no_arenas(self.dtype)
        self.nodes, self.node_rows = self._empty_nodes(1)
        self.nodes_before, self.node_rows_before = self._empty_nodes(1)
        self.scratch = _aligned((PIECE_COUNT, SCRATCH_SIZE), self.dtype)
        self.index = np.zeros((PIECE_COUNT, CHUNK), np.int32)
        self._spare_table = self.table.copy()
        self._spare_ids = self.ids.copy()
        self._places = np.zeros(0, np.int8)
        self._origin = np.zeros(0, np.int32)
        self._source: _Source | None = None

    @property
    def live(self) -> NDArray[np.bool_]:
        """Which slots hold a particle, not a weightless copy, shape (slots,)."""
        return self.ids[: self.layout.slot_count] >= 0

    def sort(self, new: NewParticles | None = None, limits: NDArray[np.float64] | None = None) -> int:
        """Sort the particles, with new ones, into blocks.

        Args:
            new: particles to add.
            limits: (2, 3) lowest and highest corner [cells]; particles beyond them are left out.

        Returns:
            How many particles were left out.

        Raises:
            Strayed: where a particle has moved past the blocks around its own; all is as it was, and `restore` can be called.
            UnstableError: where one has moved farther than the grid's keys can name.
        """
        bounds = np.array([[-np.inf] * 3, [np.inf] * 3]) if limits is None else limits
        added = NewParticles(self.table[:, :0].copy(), np.zeros(0, np.int64), self.ids[:0], np.zeros(0, np.int64))
        source = _Source(self.table, self.ids, self.layout, new or added, bounds)
        left_out = self._sort(source)
        self._source = source
        return left_out

    def restore(self) -> None:
        """Go back to the state at the last sort."""
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
        arrived = np.zeros((len(keys), self.body_count), np.int64)
        sorting.count_arrivals(moves, targets, arrived)
        new_run = np.searchsorted(keys, new.keys) * self.body_count + new.bodies
        counts = arrived.reshape(-1) + np.bincount(new_run, minlength=arrived.size)
        runs = runs_of(counts, self.body_count)
        first = runs.first
        self.particle_count = int(counts.sum())
        self._reserve(int(first[-1]))
        sorting.place_arrivals(moves, targets, first[:-1].reshape(-1, self.body_count).copy())
        arrived = arrived.reshape(-1)
        sorting.find_origins(self._places, old.first, self.body_count, old.pieces, moves, self._origin)
        self._place_new(new_run, first, arrived)
        sorting.copy_particles(
            source.table, source.ids, self._places, self.dimension, new.table, new.ids,
            self._origin, first, arrived, counts, self._spare_table, self._spare_ids,
        )  # fmt: skip
        self.table, self._spare_table = self._spare_table, source.table
        self.ids, self._spare_ids = self._spare_ids, source.ids
        self._lay_out(keys, runs)
        return left_out

    def _count_moves(self, source: "_Source") -> tuple[NDArray[np.int32], int]:
        """How many particles go from each block to those around it, (blocks, bodies, 27 or 9), and how many are left out."""
        layout = source.layout
        if len(self._places) < layout.slot_count:
            self._places = np.empty(source.table.shape[1], np.int8)
        moves = np.empty((len(layout.keys), self.body_count, 3**self.dimension), np.int32)
        lost = np.zeros((PIECE_COUNT, 2), np.int64)
        sorting.count_moves(
            source.table, source.ids, layout.first, self.body_count, layout.coordinates, layout.pieces, source.limits,
            self._places, moves, lost,
        )  # fmt: skip
        beyond, strays = lost.sum(axis=0)
        if strays:
            raise Strayed(
                f"{strays:,} particles were thrown more than {blocks.BLOCK} cells in a step, or nowhere; use a smaller max_displacement, "
                "or look for a collider that throws them out."
            )
        return moves, int(beyond)

    def _place_new(self, new_run: Ints, first: Ints, arrived: Ints) -> None:
        """Give new particles the slots behind those that are in their runs already, in the order in which they came."""
        order = np.argsort(new_run, kind="stable")
        ordered = new_run[order]
        place_in_run = np.arange(len(order)) - np.searchsorted(ordered, ordered)
        self._origin[first[ordered] + arrived[ordered] + place_in_run] = order

    def _lay_out(self, keys: Ints, runs: Runs) -> None:
        """Make the layout of new blocks, and empty the node blocks where they get other numbers."""
        extents, old = np.empty((len(keys), 6)), self.layout
        find_extents(self.table, runs.first, self.body_count, extents)
        self.layout = Layout(keys, runs, extents, self.dimension, self.fields, old)
        # one more: a number that stands for no node block
        count = self.layout.node_count + 1
        self._place_arenas(count)
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
        """Make empty arenas for the runs of the layout."""
        layout, runs = self.layout, len(self.layout.first) - 1
        rooms, reach = np.empty((self.body_count, PIECE_COUNT), np.int64), np.empty((len(layout.keys), BOX), np.int8)
        size = make_room(layout.extents, layout.first, layout.pieces, self.dimension == 2, rooms, reach)
        values = self.arenas.values
        if len(values) < size:
            values = _aligned((1, size + size // 4), self.dtype)[0]
        marks = np.zeros((node_blocks, MARK_WORDS), np.uint64)
        boxes = np.zeros((runs, BOX), np.int8)
        self.arenas = Arenas(values, np.zeros(runs, np.int64), rooms, boxes, reach, marks, marks.view(np.uint8), layout.node_bodies)

    def _empty_nodes(self, count: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """So many node blocks, and a quarter more, and which of their rows hold something."""
        count += count // 4
        return _aligned((count, NODE * blocks.BLOCK**self.dimension), self.dtype), np.zeros(count, np.int32)

    def _reserve(self, slots: int) -> None:
        """Make the spare table large enough; it grows by a quarter so that emission does not allocate at every frame."""
        capacity = (slots + slots // 4) // LANE_COUNT * LANE_COUNT + LANE_COUNT
        if self._spare_table.shape[1] < slots + LANE_COUNT:
            self._spare_table = _aligned((self.row_count, capacity), self.dtype)
            self._spare_ids = np.full(capacity, -1, np.int32)
        if len(self._origin) < slots:
            self._origin = np.empty(capacity, np.int32)

    def positions(self, spacing: float) -> NDArray[np.float64]:
        """World positions of all slots [m], shape (slots, 3)."""
        layout = self.layout
        block = np.repeat(np.arange(len(layout.keys)), np.diff(layout.first[:: self.body_count]))
        cells = self.table[POSITION : POSITION + 3, : layout.slot_count].T + blocks.BLOCK * layout.coordinates[block].astype(np.float64)
        return cells * spacing

    def states(self, count: int, slots: Ints) -> NDArray[Any]:
        """The states of particles in some slots (n,), of bodies whose law has `count` of them, shape (count, n)."""
        return self.table[list(state_rows(count))][:, slots]

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """The particles as plain arrays, exact: table, ids, bodies and keys of their blocks, in the order of the slots."""
        live = np.flatnonzero(self.live)
        run = np.repeat(np.arange(len(self.layout.first) - 1), np.diff(self.layout.first))[live]
        return {
            "table": self.table[:, live],
            "ids": self.ids[live],
            "bodies": run % self.body_count,
            "keys": self.layout.keys[run // self.body_count],
        }


def particles_of_snapshot(arrays: Mapping[str, NDArray[Any]]) -> NewParticles:
    """The particles that `ParticleStore.snapshot` wrote."""
    return NewParticles(np.ascontiguousarray(arrays["table"]), arrays["keys"], arrays["ids"], arrays["bodies"])


def joined(parts: list[NewParticles]) -> NewParticles:
    """Several groups of new particles as one."""
    if len(parts) == 1:
        return parts[0]
    return NewParticles(
        np.concatenate([part.table for part in parts], axis=1),
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.bodies for part in parts]),
    )


def _aligned(shape: tuple[int, int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Zeros that begin where a line of the processor's cache begins: a vector then never lies across two lines."""
    line = 64 // dtype.itemsize
    memory = np.zeros(shape[0] * shape[1] + line, dtype)
    start = -(memory.ctypes.data // dtype.itemsize) % line
    return memory[start : start + shape[0] * shape[1]].reshape(shape)
