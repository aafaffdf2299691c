"""Encoding the arrays of a frame as bytes: exactly, or rounded without a visible difference.

All encodings store one component after another, and bytes of equal significance together, which compresses well. An array that
cannot be rounded, because a value is not finite or the range is too wide, is stored exactly.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import ArrayFileError

# Steps of a rounded position in a cell: half a step is 0.6e-4 of a cell.
STEPS_PER_CELL = 8192
# Steps between 0 and 1 of a rounded component of a rotation.
_ROTATION_STEPS = 1023
_LARGEST_HALF = 32768.0
_PIECE = 1 << 17
# The bits of a half-precision number, shifted into those of single precision, represent a value smaller by this power of two.
_HALF_SHIFT = 112
_SIGN_AND_HALF = np.int32(-0x70002000)

# Limit on the components of an array; attributes have at most four.
_MOST_COMPONENTS = 16

# Numbers and Booleans, little-endian.
_DTYPE = re.compile(r"<[iu][248]|<f[248]|\|[iub]1")

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}

Table = Mapping[str, Any]
# A function that returns the content of a section, given its number of bytes.
Read = Callable[[int], bytes]


class Encoded(NamedTuple):
    """An array as bytes, and the table that describes how to decode them."""

    table: dict[str, Any]
    data: bytes | memoryview


def exact(array: NDArray[Any]) -> Encoded:
    """Every bit of an array (n,) or (n, components)."""
    columns = _columns(array)
    count, components = columns.shape
    data = columns.T.copy().view(np.uint8).reshape(components, count, array.dtype.itemsize).transpose(0, 2, 1).tobytes()
    return Encoded({"encoding": "exact", "dtype": array.dtype.str, "shape": list(array.shape)}, data)


def raw(array: NDArray[Any]) -> Encoded:
    """Every bit of an array of any number of dimensions, in memory order: fast to write and read."""
    # no copy, because checkpoints are large
    data = np.asarray(array, order="C").reshape(-1).view(np.uint8).data
    return Encoded({"encoding": "raw", "dtype": array.dtype.str, "shape": list(array.shape)}, data)


def fixed(array: NDArray[Any], step: float) -> Encoded:
    """A float32 array rounded to multiples of `step`: 16 low bits, and 8 or 16 high bits depending on its range."""
    columns = _columns(array)
    if not np.isfinite(columns).all():
        return exact(array)
    # beyond 2^40 steps, float32 numbers are coarser than a step
    if np.abs(columns).max(initial=0.0) > 2.0**40 * step:
        return exact(array)
    whole = [np.rint(column * (1.0 / step)).astype(np.int64) for column in columns.T.astype(np.float64)]
    origin = [int(column.min(initial=1 << 62)) if len(column) else 0 for column in whole]
    steps = [column - first for column, first in zip(whole, origin, strict=True)]
    widest = max(int(column.max(initial=0)) for column in steps)
    if widest >= 1 << 32:
        return exact(array)
    high = np.uint8 if widest < 1 << 24 else np.uint16
    low_bits = b"".join(column.astype(np.uint16).tobytes() for column in steps)
    high_bits = b"".join(exact((column >> 16).astype(high)).data for column in steps)
    return Encoded({"encoding": "fixed", "shape": list(array.shape), "step": step, "origin": origin}, low_bits + high_bits)


def half(array: NDArray[Any]) -> Encoded:
    """A float32 array as half-precision numbers, scaled by a power of two that keeps the largest one in range."""
    largest = float(np.abs(array).max(initial=0.0))
    if not math.isfinite(largest):
        return exact(array)
    exponent = min(max(math.floor(math.log2(_LARGEST_HALF / largest)) if largest > 1e-30 else 0, -126), 126)
    bits = (_columns(array) * np.float32(2.0**exponent)).astype(np.float16).view(np.uint16)
    return Encoded({"encoding": "half", "shape": list(array.shape), "exponent": exponent}, exact(bits).data)


def rotation(array: NDArray[Any]) -> Encoded:
    """Unit quaternions (n, 4), w first, as modified Rodrigues parameters (x, y, z)/(1 + abs(w)), each at most 1."""
    if not np.isfinite(array).all():
        return exact(array)
    w, *axis = array.T.astype(np.float64)
    length = np.sqrt(sum((column**2 for column in axis), w**2))
    if (length < 0.5).any():
        return exact(array)
    scale = np.copysign(_ROTATION_STEPS, w) / (length + np.abs(w))
    steps = [np.rint(column * scale + _ROTATION_STEPS).astype(np.uint16) for column in axis]
    return Encoded({"encoding": "rotation", "shape": list(array.shape)}, b"".join(exact(column).data for column in steps))


def ids(array: NDArray[np.int32]) -> Encoded:
    """Ascending numbers, as the gaps between them."""
    gaps = np.diff(array.astype(np.int64), prepend=-1) - 1
    if (gaps < 0).any():
        return exact(array)
    return Encoded({"encoding": "ids", "shape": list(array.shape)}, exact(gaps.astype(np.uint32)).data if gaps.any() else b"")


def decode(table: Table, length: int, read: Read) -> NDArray[Any]:
    """The array that was encoded.

    Args:
        table: its table.
        length: the number of encoded bytes.
        read: returns the bytes.

    Raises:
        ArrayFileError: table and bytes do not match.
        KeyError, TypeError, ValueError, OverflowError: the table is malformed.
    """
    shape = tuple(int(extent) for extent in table["shape"])
    is_flat = table["encoding"] == "raw" or 1 <= len(shape) <= 2
    if not is_flat or min(shape, default=0) < 0 or (table["encoding"] != "raw" and shape[1:] > (_MOST_COMPONENTS,)):
        raise ArrayFileError(f"has an array of shape {shape}")
    make = _DECODERS[table["encoding"]]
    return make(table, shape, length, read)


def _decode_exact(table: Table, shape: tuple[int, ...], length: int, read: Read) -> NDArray[Any]:
    dtype = _dtype(table)
    _check(length, math.prod(shape) * dtype.itemsize)
    return _joined(read(length), shape, dtype.itemsize).view(dtype)


def _decode_raw(table: Table, shape: tuple[int, ...], length: int, read: Read) -> NDArray[Any]:
    dtype = _dtype(table)
    _check(length, math.prod(shape) * dtype.itemsize)
    return np.frombuffer(bytearray(read(length)), dtype).reshape(shape)


def _dtype(table: Table) -> np.dtype[Any]:
    name = str(table["dtype"])
    if not _DTYPE.fullmatch(name):
        raise ArrayFileError(f"has an array of type {name}")
    return np.dtype(name)


def _decode_fixed(table: Table, shape: tuple[int, ...], length: int, read: Read) -> NDArray[Any]:
    count, components = _extents(shape)
    high_bytes = 2 if length == 4 * count * components else 1
    _check(length, (2 + high_bytes) * count * components)
    data, step = read(length), float(table["step"])
    low = np.frombuffer(data, np.uint16, count * components).reshape(components, count)
    origin = [int(number) for number in table["origin"]]
    if len(origin) != components:
        raise ArrayFileError("has positions without an origin")
    array = np.empty((count, components), np.float32)
    high = _planes(memoryview(data)[low.nbytes :], count, components, high_bytes)
    for piece in _pieces(count):
        for axis, first in enumerate(origin):
            steps = _numbers(high[axis, :, piece]).astype(np.float64)
            steps *= 65536.0
            steps += low[axis, piece]
            steps += first
            steps *= step
            array[piece, axis] = steps
    return array.reshape(shape)


def _decode_half(table: Table, shape: tuple[int, ...], length: int, read: Read) -> NDArray[Any]:
    count, components = _extents(shape)
    _check(length, 2 * count * components)
    exponent = _HALF_SHIFT - int(table["exponent"])
    # two factors, because a single one may be too large for single precision
    factor, rest = np.float32(2.0 ** min(exponent, 127)), np.float32(2.0 ** max(exponent - 127, 0))
    array = np.empty((count, components), np.float32)
    planes = _planes(read(length), count, components, 2)
    for piece in _pieces(count):
        for component in range(components):
            low, high = planes[component, :, piece]
            bits = high.view(np.int8).astype(np.int32)
            bits <<= 8
            bits |= low
            bits <<= 13
            bits &= _SIGN_AND_HALF
            values = bits.view(np.float32)
            values *= factor
            array[piece, component] = values if rest == 1.0 else values * rest
    return array.reshape(shape)


def _decode_rotation(_table: Table, shape: tuple[int, ...], length: int, read: Read) -> NDArray[Any]:
    if len(shape) != 2 or shape[1] != 4:
        raise ArrayFileError(f"has rotations of shape {shape}")
    _check(length, 6 * shape[0])
    array = np.empty(shape, np.float32)
    planes = _planes(read(length), shape[0], 3, 2)
    for piece in _pieces(shape[0]):
        axis = [_numbers(planes[component, :, piece]) * np.float32(1.0 / _ROTATION_STEPS) - np.float32(1.0) for component in range(3)]
        inverse = np.float32(2.0) / (np.float32(1.0) + axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
        np.subtract(inverse, np.float32(1.0), out=array[piece, 0])
        for component, column in enumerate(axis, start=1):
            np.multiply(column, inverse, out=array[piece, component])
    return array


def _decode_ids(_table: Table, shape: tuple[int, ...], length: int, read: Read) -> NDArray[Any]:
    if len(shape) != 1:
        raise ArrayFileError(f"has ids of shape {shape}")
    if length == 0:
        read(0)
        return np.arange(shape[0], dtype=np.int32)
    _check(length, 4 * shape[0])
    gaps = _joined(read(length), shape, 4)
    ends = np.cumsum(gaps, dtype=np.int64) + np.arange(shape[0])
    if len(ends) and ends[-1] > np.iinfo(np.int32).max:
        raise ArrayFileError("has an id that is too large")
    return ends.astype(np.int32)


_DECODERS: dict[str, Callable[[Table, tuple[int, ...], int, Read], NDArray[Any]]] = {
    "exact": _decode_exact,
    "raw": _decode_raw,
    "fixed": _decode_fixed,
    "half": _decode_half,
    "rotation": _decode_rotation,
    "ids": _decode_ids,
}


def _columns(array: NDArray[Any]) -> NDArray[Any]:
    return array.reshape(len(array), -1) if array.size else array.reshape(_extents(array.shape))


def _extents(shape: tuple[int, ...]) -> tuple[int, int]:
    return shape[0], shape[1] if len(shape) > 1 else 1


def _check(length: int, wanted: int) -> None:
    if length != wanted:
        raise ArrayFileError("has an array whose length does not match its shape")


def _joined(data: bytes, shape: tuple[int, ...], itemsize: int) -> NDArray[Any]:
    """Unsigned numbers (n,) or (n, components) from their bytes."""
    count, components = _extents(shape)
    joined = np.empty((count, components), _UNSIGNED[itemsize])
    planes = _planes(data, count, components, itemsize)
    for piece in _pieces(count):
        for component in range(components):
            joined[piece, component] = _numbers(planes[component, :, piece])
    return joined.reshape(shape)


def _planes(data: Any, count: int, components: int, itemsize: int) -> NDArray[np.uint8]:
    """The bytes of unsigned numbers, shape (components, itemsize, count), least significant first."""
    return np.frombuffer(data, np.uint8).reshape(components, itemsize, count)


def _numbers(planes: NDArray[np.uint8]) -> NDArray[Any]:
    """The unsigned numbers (m,) whose bytes are `planes` (itemsize, m)."""
    numbers = planes[-1].astype(_UNSIGNED[len(planes)])
    for plane in planes[-2::-1]:
        numbers <<= 8
        numbers |= plane
    return numbers


def _pieces(count: int) -> Iterator[slice]:
    """Slices of an array that, with intermediate results, fit into a processor's cache."""
    return (slice(start, min(start + _PIECE, count)) for start in range(0, count, _PIECE))
