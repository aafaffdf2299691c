"""What is left of an emitter's material where bonds have parted: its fragments, which a mesh is cut between."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.bonds import Bonds
from ..core.geometry.mesh_topology import components
from .neighbors import Floats, Integers, Neighborhood, nearest

# Particles of a fragment that carries a part of the mesh, at least; a vertex follows about as many.
LEAST = 24
CRUMB = -1


class Parting(NamedTuple):
    """The fragments of a material at a frame.

    Attributes:
        fragment: of each particle, (n,): a number common to particles that move with the same part of the mesh, 0 where nothing has parted;
            CRUMB for those of small fragments, which no vertex follows.
        is_certain: which of them belong to material that came apart, (n,); others only took the number of the nearest of these.
        middles: the middles of bonds between fragments at rest [m], (k, 3).
    """

    fragment: Integers
    is_certain: NDArray[np.bool_]
    middles: Floats


def parting_of(bonds: Bonds, rest: Floats, material: Integers, spacing: float) -> Parting | None:
    """The fragments of the particles of an emitter; None if all move with the same part of the mesh.

    Args:
        bonds: those between these particles, by their places in `rest`.
        rest: where they were emitted [m], shape (n, 3).
        material: the connected material of each, (n,), in which parts of the mesh never meet others.
        spacing: about the distance between particles [m].
    """
    if bonds.is_whole.all():
        return None
    pairs, count = bonds.pairs.astype(np.int64), len(rest)
    origin, piece = _joined(pairs, count), _joined(pairs[bonds.is_whole], count)
    is_large = np.bincount(piece, minlength=count)[piece] >= LEAST
    # of each particle, how many large pieces there are of what was once joined to it
    large = np.bincount(origin[np.unique(piece[is_large])], minlength=count)[origin]
    is_certain = is_large & (large > 1)
    fragment = np.zeros(count, np.int64)
    for number in np.unique(material[is_certain]):
        its = np.flatnonzero(material == number)
        certain = its[is_certain[its]]
        fragment[its] = piece[certain[nearest(rest[certain], rest[its], 1, spacing).number[:, 0]]]
    divided = pairs[fragment[pairs[:, 0]] != fragment[pairs[:, 1]]]
    fragment[~is_large & (large > 0)] = CRUMB
    return Parting(fragment, is_certain, rest[divided].mean(axis=1))


def _joined(pairs: Integers, count: int) -> Integers:
    """For each of `count` particles, the least number among those that pairs join it to."""
    label = np.arange(count)
    starts, ends = pairs.T
    label[starts] = label[ends] = components(starts, ends, count)
    return label


class Votes:
    """Which fragment a point of the material at rest belongs to: the particles around it vote, the nearer the more.

    Attributes:
        middles: the middles of bonds between the fragments [m], (k, 3).
        spacing: about the distance between particles [m].
    """

    def __init__(self, rest: Floats, fragment: Integers, middles: Floats, spacing: float) -> None:
        """Args: positions [m] (n, 3) and fragments (n,) of the particles that vote."""
        self._rest, self._fragment = rest, fragment
        self.middles, self.spacing = middles, spacing
        self._voters = Neighborhood(rest, 2.3 * spacing)

    def around(self, points: Floats) -> tuple[Integers, Floats]:
        """The fragments that vote at points (q, 3), and their votes, both (q, k); a fragment may vote several times."""
        found = self._voters.nearest(points, LEAST)
        vote = (1.0 - found.squared / np.maximum(found.squared.max(axis=1, keepdims=True), 1e-300)) ** 2
        # of particles that are all equally far, each has the same vote
        vote[vote.sum(axis=1) == 0.0] = 1.0
        return self._fragment[found.number], vote

    def share(self, fragment: int) -> float:
        """The part of the particles that belongs to a fragment."""
        return float((self._fragment == fragment).mean())

    def end_of(self, fragment: int) -> "End":
        """Where a fragment ends."""
        is_own = self._fragment == fragment
        return End(self._rest[is_own], self._rest[~is_own], 2.0 * self.spacing)


class End:
    """Where a fragment ends: halfway between its nearest particle and the nearest of the others."""

    def __init__(self, own: Floats, other: Floats, reach: float) -> None:
        self._sides = [(places, Neighborhood(places, reach)) for places in (own, other)]

    def way(self, points: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The way from points (q, 3) to the end [m], (q, 3), and whether they are inside the fragment, (q,)."""
        own, other = (places[side.nearest(points, 1).number[:, 0]] for places, side in self._sides)
        arm = other - own
        share = ((0.5 * (own + other) - points) * arm).sum(axis=1) / np.maximum((arm * arm).sum(axis=1), 1e-300)
        way: Floats = share[:, None] * arm
        return way, share > 0.0


def votes_for(fragment: Integers, cast: tuple[Integers, Floats]) -> Floats:
    """The sums of votes for a fragment each (q,), of what `Votes.around` returned for q points."""
    whom, vote = cast
    summed: Floats = np.where(whom == fragment[:, None], vote, 0.0).sum(axis=1)
    return summed


def elected(cast: tuple[Integers, Floats]) -> Integers:
    """The fragments with most votes (q,), the lowest number of several."""
    whom, _vote = cast
    candidates = np.sort(whom, axis=1)
    sums = np.stack([votes_for(column, cast) for column in candidates.T], axis=1)
    best: Integers = candidates[np.arange(len(candidates)), np.argmax(sums > sums.max(axis=1, keepdims=True) * (1.0 - 1e-12), axis=1)]
    return best
