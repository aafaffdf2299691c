"""Which bodies are near nodes: blocks of nodes are compared with them in coarse cubes."""

import numpy as np
from numpy.typing import NDArray

from ..transfer.blocks import BLOCK
from .obstacle import Floats, Ints

# the edge of a cube [blocks]
COARSE = 4


def cubes_of(blocks: Ints, spacing: float) -> Floats:
    """The lowest corners (k, 3) [m] of the cubes that blocks of nodes (n, 3) are in, with this cell size [m]."""
    return np.unique(blocks // COARSE, axis=0) * (COARSE * BLOCK * spacing)


def near_cubes(centers: Floats, reach: Floats, cubes: Floats, spacing: float, dimension: int) -> NDArray[np.bool_]:
    """Which balls, with these centers (n, 3) and radii (n,) [m], reach into one of the cubes, (n,)."""
    close, size = np.zeros(len(centers), np.bool_), COARSE * BLOCK * spacing
    axes = [0, 2] if dimension == 2 else [0, 1, 2]
    if len(cubes):
        inside = (centers + reach[:, None] > cubes.min(axis=0)) & (centers - reach[:, None] < cubes.max(axis=0) + size)
        for number in np.flatnonzero(inside[:, axes].all(axis=1)):
            nearest = np.clip(centers[number], cubes, cubes + size) - centers[number]
            close[number] = ((nearest[:, axes] ** 2).sum(axis=1) < reach[number] ** 2).any()
    return close
