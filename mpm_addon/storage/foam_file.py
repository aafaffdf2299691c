"""Foam files: the particles of spray, foam and bubbles at one frame of a cache, by id. Needs numpy and zstandard only.

A file is also the state from which the next frame is made: what is stored is exactly what was computed, because that was rounded first.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.particles import Moment
from . import encoding
from .arrays import ArrayFileError
from .cache import Cache
from .container import Container, Written, read_container, write_container
from .derived import Origin, derived_at, origin_of
from .take import FOAM

POSITION, VELOCITY, ID, KIND, AGE, LIFE, SIZE = "position", "velocity", "id", "kind", "age", "life", "size"
# Attribute -> type and components.
ATTRIBUTES: Mapping[str, tuple[Any, tuple[int, ...]]] = {
    POSITION: (np.float32, (3,)),
    VELOCITY: (np.float32, (3,)),
    ID: (np.int32, ()),
    KIND: (np.int32, ()),
    AGE: (np.float32, ()),
    LIFE: (np.float32, ()),
    SIZE: (np.float32, ()),
}


class Foam(NamedTuple):
    """The particles of one frame.

    Attributes:
        origin: what they were made from.
        arrays: those of `ATTRIBUTES`: `position` [m] and `velocity` [m/s] (n, 3), ascending `id`, `kind` (0 spray, 1 foam, 2 bubble), `age`
            [s], `life`, the share of it that is left, and `size`, a diameter [m] (n,).
    """

    origin: Origin
    arrays: Mapping[str, NDArray[Any]]


def rounded(position: NDArray[np.float64], velocity: NDArray[np.float64], cell: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Positions and velocities as a file holds them, whatever else is in it.

    Args:
        position: [m], (n, 3).
        velocity: [m/s], (n, 3).
        cell: the grid spacing [m].
    """
    step = cell / encoding.STEPS_PER_CELL
    whole = (np.rint(position.astype(np.float32).astype(np.float64) * (1.0 / step)) * step).astype(np.float32)
    return whole, np.clip(velocity, -_FASTEST, _FASTEST).astype(np.float16).astype(np.float32)


# Half of the largest number in half precision.
_FASTEST = 32752.0


def write_foam(path: Path, foam: Foam, cell: float) -> Written:
    """Write foam, completely or not at all.

    Args:
        path: the file; its folder must exist.
        foam: the foam, with positions and velocities that are `rounded`.
        cell: the grid spacing [m].

    Raises:
        OSError: the file could not be written.
    """
    sections: list[Any] = []
    tables = {}
    for name in ATTRIBUTES:
        encoded = _encoded(name, foam.arrays[name], cell)
        tables[name] = {**encoded.table, "section": len(sections), "bytes": len(encoded.data)}
        sections.append(encoded.data)
    return write_container(path, FOAM, {**foam.origin.header(), "arrays": tables}, sections)


def _encoded(name: str, array: NDArray[Any], cell: float) -> encoding.Encoded:
    if name == POSITION:
        return encoding.fixed(array, cell / encoding.STEPS_PER_CELL)
    if name == ID:
        return encoding.ids(array)
    return encoding.exact(array) if name == KIND else encoding.half(array)


def read_foam(path: Path) -> Foam:
    """The foam in a file.

    Raises:
        ArrayFileError: it is truncated, damaged, or not foam.
        OSError: it cannot be read.
    """
    container = read_container(path, FOAM)
    try:
        tables = container.header["arrays"]
        arrays = {name: _decoded(container, name, tables[name]) for name in ATTRIBUTES}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        raise ArrayFileError(f"has an invalid header ({type(error).__name__}: {error})") from error
    if len({len(array) for array in arrays.values()}) != 1:
        raise ArrayFileError("has arrays of different lengths")
    return Foam(origin_of(container.header), arrays)


def _decoded(container: Container, name: str, table: Mapping[str, Any]) -> NDArray[Any]:
    array = encoding.decode(table, table["bytes"], lambda size: container.section(table["section"], size))
    dtype, shape = ATTRIBUTES[name]
    if array.dtype != dtype or array.shape[1:] != shape or not np.isfinite(array).all():
        raise ArrayFileError(f"has values of {name} of type {array.dtype} and shape {array.shape}, or infinite ones")
    if name == KIND and len(array) and not 0 <= array.min() <= array.max() <= 2:
        raise ArrayFileError("has particles of unknown kinds")
    if name == ID and (np.diff(array) <= 0).any():
        raise ArrayFileError("has ids that do not ascend")
    return array


def foam_at(cache: Cache, moment: Moment) -> Foam:
    """The foam of a frame, also if it is outdated. Raises CacheError or FileNotFoundError as `derived_at`."""
    return derived_at(cache, moment, FOAM, read_foam)
