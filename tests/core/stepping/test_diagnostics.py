"""The measuring functions, against known values of simple bodies."""

import numpy as np
import pytest

from mpm_addon.core.laws.evaluation import evaluate_law
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.transfer.rows import DEFORMATION, STATE
from tests import diagnostics
from tests.core.scenes import LATTICE, box, four_materials, material, scene, started

EDGE, SPACING, DENSITY = 0.4, 0.05, 1000.0
# a block of so many particles an edge
COUNT = 16


def block(**changes: object) -> Scene:
    emitter = Emitter("block", box((0.3, -0.2, 0.5), EDGE), "neo_hookean", **{**LATTICE, **changes})
    return scene(emitter, materials=(material("neo_hookean", density=DENSITY),), precision="float64", grid_spacing=SPACING)


def test_a_block_at_rest_has_its_mass_its_center_and_no_motion() -> None:
    simulation = started(block())
    weight = DENSITY * EDGE**3
    assert diagnostics.mass(simulation) == pytest.approx(weight, rel=1e-12)
    assert diagnostics.center_of_mass(simulation) == pytest.approx([0.3, -0.2, 0.5], abs=1e-12)
    assert diagnostics.potential_energy(simulation) == pytest.approx(weight * 9.81 * 0.5, rel=1e-12)
    assert np.all(diagnostics.linear_momentum(simulation) == 0.0)
    assert np.all(diagnostics.angular_momentum(simulation) == 0.0)
    assert diagnostics.kinetic_energy(simulation) == 0.0
    assert diagnostics.elastic_energy(simulation) == pytest.approx(0.0, abs=1e-9)


def test_a_moving_block_has_momentum_and_turns_about_a_point_beside_it() -> None:
    simulation = started(block(velocity=(1.0, 2.0, -3.0)))
    momentum = DENSITY * EDGE**3 * np.array([1.0, 2.0, -3.0])
    assert diagnostics.linear_momentum(simulation) == pytest.approx(momentum, rel=1e-12)
    assert diagnostics.angular_momentum(simulation) == pytest.approx(np.cross([0.3, -0.2, 0.5], momentum), rel=1e-11)
    assert diagnostics.angular_momentum(simulation, about=(0.3, -0.2, 0.5)) == pytest.approx(np.zeros(3), abs=1e-10)
    assert diagnostics.kinetic_energy(simulation) == pytest.approx(0.5 * DENSITY * EDGE**3 * 14.0, rel=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_spinning_block_has_the_affine_part_in_its_spin_and_its_energy(axis: int) -> None:
    """n^3 points a edge apart have m (a^2 / 6) (1 - 1/n^2); every particle adds 2 m D, with D = h^2 / 4."""
    omega = 2.0 * np.pi * np.eye(3)[axis]
    simulation = started(block(angular_velocity=tuple(np.degrees(omega))))
    weight = DENSITY * EDGE**3
    inertia = weight * EDGE**2 / 6.0 * (1.0 - 1.0 / COUNT**2)
    affine = 2.0 * weight * SPACING**2 / 4.0
    assert diagnostics.angular_momentum(simulation) == pytest.approx((inertia + affine) * omega, abs=1e-9)
    assert diagnostics.kinetic_energy(simulation) == pytest.approx(0.5 * inertia * (2.0 * np.pi) ** 2, rel=1e-12)
    with_affine = diagnostics.kinetic_energy(simulation, with_affine=True)
    assert with_affine == pytest.approx(0.5 * (inertia + affine) * (2.0 * np.pi) ** 2, rel=1e-12)


def test_momentum_and_energy_are_those_that_a_frame_states() -> None:
    simulation = Simulation(four_materials(frames=4))
    for frame in simulation.frames():
        assert diagnostics.mass(simulation) == pytest.approx(frame.statistics.mass, rel=1e-12)
        assert diagnostics.linear_momentum(simulation) == pytest.approx(frame.statistics.momentum, rel=1e-12)
        assert diagnostics.kinetic_energy(simulation) == pytest.approx(frame.statistics.kinetic_energy, rel=1e-12)
        order = np.argsort(diagnostics.ids(simulation))
        assert np.abs(diagnostics.positions(simulation)[order] - frame.position).max() < 1e-6
        fluid = frame.attribute("material_index") == 0
        assert diagnostics.volume_ratios(simulation)[order][fluid] == pytest.approx(frame.attribute("volume_ratio")[fluid], abs=1e-6)


@pytest.mark.parametrize("name", ["neo_hookean", "corotated", "snow", "sand", "water"])
def test_elastic_energy_is_what_a_squeezed_body_stores(name: str) -> None:
    """Its rest volume times the energy density of the law's own driver."""
    described = scene(Emitter("block", box((0.0, 0.0, 0.0), EDGE), name, **LATTICE), materials=(material(name),), precision="float64")
    simulation = started(described)
    squeezed = np.diag([0.99, 0.985, 0.99])
    table = simulation.store.table
    if name == "water":
        table[STATE] = np.linalg.det(squeezed)
    else:
        table[DEFORMATION : DEFORMATION + 9] = squeezed.reshape(9, 1)
    density, _ = evaluate_law(simulation.instances[0].law, squeezed)
    assert float(density) > 0.0
    assert diagnostics.elastic_energy(simulation) == pytest.approx(float(density) * EDGE**3, rel=1e-9)
