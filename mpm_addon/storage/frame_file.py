"""Frame files: the arrays that change from frame to frame, encoded for playback, and the frame's statistics.

Attributes that never change in a particle's life are stored once, in the births, and looked up by id.
The bytes depend only on the frame: they contain no date or duration.
"""

import os
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.bonds import WHOLE, Bonds
from ..core.parameters import LARGEST, parameters_of
from ..core.particles import AGE, BIRTH, Frame, FrameStatistics, Moment, Piece
from ..core.scene.settings import LAST_FRAME, CacheSettings
from . import encoding
from .arrays import ArrayFileError
from .births import check_attribute
from .container import Container, Written, read_container, write_container

Arrays = Mapping[str, NDArray[Any]]
# A function that returns the births by id, given the number of particles ever emitted.
Births = Callable[[int], Arrays]

_KIND = "frame"
_ROUNDED = {
    "velocity": encoding.half,
    "volume_ratio": encoding.half,
    "density_ratio": encoding.half,
    "stress": encoding.half,
    "stretch": encoding.half,
    "rotation": encoding.rotation,
    "damage": encoding.half,
    "temperature": encoding.half,
}
_BORN = "born"
_ID, _POSITION = "id", "position"
# Frames with at least this many bytes before compression are decoded by several threads.
_WORTH_THREADS = 4_000_000
_THREADS = 4
_FLAGS = {declared.name for declared in parameters_of(CacheSettings) if declared.kind == "flag"}


def write_frame(path: Path, frame: Frame, settings: CacheSettings, cell: float) -> Written:
    """Write a frame, completely or not at all.

    Args:
        path: the file.
        frame: the frame; arrays that are in its births are left out.
        settings: which attributes to store, and at which precision.
        cell: the grid spacing [m]; positions are rounded to a small fraction of it.

    Raises:
        OSError: the file could not be written.
    """
    tables, sections = {}, []
    for name in stored_attributes(frame.arrays, settings):
        if emitted(frame) and (name in frame.births or (name == AGE and BIRTH in frame.births)):
            tables[name] = {"encoding": _BORN}
            continue
        table, data = _encoded(name, frame.arrays[name], settings.precision, cell)
        tables[name] = {**table, "section": len(sections), "bytes": len(data)}
        sections.append(data)
    statistics = frame.statistics
    header: dict[str, Any] = {
        "number": frame.number,
        "part": frame.part,
        "parts": frame.parts,
        "time": frame.time,
        "emitted": emitted(frame),
        "statistics": {
            "particles": statistics.particles,
            "deleted": statistics.deleted,
            "substeps": statistics.substeps,
            "kinetic_energy": statistics.kinetic_energy,
            "momentum": list(statistics.momentum),
            "mass": statistics.mass,
            "crushed": statistics.crushed,
        },
        "poses": {name: pose.tolist() for name, pose in frame.poses.items()},
        "arrays": tables,
    }
    if frame.bonds is not None:
        parted = np.flatnonzero(~frame.bonds.is_whole).astype(np.int32)
        header["parted"] = {}
        for name, (table, data) in (("bond", encoding.exact(parted)), ("time", encoding.exact(frame.bonds.parted[parted]))):
            header["parted"][name] = {**table, "section": len(sections), "bytes": len(data)}
            sections.append(data)
    if frame.pieces:
        header["pieces"] = {name: _encoded_piece(piece, sections) for name, piece in frame.pieces.items()}
    return write_container(path, _KIND, header, sections)


def _encoded_piece(piece: Piece, sections: list[Any]) -> dict[str, Any]:
    """The header's entry for a piece, whose arrays are added to the sections."""
    entry: dict[str, Any] = {"whole": piece.whole}
    arrays = {"vertices": piece.vertices, "triangles": piece.triangles.astype(np.int32), "is_inside": piece.is_inside}
    for name, array in arrays.items():
        table, data = encoding.exact(array)
        entry[name] = {**table, "section": len(sections), "bytes": len(data)}
        sections.append(data)
    return entry


def emitted(frame: Frame) -> int:
    """The number of particles ever emitted."""
    return len(next(iter(frame.births.values()), ()))


def stored_attributes(names: Collection[str], settings: CacheSettings) -> list[str]:
    """The attributes that the settings store, in order. Each optional attribute has a flag of the same name in the settings."""
    return [name for name in names if name not in _FLAGS or getattr(settings, name)]


def _encoded(name: str, array: NDArray[Any], precision: str, cell: float) -> encoding.Encoded:
    if name == "id":
        return encoding.ids(array)
    if precision == "compact" and name == _POSITION:
        return encoding.fixed(array, cell / encoding.STEPS_PER_CELL)
    if precision == "compact" and name in _ROUNDED:
        return _ROUNDED[name](array)
    return encoding.exact(array)


def read_frame(path: Path, births: Births, only: Collection[str] | None = None) -> Frame:
    """The frame in a file. Its `step_seconds` are 0, because durations are in the journal.

    Args:
        path: the file.
        births: returns the births of the particles.
        only: attributes to read, where the file has them, besides `position` and `id`; by default all.

    Raises:
        ArrayFileError: it is truncated, damaged, or not a frame.
        OSError: it cannot be read.
    """
    container = read_container(path, _KIND)
    header = container.header
    try:
        statistics = {**header["statistics"], "momentum": tuple(map(float, header["statistics"]["momentum"]))}
        if not all(isinstance(number, (int, float)) for name, number in statistics.items() if name != "momentum"):
            raise ValueError("statistics that are not numbers")
        numbers = FrameStatistics(**statistics, step_seconds=0.0)
        poses = {name: _pose(rows) for name, rows in header["poses"].items()}
        time, count = float(header["time"]), int(header["emitted"])
        tables = header["arrays"]
        if only is not None:
            tables = {name: table for name, table in tables.items() if name in (_POSITION, _ID, *only)}
        arrays = _arrays(container, tables, lambda: births(count), time)
        moment = possible_moment(header["number"], header["part"], header["parts"])
        pieces = {name: _piece(container, entry) for name, entry in header.get("pieces", {}).items()}
        return Frame(moment.number, time, arrays, numbers, moment.part, moment.parts, poses, pieces=pieces)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        raise ArrayFileError(f"has an invalid header ({type(error).__name__}: {error})") from error


def _arrays(container: Container, tables: Mapping[str, Any], births: Callable[[], Arrays], time: float) -> dict[str, NDArray[Any]]:
    def decoded(name: str) -> NDArray[Any]:
        table = tables[name]
        array = encoding.decode(table, table["bytes"], lambda size: container.section(table["section"], size))
        check_attribute(name, array)
        return array

    count = int(tables[_POSITION]["shape"][0])
    own = [name for name, table in tables.items() if table["encoding"] != _BORN]
    if any(int(tables[name]["shape"][0]) != count for name in own):
        raise ArrayFileError("has arrays of different lengths")
    # consecutive ids take no bytes, so their count is only trusted once the positions, which do take bytes, are decoded
    own.sort(key=lambda name: name == _ID)
    if sum(tables[name]["bytes"] for name in own) > _WORTH_THREADS:
        # decompression and numpy release the interpreter's lock
        with ThreadPoolExecutor(min(os.cpu_count() or 1, _THREADS)) as pool:
            arrays = dict(zip(own[:-1], pool.map(decoded, own[:-1]), strict=True))
    else:
        arrays = {name: decoded(name) for name in own[:-1]}
    ids = arrays[_ID] = decoded(_ID)
    # ids encoded as gaps always ascend
    if count and tables[_ID]["encoding"] != "ids" and (ids[0] < 0 or (np.diff(ids) <= 0).any()):
        raise ArrayFileError("has ids that do not ascend")
    if len(arrays) < len(tables):
        born = births()
        if count and ids[-1] >= len(born[BIRTH]):
            raise ArrayFileError(f"has a particle {ids[-1]}, but there are only {len(born[BIRTH])} births")
        # consecutive ids need no copy, only a view
        places = slice(int(ids[0]), int(ids[-1]) + 1) if count and ids[-1] - ids[0] == count - 1 else ids
        taken = {name: born[name][places] for name in tables if name not in arrays and name != AGE}
        if AGE in tables and AGE not in arrays:
            taken[AGE] = (time - born[BIRTH][places]).astype(np.float32)
        arrays = {name: arrays[name] if name in arrays else taken[name] for name in tables}
    return arrays


def read_bonds(path: Path, pairs_of: Callable[[], NDArray[np.int32]]) -> Bonds:
    """The bonds at a frame.

    Args:
        path: the frame's file.
        pairs_of: returns the ids that bonds join, (m, 2), of the particles emitted so far or more.

    Raises:
        ArrayFileError: it is truncated, damaged, or not a frame.
        OSError: it cannot be read.
    """
    container = read_container(path, _KIND)
    try:
        tables = container.header.get("parted")
        if tables is None:
            return Bonds()
        pairs = pairs_of()
        pairs = pairs[pairs[:, 1] < int(container.header["emitted"])]
        parted = np.full(len(pairs), WHOLE)
        read = [tables["bond"], tables["time"]]
        # in other encodings, a long array may take no bytes
        if any(table["encoding"] != "exact" for table in read):
            raise ArrayFileError("has bonds with another encoding than exact")
        bond, time = (
            encoding.decode(table, table["bytes"], lambda size, table=table: container.section(table["section"], size)) for table in read
        )
        if time.dtype != np.float64 or bond.dtype != np.int32 or time.shape != bond.shape or not np.isfinite(time).all():
            raise ArrayFileError("has bonds that do not match their times")
        if len(bond) and not 0 <= bond.min() <= bond.max() < len(pairs):
            raise ArrayFileError(f"has a bond {bond.max()}, but there are only {len(pairs)}")
        parted[bond] = time
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        raise ArrayFileError(f"has an invalid header ({type(error).__name__}: {error})") from error
    return Bonds(pairs, parted)


def _piece(container: Container, entry: Mapping[str, Any]) -> Piece:
    """A piece of a rigid body. Raises ArrayFileError if it is not a mesh."""

    def decoded(name: str, kind: type, shape: tuple[int, ...]) -> NDArray[Any]:
        table = entry[name]
        # in other encodings, a long array may take no bytes
        if table["encoding"] != "exact":
            raise ArrayFileError("has a piece with another encoding than exact")
        array = encoding.decode(table, table["bytes"], lambda size: container.section(table["section"], size))
        if array.dtype != kind or array.shape[1:] != shape:
            raise ArrayFileError(f"has a piece with {name} of type {array.dtype} and shape {array.shape}")
        return array

    vertices, triangles = decoded("vertices", np.float64, (3,)), decoded("triangles", np.int32, (3,))
    is_inside = decoded("is_inside", np.bool_, ())
    if not np.isfinite(vertices).all() or np.abs(vertices).max(initial=0.0) > LARGEST:
        raise ArrayFileError("has a piece with a vertex that is not finite")
    if not len(triangles) or not 0 <= triangles.min() <= triangles.max() < len(vertices) or len(is_inside) != len(triangles):
        raise ArrayFileError("has a piece whose triangles do not match its vertices")
    return Piece(str(entry["whole"]), vertices, triangles.astype(np.int64), is_inside)


def possible_moment(number: Any, part: Any, parts: Any) -> Moment:
    """The moment with these numbers from a file. Raises ValueError if there is no such moment."""
    is_whole = all(isinstance(value, int) for value in (number, part, parts))
    if not is_whole or abs(number) > 2 * LAST_FRAME or not (0 < part < parts or (part, parts) == (0, 1)):
        raise ValueError(f"a moment {part!r} of {parts!r} after frame {number!r}")
    return Moment(number, part, parts)


def _pose(rows: Any) -> NDArray[np.float64]:
    pose = np.array(rows, np.float64)
    if pose.shape != (4, 4):
        raise ValueError(f"a pose of shape {pose.shape}")
    if not np.abs(pose).max() <= LARGEST or np.linalg.det(pose[:3, :3]) == 0.0:
        raise ValueError("a pose that is not an invertible transform")
    return pose
