"""The solver's particles in memory: sorted into blocks, with the grid's blocks around them. See `kernels.blocks` for the layout."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import SceneError, UnstableError
from .kernels import blocks
from .kernels.blocks import NODE
from .kernels.gather import SCRATCH_SIZE
from .kernels.output import gather_particles
from .kernels.rows import DEFORMATION, MASS, POSITION, ROW_COUNT, VELOCITY, VELOCITY_GRADIENT, VOLUME
from .kernels.vector import LANE_COUNT

Ints = NDArray[np.int64]
PIECE_COUNT = 64
_REACH = blocks.BLOCK * (blocks.KEY_OFFSET - 2)
_MASK = (1 << blocks.KEY_BITS) - 1


def unpacked(keys: Ints) -> Ints:
    """The coordinates of blocks from their keys, shape (n, 3)."""
    return np.stack([keys >> (2 * blocks.KEY_BITS), keys >> blocks.KEY_BITS & _MASK, keys & _MASK], axis=1) - blocks.KEY_OFFSET


def packed(coordinates: Ints) -> Ints:
    """The keys of blocks from their coordinates (n, 3)."""
    x, y, z = (coordinates + blocks.KEY_OFFSET).T
    return (x << (2 * blocks.KEY_BITS)) | (y << blocks.KEY_BITS) | z


@dataclass
class Layout:
    """Where the particles of each block lie, and which node blocks surround it.

    Attributes:
        first: first slot of each run (block, body), with the number of slots at the end.
        keys, coordinates: of the particle blocks, in ascending order.
        neighbours: (blocks, 27 or 9) node blocks around each particle block.
        node_keys, node_coordinates: of the node blocks, in ascending order.
        node_arenas: (node blocks, 27 or 9) particle blocks around each node block, -1 where there is none.
        node_neighbours: (node blocks, 27 or 9) node blocks around each node block, -1 where there is none.
        pieces: first block of each piece of work.
    """

    first: Ints
    keys: Ints
    coordinates: Ints
    neighbours: Ints
    node_keys: Ints
    node_coordinates: Ints
    node_arenas: Ints
    node_neighbours: Ints
    pieces: Ints

    @property
    def slot_count(self) -> int:
        return int(self.first[-1])


@dataclass
class NewParticles:
    """Particles that wait to be sorted in.

    Attributes:
        table: (ROW_COUNT, n), positions relative to their blocks [cells].
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
    body: int,
    subject: str,
) -> NewParticles:
    """Undeformed particles at world positions [m]; the law's virgin state and stress are still to be filled in.

    Raises:
        SceneError: naming `subject`, where a position is too far from the origin for the grid's keys.
    """
    cells = position / spacing
    coordinates = np.floor(np.floor(cells - 0.5) / blocks.BLOCK).astype(np.int64)
    if np.abs(coordinates).max() >= blocks.KEY_OFFSET - 2:
        farthest, limit = np.abs(position).max(), _REACH * spacing
        raise SceneError(
            f"{subject}: a particle lies {farthest:g} m from the origin; at grid_spacing {spacing:g} m use at most {limit:g} m."
        )
    table = np.zeros((ROW_COUNT, len(position)), dtype)
    table[POSITION : POSITION + 3] = (cells - blocks.BLOCK * coordinates).T
    table[VELOCITY : VELOCITY + 3] = velocity.T
    table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9] = velocity_gradient[:, None]
    table[[DEFORMATION, DEFORMATION + 4, DEFORMATION + 8]] = 1.0
    table[MASS] = mass
    table[VOLUME] = volume
    ids = np.arange(first_id, first_id + len(position), dtype=np.int32)
    return NewParticles(table, packed(coordinates), ids, np.full(len(position), body, np.int64))


@dataclass
class _Source:
    """What a sort read: it can be read again."""

    table: NDArray[Any]
    ids: NDArray[np.int32]
    layout: Layout
    new: NewParticles | None
    limits: NDArray[np.float64]


class ParticleStore:
    """The particles and the sparse grid around them.

    `sort` writes the particles of one table, in new order, to the other; the old one stays as it was until the next sort, so
    that `restore` can go back to it.
    """

    def __init__(self, body_count: int, dtype: Any, dimension: int = 3, *, is_flip: bool = False) -> None:
        self.body_count = body_count
        self._is_flip = is_flip
        self.dtype = np.dtype(dtype)
        self.dimension = dimension
        self.table = np.zeros((ROW_COUNT, LANE_COUNT), self.dtype)
        self.ids = np.full(LANE_COUNT, -1, np.int32)
        self.layout = _layout_of(np.zeros(0, np.int64), np.zeros(1, np.int64), body_count, dimension)
        self.particle_count = 0
        self.arenas = np.zeros((0, NODE * blocks.ARENA**dimension), self.dtype)
        self.nodes = np.zeros((0, NODE * blocks.BLOCK**dimension), self.dtype)
        self.nodes_before = self.nodes
        self.scratch = np.zeros((PIECE_COUNT, SCRATCH_SIZE), self.dtype)
        self.index = np.zeros((PIECE_COUNT, LANE_COUNT), np.int32)
        self._spare_table = self.table.copy()
        self._spare_ids = self.ids.copy()
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
        """
        bounds = np.array([[-np.inf] * 3, [np.inf] * 3]) if limits is None else limits
        self._source = _Source(self.table, self.ids, self.layout, new, bounds)
        return self._sort(self._source)

    def restore(self) -> None:
        """Go back to the state at the last sort."""
        assert self._source is not None, "restore needs a sort before it"
        self._spare_table, self._spare_ids = self.table, self.ids
        self._sort(self._source)

    def _sort(self, source: "_Source") -> int:
        table, ids, layout, new = source.table, source.ids, source.layout, source.new
        count = layout.slot_count
        keys = np.empty(count, np.int64)
        sources = np.empty(count, np.int64)
        bodies = np.empty(count, np.int64)
        positions = np.empty((3, count), self.dtype)
        present, left_out = blocks.locate(
            table, layout.coordinates, layout.first, ids, self.body_count, source.limits, keys, sources, bodies, positions
        )
        if present < 0:
            raise UnstableError(
                f"a particle was thrown more than {_REACH:,} cells from the origin; bound the domain with open sides, "
                "or look for a collider that throws it out."
            )
        keys, sources, bodies = keys[:present], sources[:present], bodies[:present]
        if new is not None:
            keys = np.concatenate([keys, new.keys])
            sources = np.concatenate([sources, count + np.arange(len(new.keys))])
            bodies = np.concatenate([bodies, new.bodies])
        self.particle_count = len(keys)
        block_keys, block_of = numbered_blocks(keys)
        first = np.zeros(len(block_keys) * self.body_count + 1, np.int64)
        slots = blocks.count_runs(block_of, bodies, self.body_count, first)
        origin = np.empty(slots, np.int64)
        is_copy = np.empty(slots, np.bool_)
        blocks.place(block_of, bodies, sources, self.body_count, first, first.copy(), origin, is_copy)
        self._reserve(slots)
        added = new or NewParticles(table[:, :0].copy(), keys[:0], ids[:0], bodies[:0])
        gather_particles(
            table, ids, positions, added.table, added.ids, count, origin, is_copy, self._spare_table, self._spare_ids
        )
        self.table, self._spare_table = self._spare_table, table
        self.ids, self._spare_ids = self._spare_ids, ids
        self.layout = _layout_of(block_keys, first, self.body_count, self.dimension)
        self._reserve_grid()
        return left_out

    def _reserve(self, slots: int) -> None:
        """Make the spare table large enough; it grows by a quarter so that emission does not allocate at every frame."""
        if self._spare_table.shape[1] < slots + LANE_COUNT:
            capacity = (slots + slots // 4) // LANE_COUNT * LANE_COUNT + LANE_COUNT
            self._spare_table = np.zeros((ROW_COUNT, capacity), self.dtype)
            self._spare_ids = np.full(capacity, -1, np.int32)

    def _reserve_grid(self) -> None:
        nodes = len(self.layout.node_keys)
        for name, count in (("arenas", len(self.layout.keys)), ("nodes", nodes), ("nodes_before", nodes if self._is_flip else 0)):
            array = getattr(self, name)
            if len(array) < count:
                setattr(self, name, np.zeros((count + count // 4, array.shape[1]), self.dtype))

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
    return NewParticles(arrays["table"], arrays["keys"], arrays["ids"], arrays["bodies"])


def joined(parts: list[NewParticles]) -> NewParticles:
    """Several groups of new particles as one."""
    return NewParticles(
        np.concatenate([part.table for part in parts], axis=1),
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.bodies for part in parts]),
    )


def numbered_blocks(keys: Ints) -> tuple[Ints, Ints]:
    """The distinct keys in ascending order, and the number among them of each of `keys`."""
    size = 1024
    while True:
        table_keys, table_values = np.full(size, -1, np.int64), np.zeros(size, np.int64)
        unique = np.empty(size, np.int64)
        count = blocks.unique_keys(keys, table_keys, table_values, unique)
        if count >= 0:
            break
        size *= 4
    order = np.argsort(unique[:count])
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    numbers = np.empty(len(keys), np.int64)
    blocks.look_up(table_keys, table_values, keys, numbers)
    return unique[:count][order], rank[numbers]


def _layout_of(keys: Ints, first: Ints, body_count: int, dimension: int) -> Layout:
    neighbour_count = 3**dimension
    around = np.empty((len(keys), neighbour_count), np.int64)
    blocks.neighbour_keys(keys, around)
    node_keys, neighbours = numbered_blocks(around.reshape(-1))
    node_around = np.empty((len(node_keys), neighbour_count), np.int64)
    blocks.neighbour_keys(node_keys, node_around)
    pieces = np.zeros(PIECE_COUNT + 1, np.int64)
    blocks.cut_into_pieces(first, body_count, pieces)
    return Layout(
        first, keys, unpacked(keys), neighbours.reshape(around.shape), node_keys, unpacked(node_keys),
        places_of(node_around, keys), places_of(node_around, node_keys), pieces,
    )  # fmt: skip


def places_of(wanted: Ints, keys: Ints) -> Ints:
    """Where keys lie in an ascending list, -1 where they are not in it."""
    if len(keys) == 0:
        return np.full(wanted.shape, -1, np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)
