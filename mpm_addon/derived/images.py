"""Images of particles behind the walls that they touch (ghost particles, as at the boundaries of smoothed particles).

A surface around particles alone is rounded off along edges and ends anywhere within a spacing of a wall, which shows in a glass. Where a
wall is so thin that a surface around the images comes out on its other side, it is known for each image which walls hold it back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .boundaries import Boundary
from .particles import Cloud
from .touching import CORNER, Floats, Numbers, Touched, touched


class Images(NamedTuple):
    """Particles and the images of some.

    Attributes:
        cloud: the particles, followed by the images.
        walls: what the particles touch.
        at_thin: which of the cloud are particles that touch thin walls and their images, (k,).
        held_by: the rows of `walls` behind which the mesh around each of these must not reach, -1 where there are fewer, (k, CORNER).
    """

    cloud: Cloud
    walls: Touched
    at_thin: Numbers
    held_by: Numbers


class _Made(NamedTuple):
    """Images: the particles that they are of (n,), where they are [m] (n, 3), and behind which rows of the walls, as in `Images`."""

    source: Numbers
    place: Floats
    behind: Numbers

    def joined(self, other: "_Made") -> "_Made":
        source, place = np.concatenate([self.source, other.source]), np.concatenate([self.place, other.place])
        return _Made(source, place, np.concatenate([self.behind, other.behind]))

    def only(self, chosen: NDArray[Any]) -> "_Made":
        return _Made(self.source[chosen], self.place[chosen], self.behind[chosen])


def extended(cloud: Cloud, boundaries: Sequence[Boundary]) -> Images:
    """The particles, and the images of those that touch boundaries."""
    position = cloud.position.astype(np.float64)
    walls = touched(position, boundaries, cloud.spacing)
    images = _Made(np.zeros(0, np.intp), np.zeros((0, 3)), np.zeros((0, CORNER), np.intp))
    # the particles themselves, and what they touch
    own = np.full((len(position) if len(walls.particles) else 0, CORNER), -1)
    for rows in np.split(np.arange(len(walls.surface)), np.flatnonzero(np.diff(walls.surface)) + 1):
        # at an edge, the images behind one surface have images behind the other
        whole = _Made(walls.particles[rows], position[walls.particles[rows]], np.full((len(rows), CORNER), -1)).joined(images)
        row = np.full(len(position), -1)
        row[walls.particles[rows]] = rows
        whole = whole.only((row[whole.source] >= 0) & (whole.behind[:, -1] < 0))
        its = row[whole.source]
        made = _Made(whole.source, walls.mirrored(whole.place, its, cloud.spacing), _filled(whole.behind, its))
        own[walls.particles[rows]] = _filled(own[walls.particles[rows]], rows)
        # a mesh that ends half a spacing farther would be rounded off there without a second layer
        second = made._replace(place=made.place - cloud.spacing * walls.normal[its]).only(walls.is_deep[its])
        images = images.joined(made).joined(second)
    whole_cloud = replace(
        cloud,
        position=np.concatenate([cloud.position, images.place]).astype(np.float32),
        values=_repeated(cloud.values, images.source),
        numbers=_repeated(cloud.numbers, images.source),
    )
    held_by = np.concatenate([own, images.behind])
    at_thin = np.flatnonzero(np.append(walls.is_thin, False)[held_by].any(axis=1))
    return Images(whole_cloud, walls, at_thin, held_by[at_thin])


def _filled(behind: Numbers, rows: Numbers) -> Numbers:
    """With a row in the first free place of each; where there is none, as they are."""
    filled = behind.copy()
    free = (behind >= 0).sum(axis=1)
    has_room = np.flatnonzero(free < CORNER)
    filled[has_room, free[has_room]] = rows[has_room]
    return filled


def _repeated(arrays: Mapping[str, NDArray[Any]], source: Numbers) -> dict[str, NDArray[Any]]:
    return {name: np.concatenate([array, array[source]]) for name, array in arrays.items()}
