"""Pictures of particles: small shaded balls, drawn with a depth buffer in numpy. Knows nothing of files."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Direction to the light, in the picture's axes: right, up, toward the viewer.
_LIGHT = np.array((-0.45, 0.65, 0.61))
_AMBIENT = 0.35
# How much darker the farthest particles are.
_HAZE = 0.35
_ROOM = 0.06
# Pixels are supersampled by this factor; a ball has at least this radius in fine pixels.
_FINE = 2
_SMALLEST = 2.0


@dataclass(frozen=True)
class View:
    """A parallel projection.

    Attributes:
        axes: rows are right, up and toward the viewer, shape (3, 3).
        low, high: corners of the visible area along right and up [m].
        depth: nearest and farthest along the third axis [m].
    """

    axes: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    depth: tuple[float, float]


def view_of(clouds: list[NDArray[np.float32]], dimension: int, radius: float = 0.0) -> View:
    """A view that shows all clouds at one scale, except the outermost hundredth of each, which may be far away.

    Args:
        clouds: positions [m], shape (n, 3) each; at least one with a particle.
        dimension: 3, seen from the front and above, or 2, the x-z plane.
        radius: radius of the balls [m], added to the margin.
    """
    turn, tilt = (np.radians(25.0), np.radians(20.0)) if dimension == 3 else (0.0, 0.0)
    right = np.array((np.cos(turn), np.sin(turn), 0.0))
    ahead = np.array((-np.sin(turn) * np.cos(tilt), np.cos(turn) * np.cos(tilt), -np.sin(tilt)))
    axes = np.stack((right, np.cross(right, ahead), -ahead))
    ends = np.array([np.quantile(cloud @ axes.T, (0.005, 0.995), axis=0) for cloud in clouds if len(cloud)])
    low, high = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
    room = max(_ROOM * float((high - low).max()), 1e-3) + 2.0 * radius
    return View(axes, low[:2] - room, high[:2] + room, (float(high[2]) + room, float(low[2]) - room))


def draw_points(
    positions: NDArray[np.float32],
    colors: NDArray[np.float64],
    radius: float,
    view: View,
    size: tuple[int, int],
    background: tuple[int, int, int],
) -> NDArray[np.uint8]:
    """A picture, shape (height, width, 3).

    Args:
        positions: [m], shape (n, 3).
        colors: red, green and blue in 0 to 1, shape (n, 3).
        radius: radius of the balls [m].
        view: the view.
        size: width and height in pixels.
        background: the background color.
    """
    width, height = size[0] * _FINE, size[1] * _FINE
    seen = positions @ view.axes.T
    seen, colors = seen[np.argsort(seen[:, 2])], colors[np.argsort(seen[:, 2])]
    scale = float(min(np.array((width, height)) / (view.high - view.low)))
    middle = (view.low + view.high) / 2.0
    columns = np.rint((seen[:, 0] - middle[0]) * scale + width / 2.0).astype(np.int64)
    rows = np.rint(height / 2.0 - (seen[:, 1] - middle[1]) * scale).astype(np.int64)
    ball = max(_SMALLEST, radius * scale)
    nearest = np.full((height, width), -np.inf)
    picture = np.tile(np.array(background, dtype=np.float64) / 255.0, (height, width, 1))
    near, far = view.depth
    haze = 1.0 - _HAZE * np.clip((near - seen[:, 2]) / max(near - far, 1e-9), 0.0, 1.0)
    reach = int(ball)
    for down in range(-reach, reach + 1):
        for right in range(-reach, reach + 1):
            normal = np.array((right, -down, 0.0)) / ball
            squared = 1.0 - float(normal @ normal)
            if squared < 0.0:
                continue
            normal[2] = np.sqrt(squared)
            row, column = rows + down, columns + right
            depth = seen[:, 2] + normal[2] * ball / scale
            inside = np.flatnonzero((row >= 0) & (row < height) & (column >= 0) & (column < width))
            shown = inside[depth[inside] > nearest[row[inside], column[inside]]]
            # sorted from far to near, so the last value assigned to a pixel is the nearest
            nearest[row[shown], column[shown]] = depth[shown]
            light = _AMBIENT + (1.0 - _AMBIENT) * max(0.0, float(normal @ _LIGHT))
            picture[row[shown], column[shown]] = colors[shown] * (haze[shown] * light)[:, None]
    picture = picture.reshape(size[1], _FINE, size[0], _FINE, 3).mean(axis=(1, 3))
    return np.rint(picture * 255.0).clip(0, 255).astype(np.uint8)
