"""Chips and dust of rigid bodies that break: along the cracks between pieces that part, in the frame in which the pieces first appear."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.particles import Piece
from ..core.swarm.debris_births import CHIP, DUST, Limits
from ..storage.swarm_file import rounded
from .boundaries import Poses
from .swarm import MOST_BIRTHS, Around, Floats, Swarm, chances, new_ids, together
from .swarm_paths import lead_past
from .swarm_walls import Contact, keep_outside

# A crack makes as much as a layer of particles on each of its sides, of so many along the edge of a cell.
_PER_CELL = 2.0
# Vertices of two pieces that are equal were one vertex of the whole body; they differ by less than this, relative to its size.
_EQUAL = 1e-7


class Cracks(NamedTuple):
    """The triangles of new pieces along the cracks between them, at a frame.

    Attributes:
        corners: [m], (n, 3, 3).
        velocity: of each corner since the frame before [m/s], (n, 3, 3).
        parting: how fast the two sides of the crack have parted since then [m/s], (n,).
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


def cracks_between(before: Poses, after: Poses, pieces: Mapping[str, Piece], seconds: float, numbers: Mapping[str, int]) -> Cracks:
    """The cracks between the pieces that a frame has and the one before had not, in the order of their names.

    Args:
        before, after: the poses of bodies and pieces at both frames, world from local (4, 4), by name.
        pieces: all that have formed, by name.
        seconds: between the frames [s].
        numbers: what stands for the bodies that may break, by name; others are left out.
    """
    found: list[Cracks] = []
    fresh = {name: piece for name, piece in sorted(pieces.items()) if name in after and name not in before and piece.whole in numbers}
    for parent, names in sorted(_parents(before, after, fresh).items()):
        poses = np.array([after[name] for name in names])
        whole = fresh[names[0]].whole
        found.append(_cracks_of([fresh[name] for name in names], poses, before[parent], seconds, numbers[whole]))
    none = Cracks(np.zeros((0, 3, 3)), np.zeros((0, 3, 3)), np.zeros(0), np.zeros(0, np.int32))
    return Cracks(*(np.concatenate(arrays) for arrays in zip(none, *found, strict=True)))


def _parents(before: Poses, after: Poses, fresh: Mapping[str, Piece]) -> dict[str, list[str]]:
    """The new pieces of each body or piece that has broken: of those that are gone, the one that was nearest."""
    found: dict[str, list[str]] = {}
    for name, piece in fresh.items():
        gone = sorted(each for each in before if each not in after and (each == piece.whole or each.startswith(f"{piece.whole}/")))
        if gone:
            middle = np.append(piece.vertices.mean(axis=0), 1.0)
            ways = [float(np.linalg.norm((after[name] - before[each]) @ middle)) for each in gone]
            found.setdefault(gone[int(np.argmin(ways))], []).append(name)
    return found


def _cracks_of(pieces: Sequence[Piece], poses: Floats, start: Floats, seconds: float, number: int) -> Cracks:
    """The cracks between the pieces of one body in their poses (n, 4, 4); the body had the pose `start` (4, 4) in the frame before."""
    local = np.concatenate([_inside(piece) for piece in pieces])
    owner = np.repeat(np.arange(len(pieces)), [int(piece.is_inside.sum()) for piece in pieces])
    partner = _partners(local)
    is_crack = (partner >= 0) & (owner[partner] != owner)
    corners = _moved(poses[owner], local)
    there = _moved(poses[owner[partner]], local)
    apart = np.linalg.norm((corners - there).mean(axis=1), axis=1) / seconds
    velocity = (corners - _moved(np.broadcast_to(start, (len(local), 4, 4)), local)) / seconds
    emitter = np.full(len(local), number, np.int32)
    return Cracks(corners[is_crack], velocity[is_crack], apart[is_crack], emitter[is_crack])


def _inside(piece: Piece) -> Floats:
    """The corners of the inside triangles of a piece, in the coordinates of the whole body, (n, 3, 3)."""
    return piece.vertices[piece.triangles[piece.is_inside]]


def _partners(corners: Floats) -> NDArray[np.intp]:
    """The triangle that has the same middle as each of some, (n, 3, 3); -1 where there is none, (n,)."""
    middles = corners.mean(axis=1)
    size = float(np.ptp(middles, axis=0).max(initial=0.0))
    if size == 0.0:
        return np.full(len(corners), -1)
    keys = np.round(middles / (_EQUAL * size)).astype(np.int64)
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
    """The chips and dust of cracks between rigid pieces, and those of the material in the same frame. Raises MpmError if they are too many.

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
    found, start = [], []
    for kind, amount in ((CHIP, limits.chips), (DUST, limits.dust)):
        count = int(amount * totals[-1])
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


def _owners(ids: NDArray[np.int32], totals: Floats) -> NDArray[np.intp]:
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
