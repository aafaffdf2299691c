"""VTK XML file, version 1.0, for ParaView: an unstructured grid with one vertex cell per particle and all attributes.

The layout is that of "VTK XML Formats" (Kitware): the arrays follow the XML as raw bytes, each one a header and zlib blocks.
`write_series` writes a .pvd file that lists the files of an animation with their times.
"""

import zlib
from collections.abc import Sequence
from pathlib import PurePath
from typing import IO, Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from ...core.particles import Frame
from .names import plain_names

_VERTEX_CELL = 1
_BLOCK = 1 << 20
# Level 1 takes half the time of the default, 6, and floats are hardly larger.
_LEVEL = 1
_TYPES = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}
_FILE = 'type="{}" version="1.0" byte_order="LittleEndian" header_type="UInt64"'


def write(frame: Frame, file: IO[bytes]) -> None:
    """Write positions as points, every other attribute as point data, and the frame's time [s]."""
    count = len(frame.position)
    appended = _Appended()
    points = appended.array("Points", frame.position)
    attributes = "".join(
        appended.array(name, frame.arrays[given]) for given, name in plain_names(frame.arrays).items() if given != "position"
    )
    cells = "".join(
        appended.array(name, values)
        for name, values in (
            ("connectivity", np.arange(count, dtype=np.int64)),
            ("offsets", np.arange(1, count + 1, dtype=np.int64)),
            ("types", np.full(count, _VERTEX_CELL, np.uint8)),
        )
    )
    time = f'<DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">{frame.time!r}</DataArray>\n'
    head = (
        f'<?xml version="1.0"?>\n<VTKFile {_FILE.format("UnstructuredGrid")} compressor="vtkZLibDataCompressor">\n<UnstructuredGrid>\n'
        f'<FieldData>\n{time}</FieldData>\n<Piece NumberOfPoints="{count}" NumberOfCells="{count}">\n<Points>\n{points}</Points>\n'
        f"<PointData>\n{attributes}</PointData>\n<Cells>\n{cells}</Cells>\n</Piece>\n</UnstructuredGrid>\n"
        '<AppendedData encoding="raw">\n_'
    )
    file.write(head.encode())
    for part in appended.parts:
        file.write(part)
    file.write(b"\n</AppendedData>\n</VTKFile>\n")


def write_series(entries: Sequence[tuple[float, int, str, PurePath]], file: IO[bytes]) -> None:
    """Write a .pvd file.

    Args:
        entries: time [s], number and name of the part, and path of each file, relative to the .pvd.
    """
    lines = [
        f'<DataSet timestep="{time!r}" part="{part}" name={quoteattr(name)} file={quoteattr(path.as_posix())}/>\n'
        for time, part, name, path in entries
    ]
    file.write(f'<?xml version="1.0"?>\n<VTKFile {_FILE.format("Collection")}>\n<Collection>\n'.encode())
    file.write("".join(lines).encode() + b"</Collection>\n</VTKFile>\n")


class _Appended:
    """The binary data after the XML, and the XML elements that refer to it."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._size = 0

    def array(self, name: str, values: NDArray[Any]) -> str:
        """Append an array, and return its element."""
        components = 1 if values.ndim == 1 else values.shape[1]
        kind = _TYPES[values.dtype.str[1:]]
        words = f'type="{kind}" Name={quoteattr(name)} NumberOfComponents="{components}" format="appended" offset="{self._size}"'
        data = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
        blocks = [zlib.compress(data[start : start + _BLOCK], _LEVEL) for start in range(0, len(data), _BLOCK)]
        # number of blocks, size of a block, size of a smaller last block or 0, then their compressed sizes
        header = np.array([len(blocks), _BLOCK, len(data) % _BLOCK, *map(len, blocks)], "<u8").tobytes()
        self.parts += [header, *blocks]
        self._size += len(header) + sum(map(len, blocks))
        return f"<DataArray {words}/>\n"
