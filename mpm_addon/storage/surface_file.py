"""Surface files: the meshes made from one frame of a cache, compressed for playback. Needs only numpy and zstandard.

The bytes depend only on the meshes and their origin: they contain no date or duration.
"""

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.particles import Moment
from . import encoding, mesh_encoding
from .arrays import ArrayFileError
from .births import check_attribute
from .cache import Cache
from .container import Container, Written, read_container, write_container
from .derived import Origin, derived_at, origin_of
from .take import SURFACE

Arrays = Mapping[str, NDArray[Any]]

POSITION, TRIANGLES, EDGES = "position", "triangles", "edges"
# Integer attributes have few different values in large areas, which compress to almost nothing.
_MOST_PIECES = 10_000
_WORTH_THREADS = 2_000_000
_THREADS = 4


@dataclass(frozen=True)
class SurfacePiece:
    """One mesh of a surface.

    Attributes:
        name: the material or emitter it was made for; "" if it was made for all.
        triangles: vertex numbers, counterclockwise as seen from outside, int32 (m, 3).
        arrays: attribute name -> values at the vertices, (n,) or (n, components), `position` [m] among them.
        edges: of the triangles; None in files of earlier versions, and where nothing needs them.
    """

    name: str
    triangles: NDArray[np.int32]
    arrays: Arrays
    edges: mesh_encoding.Edges | None = None

    @property
    def position(self) -> NDArray[np.float32]:
        """Vertices [m], shape (n, 3)."""
        return self.arrays[POSITION]


class Surface(NamedTuple):
    """The surface of one frame."""

    origin: Origin
    pieces: tuple[SurfacePiece, ...]


def write_surface(path: Path, surface: Surface, voxel: float) -> Written:
    """Write a surface, completely or not at all.

    Args:
        path: the file; its folder must exist.
        surface: the surface; the vertices of each piece are in the order in which its triangles use them.
        voxel: the edge of a voxel [m]; positions are rounded to a small fraction of it.

    Raises:
        OSError: the file could not be written.
    """
    sections: list[Any] = []

    def noted(encoded: encoding.Encoded) -> dict[str, Any]:
        sections.append(encoded.data)
        return {**encoded.table, "section": len(sections) - 1, "bytes": len(encoded.data)}

    pieces = []
    for piece in surface.pieces:
        tables = {name: noted(_encoded(name, array, voxel)) for name, array in piece.arrays.items()}
        faces = {
            TRIANGLES: noted(mesh_encoding.triangles(piece.triangles)),
            EDGES: noted(mesh_encoding.triangles(mesh_encoding.edges_of(piece.triangles))),
        }
        pieces.append({"name": piece.name, **faces, "arrays": tables})
    return write_container(path, SURFACE, {**surface.origin.header(), "pieces": pieces}, sections)


def _encoded(name: str, array: NDArray[Any], voxel: float) -> encoding.Encoded:
    if name == POSITION:
        return mesh_encoding.steps(array, voxel / mesh_encoding.STEPS_PER_VOXEL)
    return encoding.exact(array) if array.dtype.kind == "i" else encoding.half(array)


def read_surface(path: Path) -> Surface:
    """The surface in a file.

    Raises:
        ArrayFileError: it is truncated, damaged, or not a surface.
        OSError: it cannot be read.
    """
    container = read_container(path, SURFACE)
    try:
        tables = container.header["pieces"]
        if not isinstance(tables, list) or len(tables) > _MOST_PIECES:
            raise ValueError(f"pieces {str(tables)[:40]}")
        origin, total = origin_of(container.header), sum(_bytes(table) for table in tables)
        with ThreadPoolExecutor(min(os.cpu_count() or 1, _THREADS) if total > _WORTH_THREADS else 1) as pool:
            pieces = tuple(_piece(container, table, pool) for table in tables)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        raise ArrayFileError(f"has an invalid header ({type(error).__name__}: {error})") from error
    _check_alike(pieces)
    return Surface(origin, pieces)


def surface_at(cache: Cache, moment: Moment) -> Surface:
    """The surface of a frame, also if it is outdated. Raises CacheError or FileNotFoundError as `derived_at`."""
    return derived_at(cache, moment, SURFACE, read_surface)


def _check_alike(pieces: tuple[SurfacePiece, ...]) -> None:
    """Check that attributes of the same name have the same components in all pieces. Raises ArrayFileError."""
    components: dict[str, tuple[int, ...]] = {}
    for piece in pieces:
        for name, array in piece.arrays.items():
            if components.setdefault(name, array.shape[1:]) != array.shape[1:]:
                raise ArrayFileError(f"has values of {name} with different numbers of components")


def _bytes(table: Mapping[str, Any]) -> int:
    faces = [table[name] for name in (TRIANGLES, EDGES) if name in table]
    return sum(int(each["bytes"]) for each in (*faces, *table["arrays"].values()))


def _piece(container: Container, table: Mapping[str, Any], pool: ThreadPoolExecutor) -> SurfacePiece:
    tables, faces = table["arrays"], {name: table[name] for name in (TRIANGLES, EDGES) if name in table}
    count = int(tables[POSITION]["shape"][0])

    def decoded(name: str) -> NDArray[Any]:
        if name in faces:
            made, most = faces[name], count if name == TRIANGLES else 3 * int(faces[EDGES]["shape"][0])
            return mesh_encoding.decode_triangles(made, made["bytes"], lambda size: container.section(made["section"], size), most)
        array = _decoded(tables[name], lambda size: container.section(tables[name]["section"], size))
        check_attribute(name, array)
        if len(array) != count or array.dtype.itemsize != 4:
            raise ArrayFileError(f"has {array.dtype} values of {name} for {len(array)} of {count} vertices")
        return array

    # decompression and numpy release the interpreter's lock
    found = dict(zip([*faces, *tables], pool.map(decoded, [*faces, *tables]), strict=True))
    triangles, of_corners = found.pop(TRIANGLES), found.pop(EDGES, None)
    first, second, third = triangles.T
    if (first == second).any() or (second == third).any() or (third == first).any():
        raise ArrayFileError("has triangles with the same vertex twice")
    edges = None if of_corners is None else mesh_encoding.joined_edges(of_corners, triangles)
    return SurfacePiece(str(table["name"]), triangles, found, edges)


def _decoded(table: Mapping[str, Any], read: encoding.Read) -> NDArray[Any]:
    if table["encoding"] == "steps":
        return mesh_encoding.decode_steps(table, table["bytes"], read)
    return encoding.decode(table, table["bytes"], read)
