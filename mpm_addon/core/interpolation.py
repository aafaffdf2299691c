"""Particles between two known moments: positions on cubic Hermite splines, the rest linear or nearest. Plain numpy.

Which particles are returned is chosen independently of the two moments: a render with motion blur needs the same particles at
all of its moments, even if some are emitted or removed in between.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .particles import Frame

Arrays = Mapping[str, NDArray[Any]]
Places = NDArray[np.int64]


def between(first: Frame, second: Frame, time: float, *, like: Frame | None = None) -> dict[str, NDArray[Any]]:
    """The particles at a time between two moments.

    Positions lie on the cubic Hermite spline through both positions and velocities, which is exact for cubic motion in time;
    velocities are the spline's. Rotations take the shorter path between both quaternions (normalized linear interpolation),
    integers come from the nearer moment, and everything else is linear, as are positions where no velocity was cached. At a
    moment itself, its own values are returned.

    A particle that is missing at one of the moments is extrapolated from the other at constant velocity; one that is missing
    at both is extrapolated from `like`.

    Args:
        first, second: the moments, the earlier one first; the same one twice if there is only one.
        time: [s], as in `Frame.time`.
        like: the moment whose particles are returned; by default the nearer of the two.

    Returns:
        attribute name -> array, for the particles of `like`, in order of id.
    """
    seconds = second.time - first.time
    share = (time - first.time) / seconds if seconds > 0.0 else 0.0
    nearer = first if share <= 0.5 else second
    wanted = like or nearer
    # frames that were baked with different settings may have different attributes
    names = [name for name in wanted.arrays if name in first.arrays and name in second.arrays]
    start, end, own = ({name: source.arrays[name] for name in names} for source in (first, second, wanted))
    if seconds > 0.0 and np.array_equal(wanted.id, first.id) and np.array_equal(wanted.id, second.id):
        return _blended(start, end, share, seconds)
    places = {source.moment: _places(wanted.id, source.id) for source in (first, second)}
    at_first, at_second = places[first.moment], places[second.moment]
    result = {name: np.empty_like(values) for name, values in own.items()}
    both = (at_first >= 0) & (at_second >= 0) if seconds > 0.0 else np.zeros(len(wanted.id), np.bool_)
    _put(result, both, _blended(_taken(start, at_first[both]), _taken(end, at_second[both]), share, seconds))
    left = ~both
    known = [(first, start), (second, end)] if nearer is first else [(second, end), (first, start)]
    for source, arrays in known:
        there = places[source.moment]
        here = left & (there >= 0)
        _put(result, here, _drifted(_taken(arrays, there[here]), time - source.time))
        left &= ~here
    _put(result, left, _drifted(_taken(own, np.flatnonzero(left)), time - wanted.time))
    return result


def _places(wanted: NDArray[np.int32], known: NDArray[np.int32]) -> Places:
    """The index of each wanted id among the known ones, or -1; both ascend."""
    places = np.searchsorted(known, wanted)
    places[places == len(known)] = 0
    return np.where(known[places] == wanted, places, -1) if len(known) else np.full(len(wanted), -1, np.int64)


def _taken(arrays: Arrays, places: Places) -> dict[str, NDArray[Any]]:
    return {name: values[places] for name, values in arrays.items()}


def _put(result: dict[str, NDArray[Any]], rows: NDArray[np.bool_], arrays: Arrays) -> None:
    for name, values in arrays.items():
        result[name][rows] = values


def _drifted(arrays: Arrays, seconds: float) -> dict[str, NDArray[Any]]:
    """Copies of the arrays after a time [s], which may be negative, with every particle at constant velocity."""
    result = {name: np.array(values) for name, values in arrays.items()}
    if "velocity" in result:
        result["position"] += float(seconds) * result["velocity"]
    if "age" in result:
        result["age"] = np.maximum(result["age"] + np.float32(seconds), np.float32(0.0))
    return result


def _blended(first: Arrays, second: Arrays, share: float, seconds: float) -> dict[str, NDArray[Any]]:
    """The same particles, `share` of the way between two moments that are `seconds` [s] apart."""
    if share in (0.0, 1.0):
        return dict(second if share else first)
    result = {}
    for name, start in first.items():
        end = second[name]
        if start.dtype.kind == "f":
            result[name] = start + (end - start) * float(share)
        else:
            result[name] = start if share <= 0.5 else end
    if "velocity" in first:
        result["position"], result["velocity"] = _hermite(first, second, float(share), float(seconds))
    if "rotation" in first:
        result["rotation"] = _turned(first["rotation"], second["rotation"], float(share))
    return result


def _hermite(first: Arrays, second: Arrays, s: float, seconds: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Position [m] and velocity [m/s] on the cubic Hermite spline; s in (0, 1).

    x(s) = x0 + s^2 (3 - 2 s) (x1 - x0) + s (1 - s)^2 T v0 - s^2 (1 - s) T v1, and its derivative with respect to the time s T.
    """
    move = second["position"] - first["position"]
    start, end = first["velocity"], second["velocity"]
    position = move * (s * s * (3.0 - 2.0 * s)) + start * (seconds * s * (1.0 - s) ** 2) - end * (seconds * s * s * (1.0 - s))
    velocity = move * (6.0 * s * (1.0 - s) / seconds) + start * ((1.0 - s) * (1.0 - 3.0 * s)) - end * (s * (2.0 - 3.0 * s))
    return first["position"] + position, velocity


def _turned(first: NDArray[Any], second: NDArray[Any], share: float) -> NDArray[Any]:
    """Unit quaternions (n, 4) between two; q and -q are the same rotation."""
    sign = np.where(np.einsum("ij,ij->i", first, second) < 0.0, -1.0, 1.0).astype(first.dtype)
    mixed = first * (1.0 - share) + second * (sign[:, None] * share)
    length = np.sqrt(np.einsum("ij,ij->i", mixed, mixed))
    # at a half turn both paths are equally long, and the midpoint would be the zero quaternion
    return np.where(length[:, None] > 1e-6, mixed / np.maximum(length, 1e-6)[:, None], first)
