"""Viscosity of bodies with forces from the rest state: it is that of the law, and stable however far matter is compressed."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core import evaluate_law
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Emitter, Material
from mpm_addon.core.stepping.judgment import Plausible
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.transfer.rows import STRESS
from tests.core.scenes import LATTICE, box, material, scene


def deformed(law: Material, deformation: np.ndarray, rate: np.ndarray) -> Simulation:
    """A block whose F and F' are the same everywhere; float64, in the plane."""
    block = Emitter("block", box((0.0, 0.0, 0.0), 0.2), "damped_elastic", **LATTICE)
    simulation = Simulation(scene(block, materials=(law,), precision="float64", dimension=2, gravity=(0.0, 0.0, 0.0)))
    next(simulation.frames())
    rest = simulation._stepper.rest
    places = rest.node_places(np.arange(rest.grid.mass.size))
    rest.grid.displacement[:] = (places @ (deformation - np.eye(3)).T).reshape(rest.grid.displacement.shape)
    rest.grid.velocity[:] = (places @ rate.T).reshape(rest.grid.velocity.shape)
    rest.grid.show_nodes()
    rest._strain(0.0, Plausible(), is_shown=True)
    rest.grid.show_particles()
    return simulation


def viscous(damping_time: float = 1.0, young_modulus: float = 1e4) -> Material:
    return material("damped_elastic", young_modulus=young_modulus, poisson_ratio=0.4, damping_time=damping_time, reference="rest")


def stresses(simulation: Simulation) -> Any:
    """tau of the particles [Pa], (n, 6): xx, xy, xz, yy, yz, zz."""
    return simulation.store.table[STRESS : STRESS + 6, np.flatnonzero(simulation.store.live)].T


@pytest.mark.parametrize(("stretch", "share"), [(1.5, 1.0), (0.7, 1.0), (0.5, 0.75), (0.2, 0.3)])
def test_viscosity_is_that_of_the_law_down_to_two_thirds_of_the_length(stretch: float, share: float) -> None:
    """Compressed to a stretch s, with its sides held: J / s^2 = 1 / s, of which no more than 1.5 times the viscosity at rest acts."""
    deformation, rate = np.diag([1.0, 1.0, stretch]), np.array([[0.0, 0.0, 0.3], [0.0, 0.0, 0.0], [0.0, 0.0, 0.1]])
    stress = stresses(deformed(viscous(), deformation, rate)) - stresses(deformed(viscous(damping_time=0.0), deformation, rate))
    gradient = rate @ np.linalg.inv(deformation)
    tau, elastic = (evaluate_law(viscous(time).law, deformation[None], velocity_gradient=gradient[None])[1][0] for time in (1.0, 0.0))
    # stretches are accurate to one percent here
    expected = share * (tau - elastic)[np.triu_indices(3)]
    assert stress == pytest.approx(np.tile(expected, (len(stress), 1)), rel=0.02, abs=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("sides", [1.0, 1.6])
@pytest.mark.parametrize("stretch", [1.0, 0.5, 0.2, 0.1])
def test_viscosity_is_stable_in_crushed_matter_in_the_longest_substep(stretch: float, sides: float) -> None:
    """In substeps of the viscous limit, where elasticity is negligible; at a fifth of its length, velocities once grew without limit."""
    law = viscous(damping_time=1e13, young_modulus=1e-9)
    simulation = deformed(law, np.diag([sides, 1.0, stretch]), np.zeros((3, 3)))
    energy = energies(simulation, law.law.viscous_limit(0.05, 2))
    assert max(energy[10:]) < 0.99 * energy[0]


def energies(simulation: Simulation, dt: float) -> list[float]:
    """The kinetic energy of random, slow motion after each of 60 substeps of dt, in which only viscosity acts."""
    rest, grid = simulation._stepper.rest, simulation._stepper.rest.grid
    grid.velocity[..., [0, 2]] = 1e-6 * np.random.default_rng(1).normal(size=(*grid.mass.shape, 2))
    grid.show_nodes()
    energy = []
    rest._strain(0.0, Plausible(), is_shown=False)
    for _ in range(60):
        energy.append(float((grid.mass[..., None] * grid.velocity**2).sum()))
        grid.push(dt)
        grid.move(dt)
        rest._strain(dt, Plausible(), is_shown=False)
    return energy


@pytest.mark.parametrize(("stretch", "sides", "least"), [(1.0, 1.0, 1.6), (0.8, 1.0, 1.3), (0.5, 1.0, 1.0), (0.2, 1.6, 1.0)])
def test_substeps_are_as_long_as_the_fastest_mode_of_the_body_allows(stretch: float, sides: float, least: float) -> None:
    """dt times the greatest eigenvalue is 1.75: energy falls in such substeps, and grows in twice as long ones where nothing is crushed."""
    law = viscous(damping_time=1e13, young_modulus=1e-9)
    simulation = deformed(law, np.diag([sides, 1.0, stretch]), np.zeros((3, 3)))
    longest = simulation._stepper.rest.longest_step
    assert longest > least * law.law.viscous_limit(0.05, 2)
    energy = energies(simulation, longest)
    assert max(energy[10:]) < 0.9 * energy[0]
    if stretch == 1.0:
        energy = energies(simulation, 2.0 * longest)
        assert energy[-1] > 1e6 * energy[0]


def test_the_fastest_mode_of_a_particle_alone_is_that_of_its_own_gradient() -> None:
    """C <- (1 - 4 dt nu / h^2) C for tau = rho nu tr(D) I with C ~ I has the factor d: 8 nu / h^2 in two dimensions."""
    point = SHAPES["points"](position=np.array([[0.01, 0.0, 0.02]]), volume=np.array([0.025**2]))
    lone = Emitter("lone", point, "damped_elastic")
    simulation = Simulation(scene(lone, materials=(viscous(),), precision="float64", dimension=2, gravity=(0.0, 0.0, 0.0)))
    next(simulation.frames())
    assert simulation.store.particle_count == 1
    modes = simulation._stepper.rest.modes
    density = simulation.instances[0].law.density
    assert modes.bulk * density * 0.05**2 == pytest.approx(8.0, rel=0.02)
    assert modes.shear * density * 0.05**2 == pytest.approx(4.0, rel=0.02)
