"""Bodies: the particles that share one law with one set of constants. A material is one body, or more where emitters scale it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.vector import LANE_COUNT
from ..laws import FluidLaw, Law
from ..scene.description import Scene
from ..scene.levels import Factors, combinations_of, levels_of
from ..transfer.advance import advance_material
from ..transfer.rows import MASS, STATE


@dataclass(frozen=True)
class Body:
    """What the kernels need to know of a material's particles.

    Attributes:
        name: the material's name, for messages.
        law: with all factors but that on the stiffness in its parameters.
        constants: for the kernels.
        material_index: number of the material in the scene.
        factors: what emitters and painting multiply the material's parameters by.
        dimension: 3, or 2 for plane strain.
    """

    name: str
    law: Law
    constants: NamedTuple
    material_index: int
    factors: Factors
    dimension: int

    @property
    def stiffness_scale(self) -> float:
        """The factor on the stiffness."""
        return self.factors.stiffness

    @property
    def is_fluid(self) -> bool:
        return isinstance(self.law, FluidLaw)

    def prepare(self, table: NDArray[Any]) -> tuple[float, float]:
        """Fill in the virgin state and the first stress of new particles.

        Args:
            table: (rows, n) of this body alone; state and stress are changed.

        Returns:
            The greatest wave speed [m/s] and the greatest velocity gradient [1/s].
        """
        for row, value in enumerate(self.law.virgin_state):
            table[STATE + row] = value
        return self.renew(table)

    def renew(self, table: NDArray[Any]) -> tuple[float, float]:
        """Give particles the stress of this body's law at their deformation; arguments and result as of `prepare`."""
        count = table.shape[1]
        filled = np.minimum(np.arange(-(-count // LANE_COUNT) * LANE_COUNT), count - 1)
        padded = np.ascontiguousarray(table[:, filled])
        extremes = np.zeros(3)
        advance_material(self.constants, self.dimension, padded, 0.0, np.zeros_like(padded[MASS]), extremes)
        table[:] = padded[:, :count]
        return float(extremes[0]), float(extremes[1])


def bodies_of(scene: Scene) -> list[Body]:
    """One body for each material with each set of factors that emitters, and what is painted on them, give it."""
    levels = {name: levels_of(scene, name) for name in {emitter.material for emitter in scene.emitters}}
    # a dictionary keeps the order, a set would not
    groups = {
        (emitter.material, factors): None
        for index, emitter in enumerate(scene.emitters)
        for factors in combinations_of(scene, index, levels[emitter.material])
    }
    names, dimension = list(scene.materials), scene.solver.dimension
    bodies = []
    for name, factors in groups:
        law = scene.materials[name].law
        law = replace(law.scaled(factors.friction, factors.strength), density=law.density * factors.density)
        bodies.append(Body(name, law, law.constants(factors.stiffness, dimension), names.index(name), factors, dimension))
    return bodies


def body_numbers(bodies: list[Body], material_index: int, combinations: Sequence[Factors]) -> NDArray[np.int64]:
    """The number of the body of a material with each of several sets of factors, shape (len(combinations),)."""
    numbers = {(body.material_index, body.factors): number for number, body in enumerate(bodies)}
    return np.array([numbers[material_index, factors] for factors in combinations], np.int64)
