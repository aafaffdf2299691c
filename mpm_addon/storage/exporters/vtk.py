"""VTK legacy file, version 3.0, binary: an unstructured grid with one vertex cell per particle and all attributes.

The layout is that of "VTK File Formats", The VTK User's Guide (Kitware): big-endian numbers after plain text lines.
"""

from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ...core.particles import Frame
from .names import plain_names

_VERTEX_CELL = 1
_TYPES = {"f4": "float", "f8": "double", "i4": "int", "i8": "long"}


def write(frame: Frame, file: IO[bytes]) -> None:
    """Write positions as points and every other attribute as point data."""
    count = len(frame.position)
    file.write(f"# vtk DataFile Version 3.0\nframe {frame.number}, {frame.time:.9g} s\nBINARY\n".encode())
    file.write(f"DATASET UNSTRUCTURED_GRID\nPOINTS {count} float\n".encode())
    _write_values(file, frame.position, ">f4")
    cells = np.stack([np.ones(count, dtype=np.int32), np.arange(count, dtype=np.int32)], axis=1)
    file.write(f"CELLS {count} {2 * count}\n".encode())
    _write_values(file, cells, ">i4")
    file.write(f"CELL_TYPES {count}\n".encode())
    _write_values(file, np.full(count, _VERTEX_CELL), ">i4")
    file.write(f"POINT_DATA {count}\n".encode())
    for given, name in plain_names(frame.arrays).items():
        if given != "position":
            _write_attribute(file, name, frame.arrays[given])


def _write_attribute(file: IO[bytes], name: str, array: NDArray[Any]) -> None:
    code = array.dtype.str[1:]
    components = 1 if array.ndim == 1 else array.shape[1]
    if components == 3:
        file.write(f"VECTORS {name} {_TYPES[code]}\n".encode())
    else:
        file.write(f"SCALARS {name} {_TYPES[code]} {components}\nLOOKUP_TABLE default\n".encode())
    _write_values(file, array, f">{code}")


def _write_values(file: IO[bytes], values: NDArray[Any], dtype: str) -> None:
    file.write(values.astype(dtype).tobytes())
    file.write(b"\n")
