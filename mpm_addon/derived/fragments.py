"""The fragments of an emitter's mesh whose material came apart, as rigid pieces: which part of the mesh each has, and how it moves.

A fragment is the particles that bonds still join at the last of some frames, so it is the same at all of them. Its pose at a frame is
the rotation and translation that come nearest to its particles (Kabsch 1976).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.geometry.subdivision import Subdivision
from ..core.particles import Moment
from ..storage.cache import Cache
from ..storage.skin_file import Cut, scenes_of_emission
from .binding import Floats, Integers
from .neighbors import nearest
from .skin import Follower, Torn, births_at

# The share of its particles that a fragment keeps while it is there.
_LEFT = 0.5


class Fragment(NamedTuple):
    """A rigid piece of a mesh.

    Attributes:
        owns: which vertices of the cut mesh are its own, (n,).
        middle: its center of mass at rest [m], (3,).
        particle_count: the number of its particles.
        poses: frame number -> world from rest (4, 4) [m]; without the frames at which more than half of its particles have left.
        bending: the greatest distance of its particles from a pose, as a share of their distance from the middle, both root mean squares.
    """

    owns: NDArray[np.bool_]
    middle: Floats
    particle_count: int
    poses: dict[int, Floats]
    bending: float


class BrokenMesh(NamedTuple):
    """The mesh of an emitter at the last of some frames.

    Attributes:
        subdivision: what adds vertices to it before it is cut; None if nothing does.
        cut: what changes in it; None if nothing does.
        rest: its vertices at rest [m], (n, 3).
        fragments: the largest first.
        parts_at: the first frame at which not all of it moves together; None if there is none.
    """

    subdivision: Subdivision | None
    cut: Cut | None
    rest: Floats
    fragments: list[Fragment]
    parts_at: int | None


class _Members(NamedTuple):
    """The particles of a fragment: their ids, ascending (p,), where they were emitted [m] (p, 3), and its number among vertices."""

    ids: Integers
    rest: Floats
    number: int


def broken_mesh(cache: Cache, number: int, frames: Sequence[int], *, smallest: float = 0.0, look: Callable[[int], None]) -> BrokenMesh:
    """The rigid pieces of an emitter's mesh.

    Args:
        cache: the cache.
        number: that of the emitter; `follow_problem` is none.
        frames: the cached frames, ascending, at least one.
        smallest: the share of the emitter's particles that a fragment has at least.
        look: called with the number of frames that were read, before each.

    Raises:
        CacheError: a frame is missing or damaged.
    """
    last = Moment(frames[-1])
    frame = cache.state(last)
    births = births_at(cache, last, frame)
    bonds = cache.bonds_at(last)
    follower = Follower(scenes_of_emission(cache)[number], number)
    ids = np.flatnonzero(births.emitter == number)
    if not len(ids):
        return BrokenMesh(follower.subdivision, None, follower.vertices, [], None)
    torn = follower.torn_by(bonds, births)
    label = bonds.fragments(len(births.emitter))[ids]
    rest = births.rest[ids].astype(np.float64)
    of_vertex = _followed(torn, rest)
    members = []
    for value in np.unique(of_vertex):
        its = np.flatnonzero(torn.of_particle == value)
        # without those that only follow the same part of the mesh
        most = np.bincount(np.unique(label[its], return_inverse=True)[1].reshape(-1)).argmax()
        its = its[label[its] == np.unique(label[its])[most]]
        if len(its) >= smallest * len(ids):
            members.append(_Members(ids[its], rest[its], int(value)))
    members.sort(key=lambda each: (-len(each.ids), each.ids[0]))
    poses, bending = _moved(cache, frames, members, look)
    fragments = [
        Fragment(of_vertex == each.number, each.rest.mean(axis=0), len(each.ids), its, bent)
        for each, its, bent in zip(members, poses, bending, strict=True)
        # what left before the first frame
        if its
    ]
    return BrokenMesh(follower.subdivision, torn.cut, torn.vertices, fragments, _first_apart(cache, number, frames, follower))


def _followed(torn: Torn, rest: Floats) -> Integers:
    """For each vertex, the number of the particles that it moves with; those of parts without particles move with the nearest."""
    of_vertex = torn.of_vertex.copy()
    lost = np.flatnonzero(~np.isin(of_vertex, torn.of_particle))
    if len(lost):
        among = np.flatnonzero(np.isin(torn.of_particle, of_vertex))
        reach = float(np.ptp(rest, axis=0).max()) / max(len(rest), 1) ** (1 / 3)
        of_vertex[lost] = torn.of_particle[among[nearest(rest[among], torn.vertices[lost], 1, reach).number[:, 0]]]
    return of_vertex


def _moved(
    cache: Cache, frames: Sequence[int], members: Sequence[_Members], look: Callable[[int], None]
) -> tuple[list[dict[int, Floats]], list[float]]:
    """The poses of fragments at each frame, and how far each bends."""
    poses: list[dict[int, Floats]] = [{} for _ in members]
    bending = [0.0] * len(members)
    for done, number in enumerate(frames):
        look(done)
        frame = cache.state(Moment(number), only=())
        for place, each in enumerate(members):
            found = np.searchsorted(frame.id, each.ids)
            is_left = np.isin(each.ids, frame.id, assume_unique=True)
            if not is_left.any() or is_left.mean() < _LEFT:
                continue
            pose, bent = nearest_pose(each.rest[is_left], frame.position[found[is_left]].astype(np.float64))
            poses[place][number], bending[place] = pose, max(bending[place], bent)
    return poses, bending


def nearest_pose(rest: Floats, position: Floats) -> tuple[Floats, float]:
    """The pose (4, 4) that moves points at rest (p, 3) nearest to others, and how far it misses them, as `Fragment.bending`."""
    first, second = rest.mean(axis=0), position.mean(axis=0)
    arms, turned = rest - first, position - second
    left, _, right = np.linalg.svd(arms.T @ turned)
    sign = np.sign(np.linalg.det(left @ right))
    rotation = (left @ np.diag([1.0, 1.0, sign]) @ right).T
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, second - rotation @ first
    missed = np.linalg.norm(turned - arms @ rotation.T)
    return pose, float(missed / max(np.linalg.norm(arms), 1e-300))


def _first_apart(cache: Cache, number: int, frames: Sequence[int], follower: Follower) -> int | None:
    """The first frame at which the material of an emitter has come apart; what has, stays so."""

    def is_apart(frame: int) -> bool:
        moment = Moment(frame)
        births = births_at(cache, moment, cache.state(moment, only=()))
        return bool((births.emitter == number).any()) and follower.is_apart(cache.bonds_at(moment), births)

    low, high = 0, len(frames) - 1
    if not is_apart(frames[high]):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_apart(frames[middle]) else (middle + 1, high)
    return frames[low]
