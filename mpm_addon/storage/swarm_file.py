"""Swarm files: the particles of foam or debris at one frame of a cache, by id. Needs numpy and zstandard only.

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
from .take import DEBRIS, FOAM

POSITION, VELOCITY, ID, KIND, AGE, LIFE, SIZE = "position", "velocity", "id", "kind", "age", "life", "size"
EMITTER = "emitter_index"
# After compression: a measured mean.
BYTES_PER_PARTICLE = 19.0
Types = Mapping[str, tuple[Any, tuple[int, ...]]]
# Attribute -> type and components.
_TYPES: Types = {
    POSITION: (np.float32, (3,)),
    VELOCITY: (np.float32, (3,)),
    ID: (np.int32, ()),
    KIND: (np.int32, ()),
    AGE: (np.float32, ()),
    LIFE: (np.float32, ()),
    SIZE: (np.float32, ()),
}
_OF_KIND: Mapping[str, Types] = {FOAM: _TYPES, DEBRIS: {**_TYPES, EMITTER: (np.int32, ())}}
# Kinds of particles: spray, foam and bubbles; chips and dust.
_KIND_COUNTS: Mapping[str, int] = {FOAM: 3, DEBRIS: 2}


def types_of(kind: str) -> Types:
    """The attributes of a swarm: name -> type and components."""
    return _OF_KIND[kind]


class StoredSwarm(NamedTuple):
    """The particles of one frame.

    Attributes:
        origin: what they were made from.
        arrays: those of `types_of`: `position` [m] and `velocity` [m/s] (n, 3), ascending `id`, `kind` (foam: 0 spray, 1 foam, 2 bubble;
            debris: 0 chip, 1 dust), `age` [s], `life`, the share of it that is left, `size`, a diameter [m], and for debris
            `emitter_index`, the number of the emitter whose material made it, (n,).
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


def write_swarm(path: Path, kind: str, swarm: StoredSwarm, cell: float) -> Written:
    """Write a swarm, completely or not at all.

    Args:
        path: the file; its folder must exist.
        kind: what it is, one of `take.KINDS`.
        swarm: the swarm, with positions and velocities that are `rounded`.
        cell: the grid spacing [m].

    Raises:
        OSError: the file could not be written.
    """
    sections: list[Any] = []
    tables = {}
    for name in types_of(kind):
        encoded = _encoded(name, swarm.arrays[name], cell)
        tables[name] = {**encoded.table, "section": len(sections), "bytes": len(encoded.data)}
        sections.append(encoded.data)
    return write_container(path, kind, {**swarm.origin.header(), "arrays": tables}, sections)


def _encoded(name: str, array: NDArray[Any], cell: float) -> encoding.Encoded:
    if name == POSITION:
        return encoding.fixed(array, cell / encoding.STEPS_PER_CELL)
    if name == ID:
        return encoding.ids(array)
    return encoding.exact(array) if name in (KIND, EMITTER) else encoding.half(array)


def read_swarm(path: Path, kind: str) -> StoredSwarm:
    """The swarm in a file of a kind.

    Raises:
        ArrayFileError: it is truncated, damaged, or of another kind.
        OSError: it cannot be read.
    """
    container = read_container(path, kind)
    try:
        tables = container.header["arrays"]
        arrays = {name: _decoded(container, kind, name, tables[name]) for name in types_of(kind)}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        raise ArrayFileError(f"has an invalid header ({type(error).__name__}: {error})") from error
    if len({len(array) for array in arrays.values()}) != 1:
        raise ArrayFileError("has arrays of different lengths")
    return StoredSwarm(origin_of(container.header), arrays)


def _decoded(container: Container, kind: str, name: str, table: Mapping[str, Any]) -> NDArray[Any]:
    array = encoding.decode(table, table["bytes"], lambda size: container.section(table["section"], size))
    dtype, shape = types_of(kind)[name]
    if array.dtype != dtype or array.shape[1:] != shape or not np.isfinite(array).all():
        raise ArrayFileError(f"has values of {name} of type {array.dtype} and shape {array.shape}, or infinite ones")
    if name == KIND and len(array) and not 0 <= array.min() <= array.max() < _KIND_COUNTS[kind]:
        raise ArrayFileError("has particles of unknown kinds")
    if name == EMITTER and len(array) and array.min() < 0:
        raise ArrayFileError("has particles of no emitter")
    if name == ID and (np.diff(array) <= 0).any():
        raise ArrayFileError("has ids that do not ascend")
    return array


def swarm_at(cache: Cache, moment: Moment, kind: str) -> StoredSwarm:
    """The swarm of a frame, also if it is outdated. Raises CacheError or FileNotFoundError as `derived_at`."""
    return derived_at(cache, moment, kind, lambda path: read_swarm(path, kind))
