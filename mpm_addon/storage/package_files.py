"""The array files of a scene package: shapes, motions, animations and paintings in files next to scene.toml, never outside its folder."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import SceneError
from ..core.geometry.shapes import SHAPES
from ..core.parameters import LARGEST
from ..core.scene.animation import Animation, Motion
from ..core.scene.painting import Painting
from ..core.scene.shape import Shape
from .arrays import NUMBERS_AND_FLAGS, ArrayFileError, Arrays, read_arrays
from .meshes import read_mesh
from .plain_files import is_relative
from .point_files import read_points
from .toml_tables import Table, check_keys, declared_values, look_up, parameter_names, table_of

# Shapes defined by an array file: kind -> array -> whether it is required.
_ARRAYS: dict[str, dict[str, bool]] = {
    "mesh": {"vertices": True, "triangles": True},
    "points": {"position": True, "velocity": False, "volume": False},
}


@dataclass(frozen=True)
class PackageReader:
    """Reads the files that a scene file refers to.

    Attributes:
        folder: the folder of the scene file; nothing outside it is read.
    """

    folder: Path

    def shape(self, table: Any, subject: str) -> Shape:
        """The shape that a `shape = {...}` table describes.

        Raises:
            SceneError: unknown kind or key, a value out of range, a missing or damaged file.
        """
        if table is None:
            raise SceneError("shape is missing", 'use shape = { kind = "sphere", radius = 0.1 } or another', subject=subject)
        if not isinstance(table, dict):
            raise SceneError(f"shape {table!r} is not a table", 'use shape = { kind = "...", ... }', subject=subject)
        kind = look_up(table.get("kind"), SHAPES, "shape kind", subject)
        place = f"{subject}, shape"
        names = parameter_names(kind)
        if kind.kind not in _ARRAYS:
            check_keys(table, ("kind", *names), place)
            return kind(**declared_values(kind, table, place))
        check_keys(table, ("kind", "file", *names), place)
        values = declared_values(kind, table, place)
        if "file" not in table:
            raise SceneError("file is missing", 'add the path of a file, such as file = "x.npz"', subject=str(place))
        path = self.path(table["file"], subject)
        arrays = self._read(read_mesh_arrays if kind.kind == "mesh" else read_point_arrays, path, subject)
        return kind(**arrays, **values, source=str(table["file"]))

    def motion(self, name: Any, subject: str) -> Motion:
        """The motion in the .npz file `name`. Raises SceneError if it is missing, damaged or not a motion."""
        return self._read(read_motion, self.path(name, subject), subject)

    def animation(self, name: Any, subject: str) -> Animation:
        """The animation in the .npz file `name`. Raises SceneError if it is missing, damaged or not an animation."""
        return self._read(read_animation, self.path(name, subject), subject)

    def painting(self, name: Any, subject: str) -> Painting:
        """The painted attributes in the .npz file `name`. Raises SceneError if it is missing or damaged."""
        return self._read(read_painting, self.path(name, subject), subject)

    def path(self, name: Any, subject: str) -> Path:
        """The file that a relative path names.

        Raises:
            SceneError: it does not exist, or the path leaves the scene's folder.
        """
        if not isinstance(name, str) or not name or "\0" in name:
            raise SceneError(f"file {name!r} is not allowed", "use a relative path as text", subject=subject)
        # checked as text first, because on Windows even resolving a share or a device accesses it
        if not is_relative(name):
            raise self._outside(name, subject)
        try:
            folder = self.folder.resolve()
            path = (folder / name).resolve()
            if not path.is_relative_to(folder):
                raise self._outside(name, subject)
            if not path.is_file():
                raise SceneError(f'file "{name}" does not exist in {folder}', "check the path", subject=subject)
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links raises RuntimeError
            raise SceneError(
                f'file "{name}" cannot be found ({getattr(error, "strerror", None) or error})', "check the path", subject=subject
            ) from error
        return path

    def _outside(self, name: str, subject: str) -> SceneError:
        return SceneError(
            f'file "{name}" is outside the scene\'s folder', f"copy it into {self.folder} and refer to it there", subject=subject
        )

    def _read(self, read: Callable[[Path], Any], path: Path, subject: str) -> Any:
        try:
            return read(path)
        except ArrayFileError as error:
            raise SceneError(f'file "{path.name}" {error.problem}', *error.remedies, subject=subject) from error
        except OSError as error:
            raise SceneError(f'file "{path.name}" cannot be read ({error.strerror})', "check its permissions", subject=subject) from error


class PackageWriter:
    """Makes the tables of a scene file; `store` stores arrays and returns the name of their file."""

    def __init__(self, store: Callable[[str, Arrays], str]) -> None:
        self._store = store

    def shape(self, shape: Shape, owner: str) -> dict[str, Any]:
        """The table of a shape."""
        table: dict[str, Any] = {"kind": shape.kind, **table_of(shape)}
        if shape.kind in _ARRAYS:
            arrays = {name: getattr(shape, name) for name in _ARRAYS[shape.kind]}
            given = {name: np.asarray(array) for name, array in arrays.items() if array is not None}
            table["file"] = self._store(f"{owner}_{shape.kind}", given)
        return table

    def motion(self, motion: Motion, owner: str) -> str:
        """The file name of a motion."""
        arrays = {"frame": motion.frames, "matrix": motion.matrices, "vertices": motion.vertices}
        given = {name: np.asarray(array) for name, array in arrays.items() if array is not None}
        return self._store(f"{owner}_motion", given)

    def animation(self, animation: Animation, owner: str) -> str:
        """The file name of an animation."""
        return self._store(f"{owner}_animation", {"frame": animation.frames, **animation.values})

    def painting(self, painting: Painting, owner: str) -> str:
        """The file name of painted attributes."""
        return self._store(f"{owner}_painting", dict(painting.values))


def read_mesh_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a mesh file. Raises ArrayFileError."""
    vertices, triangles = read_mesh(path)
    return {"vertices": vertices, "triangles": triangles}


def read_point_arrays(path: Path) -> dict[str, NDArray[Any] | None]:
    """The arrays of a file of points: position (n, 3), and velocity (n, 3) and volume (n,) if present. Raises ArrayFileError."""
    arrays = read_points(path)
    position = _floats(arrays, "position", (-1, 3))
    count = len(position)
    return {
        "position": position,
        "velocity": _floats(arrays, "velocity", (count, 3)) if "velocity" in arrays else None,
        "volume": _floats(arrays, "volume", (count,)) if "volume" in arrays else None,
    }


def read_motion(path: Path) -> Motion:
    """The motion in a file: frame (k,), and matrix (k, 4, 4) or vertices (k, n, 3). Raises ArrayFileError."""
    arrays = _known_arrays(path, {"frame": True, "matrix": False, "vertices": False})
    frames = _frames(arrays)
    if ("matrix" in arrays) == ("vertices" in arrays):
        raise ArrayFileError('needs either "matrix" (k, 4, 4) or "vertices" (k, n, 3)', "use one of them")
    if "vertices" in arrays:
        return Motion(frames, vertices=_floats(arrays, "vertices", (len(frames), -1, 3)))
    matrices = _floats(arrays, "matrix", (len(frames), 4, 4))
    if not np.allclose(matrices[:, 3], (0.0, 0.0, 0.0, 1.0)) or np.any(np.linalg.det(matrices[:, :3, :3]) == 0.0):
        raise ArrayFileError("has a matrix that is not a transform", "use a last row of 0 0 0 1 and a determinant other than zero")
    return Motion(frames, matrices=matrices)


def read_animation(path: Path) -> Animation:
    """The animation in a file: frame (k,), and for each parameter an array (k,) or (k, components). Raises ArrayFileError."""
    arrays = _arrays_of_numbers(path)
    if "frame" not in arrays or len(arrays) < 2:
        raise ArrayFileError('needs "frame" (k,) and an array with the values of at least one parameter, under its name')
    frames = _frames(arrays)
    values = {}
    for name, array in arrays.items():
        if name != "frame":
            values[name] = _floats(arrays, name, (len(frames), -1) if array.ndim == 2 else (len(frames),), NUMBERS_AND_FLAGS)
    return Animation(frames, values)


def read_painting(path: Path) -> Painting:
    """The painted attributes in a file, each an array under its name; see `Painting`. Raises ArrayFileError."""
    arrays = _arrays_of_numbers(path)
    return Painting({name: _floats(arrays, name, (-1,) * array.ndim, NUMBERS_AND_FLAGS) for name, array in arrays.items()})


def _frames(arrays: Table) -> NDArray[np.float64]:
    frames = _floats(arrays, "frame", (-1,))
    if not len(frames) or np.any(np.diff(frames) <= 0):
        raise ArrayFileError("has frames that do not ascend", "use each frame once, in order")
    return frames


def _arrays_of_numbers(path: Path) -> Arrays:
    if path.suffix.lower() != ".npz":
        raise ArrayFileError("is not an .npz file", "write the arrays with numpy.savez")
    return read_arrays(path)


def _known_arrays(path: Path, known: dict[str, bool]) -> Arrays:
    arrays = _arrays_of_numbers(path)
    for name in arrays:
        if name not in known:
            raise ArrayFileError(f'has an unknown array "{name}"', f"use {', '.join(known)}")
    for name, is_required in known.items():
        if is_required and name not in arrays:
            raise ArrayFileError(f'has no array "{name}"', "add it")
    return arrays


def _floats(arrays: Table, name: str, shape: tuple[int, ...], kinds: str = "fiu") -> NDArray[np.float64]:
    array = arrays[name]
    is_fitting = array.ndim == len(shape) and all(wanted in (-1, extent) for wanted, extent in zip(shape, array.shape, strict=True))
    if not is_fitting or array.dtype.kind not in kinds:
        words = ", ".join("any" if extent < 0 else str(extent) for extent in shape)
        found = f"{array.shape} and type {array.dtype}"
        raise ArrayFileError(f"has {name} of shape {found}", f"use numbers of shape ({words})")
    if not np.isfinite(array).all():
        raise ArrayFileError(f"has a value in {name} that is not a finite number", "remove it")
    if array.size and max(abs(array.max()), abs(array.min())) > LARGEST:
        raise ArrayFileError(f"has a value in {name} beyond {LARGEST:g}", "use smaller numbers")
    return array.astype(np.float64)
