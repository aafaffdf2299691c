"""Skin files: the positions of the vertices of emitters' own meshes at one frame of a cache. Needs numpy and zstandard only.

Faces, UVs and materials are not stored: they are those of the meshes, whose order the vertices keep. Where a mesh is too coarse to bend, a
file has the edges that are bisected, and where material has torn, the triangles that take the place of others.
"""

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.emission.schedule import frame_of_once
from ..core.geometry.subdivision import Subdivision, edge_keys
from ..core.particles import Moment
from ..core.scene.description import Scene
from . import encoding
from .arrays import ArrayFileError
from .births import check_attribute
from .cache import Cache
from .container import Container, Written, read_container, write_container
from .derived import Origin, derived_at, origin_of
from .renames import scene_of
from .take import SKIN

POSITION, VELOCITY = "position", "velocity"
CUT, SUBDIVISION = "cut", "subdivision"
# After compression: a measured mean.
BYTES_PER_VERTEX = 12.5
_MOST_PIECES = 10_000
_WORTH_THREADS = 2_000_000
_THREADS = 4


class Cut(NamedTuple):
    """What changes in a mesh where its material has torn.

    Attributes:
        parents: vertices of the mesh that each additional vertex lies between at rest, int32 (k, 3).
        weights: how much of each, with a sum of 1, float32 (k, 3).
        triangles: vertex numbers of new triangles, additional vertices after those of the mesh, int32 (m, 3).
        source: the triangle of the mesh that each is a part of, and which it replaces, int32 (m,); -1 for inside faces.
    """

    parents: NDArray[np.int32]
    weights: NDArray[np.float32]
    triangles: NDArray[np.int32]
    source: NDArray[np.int32]

    def applied(self, triangles: NDArray[np.int32]) -> NDArray[np.int32]:
        """The triangles of the cut mesh, given those of the whole one (m, 3). Raises IndexError if it has too few."""
        is_kept = np.ones(len(triangles), np.bool_)
        is_kept[self.source[self.source >= 0]] = False
        return np.concatenate([triangles[is_kept], self.triangles])


class SkinPiece(NamedTuple):
    """The mesh of one emitter.

    Attributes:
        name: the emitter.
        arrays: `position` [m] and, if it was cached, `velocity` [m/s] of every vertex of its mesh, then of the additional ones of its
            subdivision and of its cut, float32 (n, 3); (0, 3) at frames without particles of the emitter.
        cut: what changes in the subdivided mesh where it has torn; None if it has not.
        subdivision: the edges of its mesh that are bisected; None if it is fine enough.
    """

    name: str
    arrays: Mapping[str, NDArray[np.float32]]
    cut: Cut | None = None
    subdivision: Subdivision | None = None

    @property
    def position(self) -> NDArray[np.float32]:
        """Vertices [m], shape (n, 3)."""
        return self.arrays[POSITION]

    @property
    def whole_count(self) -> int:
        """The number of vertices of the subdivided mesh; 0 at frames without particles."""
        return len(self.position) - (0 if self.cut is None else len(self.cut.parents))

    @property
    def own_count(self) -> int:
        """The number of vertices of the emitter's mesh; 0 at frames without particles."""
        return self.whole_count - (0 if self.subdivision is None else len(self.subdivision.ends))

    def triangles(self, own: NDArray[np.integer]) -> NDArray[np.int32]:
        """The triangles (m, 3) at this frame, given those of the emitter's mesh. Raises ValueError or IndexError if they do not fit."""
        whole = own if self.subdivision is None else self.subdivision.applied(own, self.own_count).triangles
        return whole.astype(np.int32) if self.cut is None else self.cut.applied(whole.astype(np.int32))


class Skin(NamedTuple):
    """The skin of one frame: a mesh for each of the emitters that its origin names, in that order."""

    origin: Origin
    pieces: tuple[SkinPiece, ...]


def write_skin(path: Path, skin: Skin, cell: float) -> Written:
    """Write a skin, completely or not at all.

    Args:
        path: the file; its folder must exist.
        skin: the skin.
        cell: the grid spacing [m]; positions are rounded to a small fraction of it, as those of particles are.

    Raises:
        OSError: the file could not be written.
    """
    sections: list[Any] = []
    pieces: list[dict[str, Any]] = []
    for piece in skin.pieces:
        tables = {}
        for name, array in piece.arrays.items():
            encoded = encoding.fixed(array, cell / encoding.STEPS_PER_CELL) if name == POSITION else encoding.half(array)
            tables[name] = {**encoded.table, "section": len(sections), "bytes": len(encoded.data)}
            sections.append(encoded.data)
        pieces.append({"name": piece.name, "arrays": tables})
        for kind in (CUT, SUBDIVISION):
            change = getattr(piece, kind)
            if change is None:
                continue
            found = pieces[-1][kind] = {}
            for name, values in change._asdict().items():
                encoded = encoding.exact(values)
                found[name] = {**encoded.table, "section": len(sections), "bytes": len(encoded.data)}
                sections.append(encoded.data)
    return write_container(path, SKIN, {**skin.origin.header(), "pieces": pieces}, sections)


def read_skin(path: Path) -> Skin:
    """The skin in a file.

    Raises:
        ArrayFileError: it is truncated, damaged, or not a skin.
        OSError: it cannot be read.
    """
    container = read_container(path, SKIN)
    origin = origin_of(container.header)
    try:
        tables = container.header["pieces"]
        if not isinstance(tables, list) or len(tables) != len(origin.emitters) or len(tables) > _MOST_PIECES:
            raise ValueError(f"pieces {str(tables)[:40]}")
        total = sum(int(each["bytes"]) for table in tables for each in table["arrays"].values())
        with ThreadPoolExecutor(min(os.cpu_count() or 1, _THREADS) if total > _WORTH_THREADS else 1) as pool:
            return Skin(origin, tuple(_piece(container, table, pool) for table in tables))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        raise ArrayFileError(f"has an invalid header ({type(error).__name__}: {error})") from error


def skin_at(cache: Cache, moment: Moment) -> Skin:
    """The skin of a frame, also if it is outdated. Raises CacheError or FileNotFoundError as `derived_at`."""
    return derived_at(cache, moment, SKIN, read_skin)


def scenes_of_emission(cache: Cache) -> tuple[Scene, ...]:
    """For each emitter, the scene of the take in which it emits once; later takes may place it elsewhere. Raises CacheError, SceneError."""
    scenes = [scene_of(take, cache.takes[-1]) for take in cache.takes]

    def emitting(number: int) -> Scene:
        for scene, following in zip(scenes, cache.takes[1:], strict=False):
            emitter = scene.emitters[number] if number < len(scene.emitters) else None
            frame = frame_of_once(emitter, scene) if emitter is not None and emitter.mode == "once" else None
            if frame is not None and frame <= following.from_frame:
                return scene
        return scenes[-1]

    return tuple(emitting(number) for number in range(len(scenes[-1].emitters)))


def _piece(container: Container, table: Mapping[str, Any], pool: ThreadPoolExecutor) -> SkinPiece:
    tables = table["arrays"]
    count = int(tables[POSITION]["shape"][0])

    def decoded(name: str) -> NDArray[np.float32]:
        if name not in (POSITION, VELOCITY):
            raise ArrayFileError(f"has values of {name[:40]!r}, which no skin has")
        made = tables[name]
        array = encoding.decode(made, made["bytes"], lambda size: container.section(made["section"], size))
        check_attribute(name, array)
        if len(array) != count or not np.isfinite(array).all():
            raise ArrayFileError(f"has {len(array)} values of {name} for {count} vertices, or infinite ones")
        return array

    # decompression and numpy release the interpreter lock
    arrays = dict(zip(tables, pool.map(decoded, tables), strict=True))
    cut = _cut(container, table[CUT], count) if CUT in table else None
    subdivision = _subdivision(container, table[SUBDIVISION]) if SUBDIVISION in table else None
    piece = SkinPiece(str(table["name"]), arrays, cut, subdivision)
    if subdivision is not None and not _is_ordered(subdivision, piece.own_count):
        raise ArrayFileError("has a subdivision that does not match its vertices")
    return piece


def _exact(container: Container, tables: Mapping[str, Any], name: str, dtype: type, *shape: int) -> NDArray[Any]:
    """An array of a cut or subdivision, of rows of a shape."""
    made = tables[name]
    # in other encodings, a long array may take no bytes
    if made["encoding"] != "exact":
        raise ArrayFileError(f"has {name} with another encoding than exact")
    array = encoding.decode(made, made["bytes"], lambda size: container.section(made["section"], size))
    if array.dtype != dtype or array.shape[1:] != shape:
        raise ArrayFileError(f"has {array.dtype} values of {name} of shape {array.shape}")
    return array


def _subdivision(container: Container, tables: Mapping[str, Any]) -> Subdivision:
    return Subdivision(_exact(container, tables, "ends", np.int32, 2), _exact(container, tables, "rounds", np.int32))


def _is_ordered(subdivision: Subdivision, count: int) -> bool:
    """Whether edges are between vertices that are there by their round, and ascend in it; `count` is that of the mesh before."""
    ends, rounds = subdivision.ends.astype(np.int64), subdivision.rounds.astype(np.int64)
    if count < 1 or not len(rounds) or rounds.min() < 1 or rounds.sum() != len(ends):
        return False
    number = np.repeat(np.arange(len(rounds)), rounds)
    known = count + np.cumsum(rounds) - rounds
    key = edge_keys(ends[:, 0], ends[:, 1])
    is_rising = (np.diff(key) > 0) | (np.diff(number) > 0)
    return bool((ends[:, 0] >= 0).all() and (ends[:, 0] < ends[:, 1]).all() and (ends[:, 1] < known[number]).all() and is_rising.all())


def _cut(container: Container, tables: Mapping[str, Any], count: int) -> Cut:
    """The cut of a mesh that has `count` vertices with the additional ones."""
    parents, weights = (_exact(container, tables, name, dtype, 3) for name, dtype in (("parents", np.int32), ("weights", np.float32)))
    triangles, source = _exact(container, tables, "triangles", np.int32, 3), _exact(container, tables, "source", np.int32)
    is_alike = len(parents) == len(weights) < count and len(triangles) == len(source) and bool(np.isfinite(weights).all())
    ranges = ((parents, 0, count - len(parents)), (triangles, 0, count), (source, -1, np.iinfo(np.int32).max))
    if not is_alike or any(len(numbers) and not low <= numbers.min() <= numbers.max() < high for numbers, low, high in ranges):
        raise ArrayFileError("has a cut that does not match its vertices")
    first, second, third = triangles.T
    if (first == second).any() or (second == third).any() or (third == first).any():
        raise ArrayFileError("has triangles with the same vertex twice")
    return Cut(parents, weights, triangles, source)
