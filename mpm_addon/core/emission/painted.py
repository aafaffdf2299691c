"""Painted values and randomness of an emitter at its particles."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..geometry.shapes.points import Points
from ..laws.factors import Factors
from ..scene.animation import value_at
from ..scene.description import Scene
from ..scene.factors import NOISE, combinations_of, levels_of, painted_factors, rounded
from ..scene.painting import ACTING
from .emitter_shape import EmitterShape, prepared
from .inflow import seed_of
from .noise import noise
from .schedule import first_frame

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Painted:
    """The painted values of an emitter's particles.

    Attributes:
        combinations: the factors on the material's parameters that the emitter's particles may have.
        combination: which of them each particle has, shape (n,).
        pin_share: factor on the emitter's pin strength, 1 if it is not painted, shape (n,).
        carried: values that are only displayed: name -> float32 (n, components).
    """

    combinations: list[Factors]
    combination: NDArray[np.int64]
    pin_share: Floats
    carried: dict[str, NDArray[np.float32]]


def paint(scene: Scene, index: int, placed: EmitterShape, points: Floats, chosen: NDArray[np.int64]) -> Painted:
    """The painted values at particles, and the factors that randomness gives them.

    Args:
        scene: the scene.
        index: number of the emitter.
        placed: its shape at the moment.
        points: world positions of its particles [m], shape (n, 3).
        chosen: for an emitter of points, the number of each particle's point, shape (n,).
    """
    values = _painted_values(scene, index, placed, points, chosen)
    levels = prepared(scene, index, "levels", lambda: levels_of(scene, scene.emitters[index].material))
    combination = np.zeros(len(points), np.int64)
    for name in painted_factors(scene, index):
        combination = combination * len(levels[name]) + rounded(levels[name], values[name][:, 0])
    if scene.emitters[index].randomness.amounts:
        combination = combination * len(levels[NOISE]) + rounded(levels[NOISE], _noise_at(placed, points))
    pin_share = values["goal"][:, 0] if "goal" in values else np.ones(len(points))
    carried = {name: each.astype(np.float32) for name, each in values.items() if name not in ACTING}
    return Painted(combinations_of(scene, index, levels), combination, pin_share, carried)


def _painted_values(scene: Scene, index: int, placed: EmitterShape, points: Floats, chosen: NDArray[np.int64]) -> dict[str, Floats]:
    """The painted values at particles: name -> (n, components)."""
    painting = scene.emitters[index].painting
    if painting is None:
        return {}
    if isinstance(placed.own, Points):
        return {name: each.reshape(len(each), -1)[chosen] for name, each in painting.values.items()}
    nearest = placed.nearest(points)
    columns = {name: each[:, None] if each.ndim == 1 else each for name, each in painting.values.items()}
    return {name: placed.on_surface(each, nearest) for name, each in columns.items()}


def _noise_at(placed: EmitterShape, points: Floats) -> Floats:
    """The noise of an emitter's randomness at world points (n, 3), in meters of the emitter's own space.

    That space has its origin at the middle of the shape, so that neither moving nor animating an object changes how its material breaks;
    points, of which a preview takes only some, keep their own origin. An inflow carries the noise along with its velocity, and every
    emission of a repeated shape has noise of its own.
    """
    scene, emitter = placed.scene, placed.emitter
    frame = round(placed.frame) if emitter.mode == "repeat" else 0
    if emitter.mode == "inflow":
        points = points - _path(placed)
    middle = np.zeros(3) if isinstance(placed.own, Points) else placed.own.bounds().mean(axis=0)
    local = placed.scale * (placed.local(points) - middle)
    return noise(local, emitter.randomness.size, seed_of(scene, placed.index, frame, 3, emitter.randomness.seed))


def _path(placed: EmitterShape) -> Floats:
    """How far the velocity of an inflow has carried its first particles [m], by the trapezoidal rule on frames."""
    scene, emitter = placed.scene, placed.emitter
    start = min(float(first_frame(emitter, scene)), placed.frame)
    frames = np.append(np.arange(start, placed.frame), placed.frame)
    velocity = np.array([value_at(emitter, "velocity", frame) for frame in frames])
    middle = 0.5 * (velocity[1:] + velocity[:-1])
    return (np.diff(frames)[:, None] * middle).sum(axis=0) * scene.time.frame_seconds
