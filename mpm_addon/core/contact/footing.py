"""The nodes at which a group of colliders acts: feet at the surfaces, and deep nodes inside; see `surface`."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .exchange import move_feet
from .facing import STUCK
from .impulses import apply_contact_impulses, apply_initial_impulses
from .obstacle import Floats, Ints
from .surface import (
    AT_SURFACE,
    DEEP,
    LINEAR_CORNERS,
    SPLINE_CORNERS,
    DeepNodes,
    LevelSets,
    find_edges,
    order_nodes,
    place_feet,
    room_for_feet,
)

# with fewer feet, threads do not pay off
PARALLEL_FEET = 8000


class Footing:
    """Feet and deep nodes, found at each sort for fixed colliders, else in each substep.

    Args:
        owner_count: how many colliders.
        dimension: 2 or 3.
        is_exact: whether feet have the weights of the particles' spline, and the edges of the colliders feet on each face.

    Attributes:
        feet, foot_count: the feet, and how many of the arrays are used.
        colors: (3,) the first slab of each color, and the number of slabs at the end.
    """

    def __init__(self, owner_count: int, dimension: int, *, is_exact: bool) -> None:
        self._owner_count = owner_count
        self._dimension = dimension
        self._is_exact = is_exact
        nothing = np.zeros(0, np.int64)
        self.colors = np.zeros(3, np.int64)
        self.foot_count = 0
        self.feet = room_for_feet(0, 0, 0, np.float32, LINEAR_CORNERS)
        self._deep = DeepNodes(nothing, nothing, nothing, np.zeros(0, np.bool_))
        self._has_material = False

    @property
    def is_empty(self) -> bool:
        """Whether the colliders act at no node."""
        return self.foot_count + len(self._deep.nodes) == 0

    def place(self, level_sets: LevelSets, places: NDArray[np.uint8], held: NDArray[np.uint8], around: Ints, dtype: Any) -> None:
        """Find feet and deep nodes.

        Args:
            level_sets: of the colliders.
            places: (rows, block nodes) where each node lies; see `find_surface`.
            held: (rows, block nodes) which are held at thin colliders; see `turn_nodes`.
            around: (node blocks, 27 or 9) node blocks around those of the rows.
            dtype: of the nodes.
        """
        owners = level_sets.owners
        block_nodes = places.shape[1]
        surface, deep = np.flatnonzero(places == AT_SURFACE), np.flatnonzero(places == DEEP)
        slabs = self._slabs(level_sets, places)
        runs = int(self.colors[2]) * self._owner_count
        deep_order, deep_first = np.empty_like(deep), np.empty(runs + 1, np.int64)
        order_nodes(deep, owners, slabs, self._owner_count, block_nodes, deep_order, deep_first)
        deep = deep[deep_order]
        self._deep = DeepNodes(deep_first, numbered(level_sets, deep, block_nodes), deep, held.reshape(-1)[deep] == STUCK)
        depths = -level_sets.distance.reshape(-1)[surface] / level_sets.spacing
        normals = level_sets.normal.reshape(-1, 3)[surface]
        if self._is_exact:
            surface, depths, normals = _with_edges(level_sets, surface, depths, normals, around)
        order, first = np.empty_like(surface), np.empty(runs + 1, np.int64)
        order_nodes(surface, owners, slabs, self._owner_count, block_nodes, order, first)
        self.foot_count = len(order)
        corners = SPLINE_CORNERS if self._is_exact and self._dimension == 3 else LINEAR_CORNERS
        self.feet = room_for_feet(len(order), runs, places.size, dtype, corners, self.feet)
        self.feet.first[: runs + 1] = first
        place_feet(surface[order], depths[order], normals[order], level_sets, around, self.feet)

    def _slabs(self, level_sets: LevelSets, places: NDArray[np.uint8]) -> Ints:
        """The place of each row's slab, ordered by color; slabs are along the axis whose fullest slab has the fewest feet."""
        feet = np.count_nonzero(places == AT_SURFACE, axis=1)
        if feet.sum() < PARALLEL_FEET:
            self.colors[:] = 0, 1, 1
            return np.zeros(len(places), np.int64)
        least, best = math.inf, np.zeros(len(places), np.int64)
        for axis in range(3):
            values, slab = np.unique(level_sets.coordinates[level_sets.blocks, axis], return_inverse=True)
            fullest = np.bincount(slab, feet).max()
            if fullest < least:
                is_odd = (values & 1).astype(np.int64)
                rank = np.empty(len(values), np.int64)
                rank[np.argsort(is_odd, kind="stable")] = np.arange(len(values))
                least, best = fullest, rank[slab]
                self.colors[:] = 0, len(values) - is_odd.sum(), len(values)
        return best

    def apply_initial_impulses(self, nodes: NDArray[Any], level_sets: LevelSets, surfaces: Ints, frictions: Floats, filling: float) -> None:
        """Apply the colliders to the nodes inside, and find which feet have material; see `impulses.apply_initial_impulses`."""
        self._has_material = not self.is_empty and bool(
            apply_initial_impulses(nodes, self._deep, self.feet, self.colors, level_sets, surfaces, frictions, filling)
        )

    def apply_contact_impulses(self, nodes: NDArray[Any], surfaces: Ints, frictions: Floats) -> None:
        """Correct the velocities of the material at the feet; after `apply_initial_impulses` in each substep."""
        if self._has_material:
            apply_contact_impulses(nodes, self.feet, self.colors, surfaces, frictions)

    def take_motion(self, level_sets: LevelSets) -> None:
        """Give the feet the velocities of the colliders."""
        move_feet(self.foot_count, level_sets, self.feet)


def numbered(level_sets: LevelSets, row_nodes: Ints, block_nodes: int) -> Ints:
    """Nodes numbered through all node blocks, from nodes numbered through the rows."""
    return level_sets.blocks[row_nodes // block_nodes] * block_nodes + row_nodes % block_nodes


def _with_edges(level_sets: LevelSets, surface: Ints, depths: Floats, normals: Floats, around: Ints) -> tuple[Ints, Floats, Floats]:
    """The nodes (n,), depths (n,) and normals (n, 3) of feet, with those of the further ones at edges behind them."""
    found, more_depths, more_normals = np.empty(6 * len(surface), np.int64), np.empty(6 * len(surface)), np.empty((6 * len(surface), 3))
    count = find_edges(surface, level_sets, around, found, more_depths, more_normals)
    found, more_depths, more_normals = found[:count], more_depths[:count], more_normals[:count]
    return np.concatenate([surface, found]), np.concatenate([depths, more_depths]), np.concatenate([normals, more_normals])
