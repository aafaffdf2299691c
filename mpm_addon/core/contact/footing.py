"""The nodes at which a group of colliders acts: those around feet at the surfaces, and deep nodes inside; see `surface`."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..transfer.blocks import NODE
from ..transfer.particle_store import ParticleStore
from .deep_nodes import allocate_deep_nodes, move_deep_nodes, place_deep_nodes
from .exchange import move_feet
from .impulses import apply_contact_impulses, apply_initial_impulses, solve_lone_feet
from .lone_feet import lone_of, none_lone
from .obstacle import Floats, Ints
from .slabs import find_levels, in_one_piece, no_slabs, slabs_of
from .surface import (
    AT_SURFACE,
    DEEP,
    LINEAR_CORNERS,
    SPLINE_CORNERS,
    LevelSets,
    allocate_feet,
    find_edges,
    order_nodes,
    place_feet,
)

# With fewer feet that are not lone, threads do not pay off: they would wait for one another most of the time.
PARALLEL_FEET = 4000
# How far above a node the velocity of solids is at most measured in an impact [cells]: at a surface farther above a node, contact would
# begin later and take more energy. Not at rigid bodies, which receive impulses at their surface.
STOPPED_AT = 0.5


class Footing:
    """Feet and deep nodes, found at each sort and, for moving colliders, when these have moved by part of a cell.

    Args:
        owner_count: number of colliders.
        dimension: 2 or 3.
        is_exact: whether feet use the weights of the particles' spline, and nodes at edges have a foot on each face.
        is_moving: whether the colliders move.

    Attributes:
        feet, foot_count: the feet, and the number of them in the arrays, which may be longer.
        deep: the deep nodes.
        lone: the feet and deep nodes that share no node with others, of colliders that do not move.
        slabs: the order and the pieces of work in which these are solved.
    """

    def __init__(self, owner_count: int, dimension: int, *, is_exact: bool, is_moving: bool) -> None:
        self._owner_count = owner_count
        self._dimension = dimension
        self._is_exact = is_exact
        self._is_moving = is_moving
        self.slabs = no_slabs(owner_count)
        self.foot_count = 0
        self.feet = allocate_feet(0, 0, 0, np.float32, LINEAR_CORNERS)
        self.deep = allocate_deep_nodes(np.zeros(1, np.int64))
        self.lone = none_lone()
        self._has_material = False

    @property
    def is_empty(self) -> bool:
        """Whether the colliders act at no node."""
        return self.foot_count + len(self.deep.nodes) == 0

    def place(self, level_sets: LevelSets, places: NDArray[np.uint8], held: NDArray[np.uint8], around: Ints, store: ParticleStore) -> None:
        """Find feet and deep nodes.

        Args:
            level_sets: of the colliders.
            places: (rows, block nodes) where each node lies; see `find_surface`.
            held: (rows, block nodes) how nodes are held at thin colliders; see `turn_nodes`.
            around: (node blocks, 27 or 9) node blocks around those of the rows.
            store: the particles.
        """
        owners = level_sets.owners
        block_nodes = places.shape[1]
        surface, deep = np.flatnonzero(places == AT_SURFACE), np.flatnonzero(places == DEEP)
        # all particles may have gone since the collider was measured
        coordinates = level_sets.coordinates[level_sets.blocks] if len(level_sets.coordinates) else np.zeros((len(places), 3), np.int64)
        slabs, self.slabs = slabs_of(np.count_nonzero(places == AT_SURFACE, axis=1), coordinates, self._owner_count, PARALLEL_FEET)
        runs = self.slabs.slab_count * self._owner_count
        deep_order, deep_first = np.empty_like(deep), np.empty(runs + 1, np.int64)
        order_nodes(deep, owners, slabs, self._owner_count, block_nodes, deep_order, deep_first)
        self.deep = allocate_deep_nodes(deep_first)
        place_deep_nodes(deep[deep_order], held, level_sets, self.deep)
        depths = -level_sets.distance.reshape(-1)[surface] / level_sets.spacing
        normals = level_sets.normal.reshape(-1, 3)[surface]
        if self._is_exact:
            surface, depths, normals = _with_edges(level_sets, surface, depths, normals, around)
        order, first = np.empty_like(surface), np.empty(runs + 1, np.int64)
        order_nodes(surface, owners, slabs, self._owner_count, block_nodes, order, first)
        self.foot_count = len(order)
        corners = SPLINE_CORNERS if self._is_exact and self._dimension == 3 else LINEAR_CORNERS
        self.feet = allocate_feet(len(order), runs, places.size, store.dtype, corners, self.feet)
        self.feet.first[: runs + 1] = first
        highest = math.inf if self._is_exact else STOPPED_AT
        place_feet(surface[order], depths[order], normals[order], level_sets, around, highest, self.feet)
        if not self._is_moving:
            self.lone = lone_of(self.feet, self.deep, runs, self._owner_count, store.nodes.size // NODE)
        if len(order) - len(self.lone.feet) < PARALLEL_FEET:
            self.slabs = in_one_piece(self.slabs)
        else:
            find_levels(self.feet, self.deep, self.slabs, store.nodes.size // NODE)

    def apply_initial_impulses(self, nodes: NDArray[Any], surfaces: Ints, frictions: Floats, settling: float) -> None:
        """Apply the colliders to the nodes inside, and find the feet with material; see `impulses.apply_initial_impulses`."""
        self._has_material = not self.is_empty and bool(
            apply_initial_impulses(nodes, self.deep, self.feet, self.lone, self.slabs, surfaces, frictions, settling)
        )

    def apply_contact_impulses(self, nodes: NDArray[Any], surfaces: Ints, frictions: Floats, rounds: int) -> None:
        """Correct the velocities of the material at the feet that are not lone; after `apply_initial_impulses` in each substep."""
        if self._has_material:
            apply_contact_impulses(nodes, self.feet, self.slabs, surfaces, frictions, rounds)

    def solve_lone_feet(self, nodes: NDArray[Any], surfaces: Ints, frictions: Floats) -> None:
        """Correct the velocities of the material at the lone feet again."""
        if self.lone.feet.size:
            solve_lone_feet(nodes, self.feet, self.lone, surfaces, frictions)

    def take_motion(self, level_sets: LevelSets) -> None:
        """Give the feet and deep nodes the velocities of the colliders."""
        move_feet(self.foot_count, level_sets, self.feet)
        move_deep_nodes(level_sets, self.deep)


def numbered(level_sets: LevelSets, row_nodes: Ints, block_nodes: int) -> Ints:
    """Nodes numbered through all node blocks, from nodes numbered through the rows."""
    return level_sets.blocks[row_nodes // block_nodes] * block_nodes + row_nodes % block_nodes


def _with_edges(level_sets: LevelSets, surface: Ints, depths: Floats, normals: Floats, around: Ints) -> tuple[Ints, Floats, Floats]:
    """The nodes (n,), depths (n,) and normals (n, 3) of feet, followed by those of the further feet at edges."""
    found, more_depths, more_normals = np.empty(6 * len(surface), np.int64), np.empty(6 * len(surface)), np.empty((6 * len(surface), 3))
    count = find_edges(surface, level_sets, around, found, more_depths, more_normals)
    found, more_depths, more_normals = found[:count], more_depths[:count], more_normals[:count]
    return np.concatenate([surface, found]), np.concatenate([depths, more_depths]), np.concatenate([normals, more_normals])
