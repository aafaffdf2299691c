"""The particles near a group of colliders, from one sort to the next: the blocks with particles to push, and pushing them out."""

import numpy as np
from numpy.typing import NDArray

from ..transfer.blocks import ARENA
from ..transfer.particle_store import ParticleStore
from .collision import collide_particles, find_due
from .obstacle import Ints
from .pairs import Pairs, count_pairs, find_pairs
from .surface import LevelSets

# distance that a block's arena reaches beyond the block [cells]
ARENA_MARGIN = 1.5


class NearParticles:
    """Pairs of a collider and a block with particles near it.

    Args:
        dimension: 2 or 3.
        spacing: cell size [m].

    Attributes:
        due: the last result of `due_blocks`.
    """

    def __init__(self, dimension: int, spacing: float) -> None:
        self._dimension = dimension
        self._spacing = spacing
        nothing = np.zeros(0, np.int64)
        self._pairs = self._allocate_pairs(nothing, nothing, nothing.reshape(0, 1))
        self.due = self._due = nothing

    def find(self, level_sets: LevelSets, holds_inside: NDArray[np.bool_], store: ParticleStore) -> None:
        """Find the pairs: after a sort, or after the colliders have moved.

        Args:
            level_sets: of the colliders.
            holds_inside: (colliders, node blocks + 1) whether a node inside lies in the block.
            store: the particles.
        """
        neighbors = store.layout.neighbors
        counts = np.empty(len(neighbors), np.int64)
        count_pairs(neighbors, holds_inside.any(axis=0), holds_inside, counts)
        near = np.flatnonzero(counts)
        around = np.concatenate([its[near] for its in store.layout.field_neighbors], axis=1)
        self._pairs = self._allocate_pairs(near, counts[near], around)
        self._due = np.empty(len(near), np.int64)
        find_pairs(self._pairs, neighbors, holds_inside, level_sets)
        self._pairs.is_due[:] = self._pairs.is_near

    def _allocate_pairs(self, blocks: Ints, counts: Ints, around: Ints) -> Pairs:
        """Arrays for pairs of these particle blocks (k,), with `counts` pairs each; around: see `Pairs`."""
        first = np.concatenate([[0], np.cumsum(counts)])
        count = int(first[-1])
        arenas = np.empty((count, ARENA, 1 if self._dimension == 2 else ARENA, ARENA), np.float32)
        is_near, is_due = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        owners, bounds, falls = np.empty(count, np.int64), np.zeros((count, 5)), np.zeros((count, 3))
        return Pairs(blocks, first, owners, arenas, bounds, falls, around, is_near, is_due, np.zeros(len(blocks)), np.zeros(count))

    def due_blocks(self, speeds: NDArray[np.floating], dt: float, least: float, drift: float) -> Ints:
        """The blocks with particles that could be pushed after a substep. To be called exactly once in each.

        Args:
            speeds: see `fastest_nodes`.
            dt: length of the substep [s].
            least: displacement that particles may have regardless of the nodes, such as pinned ones [cells].
            drift: distance that particles may have drifted since the sort, including this substep [cells].
        """
        pairs = self._pairs
        # beyond the margin a particle may be outside its block's arena
        count = find_due(pairs, speeds, dt / self._spacing, least, drift <= ARENA_MARGIN, self._due) if len(pairs.blocks) else 0
        self.due = self._due[:count]
        return self.due

    def moved(self, distance: float) -> None:
        """Account for particles having moved by up to this distance other than with the nodes [cells]."""
        if distance > 0.0:
            self._pairs.room[:] -= distance * self._pairs.falls.sum(axis=1)

    def push(self, level_sets: LevelSets, store: ParticleStore, dt: float, drift: float) -> float:
        """Push out the particles of the due blocks that sank in during a substep.

        Args:
            level_sets: of the colliders in their current poses.
            store: the particles.
            dt: the length of the substep [s].
            drift: distance that particles have drifted since the sort, including this substep [cells].

        Returns:
            The greatest distance that a particle was pushed [cells].
        """
        pairs, layout = self._pairs, store.layout
        if not len(self.due):
            return 0.0
        is_within = drift <= ARENA_MARGIN
        collide_particles(store.particles, store.is_carried, layout.coordinates, layout.neighbors, pairs, level_sets, dt, is_within)
        return float(pairs.pushed.max(initial=0.0))
