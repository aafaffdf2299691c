"""Births: attributes of particles that never change and are stored once: place and time of emission, emitter, material, painted values.

Particles are numbered in order of emission, so a file contains a range of ids, and there are no gaps between the files of a bake.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.particles import ATTRIBUTES, BIRTH
from ..core.scene.painting import is_attribute_name
from . import encoding
from .arrays import ArrayFileError
from .container import SUFFIX, Container, read_container, write_container

Arrays = Mapping[str, NDArray[Any]]

_KIND = "births"
_NAME = re.compile(r"(\d{10})_(\d{10})" + re.escape(SUFFIX))


def ranges(folder: Path) -> list[tuple[int, int]]:
    """The ranges of ids of the files in a folder, ascending: the first id, and one past the last."""
    found = [_NAME.fullmatch(path.name) for path in folder.iterdir()] if folder.is_dir() else []
    return sorted((int(match[1]), int(match[2])) for match in found if match)


def covered(folder: Path, first: int) -> int:
    """One past the last id up to which the files of a folder cover all ids from `first` on."""
    for start, end in ranges(folder):
        if start == first:
            first = end
    return first


def write_births(folder: Path, births: Arrays, first: int, pairs: NDArray[np.int32] | None = None) -> None:
    """Write the births of the ids from `first` on.

    Args:
        folder: the folder of the files.
        births: name -> array of all ids.
        first: the first id that is not stored yet.
        pairs: the ids that each bond joins, (m, 2), see `core.bonds`; None if no material tears.

    Raises:
        OSError: the file could not be written.
    """
    end = len(next(iter(births.values())))
    encoded = {name: encoding.exact(np.ascontiguousarray(array[first:])) for name, array in births.items()}
    tables = {name: {**table, "section": number, "bytes": len(data)} for number, (name, (table, data)) in enumerate(encoded.items())}
    header: dict[str, Any] = {"first": first, "end": end, "arrays": tables}
    sections = [data for _, data in encoded.values()]
    if pairs is not None:
        table, data = encoding.exact(np.ascontiguousarray(pairs[pairs[:, 0] >= first]))
        header["bonds"] = {**table, "section": len(sections), "bytes": len(data)}
        sections.append(data)
    write_container(folder / births_name(first, end), _KIND, header, sections)


def read_births(folder: Path, first: int, end: int) -> list[dict[str, NDArray[Any]]]:
    """The births of the ids from `first` up to but excluding `end`, or of fewer if there are no more, file by file.

    Raises:
        ArrayFileError: a file is damaged.
        OSError: a file cannot be read.
    """
    pieces = []
    for start, stop in ranges(folder):
        if start == first < end:
            piece = _read(folder / births_name(start, stop), stop - start)
            pieces.append({name: array[: end - start] for name, array in piece.items()})
            first = stop
    return pieces


def read_pairs(folder: Path, first: int, end: int) -> NDArray[np.int32]:
    """The ids that bonds join, (m, 2), of the ids from `first` up to but excluding `end`. Raises as `read_births`."""
    found = [np.zeros((0, 2), np.int32)]
    for start, stop in ranges(folder):
        if start == first < end:
            pairs = _read_pairs(folder / births_name(start, stop), start, stop)
            found.append(pairs[pairs[:, 1] < end])
            first = stop
    return np.concatenate(found)


def _read_pairs(path: Path, first: int, end: int) -> NDArray[np.int32]:
    with _naming(path):
        container = read_container(path, _KIND)
        table = container.header.get("bonds")
        if table is None:
            return np.zeros((0, 2), np.int32)
        pairs = _decoded(container, table)
        is_right = pairs.dtype == np.int32 and pairs.ndim == 2 and pairs.shape[1] == 2
        if not is_right or (len(pairs) and not first <= pairs.min() <= pairs.max() < end):
            raise ArrayFileError("has bonds of other particles")
        return pairs


def _decoded(container: Container, table: Mapping[str, Any]) -> NDArray[Any]:
    # in other encodings, a long array may take no bytes
    if table["encoding"] != "exact":
        raise ArrayFileError("has births with another encoding than exact")
    return encoding.decode(table, table["bytes"], lambda size: container.section(table["section"], size))


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in errors."""
    try:
        yield
    except ArrayFileError as error:
        raise ArrayFileError(error.problem, *error.remedies, file=path.name) from error
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ArrayFileError(f"has an invalid header ({error})", file=path.name) from error


def _read(path: Path, count: int) -> dict[str, NDArray[Any]]:
    with _naming(path):
        container = read_container(path, _KIND)
        arrays = {name: _decoded(container, table) for name, table in container.header["arrays"].items()}
        if not arrays or any(len(array) != count for array in arrays.values()):
            raise ArrayFileError(f"does not contain {count} births")
        for name, array in arrays.items():
            check_attribute(name, array)
        return arrays


def check_attribute(name: str, array: NDArray[Any]) -> None:
    """Check that an array has the type and the components of the attribute with its name. Raises ArrayFileError."""
    declared, shape = ATTRIBUTES.get(name), array.shape[1:]
    if name == BIRTH:
        is_right = array.dtype == np.float64 and not shape
    elif declared is not None:
        is_right = array.dtype == np.dtype(declared.dtype) and shape == ((declared.components,) if declared.components > 1 else ())
    else:
        is_right = is_attribute_name(name) and array.dtype == np.float32 and shape in ((), (1,), (2,), (3,), (4,))
    if not is_right:
        raise ArrayFileError(f"has an attribute {name!r} of type {array.dtype} and shape {array.shape}, which frames do not have")


def births_name(first: int, end: int) -> str:
    """The name of the file with a range of ids: the first, and one past the last."""
    return f"{first:010d}_{end:010d}{SUFFIX}"
