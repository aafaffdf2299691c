"""Draws curves over frames into an array of pixels. Knows nothing of Blender.

Each curve has its own strip, one below another, from zero to its maximum; gaps stay empty.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.float32]
Color = tuple[float, float, float]

# Pixels: margin between strips, half the width of a line.
_MARGIN = 4
_HALF_WIDTH = 1.2
_BACKGROUND = (0.09, 0.09, 0.10)
_GRID = (0.16, 0.16, 0.17)
_FILL = 0.30


class Curve(NamedTuple):
    """Values over frames.

    Attributes:
        name: identifier.
        words: description with the range of values, in one line.
        color: red, green, blue, 0 to 1.
        values: one per frame; NaN if missing.
    """

    name: str
    words: str
    color: Color
    values: NDArray[np.float64]


def picture(curves: Sequence[Curve], width: int, height: int) -> Pixels:
    """Curves in strips, the first on top: (height, width, 4), bottom row first, as in Blender's images."""
    pixels = np.ones((height, width, 4), np.float32)
    pixels[..., :3] = _BACKGROUND
    each = height // max(1, len(curves))
    for number, curve in enumerate(curves):
        bottom = height - (number + 1) * each
        _draw(pixels[bottom + _MARGIN // 2 : bottom + each - _MARGIN // 2], curve)
    return pixels


def swatch(color: Color, size: int) -> Pixels:
    """A square of one color with rounded corners: (size, size, 4)."""
    offset = np.abs(np.arange(size) - 0.5 * (size - 1))
    reach = np.hypot(*np.meshgrid(*[np.maximum(offset - 0.25 * size, 0.0)] * 2))
    pixels = np.ones((size, size, 4), np.float32)
    pixels[..., :3] = color
    pixels[..., 3] = np.clip(0.25 * size - reach, 0.0, 1.0)
    return pixels


def _draw(strip: Pixels, curve: Curve) -> None:
    height, width, _ = strip.shape
    strip[..., :3] = _BACKGROUND
    for share in (0.5, 1.0):
        strip[round(share * (height - 1)), :, :3] = _GRID
    levels = _levels(curve.values, width, height - 1 - 2.0 * _HALF_WIDTH) + _HALF_WIDTH
    # the line spans each column from its own level halfway to its neighbors; missing values are infinitely far away
    beside = np.stack([levels, _halfway(levels, 1), _halfway(levels, -1)])
    low, high = _filled(beside, np.inf).min(axis=0), _filled(beside, -np.inf).max(axis=0)
    row = np.arange(height, dtype=np.float32)[:, None]
    cover = np.maximum(low.astype(np.float32) - row, row - high.astype(np.float32))
    np.subtract(_HALF_WIDTH + 0.5, cover, out=cover)
    np.clip(cover, 0.0, 1.0, out=cover)
    np.maximum(cover, np.where(row < levels.astype(np.float32), np.float32(_FILL), np.float32(0.0)), out=cover)
    for channel in range(3):
        strip[..., channel] += (np.float32(curve.color[channel]) - strip[..., channel]) * cover


def _levels(values: NDArray[np.float64], width: int, height: float) -> NDArray[np.float64]:
    """The maximum in each of `width` columns, as a height; NaN if missing."""
    finite = np.isfinite(values)
    if not finite.any():
        return np.full(width, np.nan)
    scale = height / max(float(values[finite].max()), 1e-300)
    count = len(values)
    if count > width:
        starts = np.arange(width) * count // width
        columns = np.fmax.reduceat(values, starts)
    else:
        place = np.linspace(0.0, count - 1.0, width)
        columns = np.interp(place, np.flatnonzero(finite), values[finite])
        columns[~finite[np.round(place).astype(int)]] = np.nan
    return np.maximum(columns, 0.0) * scale


def _halfway(levels: NDArray[np.float64], step: int) -> NDArray[np.float64]:
    """The midpoint between each level and the next or the previous one."""
    other = np.full_like(levels, np.nan)
    if step > 0:
        other[:-1] = levels[1:]
    else:
        other[1:] = levels[:-1]
    return 0.5 * (levels + other)


def _filled(values: NDArray[np.float64], value: float) -> NDArray[np.float64]:
    return np.where(np.isfinite(values), values, value)
