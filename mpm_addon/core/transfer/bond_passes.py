"""Passes over bonds between particles (see `core.bonds`), and over particles that have lost one."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.linalg import principal_values, recomposed
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .blocks import BLOCK
from .rows import DEFORMATION


class Places(NamedTuple):
    """Where particles are in the table.

    Attributes:
        slots: (ids,) of the particles, -1 for those that are gone.
        runs: (slots,) the run of each.
    """

    slots: NDArray[np.int64]
    runs: NDArray[np.int64]


class BondTable(NamedTuple):
    """Bonds in the table.

    Attributes:
        ends: (m, 2) the slots; -1 for bonds that are not watched.
        steps: (m, 3) from the block of the first to that of the second [blocks].
        longest: (m,) lengths at which they part [cells].
    """

    ends: NDArray[np.int32]
    steps: NDArray[np.int8]
    longest: NDArray[np.float32]


@parallel_kernel
def link_bonds(tickets, pairs, is_whole, places, coordinates, factors, lengths, links):
    """Find the bonds in the table after a sort.

    Args:
        pairs: (m, 2) ids.
        is_whole: (m,) bonds that have not parted.
        places: where the particles are, see `Places`.
        coordinates: (blocks, 3).
        factors: (instances,) the longest bonds over their length at rest.
        lengths: (m,) at rest [cells].
        links: result, see `BondTable`.
    """
    (slots, runs), (ends, steps, longest), instance_count = places, links, factors.size
    for bond in shared(tickets[0], pairs.shape[0], 1024):
        start, end = slots[pairs[bond, 0]], slots[pairs[bond, 1]]
        ends[bond, 0] = -1
        if is_whole[bond] and start >= 0 and end >= 0:
            ends[bond, 0], ends[bond, 1] = start, end
            first, second = runs[start] // instance_count, runs[end] // instance_count
            for axis in range(3):
                steps[bond, axis] = coordinates[second, axis] - coordinates[first, axis]
            longest[bond] = factors[runs[start] % instance_count] * lengths[bond]


@parallel_kernel
def measure_bonds(tickets, table, row, links, is_over, stretches):
    """Find the bonds that are too long.

    Args:
        table: (rows, slots).
        row: the first of the three rows of positions relative to blocks [cells].
        links: see `BondTable`.
        is_over: (m,) result: the bonds that are longer than that.
        stretches: (pieces,) result: the greatest length of others, over the longest.
    """
    ends, steps, longest = links
    count, pieces = ends.shape[0], stretches.size
    for piece in shared(tickets[0], pieces, 1):
        greatest = 0.0
        for bond in range(count * piece // pieces, count * (piece + 1) // pieces):
            start, end = ends[bond, 0], ends[bond, 1]
            is_over[bond] = False
            if start >= 0:
                squared = 0.0
                for axis in range(3):
                    apart = table[row + axis, end] - table[row + axis, start] + BLOCK * steps[bond, axis]
                    squared += apart * apart
                share = squared / (longest[bond] * longest[bond])
                is_over[bond] = share > 1.0
                if share <= 1.0:
                    greatest = max(greatest, share)
        stretches[piece] = math.sqrt(greatest)


@parallel_kernel
def loosen_particles(tickets, table, slots, least, dimension):
    """Limit the principal stretches of particles to at most 1, so that they do not pull.

    Args:
        table: (rows, slots); F is changed.
        slots: (n,) the particles.
        least: limits them from below: 1 takes all deformation away, minus infinity none.
        dimension: 3 or 2.
    """
    for number in shared(tickets[0], slots.size, 64):
        slot = slots[number]
        a, b, c = table[DEFORMATION, slot], table[DEFORMATION + 1, slot], table[DEFORMATION + 2, slot]
        d, e, f = table[DEFORMATION + 3, slot], table[DEFORMATION + 4, slot], table[DEFORMATION + 5, slot]
        g, h, i = table[DEFORMATION + 6, slot], table[DEFORMATION + 7, slot], table[DEFORMATION + 8, slot]
        deformation = float(a), float(b), float(c), float(d), float(e), float(f), float(g), float(h), float(i)
        left, (s0, s1, s2), right = principal_values(deformation, dimension)
        limited = min(max(s0, least), 1.0), min(max(s1, least), 1.0), min(max(s2, least), 1.0)
        a, b, c, d, e, f, g, h, i = recomposed(left, limited, right)
        for axis, value in enumerate((a, b, c, d, e, f, g, h, i)):
            table[DEFORMATION + axis, slot] = value


@kernel
def join_particles(pairs, is_whole, roots):
    """Find the particles that bonds join.

    Args:
        pairs: (m, 2) ids.
        is_whole: (m,) bonds that have not parted.
        roots: (ids,) each one's own id; result: the least id of those that it is joined to.
    """
    for bond in range(pairs.shape[0]):
        if is_whole[bond]:
            start, end = root_of(roots, pairs[bond, 0]), root_of(roots, pairs[bond, 1])
            roots[max(start, end)] = min(start, end)
    for place in range(roots.size):
        roots[place] = root_of(roots, place)


@kernel
def root_of(roots, place):
    """The root of a tree of ids; shortens the way to it."""
    while roots[place] != place:
        roots[place] = roots[roots[place]]
        place = roots[place]
    return place
