"""Fragments: particles that bonds still join."""

import numpy as np
from numpy.typing import NDArray

from .bonds import Bonds
from .geometry.mesh_topology import components


def fragments_of(bonds: Bonds, count: int) -> NDArray[np.int64]:
    """The fragment of each of the first `count` particles: the least id among those that bonds still join it to, (count,)."""
    fragment = np.arange(count)
    starts, ends = bonds.pairs[bonds.is_whole].T.astype(np.int64)
    fragment[starts] = fragment[ends] = components(starts, ends, count)
    return fragment
