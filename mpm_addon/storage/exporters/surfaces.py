"""Surfaces and skins in the formats of other programs. To add one, write its function and add it to `SURFACE_EXPORTERS`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import CacheError
from ...core.geometry.shapes.mesh import Mesh
from ...core.particles import Moment
from ..cache import Cache
from ..installation import require
from ..skin_file import scenes_of_emission, skin_at
from ..surface_file import POSITION, SurfacePiece, surface_at
from ..take import SKIN, SURFACE
from .names import plain_names


def export_surfaces(
    cache: Cache,
    numbers: Iterable[int],
    format_name: str,
    output: Path,
    write: Callable[[Path, Callable[[IO[bytes]], None]], None],
    *,
    kind: str = SURFACE,
    is_split: bool = False,
) -> Iterator[Path]:
    """Export the surfaces or skins of frames, yielding each file once it is written.

    Args:
        cache: the cache.
        numbers: the frames.
        format_name: a key of `SURFACE_EXPORTERS`.
        output: a folder for frame_000001.ply and so on; or, for a single frame, a file whose name ends in the format's suffix.
        write: writes a file, given its path and a function that fills it.
        kind: SURFACE or SKIN.
        is_split: whether to write one file for each mesh, frame_000001_NAME.ply.

    Raises:
        CacheError: a frame has none, it is damaged, or `output` cannot be written.
    """
    if format_name not in SURFACE_EXPORTERS:
        known = " or ".join(sorted(SURFACE_EXPORTERS))
        raise CacheError(f"{kind}s cannot be written as {format_name}", f"use {known}", subject=str(output))
    numbers, suffix = list(numbers), f".{format_name}"
    is_file = output.suffix.lower() == suffix and not output.is_dir()
    if is_file and (len(numbers) != 1 or is_split):
        raise CacheError("one file cannot hold several", "use a folder, or one frame (--frames N) without --split", subject=str(output))
    pieces_at = _skin_reader(cache) if kind == SKIN else lambda moment: surface_at(cache, moment).pieces
    for number in numbers:
        try:
            pieces = pieces_at(Moment(number))
        except FileNotFoundError:
            raise CacheError(f"frame {number} has no {kind}", "derive it first", subject=str(cache.folder)) from None
        for name, chosen in _files(pieces, is_split=is_split).items():
            path = output if is_file else output / f"frame_{number:06d}{'_' if name else ''}{name}{suffix}"
            write(path, lambda file, chosen=chosen: SURFACE_EXPORTERS[format_name](chosen, file))
            yield path


def _skin_reader(cache: Cache) -> Callable[[Moment], Sequence[SurfacePiece]]:
    """Returns the skin of a frame as meshes: the triangles are those of the scenes. Raises CacheError or SceneError."""
    emitters = [scene.emitters[number] for number, scene in enumerate(scenes_of_emission(cache))]

    def pieces_at(moment: Moment) -> Sequence[SurfacePiece]:
        origin, pieces = skin_at(cache, moment)
        found = []
        for number, piece in zip(origin.emitters, pieces, strict=True):
            shape = emitters[number].shape if 0 <= number < len(emitters) else None
            if not len(piece.position):
                continue
            if not isinstance(shape, Mesh) or len(shape.vertices) != piece.own_count:
                raise _of_another_mesh(cache, moment)
            try:
                triangles = piece.triangles(shape.triangles)
            except (IndexError, ValueError):
                raise _of_another_mesh(cache, moment) from None
            found.append(SurfacePiece(piece.name, triangles, piece.arrays))
        return found

    return pieces_at


def _of_another_mesh(cache: Cache, moment: Moment) -> CacheError:
    return CacheError(f"frame {moment.number} has a skin of another mesh", "derive it again", subject=str(cache.folder))


def _files(pieces: Sequence[SurfacePiece], *, is_split: bool) -> Mapping[str, Sequence[SurfacePiece]]:
    if not is_split:
        return {"": pieces}
    plain = plain_names(piece.name for piece in pieces)
    return {plain[piece.name]: [piece] for piece in pieces}


def write_ply(pieces: Sequence[SurfacePiece], file: IO[bytes]) -> None:
    """Stanford PLY, binary: vertices with all attributes that every mesh has, as scalar properties, and triangles."""
    ply = require("plyfile", "plyfile", "the ply format")
    columns = dict(_columns(pieces))
    count = sum(len(piece.position) for piece in pieces)
    vertices = np.empty(count, dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        vertices[name] = column
    triangles = _triangles(pieces)
    faces = np.empty(len(triangles), dtype=[("vertex_indices", "i4", (3,))])
    faces["vertex_indices"] = triangles
    elements = [ply.PlyElement.describe(vertices, "vertex"), ply.PlyElement.describe(faces, "face")]
    ply.PlyData(elements, byte_order="<", comments=["meters, Z up"]).write(file)


def _columns(pieces: Sequence[SurfacePiece]) -> Iterator[tuple[str, NDArray[Any]]]:
    """The properties of vertices: x, y, z first."""
    shared = [name for name in (pieces[0].arrays if pieces else ()) if all(name in piece.arrays for piece in pieces)]
    for given, name in plain_names(sorted(shared, key=lambda name: name != POSITION) or [POSITION]).items():
        array = np.concatenate([piece.arrays[given] for piece in pieces]) if pieces else np.zeros((0, 3), np.float32)
        if array.ndim == 1:
            yield name, array
            continue
        for index, letter in enumerate("xyzw"[: array.shape[1]]):
            yield letter if given == POSITION else f"{name}_{letter}", array[:, index]


def _triangles(pieces: Sequence[SurfacePiece]) -> NDArray[np.int64]:
    """The triangles of all meshes, whose vertices follow one another."""
    first = np.cumsum([0, *(len(piece.position) for piece in pieces)])
    shifted = [piece.triangles.astype(np.int64) + start for piece, start in zip(pieces, first, strict=False)]
    return np.concatenate([np.zeros((0, 3), np.int64), *shifted])


def write_obj(pieces: Sequence[SurfacePiece], file: IO[bytes]) -> None:
    """Wavefront OBJ: vertices and triangles, an object for each mesh. The format has no attributes."""
    file.write(b"# meters, Z up\n")
    first = 1
    for name, piece in zip(plain_names(piece.name or "surface" for piece in pieces).values(), pieces, strict=True):
        file.write(f"o {name}\ns 1\n".encode())
        np.savetxt(file, piece.position, fmt="v %.9g %.9g %.9g")
        np.savetxt(file, piece.triangles.astype(np.int64) + first, fmt="f %d %d %d")
        first += len(piece.position)


SURFACE_EXPORTERS: dict[str, Callable[[Sequence[SurfacePiece], IO[bytes]], None]] = {"ply": write_ply, "obj": write_obj}
