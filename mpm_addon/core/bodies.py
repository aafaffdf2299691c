"""Bodies: the particles that share one law with one set of constants. A material is one body, or more where emitters scale it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .description import Scene
from .kernels import blocks, collision, contact, exchange, expulsion, grid, output, reach, rigid_contact, scatter, surface
from .kernels.compilation import teach_generic_functions
from .kernels.rows import MASS, STATE
from .kernels.scheme import Scheme
from .kernels.vector import LANE_COUNT
from .laws import FluidLaw, Law
from .laws.advance import EXTREME_COUNT, advance_material, advance_particles
from .levels import Factors, combinations_of, levels_of
from .particle_store import ParticleStore


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


def compile_kernels(bodies: list[Body], scheme: Scheme, store: ParticleStore, *, has_obstacles: bool, has_rigid: bool) -> None:
    """Compile, or load from disk, every kernel that a simulation of these bodies calls, by calling them with nothing to do."""
    teach_generic_functions()
    dtype, dimension = store.dtype, store.dimension
    table, layout = np.zeros((store.row_count, LANE_COUNT), dtype), store.layout
    nothing, nowhere = np.zeros(0, np.int64), np.zeros(0, np.bool_)
    arenas, nodes, around = store.arenas, store.nodes, layout.neighbours
    pieces, scratch, index = np.zeros(2, np.int64), store.scratch, store.index
    shown = (np.zeros(0, np.float32), np.zeros(0, np.float32), np.zeros((0, 4), np.float32), np.zeros((0, 3), np.float32))
    common = (scheme, table, layout.first)
    calls: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (scatter.particles_to_grid, (*common, 1, pieces, nowhere, 0.0, 1.0, scratch, index, arenas)),
        (grid.update_grid, (arenas, around, nodes, np.zeros(grid.ROW, dtype))),
        (grid.fastest_nodes, (nodes, 0, np.zeros((1, 2)))),
        (output.world_positions, (table, nothing, nothing, layout.coordinates, 1.0, np.zeros((0, 3), np.float32))),
        (output.show_particles, (table, np.zeros(0, np.int32), nowhere, *shown)),
        (output.totals, (table, pieces, layout.first, 1, np.zeros((1, 5)))),
    ]
    passing = (*common, 0, 1, pieces, around, nodes, nodes, nowhere, False, 0.0, 0.0, 1.0, scratch, index, arenas)
    for body in bodies:
        calls.append((advance_particles, (body.constants, *passing, np.zeros((1, EXTREME_COUNT)))))
        calls.append((advance_material, (body.constants, body.dimension, table, 0.0, np.ones_like(table[0]), np.zeros(3))))
    if has_obstacles:
        calls += _obstacle_calls(table, layout.first, around, nodes, dimension)
    if has_rigid:
        calls += _rigid_calls(table, layout.first, nodes, dimension)
    for function, arguments in calls:
        function(*arguments)
    store.sort()


def _obstacle_calls(
    table: NDArray[Any], first: NDArray[np.int64], around: NDArray[np.int64], nodes: NDArray[Any], dimension: int
) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """The kernels that obstacles need, each with nothing to do."""
    nothing, nowhere = np.zeros(0, np.int64), np.zeros(0, np.bool_)
    coordinates = np.zeros((0, 3), np.int64)
    distance, normal = np.zeros((0, blocks.BLOCK**dimension)), np.zeros((0, blocks.BLOCK**dimension, 3))
    rigid, numbers, frictions = np.zeros((0, 9)), np.zeros(0, np.int64), np.zeros(0)
    pairs, holds_inside = np.zeros((0, 0), np.int64), np.zeros((0, 0), np.bool_)
    distances = np.zeros((0, blocks.ARENA, blocks.ARENA, blocks.ARENA), np.float32)
    feet, deep = surface.room_for_feet(0, 0, 0, nodes.dtype), surface.Deep(nothing, nothing, nothing)
    colours, flat = np.zeros(3, np.int64), nodes.reshape(-1)
    places = np.zeros(distance.shape, np.uint8)
    return [
        (reach.find_extents, (table, first, 1, np.zeros((0, 6)))),
        (reach.mark_reached, (np.zeros((0, 6)), around, nothing)),
        (surface.find_surface, (nothing, nothing, pairs, around, nothing, distance, places, holds_inside)),
        (surface.order_nodes, (nothing, nothing, nothing, 0, 1, nothing, nothing)),
        (surface.place_feet, (nothing, nothing, nothing, pairs, around, coordinates, distance, normal, normal, rigid, 1.0, feet)),
        (contact.meet_matter, (flat, deep, feet, colours, nothing, coordinates, normal, normal, numbers, frictions, rigid, 1.0, 0.0)),
        (contact.collide_feet, (flat, feet, colours, numbers, frictions)),
        (contact.fill_nodes, (flat, nothing, 0.0)),
        (expulsion.expel_nodes, (nodes, nothing, nothing, coordinates, distance, normal, normal, rigid, frictions, 0.0, 1.0)),
        (collision.count_pairs, (around, nowhere, holds_inside, nothing)),
        (collision.find_pairs, (nothing, nothing, around, holds_inside, pairs, distance, 1.0, nothing, distances, nowhere)),
        (
            collision.collide_particles,
            (
                table, first, 1, nothing, nowhere, nothing, nothing, distances, coordinates, around, pairs, distance, normal, normal,
                rigid, 0.0, 1.0, np.zeros(0), np.zeros(0),
            ),
        ),
    ]  # fmt: skip


def _rigid_calls(
    table: NDArray[Any], first: NDArray[np.int64], nodes: NDArray[Any], dimension: int
) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """The kernels that dynamic colliders need, each with nothing to do."""
    nothing, coordinates, origin = np.zeros(0, np.int64), np.zeros((0, 3), np.int64), np.zeros(3)
    distance, normal = np.zeros((0, blocks.BLOCK**dimension)), np.zeros((0, blocks.BLOCK**dimension, 3))
    feet = surface.room_for_feet(0, 0, 0, nodes.dtype)
    numbers, vectors, rows = np.zeros(0), np.zeros((0, 3)), np.zeros((0, 6))
    return [
        (exchange.sum_momenta, (nodes, nothing, coordinates, 1.0, origin, rows)),
        (exchange.sum_inertia, (nodes, nothing, coordinates, distance, 1.0, origin, np.zeros((0, 10)))),
        (exchange.move_feet, (0, nothing, coordinates, distance, normal, np.zeros(9), 1.0, feet)),
        (exchange.sum_moments, (table, first, 1, nothing, coordinates, 1.0, origin, rows)),
        (
            rigid_contact.solve_contacts,
            (nothing, nothing, rows, vectors, vectors, numbers, numbers, vectors, np.zeros((0, 3, 3)), rows, np.zeros((0, 4)), 0),
        ),
    ]
