"""Point clouds from files: .npz, .ply and .obj, as written by other programs and by the exporters.

To add a format, write a function here and add it to `POINT_READERS`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from .arrays import ArrayFileError, Arrays, read_arrays
from .meshes import ply_columns, ply_data, read_mesh

KNOWN = ("position", "velocity", "volume")
# Arrays that mark an exported frame: a file with both is one, and its other arrays are ignored.
_FRAME_MARKS = {"frame", "time"}
_PLY_VELOCITIES = (("velocity_x", "velocity_y", "velocity_z"), ("vx", "vy", "vz"))


def read_points(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of `KNOWN` in a file of points, unchecked: position, and optionally velocity and volume.

    Raises:
        ArrayFileError: the file is not a point cloud of a known format.
        OSError: it cannot be read.
    """
    reader = POINT_READERS.get(path.suffix.lower())
    if reader is None:
        raise ArrayFileError("is not a file of points", f"use one of {', '.join(POINT_READERS)}")
    return dict(reader(path))


def _read_npz(path: Path) -> Arrays:
    arrays = read_arrays(path)
    if arrays.keys() >= _FRAME_MARKS:
        arrays = {name: array for name, array in arrays.items() if name in KNOWN}
    for name in arrays:
        if name not in KNOWN:
            raise ArrayFileError(f'has an unknown array "{name}"', f"use {', '.join(KNOWN)}")
    if "position" not in arrays:
        raise ArrayFileError('has no array "position"', "add it")
    return arrays


def _read_ply(path: Path) -> Arrays:
    """Positions, velocities (velocity_x ... or vx ...) and volumes of the vertices."""
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
