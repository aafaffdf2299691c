"""Bodies: particles that share one law with one set of constants. A material is one body, or more if emitters scale it."""

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
from ..transfer.rows import row_count, state_rows


@dataclass(frozen=True)
class Body:
    """What the kernels need to know about a body's particles.

    Attributes:
        name: the material's name, for messages.
        law: the law, with all factors but the stiffness's in its parameters.
        constants: the law's constants for the kernels.
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
        """Set the virgin state and the initial stress of new particles.

        Args:
            table: particles of this body alone, (rows, n); their state and stress are changed.

        Returns:
            The greatest wave speed [m/s] and the greatest velocity gradient [1/s].
        """
        for row, value in zip(state_rows(len(self.law.virgin_state)), self.law.virgin_state, strict=True):
            table[row] = value
        return self.renew(table)

    def renew(self, table: NDArray[Any]) -> tuple[float, float]:
        """Recompute the stress of particles from their deformation; arguments and result as for `prepare`."""
        count = table.shape[1]
        filled = np.minimum(np.arange(-(-count // LANE_COUNT) * LANE_COUNT), count - 1)
        padded = np.ascontiguousarray(table[:, filled])
        extremes = np.zeros(3)
        advance_material(self.constants, self.dimension, padded, 0.0, np.zeros_like(padded[:2]), extremes)
        table[:] = padded[:, :count]
        return float(extremes[0]), float(extremes[1])


def bodies_of(scene: Scene) -> list[Body]:
    """One body for each material and each set of factors from emitters and their painting."""
    levels = {name: levels_of(scene, name) for name in {emitter.material for emitter in scene.emitters}}
    # a dictionary preserves the order, a set would not
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


def row_count_of(bodies: Sequence[Body]) -> int:
    """The rows of the table of these bodies' particles."""
    return row_count(max((len(body.law.state_names) for body in bodies), default=0), is_fluid=all(body.is_fluid for body in bodies))


def fields_of(bodies: Sequence[Body]) -> tuple[range, ...]:
    """Which bodies share a velocity at a node, in groups of consecutive numbers (see `transfer.fields`): all of them."""
    return (range(len(bodies)),)


def body_numbers(bodies: list[Body], material_index: int, combinations: Sequence[Factors]) -> NDArray[np.int64]:
    """The body numbers of a material for several sets of factors, shape (len(combinations),)."""
    numbers = {(body.material_index, body.factors): number for number, body in enumerate(bodies)}
    return np.array([numbers[material_index, factors] for factors in combinations], np.int64)
