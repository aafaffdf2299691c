"""Painted factors and noise, rounded to a few levels.

Within a body, each material and each combination of factors is a separate material instance.

The emitters of a material share the levels of a factor, between the least and the greatest painted value: in geometric steps, or in
linear ones if 0 is painted. The noise of their randomness has levels as well, in linear steps. A material has at most 64 such
instances.
"""

import itertools
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..laws.factors import Factors
from .description import Scene
from .randomness import LARGEST_NOISE

Floats = NDArray[np.float64]

MOST_INSTANCES = 64
# levels per factor, by the number of factors painted on an emitter; noise counts as one more
MOST_LEVELS = {1: 16, 2: 8, 3: 4, 4: 2, 5: 2}
# the name of the noise among the levels
NOISE = "noise"
# with 16, a snowball breaks into the same pieces and takes 1.4 times as long
MOST_NOISE_LEVELS = 8


def painted_factors(scene: Scene, index: int) -> dict[str, Floats]:
    """The painted values of an emitter's factors, in the order of `Factors`."""
    painting = scene.emitters[index].painting
    return {} if painting is None else {name: painting.values[name] for name in Factors._fields if name in painting.values}


def levels_of(scene: Scene, material: str) -> dict[str, Floats]:
    """The levels of each painted factor of a material, and of its noise under `NOISE`, ascending."""
    of_material = [(index, emitter) for index, emitter in enumerate(scene.emitters) if emitter.material == material]
    painted = [painted_factors(scene, index) for index, _ in of_material]
    ranges: dict[str, tuple[float, float]] = {}
    for name in Factors._fields:
        values = [each[name] for each in painted if name in each]
        if values:
            ranges[name] = min(float(each.min()) for each in values), max(float(each.max()) for each in values)
    if any(emitter.randomness.amounts for _, emitter in of_material):
        ranges[NOISE] = -LARGEST_NOISE, LARGEST_NOISE
    if not ranges:
        return {}
    most = max(len(each) + bool(emitter.randomness.amounts) for each, (_, emitter) in zip(painted, of_material, strict=True))
    count = MOST_LEVELS[most]
    levels = _levels(ranges, count)
    while count > 1 and len(_varied_instances(scene, material, levels)) > MOST_INSTANCES:
        count -= 1
        levels = _levels(ranges, count)
    return levels


def combinations_of(scene: Scene, index: int, levels: Mapping[str, Floats]) -> list[Factors]:
    """All combinations of factors that an emitter's particles may have: its own factors times the painted ones times those of the noise.

    The levels of noise vary fastest, then those of the last painted factor.
    """
    emitter = scene.emitters[index]
    own = Factors(density=emitter.mass_scale, stiffness=emitter.stiffness_scale)
    painted, amounts = painted_factors(scene, index), emitter.randomness.amounts
    choices = [levels[name] if name in painted else [1.0] for name in Factors._fields]
    choices.append(levels[NOISE] if amounts else [0.0])
    combinations = []
    for *chosen, deviation in itertools.product(*choices):
        random = (math.exp(amounts[name] * deviation) if name in amounts else 1.0 for name in Factors._fields)
        combinations.append(Factors(*(a * float(b) * c for a, b, c in zip(own, chosen, random, strict=True))))
    return combinations


def rounded(levels: Floats, values: Floats) -> NDArray[np.int64]:
    """The numbers of the levels nearest to values (n,); nearest by ratio if the steps are geometric."""
    middles = np.sqrt(levels[1:] * levels[:-1]) if levels[0] > 0.0 else 0.5 * (levels[1:] + levels[:-1])
    return np.searchsorted(middles, values)


def _varied_instances(scene: Scene, material: str, levels: Mapping[str, Floats]) -> set[Factors]:
    varied = (
        index
        for index, emitter in enumerate(scene.emitters)
        if emitter.material == material and (painted_factors(scene, index) or emitter.randomness.amounts)
    )
    return {factors for index in varied for factors in combinations_of(scene, index, levels)}


def _levels(ranges: Mapping[str, tuple[float, float]], count: int) -> dict[str, Floats]:
    """At most `count` levels of each range."""
    counts = {name: min(count, MOST_NOISE_LEVELS) if name == NOISE else count for name in ranges}
    return {name: _steps(low, high, counts[name]) for name, (low, high) in ranges.items()}


def _steps(low: float, high: float, count: int) -> Floats:
    if low == high:
        return np.array([low])
    if count == 1:
        return np.array([(low * high) ** 0.5 if low > 0.0 else 0.5 * (low + high)])
    return np.geomspace(low, high, count) if low > 0.0 else np.linspace(low, high, count)
