"""Bodies and pieces: which particles share a velocity field, and painted factors rounded to a few levels.

A *piece* is the particles of one or more emitters that share a velocity field (see `piece_of`); different pieces touch each other by
contact. Within a piece, each material and each combination of factors is a separate body.

The emitters of a material share the levels of a factor, between the least and the greatest painted value: in geometric steps, or in
linear ones if 0 is painted. A material has at most 64 painted bodies.
"""

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .description import Scene
from .painting import FACTOR_NAMES

Floats = NDArray[np.float64]

MOST_BODIES = 64
# levels per factor, by the number of factors painted on an emitter
MOST_LEVELS = {1: 16, 2: 8, 3: 4, 4: 2}


class Factors(NamedTuple):
    """The factors of an emitter and its painting on a material's parameters, in the order of `FACTOR_NAMES`."""

    density: float = 1.0
    stiffness: float = 1.0
    friction: float = 1.0
    strength: float = 1.0


def painted_factors(scene: Scene, index: int) -> dict[str, Floats]:
    """The painted values of an emitter's factors, in the order of `FACTOR_NAMES`."""
    painting = scene.emitters[index].painting
    return {} if painting is None else {name: painting.values[name] for name in FACTOR_NAMES if name in painting.values}


def levels_of(scene: Scene, material: str) -> dict[str, Floats]:
    """The levels of each painted factor of a material, ascending: name -> (levels,)."""
    painted = [painted_factors(scene, index) for index, emitter in enumerate(scene.emitters) if emitter.material == material]
    ranges: dict[str, tuple[float, float]] = {}
    for name in FACTOR_NAMES:
        values = [each[name] for each in painted if name in each]
        if values:
            ranges[name] = min(float(each.min()) for each in values), max(float(each.max()) for each in values)
    if not ranges:
        return {}
    count = MOST_LEVELS[max(len(each) for each in painted)]
    levels = {name: _steps(low, high, count) for name, (low, high) in ranges.items()}
    while count > 1 and len(_painted_bodies(scene, material, levels)) > MOST_BODIES:
        count -= 1
        levels = {name: _steps(low, high, count) for name, (low, high) in ranges.items()}
    return levels


def combinations_of(scene: Scene, index: int, levels: Mapping[str, Floats]) -> list[Factors]:
    """All combinations of factors that an emitter's particles may have: its own factors times the painted ones."""
    emitter = scene.emitters[index]
    own = Factors(density=emitter.mass_scale, stiffness=emitter.stiffness_scale)
    choices = [levels[name] if name in painted_factors(scene, index) else [1.0] for name in FACTOR_NAMES]
    return [Factors(*(a * float(b) for a, b in zip(own, chosen, strict=True))) for chosen in itertools.product(*choices)]


def rounded(levels: Floats, values: Floats) -> NDArray[np.int64]:
    """The numbers of the levels nearest to values (n,); nearest by ratio if the steps are geometric."""
    middles = np.sqrt(levels[1:] * levels[:-1]) if levels[0] > 0.0 else 0.5 * (levels[1:] + levels[:-1])
    return np.searchsorted(middles, values)


def _painted_bodies(scene: Scene, material: str, levels: Mapping[str, Floats]) -> set[Factors]:
    painted = (n for n, emitter in enumerate(scene.emitters) if emitter.material == material and painted_factors(scene, n))
    return {factors for index in painted for factors in combinations_of(scene, index, levels)}


def _steps(low: float, high: float, count: int) -> Floats:
    if low == high:
        return np.array([low])
    if count == 1:
        return np.array([(low * high) ** 0.5 if low > 0.0 else 0.5 * (low + high)])
    return np.geomspace(low, high, count) if low > 0.0 else np.linspace(low, high, count)


def piece_of(scene: Scene, index: int) -> str | int:
    """The piece of an emitter's particles: the `body` that it names, else "" if its material mixes, else the emitter's number."""
    emitter = scene.emitters[index]
    return emitter.body or ("" if scene.materials[emitter.material].law.mixes else index)
