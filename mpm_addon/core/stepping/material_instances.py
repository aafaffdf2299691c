"""Material instances: the particles of a body that share one law and one set of constants. A scaled or painted body has several."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.vector import LANE_COUNT
from ..emission.references import rest_states
from ..forecast.stiffness import settled_fluid, settled_law
from ..laws import FluidLaw, HyperelasticLaw, Law
from ..laws.factors import Factors
from ..scene.bodies import body_of, field_count, melted_body_of
from ..scene.description import Scene
from ..scene.factors import MOST_INSTANCES, combinations_of, levels_of
from ..scene.thermal import law_at_temperature, levels_of_temperature
from ..transfer.advance import advance_material
from ..transfer.rows import row_count, state_rows


@dataclass(frozen=True)
class MaterialInstance:
    """A material instance, with the constants that kernels need.

    Attributes:
        name: the material's name, for messages.
        law: the law, with all factors except that on the stiffness applied to its parameters.
        constants: the law's constants for the kernels.
        material_index: number of the material in the scene.
        factors: the factors on the material's parameters from the emitter and its painting.
        dimension: 3, or 2 for plane strain.
        body: the body that it belongs to, see `bodies.body_of`.
        field: which of the velocity fields of that body; particles are emitted into the first.
        temperature: the temperature at which parameters with curves are evaluated [degrees C]; 0 without curves.
        has_melted: whether it is the fluid that the material melts into.
    """

    name: str
    law: Law
    constants: NamedTuple
    material_index: int
    factors: Factors
    dimension: int
    body: str | int = ""
    field: int = 0
    temperature: float = 0.0
    has_melted: bool = False

    @property
    def stiffness_scale(self) -> float:
        """The factor on the stiffness."""
        return 1.0 if self.has_melted else self.factors.stiffness

    @property
    def is_fluid(self) -> bool:
        return isinstance(self.law, FluidLaw)

    def prepare(self, table: NDArray[Any]) -> tuple[float, float]:
        """Set the virgin state and the initial stress of new particles.

        Args:
            table: particles of this instance alone, (rows, n); their state and stress are changed.

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


def instances_of(scene: Scene) -> list[MaterialInstance]:
    """One for each body, field of it, material and set of factors from emitters and their painting; those of a field are consecutive."""
    levels = {name: levels_of(scene, name) for name in {emitter.material for emitter in scene.emitters}}
    bodies = [body_of(scene, index) for index in range(len(scene.emitters))]
    melted = [
        melted_body_of(scene, index) if scene.materials[each.material].melts_into else None for index, each in enumerate(scene.emitters)
    ]
    # a dictionary preserves the order, a set would not
    groups = {
        (body, field, emitter.material, factors, has_melted): None
        for body in dict.fromkeys([*bodies, *(each for each in melted if each is not None)])
        for field in range(field_count(scene, body))
        for has_melted, theirs in ((False, bodies), (True, melted))
        for index, emitter in enumerate(scene.emitters)
        if theirs[index] == body and not (has_melted and field)
        for factors in combinations_of(scene, index, levels[emitter.material])
    }
    degrees = {name: temperature_levels(scene, name) for name in levels}
    names, dimension = list(scene.materials), scene.solver.dimension
    has_rest_state = dict(zip(bodies, rest_states(scene), strict=True))
    instances = []
    for body, field, name, factors, has_melted in groups:
        if has_melted:
            instances.append(_fluid_instance(scene, name, body, factors))
            continue
        settled, curves = settled_law(scene, name), scene.materials[name].curves
        for temperature in degrees[name] or (0.0,):
            law = law_at_temperature(settled, curves, temperature).scaled(factors)
            law = replace(law, density=settled.density * factors.density)
            if isinstance(law, HyperelasticLaw):
                law = replace(law, reference="rest" if has_rest_state[body] else "current")
            constants = law.constants(factors.stiffness, dimension)
            instances.append(MaterialInstance(name, law, constants, names.index(name), factors, dimension, body, field, temperature))
    return instances


def _fluid_instance(scene: Scene, name: str, body: str | int, factors: Factors) -> MaterialInstance:
    """The instance of what has melted. Of the factors on its material, only that on the density remains."""
    fluid = settled_fluid(scene, name)
    assert fluid is not None
    law, dimension = replace(fluid, density=fluid.density * factors.density), scene.solver.dimension
    index = list(scene.materials).index(name)
    return MaterialInstance(name, law, law.constants(1.0, dimension), index, factors, dimension, body, has_melted=True)


def temperature_levels(scene: Scene, name: str) -> tuple[float, ...]:
    """The temperatures [degrees C] at which a material's parameters are evaluated, ascending; none without curves."""
    material = scene.materials[name]
    levels = levels_of(scene, name)
    its = (index for index, emitter in enumerate(scene.emitters) if emitter.material == name)
    combinations = {factors for index in its for factors in combinations_of(scene, index, levels)}
    return levels_of_temperature(material.curves, max(len(combinations), 1), MOST_INSTANCES)


class LevelGroup(NamedTuple):
    """Instances between which particles change as their temperature does.

    Attributes:
        numbers: the consecutive numbers of instances that differ only in their temperature, (n,).
        temperatures: theirs, ascending [degrees C], (n,).
        fluid: the number of that which they melt into; -1 if they do not.
    """

    numbers: NDArray[np.int64]
    temperatures: NDArray[np.float64]
    fluid: int


def level_groups(instances: Sequence[MaterialInstance]) -> list[LevelGroup]:
    """The groups of instances between which particles may change."""
    groups: dict[tuple[str | int, int, int, Factors], list[int]] = {}
    for number, each in enumerate(instances):
        if not each.has_melted:
            groups.setdefault((each.body, each.field, each.material_index, each.factors), []).append(number)
    # a body that has a name keeps what melts, any other adds it to all that mixes
    fluids = {(each.body, each.material_index, each.factors): number for number, each in enumerate(instances) if each.has_melted}
    found = []
    for (body, _, material, factors), numbers in groups.items():
        fluid = fluids.get((body if isinstance(body, str) else "", material, factors), -1)
        if len(numbers) > 1 or fluid >= 0:
            found.append(LevelGroup(np.array(numbers), np.array([instances[number].temperature for number in numbers]), fluid))
    return found


def row_count_of(instances: Sequence[MaterialInstance]) -> int:
    """The number of rows in the table of these instances' particles."""
    most = max((len(instance.law.state_names) for instance in instances), default=0)
    return row_count(most, is_fluid=all(instance.is_fluid for instance in instances))


def fields_of(instances: Sequence[MaterialInstance]) -> tuple[range, ...]:
    """The consecutive numbers of the instances that share a velocity field (see `transfer.fields`)."""
    bodies = [(instance.body, instance.field) for instance in instances]
    starts = [number for number, body in enumerate(bodies) if number == 0 or body != bodies[number - 1]]
    return tuple(range(*ends) for ends in zip(starts, [*starts[1:], len(instances)], strict=False))


def instance_numbers(
    instances: Sequence[MaterialInstance],
    body: str | int,
    material_index: int,
    combinations: Sequence[Factors],
    *,
    field: int = 0,
    temperature: float = 0.0,
    has_melted: bool = False,
) -> NDArray[np.int64]:
    """The numbers of a material's instances in a field of a body for several sets of factors, shape (len(combinations),).

    Of those that differ in their temperature, the one nearest to a temperature [degrees C].
    """
    numbers: dict[tuple[str | int, int, int, Factors], list[int]] = {}
    for number, each in enumerate(instances):
        if each.has_melted == has_melted:
            numbers.setdefault((each.body, each.field, each.material_index, each.factors), []).append(number)
    found = [numbers[body, field, material_index, factors] for factors in combinations]
    return np.array([min(its, key=lambda number: abs(instances[number].temperature - temperature)) for its in found], np.int64)


def renumbered(before: Sequence[MaterialInstance], after: Sequence[MaterialInstance]) -> NDArray[np.int64]:
    """The number among the instances `after` of each instance `before`, those of the scene that is continued, shape (len(before),)."""

    def number(each: MaterialInstance) -> np.int64:
        field, temperature, has_melted = each.field, each.temperature, each.has_melted
        factors = [each.factors]
        return instance_numbers(
            after, each.body, each.material_index, factors, field=field, temperature=temperature, has_melted=has_melted
        )[0]

    return np.array([number(each) for each in before], np.int64)
