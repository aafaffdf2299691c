"""Triangle meshes from files: .npz, .ply and .obj. Geometry only; the order and number of vertices are preserved.

Sizes stated in a file are not trusted: memory use is proportional to the file's actual size.

To add a format, write a function here and add it to `MESH_READERS`.
"""

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.parameters import LARGEST
from .arrays import ArrayFileError, read_arrays
from .installation import require
from .plain_files import open_plain, read_plain

# The largest .ply or .obj file that is read [bytes]: reading one takes about thirty times as much memory.
LARGEST_MESH_FILE = 2_000_000_000

# Limit on the header of a .ply file.
_PLY_HEADER_BYTES = 100_000

Mesh = tuple[NDArray[np.float64], NDArray[np.int64]]


def read_mesh(path: Path) -> Mesh:
    """The vertices [m], shape (n, 3), and triangles, shape (m, 3), of a mesh file. Polygons are split into fans.

    Raises:
        ArrayFileError: the file is not a mesh of a known format.
        OSError: it cannot be read.
    """
    reader = MESH_READERS.get(path.suffix.lower())
    if reader is None:
        raise ArrayFileError("is not a mesh file", f"use one of {', '.join(MESH_READERS)}")
    vertices, triangles = reader(path)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or vertices.dtype.kind not in "fiu":
        raise ArrayFileError(f"has vertices of shape {vertices.shape}", "use three numbers per vertex")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
        raise ArrayFileError(f"has triangles of shape {triangles.shape}", "use three whole numbers per triangle")
    if np.any(np.abs(vertices) > LARGEST):
        raise ArrayFileError(f"has a coordinate beyond {LARGEST:g} m", "use smaller ones")
    if triangles.size and not 0 <= int(triangles.min()) <= int(triangles.max()) < len(vertices):
        raise ArrayFileError(
            f"has a triangle with vertex {_stray_index(triangles, len(vertices))} of {len(vertices)}", f"use 0 to {len(vertices) - 1}"
        )
    return vertices.astype(np.float64), triangles.astype(np.int64)


def _stray_index(triangles: NDArray[Any], count: int) -> int:
    return int(triangles[(triangles < 0) | (triangles >= count)][0])


def _read_npz(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    arrays = read_arrays(path)
    for name in ("vertices", "triangles"):
        if name not in arrays:
            raise ArrayFileError(f'has no array "{name}"', "add it: a mesh needs vertices (n, 3) and triangles (m, 3)")
    return arrays["vertices"], arrays["triangles"]


def _read_ply(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    with ply_data(path) as data:
        vertices = ply_columns(data, ("x", "y", "z"))
        if "face" not in data:
            return vertices, np.zeros((0, 3), dtype=np.int64)
        names = [prop.name for prop in data["face"].properties]
        name = next(name for name in ("vertex_indices", "vertex_index") if name in names)
        return vertices, _fans(list(data["face"][name]))


def _check_ply_counts(file: bytes) -> None:
    """Check that a .ply file is long enough for the counts it states: a row has at least one byte per property. Raises ValueError."""
    # split lines as plyfile does
    ending = next((ending for ending in (b"\r\n", b"\n", b"\r") if file.startswith(b"ply" + ending)), b"\n")
    lines = file[:_PLY_HEADER_BYTES].split(ending)
    if b"end_header" not in lines:
        raise ValueError(f"no header of at most {_PLY_HEADER_BYTES} bytes")
    count = needed = 0
    for line in lines[: lines.index(b"end_header")]:
        words = line.split()
        if words[:1] == [b"element"]:
            count = int(words[-1])
        if words[:1] in ([b"element"], [b"property"]):
            needed += max(count, 0)
    if needed > 2 * len(file):
        raise ValueError(f"it states at least {needed} bytes, but has {len(file)}")


@contextmanager
def ply_data(path: Path) -> Iterator[Any]:
    """The elements of a PLY file. Errors inside the block that are due to the file raise ArrayFileError."""
    ply = require("plyfile", "plyfile", f'reading "{path.name}"')
    file = read_plain(path, LARGEST_MESH_FILE)
    try:
        _check_ply_counts(file)
        yield ply.PlyData.read(io.BytesIO(file), mmap=False)
    except (ply.PlyParseError, ValueError, TypeError, LookupError, StopIteration, RuntimeError, EOFError, OverflowError) as error:
        raise ArrayFileError(f"is damaged or not a suitable PLY file ({error or type(error).__name__})") from error


def ply_columns(data: Any, names: Sequence[str]) -> NDArray[np.float64]:
    """Scalar properties of the vertices, side by side (n, components). Raises KeyError if one is missing."""
    return np.stack([np.asarray(data["vertex"][name], dtype=np.float64) for name in names], axis=1)


def _read_obj(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Positions and faces of a Wavefront file; normals, texture coordinates and materials are ignored."""
    vertices: list[list[float]] = []
    polygons: list[list[int]] = []
    line = ""
    try:
        with io.TextIOWrapper(open_plain(path), encoding="utf-8", errors="replace") as lines:
            size = os.fstat(lines.fileno()).st_size
            if size > LARGEST_MESH_FILE:
                raise ValueError(f"{size / 1e9:.3g} GB; at most {LARGEST_MESH_FILE / 1e9:g} GB are read")
            for line in lines:
                words = line.split()
                if words and words[0] == "v":
                    x, y, z = words[1:4]
                    vertices.append([float(x), float(y), float(z)])
                elif words and words[0] == "f":
                    polygons.append([_obj_index(word, len(vertices)) for word in words[1:]])
        return np.array(vertices, dtype=np.float64).reshape(-1, 3), _fans(polygons)
    except (ValueError, OverflowError) as error:
        raise ArrayFileError(f"is damaged or not an OBJ mesh (line '{line.strip()[:40]}': {error})") from error


def _obj_index(word: str, count: int) -> int:
    """A vertex number of a face: counted from 1, or, if negative, backward from the last vertex."""
    index = int(word.split("/", 1)[0])
    return index - 1 if index > 0 else count + index


def _fans(polygons: list[Any]) -> NDArray[np.int64]:
    """Triangles (m, 3) of convex polygons, each a list of vertex numbers."""
    triangles = [(polygon[0], polygon[k], polygon[k + 1]) for polygon in polygons for k in range(1, len(polygon) - 1)]
    return np.array(triangles, dtype=np.int64).reshape(-1, 3)


MESH_READERS: dict[str, Callable[[Path], tuple[NDArray[Any], NDArray[Any]]]] = {
    ".npz": _read_npz,
    ".ply": _read_ply,
    ".obj": _read_obj,
}
