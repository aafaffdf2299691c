"""Clouds of points from files: .npz, .ply and .obj, as other programs and the exports of frames write them.

A reader of another format: a function here and its line in `POINT_READERS`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from .arrays import ArrayFileError, Arrays, read_arrays
from .meshes import ply_columns, ply_data, read_mesh

KNOWN = ("position", "velocity", "volume")
# What the exports of a frame add: a file with both is one, and its other arrays are passed over.
_FRAME_MARKS = {"frame", "time"}
_PLY_VELOCITIES = (("velocity_x", "velocity_y", "velocity_z"), ("vx", "vy", "vz"))


def read_points(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of `KNOWN` that a file of points has, unchecked: position, perhaps velocity and volume.

    Raises:
        ArrayFileError: the file is no cloud of points of a known format.
        OSError: it cannot be read.
    """
    reader = POINT_READERS.get(path.suffix.lower())
    if reader is None:
        raise ArrayFileError(f"is no file of points; use one of {', '.join(POINT_READERS)}")
    return dict(reader(path))


def _read_npz(path: Path) -> Arrays:
    arrays = read_arrays(path)
    if arrays.keys() >= _FRAME_MARKS:
        arrays = {name: array for name, array in arrays.items() if name in KNOWN}
    for name in arrays:
        if name not in KNOWN:
            raise ArrayFileError(f'has an unknown array "{name}"; known are {", ".join(KNOWN)}')
    if "position" not in arrays:
        raise ArrayFileError('has no array "position"; add it')
    return arrays


def _read_ply(path: Path) -> Arrays:
    """Vertices; their velocity as velocity_x ... or vx ..., and their volume."""
    with ply_data(path) as data:
        names = {prop.name for prop in data["vertex"].properties}
        arrays = {"position": ply_columns(data, ("x", "y", "z"))}
        for columns in _PLY_VELOCITIES:
            if names.issuperset(columns):
                arrays["velocity"] = ply_columns(data, columns)
        if "volume" in names:
            arrays["volume"] = ply_columns(data, ("volume",))[:, 0]
    return arrays


def _read_obj(path: Path) -> Arrays:
    return {"position": read_mesh(path)[0]}


POINT_READERS: dict[str, Callable[[Path], Arrays]] = {
    ".npz": _read_npz,
    ".ply": _read_ply,
    ".obj": _read_obj,
}
