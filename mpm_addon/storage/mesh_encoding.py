"""Encoding the vertices and triangles of a mesh as bytes: small differences between neighbors in the file, which compress well.

Both are whole numbers, stored as planes of bytes of equal significance, like the arrays of `encoding`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import ArrayFileError
from .encoding import Encoded, Read, Table, exact

# Steps of a rounded position in a voxel: half a step is 0.5e-3 of a voxel.
STEPS_PER_VOXEL = 1024
_WIDEST = 4


def in_order_of_use(triangles: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the vertices of a mesh as triangles first use them; unused ones are left out.

    Args:
        triangles: shape (m, 3).

    Returns:
        The triangles with the new numbers (m, 3), and the old number of each new vertex (n,).
    """
    flat = triangles.reshape(-1).astype(np.int64)
    used, first, place = np.unique(flat, return_index=True, return_inverse=True)
    order = np.argsort(first)
    new = np.empty_like(order)
    new[order] = np.arange(len(order))
    return new[place.reshape(-1)].reshape(-1, 3), used[order]


class Edges(NamedTuple):
    """The edges of a mesh of triangles, which have no direction.

    Attributes:
        of_corners: the edge from each corner of triangles to the next, numbered as triangles first use them, int32 (m, 3).
        ends: the two vertices of each edge, int32 (k, 2).
    """

    of_corners: NDArray[np.int32]
    ends: NDArray[np.int32]


def edges_of(triangles: NDArray[np.integer]) -> NDArray[np.int64]:
    """The edge of each corner of triangles (m, 3), as in `Edges.of_corners`."""
    ends = np.sort(np.stack([triangles, _following(triangles)]).astype(np.int64), axis=0)
    return in_order_of_use((ends[0] << 32) | ends[1])[0]


def joined_edges(of_corners: NDArray[np.int32], triangles: NDArray[np.int32]) -> Edges:
    """The edges whose numbers were decoded for triangles (m, 3). Raises ArrayFileError if one joins different vertices."""
    if of_corners.shape != triangles.shape:
        raise ArrayFileError(f"has edges of {len(of_corners)} of {len(triangles)} triangles")
    following = _following(triangles)
    first = np.flatnonzero(np.diff(np.maximum.accumulate(of_corners.ravel()), prepend=-1))
    start, end = triangles.ravel()[first], following.ravel()[first]
    one, other = start.take(of_corners), end.take(of_corners)
    if not (((one == triangles) & (other == following)) | ((one == following) & (other == triangles))).all():
        raise ArrayFileError("has edges that do not join the vertices of their triangles")
    return Edges(of_corners, np.stack([start, end], axis=1))


def _following(triangles: NDArray[Any]) -> NDArray[Any]:
    """The vertex after each corner."""
    following = np.empty_like(triangles)
    following[:, :2], following[:, 2] = triangles[:, 1:], triangles[:, 0]
    return following


def steps(position: NDArray[np.float32], step: float) -> Encoded:
    """Positions (n, 3) rounded to multiples of `step`, as differences from one vertex to the next; exact if they are too far apart."""
    whole = np.rint(position.astype(np.float64) / step)
    if not np.isfinite(whole).all():
        return exact(position)
    low, high = whole.min(axis=0, initial=2.0**53), whole.max(axis=0, initial=-(2.0**53))
    if len(whole) and ((high - low).max() >= 2.0**31 or np.abs([low, high]).max() >= 2.0**53):
        return exact(position)
    origin = low.astype(np.int64)
    differences = np.diff(whole.astype(np.int64) - origin, axis=0, prepend=0)
    folded = ((differences << 1) ^ (differences >> 63)).astype(np.uint32)
    table = {"encoding": "steps", "shape": list(position.shape), "step": step, "origin": origin.tolist()}
    return Encoded(table, b"".join(_planes_of(column, _width(folded)) for column in folded.T))


def triangles(numbers: NDArray[np.integer]) -> Encoded:
    """Triangles (m, 3) of vertices or edges in order of use: the difference of each number from the first one not used before it."""
    flat = numbers.reshape(-1).astype(np.int64)
    following = np.maximum.accumulate(np.concatenate([[-1], flat]))[:-1] + 1
    behind = (following - flat).astype(np.uint32)
    return Encoded({"encoding": "triangles", "shape": [len(numbers), 3]}, _planes_of(behind, _width(behind)))


def decode_steps(table: Table, length: int, read: Read) -> NDArray[np.float32]:
    """Positions (n, 3). Raises ArrayFileError, KeyError, TypeError, ValueError or OverflowError if table and bytes do not match."""
    count = _count(table)
    width = _width_of(length, 3 * count)
    origin, step = [int(number) for number in table["origin"]], float(table["step"])
    if len(origin) != 3 or not 0.0 < step < np.inf:
        raise ArrayFileError("has vertices without an origin or a step")
    planes = np.frombuffer(read(length), np.uint8).reshape(3, width, count)
    position = np.empty((count, 3), np.float32)
    for axis in range(3):
        folded = _joined(planes[axis])
        # undo the folding: half of the number, complemented if the last bit is set
        differences = (folded >> 1).astype(np.int32) ^ -(folded & 1).astype(np.int32)
        with np.errstate(over="ignore"):
            position[:, axis] = (np.cumsum(differences, dtype=np.int64) + origin[axis]) * step
    if not np.isfinite(position).all():
        raise ArrayFileError("has vertices that are not finite")
    return position


def decode_triangles(table: Table, length: int, read: Read, vertices: int) -> NDArray[np.int32]:
    """Triangles (m, 3) of `vertices` vertices. Raises as `decode_steps`."""
    count = 3 * _count(table)
    width = _width_of(length, count)
    behind = _joined(np.frombuffer(read(length), np.uint8).reshape(width, count)).astype(np.int64)
    is_new = behind == 0
    following = np.cumsum(is_new)
    if count and following[-1] > vertices:
        raise ArrayFileError("has triangles with vertices that do not exist")
    numbers = following - is_new - behind
    if (numbers < 0).any():
        raise ArrayFileError("has triangles with vertices that do not exist")
    return numbers.astype(np.int32).reshape(-1, 3)


def _count(table: Table) -> int:
    count, components = (int(extent) for extent in table["shape"])
    if count < 0 or components != 3:
        raise ArrayFileError(f"has an array of shape {(count, components)}")
    return count


def _width(numbers: NDArray[np.uint32]) -> int:
    """The bytes that the largest number needs."""
    return max(1, (int(numbers.max(initial=0)).bit_length() + 7) // 8)


def _width_of(length: int, count: int) -> int:
    """The size of each of `count` numbers [bytes], from that of all."""
    width = length // max(count, 1)
    if (count and not 1 <= width <= _WIDEST) or width * count != length:
        raise ArrayFileError("has an array whose length does not match its shape")
    return width


def _planes_of(numbers: NDArray[np.uint32], width: int) -> bytes:
    """The `width` low bytes of numbers (n,), grouped by significance."""
    return np.ascontiguousarray(numbers, "<u4").view(np.uint8).reshape(-1, 4)[:, :width].T.tobytes()


def _joined(planes: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The numbers (n,) of planes (width, n)."""
    joined = np.zeros(planes.shape[1], np.uint32)
    for plane in planes[::-1]:
        joined <<= 8
        joined |= plane
    return joined
