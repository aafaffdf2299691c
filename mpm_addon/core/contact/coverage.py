"""The share of the space around nodes that colliders cover: in the fullness that fluids measure, a collider counts as full of fluid."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import NODE
from ..transfer.particle_store import ParticleStore

# Covered space counts as full to the degree that the space beside it is: above the first share to a higher degree, from the second share
# on fully, since particles are too few to fill every node's kernel evenly.
HALF_BESIDE, FULL_BESIDE = 0.5, 0.8
LEAST_BESIDE = 1e-6
# nodes that a thread takes at once
PORTION = 1024
# the distance from a surface beyond which a node's kernel counts as not covered, or as fully covered [cells]
COVER_REACH = 1.5


@generic
def covered_share(distance, is_cubic_spline):
    """The share of a node's kernel that a flat collider covers at a signed distance [cells], positive outside.

    The integral of the kernel beyond the distance. The tails of cubic splines beyond 1.5 cells, 0.3 %, are neglected.
    """
    s = abs(distance)
    if s >= COVER_REACH:
        share = 0.0
    elif is_cubic_spline:
        share = 0.5 - s * (2.0 / 3.0 - s * s * (1.0 / 3.0 - s / 8.0)) if s < 1.0 else (2.0 - s) ** 4 / 24.0
    else:
        share = 0.5 - s * (0.75 - s * s / 3.0) if s < 0.5 else (1.5 - s) ** 3 / 6.0
    return share if distance >= 0.0 else 1.0 - share


@parallel_kernel
def find_covered(tickets, level_sets, reached, is_cubic, shares):
    """The share of each node's kernel that a collider covers.

    Args:
        level_sets: see `LevelSets`.
        reached: (node blocks,) see `mark_reached`.
        is_cubic: whether the scheme's splines are cubic.
        shares: (rows, block nodes) result; 0 at nodes that no particle can reach.
    """
    blocks, distance, spacing = level_sets.blocks, level_sets.distance, level_sets.spacing
    for row in shared(tickets[0], blocks.size, 16):
        block = blocks[row]
        for place in range(distance.shape[1]):
            is_reached = block >= 0 and reached[block] >> place & 1 != 0
            shares[row, place] = covered_share(distance[row, place] / spacing, is_cubic) if is_reached else 0.0


@kernel
def cover_nodes(covered, filled, shares, found, count):
    """Add the space that colliders cover to the space already covered.

    Args:
        covered: (nodes,) the share of each node's kernel that is covered; updated.
        filled: (n,) the nodes, once for each collider that covers part of their kernels; shares: (n,) those parts.
        found: result: from index `count` on, the nodes that were not covered before.

    Returns:
        The new count.
    """
    for index in range(filled.size):
        node = filled[index]
        if covered[node] == 0.0 and shares[index] != 0.0:
            found[count] = node
            count += 1
        covered[node] += (1.0 - covered[node]) * shares[index]
    return count


@parallel_kernel
def fill_nodes(tickets, nodes, covered, filled, count, full_mass):
    """Add to the masses of nodes the mass that would fill the covered space, to the degree that the space beside it is full.

    Above the surface of a pool, walls must not count as full, or particles would be lifted along them.

    Args:
        nodes: (4 * nodes,) velocities [m/s] and masses [kg]; masses are updated.
        covered: (nodes,) see `cover_nodes`.
        filled: the nodes, each once; count: their number.
        full_mass: mass of a full cell [kg].
    """
    for portion in shared(tickets[0], (count + PORTION - 1) // PORTION, 1):
        for index in range(portion * PORTION, min((portion + 1) * PORTION, count)):
            node = filled[index]
            mass = nodes[NODE * node + 3]
            if mass > 0.0:
                share = covered[node]
                beside = mass / max((1.0 - share) * full_mass, LEAST_BESIDE * full_mass)
                steep = HALF_BESIDE + (beside - HALF_BESIDE) * (1.0 - HALF_BESIDE) / (FULL_BESIDE - HALF_BESIDE)
                nodes[NODE * node + 3] += full_mass * share * min(max(beside, steep), 1.0)


class Cover:
    """The space that all colliders together cover, until their surfaces change."""

    def __init__(self) -> None:
        self._covered = np.zeros(0, np.float32)
        self._filled = np.zeros(0, np.int64)
        self._count = 0

    def reserve(self, node_count: int) -> None:
        """Allocate memory for this number of nodes, before any substep."""
        if self._covered.size < node_count:
            self._covered = np.zeros(node_count + node_count // 4, np.float32)
            self._count = 0

    def find(self, parts: Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]]) -> None:
        """Sum the space that colliders cover.

        Args:
            parts: for each group of colliders, the nodes whose kernels it covers in part, (n,), and those parts, (n,).
        """
        self._covered[self._filled[: self._count]] = 0.0
        most = sum(len(nodes) for nodes, _ in parts)
        if self._filled.size < most:
            self._filled = np.zeros(most + most // 4, np.int64)
        self._count = 0
        for nodes, shares in parts:
            if len(nodes):
                self._count = cover_nodes(self._covered, nodes, shares, self._filled, self._count)

    def fill(self, store: ParticleStore, full_mass: float) -> None:
        """Count covered space as full, in the masses that particles gather; full_mass: of a cell [kg]."""
        if self._count:
            fill_nodes(store.nodes.reshape(-1), self._covered, self._filled, self._count, full_mass)
