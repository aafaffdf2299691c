"""Stanford PLY, binary: one vertex per particle with all attributes as scalar properties.

Positions are x, y, z. The components of vectors end in _x, _y, _z; those of quaternions in _w, _x, _y, _z; those of four painted
values in _x, _y, _z, _w.
"""

from typing import IO

import numpy as np

from ...core.particles import Frame
from ..installation import require
from .names import plain_names

_COMPONENTS = {"rotation": "wxyz"}


def write(frame: Frame, file: IO[bytes]) -> None:
    """Write all attributes of a frame."""
    ply = require("plyfile", "plyfile", "the ply format")
    columns = {}
    for given, name in plain_names(frame.arrays).items():
        array = frame.arrays[given]
        if array.ndim == 1:
            columns[name] = array
        else:
            for index, letter in enumerate(_COMPONENTS.get(name, "xyzw")[: array.shape[1]]):
                columns[letter if name == "position" else f"{name}_{letter}"] = array[:, index]
    vertices = np.empty(len(frame.position), dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        vertices[name] = column
    element = ply.PlyElement.describe(vertices, "vertex")
    comments = [f"frame {frame.number}", f"time {frame.time:.9g} s", "meters, Z up"]
    ply.PlyData([element], byte_order="<", comments=comments).write(file)
