"""The blocks of space that a shape fills, found by repeatedly halving a cube."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..scene.shape import Shape
from .mesh_topology import Floats
from .shapes import Mesh


class Region(NamedTuple):
    """The cubic blocks that may hold points of a shape.

    Attributes:
        low: corner of block (0, 0, 0) [m], shape (3,).
        edge: edge length of a block [m].
        blocks: indices of the blocks, in lexicographic order, shape (k, 3).
        is_inside: whether the whole block is inside the shape, shape (k,); otherwise each point must be tested.
    """

    low: Floats
    edge: float
    blocks: NDArray[np.int64]
    is_inside: NDArray[np.bool_]


def region_of(shape: Shape, edge: float, dimension: int = 3) -> Region:
    """The blocks with this edge length [m] inside a shape or on its surface.

    For a section in 2D, they are one layer of cubes around the plane y = 0. A mesh must be closed.
    """
    if isinstance(shape, Mesh):
        return _region_of_mesh(shape, edge)
    low, high = shape.bounds()
    if dimension == 2:
        low[1], high[1] = -0.5 * edge, 0.5 * edge
    children = _CHILDREN if dimension == 3 else _CHILDREN[_CHILDREN[:, 1] == 0]
    count = int(np.ceil((high - low).max() / edge))
    halvings = max(count - 1, 0).bit_length()
    # centered, so that the blocks divide both ends of the shape in the same way
    blocks_along = np.ceil((high - low) / edge).astype(np.int64)
    low = (low + high - blocks_along * edge) / 2
    blocks = np.zeros((1, 3), dtype=np.int64)
    is_inside = np.zeros(1, dtype=bool)
    for level in range(halvings, -1, -1):
        if level < halvings:
            blocks = (2 * blocks[:, None] + children).reshape(-1, 3)
            is_inside = np.repeat(is_inside, len(children))
        size = edge * 2**level
        keep = (blocks * 2**level < blocks_along).all(axis=1)
        asked = np.flatnonzero(keep & ~is_inside)
        distance = shape.signed_distance(low + (blocks[asked] + 0.5) * size)
        radius = 0.5 * dimension**0.5 * size
        is_inside[asked] = distance < -radius
        keep[asked] = distance <= radius
        blocks, is_inside = blocks[keep], is_inside[keep]
    order = np.lexsort(blocks.T[::-1])
    return Region(low, edge, blocks[order], is_inside[order])


def _region_of_mesh(mesh: Mesh, edge: float) -> Region:
    from .mesh_cells import classify_blocks

    low, high = mesh.bounds()
    blocks_along = np.maximum(np.ceil((high - low) / edge), 1.0).astype(np.int64)
    low = (low + high - blocks_along * edge) / 2
    states = np.empty(tuple(blocks_along), np.int8)
    classify_blocks(mesh.cells, low - mesh.center, edge, states)
    blocks = np.argwhere(states > 0)
    return Region(low, edge, blocks, states[tuple(blocks.T)] == 2)


_CHILDREN = np.array([[i, j, k] for i in range(2) for j in range(2) for k in range(2)])
