"""Bodies: the particles of one piece that share one law with one set of constants. Scaled or painted pieces have several bodies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.vector import LANE_COUNT
from ..laws import FluidLaw, Law
from ..scene.description import Scene
from ..scene.levels import Factors, combinations_of, levels_of, piece_of
from ..transfer.advance import advance_material
from ..transfer.rows import row_count, state_rows


@dataclass(frozen=True)
class Body:
    """A body, with the constants that kernels need.

    Attributes:
        name: the material's name, for messages.
        law: the law, with all factors except that on the stiffness applied to its parameters.
        constants: the law's constants for the kernels.
        material_index: number of the material in the scene.
        factors: the factors on the material's parameters from the emitter and its painting.
        dimension: 3, or 2 for plane strain.
        piece: the piece that the body belongs to, see `levels.piece_of`; a piece has one velocity field.
    """

    name: str
    law: Law
    constants: NamedTuple
    material_index: int
    factors: Factors
    dimension: int
    piece: str | int = ""

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
    """One body for each piece, material and set of factors from emitters and their painting; the bodies of a piece are consecutive."""
    levels = {name: levels_of(scene, name) for name in {emitter.material for emitter in scene.emitters}}
    pieces = [piece_of(scene, index) for index in range(len(scene.emitters))]
    # a dictionary preserves the order, a set would not
    groups = {
        (piece, emitter.material, factors): None
        for piece in dict.fromkeys(pieces)
        for index, emitter in enumerate(scene.emitters)
        if pieces[index] == piece
        for factors in combinations_of(scene, index, levels[emitter.material])
    }
    names, dimension = list(scene.materials), scene.solver.dimension
    bodies = []
    for piece, name, factors in groups:
        law = scene.materials[name].law
        law = replace(law.scaled(factors.friction, factors.strength), density=law.density * factors.density)
        bodies.append(Body(name, law, law.constants(factors.stiffness, dimension), names.index(name), factors, dimension, piece))
    return bodies


def row_count_of(bodies: Sequence[Body]) -> int:
    """The number of rows in the table of these bodies' particles."""
    return row_count(max((len(body.law.state_names) for body in bodies), default=0), is_fluid=all(body.is_fluid for body in bodies))


def fields_of(bodies: Sequence[Body]) -> tuple[range, ...]:
    """The consecutive body numbers of each piece, whose bodies share a velocity field (see `transfer.fields`)."""
    pieces = [body.piece for body in bodies]
    starts = [number for number, piece in enumerate(pieces) if number == 0 or piece != pieces[number - 1]]
    return tuple(range(*ends) for ends in zip(starts, [*starts[1:], len(bodies)], strict=True))


def body_numbers(bodies: Sequence[Body], piece: str | int, material_index: int, combinations: Sequence[Factors]) -> NDArray[np.int64]:
    """The body numbers of a material in a piece for several sets of factors, shape (len(combinations),)."""
    numbers = {(body.piece, body.material_index, body.factors): number for number, body in enumerate(bodies)}
    return np.array([numbers[piece, material_index, factors] for factors in combinations], np.int64)


def renumbered(before: Sequence[Body], after: Sequence[Body]) -> NDArray[np.int64]:
    """The number among the bodies `after` of each body `before`, those of the scene that is continued, shape (len(before),)."""
    return np.array([body_numbers(after, body.piece, body.material_index, [body.factors])[0] for body in before], np.int64)
