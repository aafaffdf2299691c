"""The particles near a group of colliders, from one sort to the next: which blocks of them could meet a collider, and pushing them out."""

import numpy as np
from numpy.typing import NDArray

from ..transfer.blocks import ARENA
from ..transfer.particle_store import ParticleStore
from .collision import Pairs, collide_particles, count_pairs, find_pairs
from .obstacle import Ints
from .surface import LevelSets

# how far a block's arena reaches beyond the block [cells]
ARENA_MARGIN = 1.5


class NearParticles:
    """Pairs of a collider and a block with particles near it.

    Attributes:
        due: the last result of `due_blocks`.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        nothing = np.zeros(0, np.int64)
        self._pairs = self._room_for_pairs(nothing, nothing)
        self._free_until = np.zeros(0)
        self.due = nothing

    def find(self, level_sets: LevelSets, holds_inside: NDArray[np.bool_], store: ParticleStore) -> None:
        """Find the pairs after a sort.

        Args:
            level_sets: of the colliders.
            holds_inside: (colliders, node blocks + 1) whether a node inside lies in the block.
            store: the particles.
        """
        neighbors = store.layout.neighbors
        counts = np.empty(len(neighbors), np.int64)
        count_pairs(neighbors, holds_inside.any(axis=0), holds_inside, counts)
        near = np.flatnonzero(counts)
        self._pairs = self._room_for_pairs(near, counts[near])
        self._free_until = np.full(len(self._pairs.owners), -np.inf)
        find_pairs(self._pairs, neighbors, holds_inside, level_sets)
        self._pairs.is_due[:] = self._pairs.is_near

    def _room_for_pairs(self, blocks: Ints, counts: Ints) -> Pairs:
        """Arrays for pairs of these particle blocks (k,), so many of each."""
        first = np.concatenate([[0], np.cumsum(counts)])
        count = int(first[-1])
        arenas = np.empty((count, ARENA, 1 if self._dimension == 2 else ARENA, ARENA), np.float32)
        is_near, is_due = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        return Pairs(blocks, first, np.empty(count, np.int64), arenas, is_near, is_due, np.zeros(len(blocks)), np.zeros(count))

    def due_blocks(self, drift: float) -> Ints:
        """The blocks with particles that could be pushed before all have drifted so far since the sort [cells]."""
        pairs = self._pairs
        # beyond the margin a particle may be outside its block's arena
        pairs.is_due[:] = pairs.is_near & (self._free_until < drift) if drift <= ARENA_MARGIN else True
        self.due = pairs.blocks[np.logical_or.reduceat(pairs.is_due, pairs.first[:-1])] if len(pairs.blocks) else pairs.blocks
        return self.due

    def push(self, level_sets: LevelSets, store: ParticleStore, dt: float, drift: float) -> float:
        """Push out the particles of the due blocks that came in during a substep.

        Args:
            level_sets: of the colliders, now.
            store: the particles.
            dt: the length of the substep [s].
            drift: how far particles have drifted since the sort, this substep included [cells].

        Returns:
            How far they were pushed, at most [cells].
        """
        pairs, layout = self._pairs, store.layout
        if not pairs.is_due.any():
            return 0.0
        collide_particles(store.table, layout.first, store.body_count, layout.coordinates, layout.neighbors, pairs, level_sets, dt)
        # a drift is along each axis, and along any of them the distance changes by at most a cell per cell
        self._free_until[pairs.is_due] = drift + pairs.room[pairs.is_due] / self._dimension
        return float(pairs.pushed.max(initial=0.0))
