"""Lone feet and deep nodes of fixed colliders: those whose nodes no other foot or deep node of the group shares. They need no order."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from .deep_nodes import DeepNodes
from .surface import Feet


class Lone(NamedTuple):
    """The lone feet (n of them) and the lone deep nodes (m).

    Attributes:
        feet: their indices, shape (n,); owners: the collider of each, shape (n,).
        states: what is at each in a substep: IDLE, ACTIVE or BEHIND, shape (n,).
        deep: the indices of the deep nodes, shape (m,); deep_owners: the collider of each, shape (m,).
    """

    feet: NDArray[np.int64]
    owners: NDArray[np.int64]
    states: NDArray[np.uint8]
    deep: NDArray[np.int64]
    deep_owners: NDArray[np.int64]


def none_lone() -> Lone:
    """No lone feet or deep nodes."""
    nothing = np.zeros(0, np.int64)
    return Lone(nothing, nothing, np.zeros(0, np.uint8), nothing, nothing)


def lone_of(feet: Feet, deep: DeepNodes, runs: int, colliders: int, nodes: int) -> Lone:
    """Find the lone ones, and mark them in `feet` and `deep`.

    Args:
        runs: the number of runs; colliders: of the group; nodes: in all node blocks.
    """
    mark_lone(feet, deep, runs, nodes)
    which, which_deep = np.flatnonzero(feet.is_lone[: feet.first[runs]]), np.flatnonzero(deep.is_lone)
    owners, deep_owners = _owners(feet.first[: runs + 1], which, colliders), _owners(deep.first, which_deep, colliders)
    return Lone(which, owners, np.zeros(len(which), np.uint8), which_deep, deep_owners)


def _owners(first: NDArray[np.int64], which: NDArray[np.int64], colliders: int) -> NDArray[np.int64]:
    """The colliders of places in runs that begin at `first`."""
    return (np.searchsorted(first, which, side="right") - 1) % colliders


@kernel(allocates=True)
def mark_lone(feet, deep, runs, node_count):
    """Mark the feet and deep nodes that share no node with another.

    Args:
        feet, deep: see `surface.Feet` and `deep_nodes.DeepNodes`; `is_lone` is a result.
        runs: the number of runs; node_count: the number of nodes.
    """
    users = np.zeros(node_count, np.uint8)
    for index in range(deep.nodes.size):
        add_user(users, deep.nodes[index])
    for foot in range(feet.first[runs]):
        if feet.own[foot] < 0:
            add_user(users, feet.nodes[foot])
        for corner in range(feet.counts[foot]):
            add_user(users, feet.corners[foot, corner])
    for index in range(deep.nodes.size):
        deep.is_lone[index] = users[deep.nodes[index]] == 1
    for foot in range(feet.first[runs]):
        is_lone = users[feet.nodes[foot]] == 1
        for corner in range(feet.counts[foot]):
            is_lone = is_lone and users[feet.corners[foot, corner]] == 1
        feet.is_lone[foot] = is_lone


@kernel
def add_user(users, node):
    """Count a user of a node, up to 2."""
    users[node] = min(users[node] + 1, 2)
