"""Impulses of the last substep, with which the contacts of the next begin (warm starting; Catto 2005).

A contact continues one of the same pair of surfaces whose place on the first body is nearest. So the features that touch need no names, and
contacts of all shapes persist alike.
"""

import numpy as np

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from .hulls import Floats, Ints

# a contact continues one no farther away than this, relative to the first body's radius of gyration
REACH = 0.2
# both surfaces, the place in the first body's axes [m], the normal force [N], and friction as a vector [N]
FIRST, PARTNER, PLACE, FORCE = 0, 1, slice(2, 5), slice(5, 9)
SIZE = 9


@generic
def rank(partner):
    """The place of a contact's second surface in the order of contacts: bodies, then other colliders, whose numbers are negative."""
    return 1.0 * partner if partner >= 0 else 1e15 - partner


@kernel
def match(first, partner, places, reach, kept, forces):
    """Find the forces with which contacts begin.

    Args:
        first, partner: (n,) the surfaces of each contact, ascending by the first and the rank of the second.
        places: (n, 3) in the first body's axes [m]; reach: (bodies,) [m].
        kept: (k, SIZE) the contacts of the last substep, in the same order; the first number of those that are continued becomes -1.
        forces: (n, 4) result [N]; zero for new contacts.
    """
    begin = 0
    for c in range(first.size):
        while begin < kept.shape[0] and (
            abs(kept[begin, 0]) - 1.0 < first[c] or (abs(kept[begin, 0]) - 1.0 == first[c] and rank(kept[begin, 1]) < rank(partner[c]))
        ):
            begin += 1
        best, found = reach[first[c]] ** 2, -1
        at = begin
        while at < kept.shape[0] and abs(kept[at, 0]) - 1.0 == first[c] and kept[at, 1] == partner[c]:
            x, y, z = kept[at, 2] - places[c, 0], kept[at, 3] - places[c, 1], kept[at, 4] - places[c, 2]
            squared = x * x + y * y + z * z
            if kept[at, 0] > 0.0 and squared < best:
                best, found = squared, at
            at += 1
        for k in range(4):
            forces[c, k] = kept[found, 5 + k] if found >= 0 else 0.0
        if found >= 0:
            kept[found, 0] = -kept[found, 0]


def forces_of(first: Ints, partner: Ints, places: Floats, reach: Floats, kept: Floats) -> Floats:
    """The forces [N] with which contacts begin, shape (n, 4); arguments as for `match`."""
    forces = np.zeros((len(first), 4))
    if len(kept):
        kept = kept.copy()
        # numbers from 1, so that the sign can mark those that are continued
        kept[:, FIRST] += 1.0
        match(first, partner, places, reach, kept, forces)
    return forces


def table_of(first: Ints, partner: Ints, places: Floats, forces: Floats) -> Floats:
    """The contacts of a substep for the next one and for checkpoints, shape (n, SIZE): arguments as for `match`."""
    return np.hstack([np.stack([first, partner], axis=1).astype(np.float64), places, forces])


def renumbered(kept: Floats, places: Ints, count: int) -> Floats:
    """The contacts of bodies that remain when others replace some, with their new numbers.

    Args:
        kept: see `match`.
        places: the number that each body had, or -1, shape (bodies,); in order.
        count: of the bodies before.
    """
    # colliders that are not rigid bodies have negative numbers, and keep them
    lost = np.iinfo(np.int64).min
    number = np.full(count, lost)
    number[places[places >= 0]] = np.flatnonzero(places >= 0)
    surfaces = kept[:, [FIRST, PARTNER]].astype(np.int64)
    is_body = surfaces >= 0
    surfaces[is_body] = number[surfaces[is_body]]
    is_left = (surfaces != lost).all(axis=1)
    left: Floats = kept[is_left]
    left[:, [FIRST, PARTNER]] = surfaces[is_left]
    return left
