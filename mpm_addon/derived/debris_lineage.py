"""From which piece each piece of a rigid body broke off, and in which cached frames each is there: so which cracks are new."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..core.particles import Piece


class Lineage(NamedTuple):
    """Bodies and pieces of a cache, by name.

    Attributes:
        parent: what each piece broke off from, without those of the first frame.
        first, last: the places among the cached frames of the first and last frame with each; without the last of those that stay.
    """

    parent: dict[str, str]
    first: dict[str, int]
    last: dict[str, int]

    def is_new(self, one: str, two: str, place: int) -> bool:
        """Whether the crack between two pieces, which are there in a frame and the one before, has not made debris in an earlier frame.

        It has if both pieces, or what they are parts of, have been there in two frames since they parted.

        Args:
            one, two: the pieces.
            place: that of the frame among the cached frames.
        """
        ours, theirs = list(self._line(one)), list(self._line(two))
        shared = set(ours) & set(theirs)
        # what is there from the first frame on may have parted long before
        if not shared:
            return False
        return not any(
            max(self.first[a], self.first[b]) + 1 <= min(self.last.get(a, place), self.last.get(b, place), place - 1)
            for a in ours
            for b in theirs
            if a not in shared and b not in shared
        )

    def _line(self, name: str) -> Iterator[str]:
        """A piece and all that it is a part of."""
        while name:
            yield name
            name = self.parent.get(name, "")


def lineage_of(frames: Sequence[Mapping[str, Any]], pieces: Mapping[str, Piece]) -> Lineage:
    """The lineage of the pieces.

    Args:
        frames: name of a body or piece -> its pose, world from local (4, 4), of each cached frame.
        pieces: all that have formed, by name.
    """
    found = Lineage({}, dict.fromkeys(frames[0] if frames else (), 0), {})
    for place, (before, after) in enumerate(pairwise(frames), start=1):
        if before.keys() == after.keys():
            continue
        gone = sorted(before.keys() - after.keys())
        found.last.update(dict.fromkeys(gone, place - 1))
        for name in sorted(after.keys() - before.keys()):
            found.first[name] = place
            wholes = [each for each in gone if name in pieces and _is_of(each, pieces[name].whole)]
            if wholes:
                found.parent[name] = _nearest(name, wholes, before, after, pieces)
    return found


def _is_of(name: str, whole: str) -> bool:
    return name == whole or name.startswith(f"{whole}/")


def _nearest(name: str, wholes: Sequence[str], before: Mapping[str, Any], after: Mapping[str, Any], pieces: Mapping[str, Piece]) -> str:
    """Of what is gone, the one whose place in the frame before was nearest to that of a new piece."""
    middle = np.append(pieces[name].vertices.mean(axis=0), 1.0)
    ways = [float(np.linalg.norm((np.asarray(after[name]) - np.asarray(before[each])) @ middle)) for each in wholes]
    return wholes[int(np.argmin(ways))]
