"""An order of points that keeps neighbors together. Plain numpy."""

import numpy as np
from numpy.typing import NDArray

from .mesh_topology import Floats


def morton_codes(points: Floats) -> NDArray[np.uint64]:
    """The positions of points on a curve that keeps neighbors together: the interleaved bits of three 21-bit coordinates."""
    low = points.min(axis=0)
    size = float((points.max(axis=0) - low).max())
    cells = ((points - low) * ((2**21 - 1) / size if size > 0.0 else 0.0)).astype(np.uint64)
    for shift, mask in (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        cells = (cells | (cells << np.uint64(shift))) & np.uint64(mask)
    return cells[:, 0] | (cells[:, 1] << np.uint64(1)) | (cells[:, 2] << np.uint64(2))
