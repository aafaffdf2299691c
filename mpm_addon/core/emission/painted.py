"""Painted values of an emitter at its particles."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..geometry.shapes.points import Points
from ..scene.description import Scene
from ..scene.levels import Factors, combinations_of, levels_of, painted_factors, rounded
from ..scene.painting import ACTING
from .emitter_shape import EmitterShape, prepared

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
    """The painted values at particles.

    Args:
        scene: the scene.
        index: number of the emitter.
        placed: its shape at the moment.
        points: world positions of its particles [m], shape (n, 3).
        chosen: for an emitter of points, the number of each particle's point, shape (n,).
    """
    painting = scene.emitters[index].painting
    if painting is None:
        return Painted(combinations_of(scene, index, {}), np.zeros(len(points), np.int64), np.ones(len(points)), {})
    if isinstance(placed.own, Points):
        values = {name: each.reshape(len(each), -1)[chosen] for name, each in painting.values.items()}
    else:
        nearest = placed.nearest(points)
        columns = {name: each[:, None] if each.ndim == 1 else each for name, each in painting.values.items()}
        values = {name: placed.on_surface(each, nearest) for name, each in columns.items()}
    levels = prepared(scene, index, "levels", lambda: levels_of(scene, scene.emitters[index].material))
    combination = np.zeros(len(points), np.int64)
    for name in painted_factors(scene, index):
        combination = combination * len(levels[name]) + rounded(levels[name], values[name][:, 0])
    pin_share = values["goal"][:, 0] if "goal" in values else np.ones(len(points))
    carried = {name: each.astype(np.float32) for name, each in values.items() if name not in ACTING}
    return Painted(combinations_of(scene, index, levels), combination, pin_share, carried)
