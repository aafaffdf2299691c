"""Reads the part of OpenVDB's format that volumes use, strictly, and written apart from the writer: anything else fails."""

import struct
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Leaves(NamedTuple):
    """A grid: the voxel at which each leaf begins (n, 3), values (n, 8, 8, 8) or (n, 8, 8, 8, 3), and the distance between voxels."""

    start: np.ndarray
    values: np.ndarray
    voxel: float


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        self.at += size
        assert self.at <= len(self.data)
        return self.data[self.at - size : self.at]

    def numbers(self, form: str) -> tuple:
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def text(self) -> str:
        return self.take(self.numbers("I")[0]).decode()

    def entries(self) -> dict[str, bytes]:
        return {self.text(): (self.text(), self.take(self.numbers("I")[0]))[1] for _ in range(self.numbers("I")[0])}


def read_vdb(path: Path) -> dict[str, Leaves]:
    """The grids in a file."""
    reader = _Reader(path.read_bytes())
    assert reader.numbers("qI") == (0x56444220, 224)
    reader.numbers("II")
    assert reader.numbers("B") == (1,)
    reader.take(36)
    reader.entries()
    grids = {}
    for _ in range(reader.numbers("I")[0]):
        name, kind, parent = reader.text(), reader.text(), reader.text()
        assert parent == ""
        place, block, end = reader.numbers("qqq")
        assert reader.at == place
        grids[name] = _grid(reader, {"Tree_float_5_4_3_HalfFloat": 1, "Tree_vec3s_5_4_3_HalfFloat": 3}[kind], block)
        assert reader.at == end
    assert reader.at == len(reader.data)
    return grids


def _grid(reader: _Reader, components: int, block: int) -> Leaves:
    assert reader.numbers("I") == (3,)  # zlib, active values only
    assert reader.entries()["is_saved_as_half_float"] == b"\1"
    assert reader.text() == "UniformScaleMap"
    voxel = reader.numbers("15d")[0]
    assert reader.numbers("i") == (1,)
    assert reader.numbers("f" * components) == (0.0,) * components
    tiles, roots = reader.numbers("II")
    assert tiles == 0
    start, masks = [], []
    for _ in range(roots):
        root = np.array(reader.numbers("3i"))
        for middle in _children(reader, 32):
            for leaf in _children(reader, 16):
                start.append(root + 128 * middle + 8 * leaf)
                masks.append(reader.take(64))
    assert reader.at == block
    values = np.zeros((len(start), 512, components), np.float32)
    for number, mask in enumerate(masks):
        assert reader.take(64) == mask
        active = np.unpackbits(np.frombuffer(mask, np.uint8), bitorder="little").astype(bool)
        assert reader.numbers("b") == (0,)
        (size,) = reader.numbers("q")
        data = zlib.decompress(reader.take(size)) if size > 0 else reader.take(-size)
        values[number, active] = np.frombuffer(data, "<f2").reshape(-1, components)
    shape = (len(start), 8, 8, 8, 3) if components == 3 else (len(start), 8, 8, 8)
    return Leaves(np.array(start, np.int64).reshape(-1, 3), values.reshape(shape), voxel)


def _children(reader: _Reader, width: int) -> np.ndarray:
    """The places of a node's children, of width^3; it has no values of its own."""
    marks = np.unpackbits(np.frombuffer(reader.take(width**3 // 8), np.uint8), bitorder="little")
    assert not any(reader.take(width**3 // 8))
    assert reader.numbers("b") == (0,)
    return np.stack(np.unravel_index(np.flatnonzero(marks), (width,) * 3), axis=1)


def mass_of(leaves: Leaves) -> float:
    """The sum of the values times the volume of a voxel."""
    return float(leaves.values.sum(dtype=np.float64) * leaves.voxel**3)


def positions_of(leaves: Leaves) -> np.ndarray:
    """The centers of the voxels [m], (n, 8, 8, 8, 3)."""
    offset = np.stack(np.meshgrid(*[np.arange(8)] * 3, indexing="ij"), axis=-1)
    return (leaves.start[:, None, None, None] + offset) * leaves.voxel
