"""Quantities that a simulation conserves or dissipates: mass, momenta, energies, center of mass.

Everything is summed in float64 over a `Simulation`'s particles, between frames. In 2D all values are per meter of depth.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mpm_addon.core.laws import FluidLaw
from mpm_addon.core.laws.law import PrincipalLaw, TensorLaw
from mpm_addon.core.stepping.material_instances import MaterialInstance
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.transfer.blocks import BLOCK
from mpm_addon.core.transfer.rows import DEFORMATION, FLUID_ROW_COUNT, MASS, POSITION, STATE, VELOCITY, VELOCITY_GRADIENT, VOLUME
from mpm_addon.core.transfer.scheme import scheme_of

Floats = NDArray[np.float64]


def positions(simulation: Simulation) -> Floats:
    """Positions [m], shape (n, 3), in the order of the solver's slots; not rounded, unlike a frame's."""
    layout = simulation.store.layout
    slots = _slots(simulation)
    block = _run_of(simulation, slots) // simulation.store.instance_count
    cells = _rows(simulation, POSITION, 3) + BLOCK * layout.coordinates[block]
    return cells * simulation.scene.solver.grid_spacing


def velocities(simulation: Simulation) -> Floats:
    """Velocities [m/s], shape (n, 3)."""
    return _rows(simulation, VELOCITY, 3)


def masses(simulation: Simulation) -> Floats:
    """Masses [kg], shape (n,)."""
    return _rows(simulation, MASS, 1)[:, 0]


def rest_volumes(simulation: Simulation) -> Floats:
    """Volumes before any deformation [m^3], shape (n,)."""
    return _rows(simulation, VOLUME, 1)[:, 0]


def velocity_gradients(simulation: Simulation) -> Floats:
    """APIC's affine velocities C [1/s], shape (n, 3, 3)."""
    return _rows(simulation, VELOCITY_GRADIENT, 9).reshape(-1, 3, 3)


def deformations(simulation: Simulation) -> Floats:
    """Deformation gradients F, shape (n, 3, 3); the identity for a fluid, which stores only J."""
    if simulation.store.row_count == FLUID_ROW_COUNT:
        return np.tile(np.eye(3), (simulation.store.particle_count, 1, 1))
    return _rows(simulation, DEFORMATION, 9).reshape(-1, 3, 3)


def ids(simulation: Simulation) -> NDArray[np.int32]:
    """Ids, shape (n,), in the order of the other arrays, which changes whenever particles are sorted."""
    return simulation.store.ids[_slots(simulation)]


def volume_ratios(simulation: Simulation) -> Floats:
    """J, the elastic volume over the rest volume, shape (n,): det F, or a fluid's J."""
    ratios = np.linalg.det(deformations(simulation))
    states = _rows(simulation, STATE, 1)[:, 0]
    for instance, its in _instances(simulation):
        if isinstance(instance.law, FluidLaw):
            ratios[its] = states[its]
    return ratios


def mass(simulation: Simulation) -> float:
    """The mass [kg]."""
    return float(masses(simulation).sum())


def center_of_mass(simulation: Simulation) -> Floats:
    """The center of mass [m], shape (3,)."""
    return masses(simulation) @ positions(simulation) / mass(simulation)


def linear_momentum(simulation: Simulation) -> Floats:
    """sum m v [kg m/s], shape (3,)."""
    return masses(simulation) @ velocities(simulation)


def angular_momentum(simulation: Simulation, *, about: ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
    """Angular momentum about a point [kg m^2/s], shape (3,).

    sum m (x - about) x v, plus, with APIC, the affine velocities' part, sum m D (C_kj - C_jk): only the sum of the two
    is conserved (Jiang et al. 2015, section 5.3). PIC and FLIP do not transfer C, so it does not count there.
    """
    arm = positions(simulation) - np.asarray(about, dtype=np.float64)
    total = masses(simulation) @ np.cross(arm, velocities(simulation))
    if simulation.scene.solver.transfer == "apic":
        spin = np.einsum("p,pij->ij", masses(simulation) * _second_moment(simulation), velocity_gradients(simulation))
        total += np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]])
    return total


def kinetic_energy(simulation: Simulation, *, with_affine: bool = False) -> float:
    """sum m v^2 / 2 [J], optionally with the affine part sum m D |C|^2 / 2, the motion about the mean (Jiang et al. 2015)."""
    squares = (velocities(simulation) ** 2).sum(axis=1)
    if with_affine:
        squares = squares + _second_moment(simulation) * (velocity_gradients(simulation) ** 2).sum(axis=(1, 2))
    return 0.5 * float(masses(simulation) @ squares)


def potential_energy(simulation: Simulation) -> float:
    """-sum m g . x [J], zero at the origin."""
    return -float(masses(simulation) @ positions(simulation) @ np.asarray(simulation.scene.solver.gravity))


def elastic_energy(simulation: Simulation) -> float:
    """sum V0 Psi [J], the elastic energy of all laws."""
    stretches = np.linalg.svd(deformations(simulation), compute_uv=False)
    gradients = deformations(simulation).reshape(-1, 9)
    volume = rest_volumes(simulation)
    total = 0.0
    for instance, its in _instances(simulation):
        states = simulation.store.states(len(instance.law.state_names), _slots(simulation)[its]).T
        numbers = np.flatnonzero(its)
        energies = [_energy_density(instance, gradients[n], stretches[n], state) for n, state in zip(numbers, states, strict=True)]
        total += float(volume[its] @ np.array(energies))
    return total


def _energy_density(instance: MaterialInstance, deformation: Floats, stretches: Floats, state: Floats) -> float:
    law = type(instance.law)
    if issubclass(law, FluidLaw):
        return law.fluid_energy(instance.constants, float(state[0]))
    if issubclass(law, PrincipalLaw):
        kept = tuple(float(value) for value in state)
        return law.principal_energy(instance.constants, tuple(float(stretch) for stretch in stretches), kept)
    assert issubclass(law, TensorLaw)
    return law.energy(instance.constants, tuple(float(entry) for entry in deformation))


def _second_moment(simulation: Simulation) -> float:
    """D [m^2], the second moment of the interpolation weights (Jiang et al. 2015)."""
    solver = simulation.scene.solver
    scheme = scheme_of(solver)
    return solver.grid_spacing**2 / scheme.inverse_inertia


def _slots(simulation: Simulation) -> NDArray[np.int64]:
    return np.flatnonzero(simulation.store.live)


def _run_of(simulation: Simulation, slots: NDArray[np.int64]) -> NDArray[Any]:
    """The run (block, instance) of each slot."""
    return np.searchsorted(simulation.store.layout.first, slots, side="right") - 1


def _rows(simulation: Simulation, first: int, count: int) -> Floats:
    """Rows of the particles' table as columns, shape (n, count)."""
    return simulation.store.table[first : first + count, _slots(simulation)].T.astype(np.float64)


def _instances(simulation: Simulation) -> list[tuple[MaterialInstance, NDArray[np.bool_]]]:
    """Every instance with a mask of its particles."""
    number = _run_of(simulation, _slots(simulation)) % simulation.store.instance_count
    return [(instance, number == index) for index, instance in enumerate(simulation.instances)]
