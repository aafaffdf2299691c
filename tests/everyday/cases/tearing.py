"""Bands that are pulled until they tear."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.stepping.simulation import Simulation

from .rubber import rubber
from .setting import TESTED_OFFSET

FREE_LENGTH = 0.6


@dataclass(frozen=True)
class Torn:
    """A band whose ends are held, after it was pulled.

    Attributes:
        is_apart: whether its ends are no longer joined by bonds.
        two_largest: the share of its particles in its two largest fragments.
        gap: the widest part along it without particles of these [m].
        place: the mean distance of the particles that have lost bonds from its middle, at rest [m]; NaN if there are none.
    """

    is_apart: bool
    two_largest: float
    gap: float
    place: float


@lru_cache
def pulled(
    tear_stretch: float,
    stretch: float,
    reference: str = "current",
    *,
    offset: float = TESTED_OFFSET,
    dimension: int = 2,
    spacing: float = 0.05,
    waist: float = 1.0,
) -> Torn:
    """A band that is pulled within half a second.

    Args:
        tear_stretch: of its material.
        stretch: of its free length.
        reference: of its material.
        offset: of everything from the nodes of the grid [cells].
        dimension: 2 or 3.
        spacing: cell size [m].
        waist: how wide it is in the middle, over its width at the ends.
    """
    scene = rubber(reference, offset=offset, dimension=dimension, tear_stretch=tear_stretch)
    scene = replace(scene, solver=replace(scene.solver, grid_spacing=spacing), time=replace(scene.time, frame_end=30))
    if waist < 1.0:
        scene = replace(scene, emitters=(replace(scene.emitters[0], shape=waisted(waist, 0.5 * spacing, offset * spacing)),))
    colliders = []
    for sign, collider in zip((-1.0, 1.0), scene.colliders, strict=True):
        matrices = np.tile(np.eye(4), (2, 1, 1))
        matrices[1, 0, 3] = sign * 0.5 * FREE_LENGTH * (stretch - 1.0)
        colliders.append(replace(collider, motion=Motion(frames=np.array([0.0, 25.0]), matrices=matrices)))
    *_, last = Simulation(replace(scene, colliders=tuple(colliders))).frames()
    assert last.bonds is not None
    fragment, damage = last.bonds.fragments(len(last.id)), last.attribute("damage")
    rest = last.attribute("rest_position")[:, 0]
    counts = np.bincount(fragment)
    largest = np.argsort(counts)[-2:]
    along = np.sort(last.position[np.isin(fragment, largest), 0])
    middle = 0.5 * (rest.min() + rest.max())
    is_damaged = damage > 0.0
    return Torn(
        bool(fragment[rest.argmin()] != fragment[rest.argmax()]),
        float(counts[largest].sum() / len(fragment)),
        float(np.diff(along).max()),
        float(np.abs(rest[is_damaged] - middle).mean()) if is_damaged.any() else float("nan"),
    )


def waisted(waist: float, spacing: float, way: float) -> object:
    """A lattice of points as large as the band, narrower in its middle, in two dimensions."""
    x, z = np.meshgrid(np.arange(-0.4 + 0.5 * spacing, 0.4, spacing), np.arange(-0.1 + 0.5 * spacing, 0.1, spacing), indexing="ij")
    width = 0.1 * (1.0 - (1.0 - waist) * np.exp(-((x / 0.08) ** 2)))
    points = np.stack([x, np.zeros_like(x), z], axis=-1)[np.abs(z) < width] + (way, 0.0, way)
    return SHAPES["points"](position=points, volume=np.full(len(points), spacing**2))
