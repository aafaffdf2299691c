"""Connected components of graphs. Plain numpy, because the interface uses it, too."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def components(starts: Integers, ends: Integers, vertex_count: int) -> Integers:
    """The least vertex that each edge is connected to, the same number for all edges of a component, shape (m,).

    Args:
        starts, ends: the two vertices of each edge, (m,).
        vertex_count: vertices are numbered from 0.
    """
    label = np.arange(vertex_count)
    while True:
        lowest = np.minimum(label[starts], label[ends])
        if np.array_equal(lowest, label[starts]) and np.array_equal(lowest, label[ends]):
            return label[starts]
        for vertex in (label[starts], label[ends], starts, ends):
            np.minimum.at(label, vertex, lowest)
        label = label[label]
