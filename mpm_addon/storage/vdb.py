"""Sparse grids of half-precision voxels as OpenVDB files, which Blender and other programs read. Needs numpy only.

File version 224: a tree of nodes with 32^3, 16^3 and 8^3 (leaf) children. Of a leaf, only the active values are stored, compressed by
zlib; all others are zero. The bytes depend only on the content (and on the release of zlib). No other part of the format is written.

Source: OpenVDB, https://www.openvdb.org (Museth 2013, VDB: high-resolution sparse volumes with dynamic topology).
"""

import hashlib
import io
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import ArrayFileError
from .atomic import write_atomically
from .container import Written
from .plain_files import open_plain

SUFFIX = ".vdb"
# Voxels along the edge of a leaf, and of nodes one and two levels above.
LEAF, _MIDDLE, _TOP = 8, 128, 4096
LEAF_VOXELS = LEAF**3
# Leaves lie within so many leaves of the origin, so that their three numbers fit into one.
FARTHEST = 1 << 20

_MAGIC = 0x56444220
_VERSION, _LIBRARY = 224, (12, 0)
_ZIP, _ACTIVE_ONLY = 1, 2
# All values that are not active are the background.
_NO_OTHER_VALUES = 0
_UUID_LENGTH = 36
_INFO, _LENGTH = "mpm", "mpm_file_bytes"
_LARGEST_TEXT, _MOST_ENTRIES = 1 << 20, 1000
_LEVEL = 4


class Grid(NamedTuple):
    """A grid of numbers or of vectors; all voxels outside its leaves are zero.

    Attributes:
        name: its name.
        leaves: numbers of the leaves along x, y and z, each once, int64 (n, 3); leaf (1, 0, 0) begins at voxel (8, 0, 0).
        values: float32 (n, 512) or (n, 512, 3); of a leaf, z changes fastest. Zeros, as half-precision numbers, are not stored.
    """

    name: str
    leaves: NDArray[np.int64]
    values: NDArray[np.float32]


def write_vdb(path: Path, grids: Sequence[Grid], voxel: float, info: str = "") -> Written:
    """Write grids to a file, completely or not at all.

    Args:
        path: the file; its folder must exist.
        grids: the grids.
        voxel: the distance between voxels [m]; the center of voxel (0, 0, 0) is at the origin.
        info: any text, which `read_info` returns.

    Raises:
        OSError: the file cannot be written.
    """
    bodies = [_body(grid, voxel) for grid in grids]
    names = [_descriptor(grid) for grid in grids]
    digest = hashlib.sha256(b"".join([info.encode(), *(part for body in bodies for part in body)])).hexdigest()
    start = len(_beginning(digest, info, 0, len(grids)))
    pieces, at = [], start
    for name, body in zip(names, bodies, strict=True):
        first = at + len(name) + 3 * 8
        block, end = first + len(body[0]), first + sum(map(len, body))
        pieces += [name, struct.pack("<3q", first, block, end), *body]
        at = end
    pieces.insert(0, _beginning(digest, info, at, len(grids)))
    write_atomically(path, lambda file: file.writelines(pieces))
    hasher = hashlib.sha256()
    for piece in pieces:
        hasher.update(piece)
    return Written(at, hasher.hexdigest())


def read_info(path: Path) -> str:
    """The text in a file that `write_vdb` wrote. Reads only its beginning, and checks its length.

    Raises:
        ArrayFileError: it is truncated, damaged, or another file.
        OSError: it cannot be read.
    """
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            entries = _read_beginning(file)
            info, (told,) = entries[_INFO].decode(), struct.unpack("<q", entries[_LENGTH])
        except (struct.error, KeyError, UnicodeDecodeError) as error:
            raise ArrayFileError("is damaged or not a volume file") from error
    if told != size:
        raise ArrayFileError(f"is damaged: it has {size} bytes instead of {told}")
    return info


def _read_beginning(file: IO[bytes]) -> Mapping[str, bytes]:
    magic, version, _major, _minor, has_offsets = struct.unpack("<qIIIB", file.read(21))
    if (magic, version, has_offsets) != (_MAGIC, _VERSION, 1):
        raise ArrayFileError("is damaged or not a volume file")
    file.read(_UUID_LENGTH)

    def text() -> bytes:
        (length,) = struct.unpack("<I", file.read(4))
        if length > _LARGEST_TEXT:
            raise ArrayFileError("is damaged: its header is too long")
        return file.read(length)

    (count,) = struct.unpack("<I", file.read(4))
    if count > _MOST_ENTRIES:
        raise ArrayFileError("is damaged: its header is too long")
    entries = {}
    for _entry in range(count):
        name, _kind, value = text(), text(), text()
        entries[name.decode()] = value
    return entries


def _beginning(digest: str, info: str, size: int, count: int) -> bytes:
    unique = f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
    entries = [_entry(_INFO, "string", info.encode()), _entry(_LENGTH, "int64", struct.pack("<q", size))]
    start = struct.pack("<qIIIB", _MAGIC, _VERSION, *_LIBRARY, 1) + unique.encode()
    return start + _entries(entries) + struct.pack("<I", count)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<I", len(data)) + data


def _entry(name: str, kind: str, value: bytes) -> bytes:
    return _text(name) + _text(kind) + struct.pack("<I", len(value)) + value


def _entries(entries: Sequence[bytes]) -> bytes:
    return struct.pack("<I", len(entries)) + b"".join(entries)


def _descriptor(grid: Grid) -> bytes:
    kind = "vec3s" if grid.values.ndim == 3 else "float"
    return _text(grid.name) + _text(f"Tree_{kind}_5_4_3_HalfFloat") + _text("")


def _body(grid: Grid, voxel: float) -> tuple[bytes, bytes]:
    """A grid from its compression to its tree's topology, and the values of its leaves."""
    values = grid.values.astype("<f2")
    flat = values.reshape(len(values), LEAF_VOXELS, 3 if values.ndim == 3 else 1)
    active = (flat != 0).any(axis=2)
    filled = active.any(axis=1)
    order = np.flatnonzero(filled)[_in_order_of_tree(grid.leaves[filled])]
    leaves, flat, active = grid.leaves[order], flat[order], active[order]
    masks = np.packbits(active, axis=1, bitorder="little")
    start = struct.pack("<I", _ZIP | _ACTIVE_ONLY) + _metadata(grid, leaves) + _transform(voxel)
    background = bytes(4 * flat.shape[2])
    stored = io.BytesIO()
    for mask, chosen, value in zip(masks, active, flat, strict=True):
        stored.write(mask.tobytes())
        stored.write(bytes([_NO_OTHER_VALUES]))
        _write_packed(stored, value[chosen].tobytes())
    return start + _topology(leaves, masks, background), stored.getvalue()


def _write_packed(file: IO[bytes], data: bytes) -> None:
    packed = zlib.compress(data, _LEVEL)
    is_smaller = len(packed) < len(data)
    # a negative length announces data that is not compressed
    file.write(struct.pack("<q", len(packed) if is_smaller else -len(data)))
    file.write(packed if is_smaller else data)


def _metadata(grid: Grid, leaves: NDArray[np.int64]) -> bytes:
    entries = [
        _entry("class", "string", b"fog volume" if grid.values.ndim == 2 else b"unknown"),
        _entry("is_saved_as_half_float", "bool", b"\1"),
        _entry("name", "string", grid.name.encode()),
    ]
    if len(leaves):
        corners = (LEAF * leaves.min(axis=0), LEAF * leaves.max(axis=0) + LEAF - 1)
        names = ("file_bbox_min", "file_bbox_max")
        entries += [_entry(name, "vec3i", corner.astype("<i4").tobytes()) for name, corner in zip(names, corners, strict=True)]
    if grid.values.ndim == 3:
        entries.append(_entry("vector_type", "string", b"contravariant relative"))
    return _entries(entries)


def _transform(voxel: float) -> bytes:
    # the scale, the size of a voxel, and what follows from them
    numbers = (voxel, voxel, 1.0 / voxel, 1.0 / voxel**2, 0.5 / voxel)
    return _text("UniformScaleMap") + b"".join(struct.pack("<3d", number, number, number) for number in numbers)


def _topology(leaves: NDArray[np.int64], masks: NDArray[np.uint8], background: bytes) -> bytes:
    """Which nodes there are, from the root to the active voxels of the leaves, which are in order of the tree."""
    tops = _runs(leaves // (_TOP // LEAF))
    parts = [struct.pack("<i", 1), background, struct.pack("<II", 0, len(tops))]
    for top in tops:
        middle = leaves[top] // (_MIDDLE // LEAF)
        runs = _runs(middle)
        place = middle[0] // (_TOP // _MIDDLE)
        parts += [(place * _TOP).astype("<i4").tobytes(), _node(middle[[run.start for run in runs]], _TOP // _MIDDLE)]
        for run in runs:
            parts += [_node(leaves[top][run], _MIDDLE // LEAF), masks[top][run].tobytes()]
    return b"".join(parts)


def _in_order_of_tree(leaves: NDArray[np.int64]) -> NDArray[np.intp]:
    """The order of the leaves in the tree: by node of each level, each by x, then y, then z."""
    levels = (leaves, leaves // (_MIDDLE // LEAF), leaves // (_TOP // LEAF))
    return np.lexsort([level[:, axis] for level in levels for axis in (2, 1, 0)])


def _runs(numbers: NDArray[np.int64]) -> list[slice]:
    """The runs of equal rows of numbers (n, 3)."""
    changes = np.flatnonzero((numbers[1:] != numbers[:-1]).any(axis=1)) + 1
    ends = [0, *changes.tolist(), len(numbers)]
    return [slice(start, end) for start, end in pairwise(ends) if end > start]


def _node(children: NDArray[np.int64], width: int) -> bytes:
    """A node of width^3 places, those with children marked; no other has a value."""
    x, y, z = (children % width).T
    marks = np.zeros(width**3, np.bool_)
    marks[(x * width + y) * width + z] = True
    return np.packbits(marks, bitorder="little").tobytes() + bytes(width**3 // 8) + bytes([_NO_OTHER_VALUES])
