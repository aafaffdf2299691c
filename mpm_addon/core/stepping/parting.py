"""How bodies with a rest state come apart: what bonds no longer join becomes a part with rest nodes of its own."""

import numpy as np
from numpy.typing import NDArray

from ..bonds import Bonds
from ..transfer.bond_passes import join_particles
from ..transfer.layout import Ints
from ..transfer.parts import Parts
from ..transfer.rest_grid import RestPlaces

# smaller fragments stay with a neighbor: particles, and their share of the particles of their velocity field
LEAST_PARTICLES = 8
LEAST_SHARE = 0.01
_UNKNOWN = -1


def came_apart(places: RestPlaces, parts: Parts, bonds: Bonds, count: int) -> tuple[Ints, Ints]:
    """Split the parts whose fragments are large enough.

    Of these, the largest keeps the number of its part. Smaller fragments go with one that they were joined to.

    Args:
        places: the particles that are present.
        parts: the parts now.
        bonds: the bonds.
        count: the number of particles ever emitted.

    Returns:
        The part of each of the particles (n,), and the parts that new ones come from.
    """
    roots = np.arange(count)
    join_particles(bonds.pairs, bonds.is_whole, roots)
    root, part = roots[places.id], places.part.copy()
    totals = np.bincount(parts.field[part], minlength=int(parts.field.max(initial=0)) + 1)
    keys, number, sizes = np.unique(part * count + root, return_inverse=True, return_counts=True)
    owner = keys // count
    is_large = sizes >= np.maximum(LEAST_PARTICLES, LEAST_SHARE * totals[parts.field[owner]])
    sources: list[int] = []
    chosen = np.where(is_large, owner, _UNKNOWN)
    for each in np.flatnonzero(np.bincount(owner[is_large], minlength=len(parts)) > 1):
        its = np.flatnonzero(is_large & (owner == each))
        others = np.delete(its, sizes[its].argmax())
        chosen[others] = len(parts) + len(sources) + np.arange(len(others))
        sources += [int(each)] * len(others)
    if sources:
        is_split = np.isin(part, sources)
        part[is_split] = _with_neighbors(chosen[number.ravel()], part, places.id, bonds, count)[is_split]
    return part, np.array(sources, np.int64)


def _with_neighbors(chosen: Ints, part: Ints, ids: NDArray[np.int32], bonds: Bonds, count: int) -> Ints:
    """The parts (n,) where those that are not chosen follow neighbors of the same part; those without any stay."""
    known, before = np.full(count, _UNKNOWN), np.full(count, _UNKNOWN)
    known[ids], before[ids] = chosen, part
    start, end = bonds.pairs.T
    own = (before[start] == before[end]) & (before[start] != _UNKNOWN)
    start, end = start[own], end[own]
    while True:
        taken = known.copy()
        for here, there in ((start, end), (end, start)):
            its = np.flatnonzero((known[here] == _UNKNOWN) & (known[there] != _UNKNOWN))
            np.maximum.at(taken, here[its], known[there[its]])
        if np.array_equal(taken, known):
            return np.where(known[ids] == _UNKNOWN, part, known[ids])
        known = taken
