"""Chips and dust of rigid bodies that break: along the cracks between pieces, as these part in the frame after they appear.

What moved before the body broke says nothing about how its pieces part, so they need two frames of their own.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.particles import Piece
from ..core.swarm.debris_births import CHIP, DUST, Limits
from ..storage.swarm_file import rounded
from .boundaries import Poses
from .debris_lineage import Lineage
from .swarm import MOST_BIRTHS, Around, Floats, Swarm, chances, new_ids, together
from .swarm_paths import lead_past
from .swarm_walls import Contact, keep_outside

Integers = NDArray[np.intp]

# A crack makes as much as a layer of particles on each of its sides, of so many along the edge of a cell.
_PER_CELL = 2.0
# Vertices of two pieces that are equal were one vertex of the whole body; they differ by less than this, relative to its size.
_EQUAL = 1e-7
# How often the triangles of one side of a crack may have been quartered, where its piece broke again before a frame showed it.
_MOST_QUARTERED = 2


class Cracks(NamedTuple):
    """The triangles of new pieces along the cracks between them, at a frame.

    Attributes:
        corners: [m], (n, 3, 3).
        velocity: of each corner since the frame before [m/s], (n, 3, 3).
        parting: how fast the distance between the two sides of the crack has grown since then [m/s], (n,).
        emitter: the number that stands for the body, (n,).
    """

    corners: Floats
    velocity: Floats
    parting: Floats
    emitter: NDArray[np.int32]

    def area(self) -> Floats:
        """The areas of the triangles [m^2], (n,)."""
        return 0.5 * np.linalg.norm(np.cross(self._edge(1), self._edge(2)), axis=1)

    def normals(self) -> Floats:
        """The directions out of their pieces, (n, 3)."""
        found = np.cross(self._edge(1), self._edge(2))
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300)

    def _edge(self, corner: int) -> Floats:
        return self.corners[:, corner] - self.corners[:, 0]


class Formed(NamedTuple):
    """The pieces that have formed, by name, and their lineage."""

    pieces: Mapping[str, Piece]
    lineage: Lineage


def cracks_between(before: Poses, after: Poses, place: int, formed: Formed, seconds: float, numbers: Mapping[str, int]) -> Cracks:
    """The cracks whose sides are pieces that are both in a frame and the one before, for the first time since they parted.

    Args:
        before, after: the poses of bodies and pieces at both frames, world from local (4, 4), by name.
        place: that of the later frame among the cached frames.
        formed: see `Formed`.
        seconds: between the frames [s].
        numbers: what stands for the bodies that may break, by name; others are left out.
    """
    pieces, lineage = formed
    found: list[Cracks] = []
    for whole, number in sorted(numbers.items()):
        names = [name for name in sorted(pieces) if pieces[name].whole == whole and name in before and name in after]
        if all(lineage.first[name] != place - 1 for name in names):
            continue
        local, owner, other = _shared([pieces[name] for name in names])
        pairs, which = np.unique(np.column_stack([owner, other]), axis=0, return_inverse=True)
        is_new = np.array([lineage.is_new(names[one], names[two], place) for one, two in pairs.tolist()], np.bool_)[which.ravel()]
        local, owner, other = local[is_new], owner[is_new], other[is_new]
        starts, ends = (np.array([poses[name] for name in names]) for poses in (before, after))
        corners, there = (_moved(poses[owner], local) for poses in (ends, starts))
        gap, gap_before = (_apart(here, _moved(poses[other], local)) for here, poses in ((corners, ends), (there, starts)))
        parting = np.maximum(gap - gap_before, 0.0) / seconds
        found.append(Cracks(corners, (corners - there) / seconds, parting, np.full(len(local), number, np.int32)))
    none = Cracks(np.zeros((0, 3, 3)), np.zeros((0, 3, 3)), np.zeros(0), np.zeros(0, np.int32))
    return Cracks(*(np.concatenate(arrays) for arrays in zip(none, *found, strict=True)))


def _apart(corners: Floats, there: Floats) -> Floats:
    """How far the middles of triangles (n, 3, 3) are apart [m], (n,)."""
    return np.linalg.norm((corners - there).mean(axis=1), axis=1)


def _shared(pieces: Sequence[Piece]) -> tuple[Floats, Integers, Integers]:
    """The inside triangles that two pieces share, in the coordinates of the whole body (n, 3, 3), once for each side; the numbers of the
    piece that each belongs to and of the other, (n,). Where one side has larger ones, these are quartered."""
    local = np.concatenate([piece.vertices[piece.triangles[piece.is_inside]] for piece in pieces])
    owner = np.repeat(np.arange(len(pieces)), [int(piece.is_inside.sum()) for piece in pieces])
    partner = _partners(local)
    is_crack = (partner >= 0) & (owner[partner] != owner)
    found = [(local[is_crack], owner[is_crack], owner[partner[is_crack]])]
    left, left_owner = local[~is_crack], owner[~is_crack]
    parts, root = left, np.arange(len(left))
    for _ in range(_MOST_QUARTERED):
        parts, root = _quarters(parts), np.repeat(root, 4)
        at = _partners(np.concatenate([left, parts]))[len(left) :]
        # of parts, the larger triangle that it is of one side, and the smaller triangle on the other
        is_met = (at >= 0) & (at < len(left)) & (left_owner[np.clip(at, 0, max(len(left) - 1, 0))] != left_owner[root])
        one, two = left_owner[root[is_met]], left_owner[at[is_met]]
        found += [(parts[is_met], one, two), (left[at[is_met]], two, one)]
        parts, root = parts[~is_met], root[~is_met]
    return tuple(np.concatenate(arrays) for arrays in zip(*found, strict=True))  # type: ignore[return-value]


def _quarters(corners: Floats) -> Floats:
    """The four parts of each triangle (n, 3, 3) between its corners and the middles of its edges, (4 n, 3, 3)."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
    parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
    return np.stack([np.stack(part, axis=1) for part in parts], axis=1).reshape(-1, 3, 3)


def _partners(corners: Floats) -> Integers:
    """The triangle that has the same middle and size as each of some, (n, 3, 3); -1 where there is none, (n,)."""
    if not len(corners):
        return np.full(0, -1)
    middles = corners.mean(axis=1)
    radius = np.sqrt(((corners - middles[:, None]) ** 2).sum(axis=(1, 2)))
    size = float(np.ptp(corners.reshape(-1, 3), axis=0).max())
    keys = np.round(np.column_stack([radius, middles]) / (_EQUAL * max(size, 1e-30))).astype(np.int64)
    order = np.lexsort(keys.T)
    is_equal = (np.abs(np.diff(keys[order], axis=0)) <= 1).all(axis=1)
    partner = np.full(len(corners), -1)
    partner[order[:-1][is_equal]] = order[1:][is_equal]
    partner[order[1:][is_equal]] = order[:-1][is_equal]
    return partner


def _moved(matrices: Floats, corners: Floats) -> Floats:
    """Points (n, 3, 3) moved by a matrix (n, 4, 4) each. Spelled out: a matrix product rounds differently at the end of an array."""
    turned = sum(corners[:, :, axis, None] * matrices[:, None, :3, axis] for axis in range(3))
    return np.asarray(turned + matrices[:, None, :3, 3])


def born_of_pieces(after: Around, cracks: Cracks, limits: Limits, contact: Contact, cell: float, others: Swarm) -> Swarm:
    """The chips and dust of cracks between rigid pieces, and those of the material in the same frame.

    They are fewer, everywhere alike, where there are more than a frame can have.

    Args:
        after: the frame.
        cracks: see `Cracks`.
        limits: see `Limits`.
        contact: how new particles meet colliders.
        cell: the grid spacing [m].
        others: those that the material makes.
    """
    if not len(cracks.parting):
        return others
    share = np.clip((cracks.parting - limits.slow) / (limits.fast - limits.slow), 0.0, 1.0)
    totals = np.cumsum(share * cracks.area() * (_PER_CELL / cell) ** 2)
    first = int(others.id.max()) % MOST_BIRTHS + 1 if len(others.id) else 0
    wanted = (limits.chips + limits.dust) * float(totals[-1])
    fitting = min(1.0, (MOST_BIRTHS - 1 - first) / max(wanted, 1.0))
    found, start = [], []
    for kind, amount in ((CHIP, limits.chips), (DUST, limits.dust)):
        count = int(amount * totals[-1] * fitting)
        ids = new_ids(after.number, first, count, "Debris")
        first += count
        place, made = _placed(ids, cracks, totals, limits)
        start.append(place)
        found.append(Swarm(ids, *made, np.full(count, kind, np.int32), cracks.emitter[_owners(ids, totals)]))
    new = together(*found)
    position, velocity = new.position, new.velocity
    lead_past(np.concatenate(start), position, velocity, after, contact, cell, is_born=True)
    inside = keep_outside(position, velocity, after, contact, cell)
    made = Swarm(new.id, *rounded(position, velocity, cell), new.kind, new.emitter)
    return together(others, made.chosen(~inside))


def _owners(ids: NDArray[np.int32], totals: Floats) -> Integers:
    """The triangle of each new particle: evenly by what triangles make, whose running total is given."""
    if not len(ids):
        return np.zeros(0, np.intp)
    wanted = (np.arange(len(ids)) + chances(ids, 4)) / len(ids) * totals[-1]
    return np.minimum(np.searchsorted(totals, wanted, side="right"), len(totals) - 1)


def _placed(ids: NDArray[np.int32], cracks: Cracks, totals: Floats, limits: Limits) -> tuple[Floats, tuple[Floats, Floats]]:
    """Where new particles come from on their cracks, and their positions and velocities: those of the piece, and away from it."""
    owner = _owners(ids, totals)
    across, along = np.sqrt(chances(ids, 5)), chances(ids, 6)
    weight = np.stack([1.0 - across, across * (1.0 - along), across * along], axis=1)[:, :, None]
    place = (weight * cracks.corners[owner]).sum(axis=1)
    up, turn = 2.0 * chances(ids, 7) - 1.0, 2.0 * np.pi * chances(ids, 8)
    length = chances(ids, 9) ** (1.0 / 3.0)
    flat = np.sqrt(1.0 - up * up)
    way = length[:, None] * np.stack([flat * np.cos(turn), flat * np.sin(turn), up], axis=1)
    is_inward = (way * cracks.normals()[owner]).sum(axis=1) < 0.0
    way[is_inward] *= -1.0
    apart = limits.spread * cracks.parting[owner][:, None] * way
    # the time that has passed since its birth, as in `ages`
    since = (chances(ids, 1) * limits.seconds)[:, None]
    return place, (place + since * apart, (weight * cracks.velocity[owner]).sum(axis=1) + apart)
