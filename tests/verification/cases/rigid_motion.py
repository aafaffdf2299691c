"""Bodies that move without forces between them: free fall, a spinning disk or ball, a square that drifts and rotates."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Emitter
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics

from .setting import GRAVITY, Floats, block, lattice, material, observe, scene


@dataclass(frozen=True)
class FreeFall:
    """The errors of a fall after `step_count` steps of `time_step`.

    Attributes:
        position_error: largest distance of a particle from the closed form [m].
        deformation_error: largest entry of |F - I|.
        explicit_error: as position_error, against the explicit Euler method's closed form.
    """

    position_error: float
    deformation_error: float
    explicit_error: float


def free_fall(dimension: int, precision: str, *, law: str = "neo_hookean", kernel: str = "quadratic", gravity: float = GRAVITY) -> FreeFall:
    """An elastic block (E 5e4 Pa), thrown up: y_n = y_0 + v_0 n dt - g dt^2 n (n + 1) / 2, and no deformation at all.

    The closed form is for g = 9.81 m/s^2, whatever `gravity` the block feels.
    """
    dt, count = 1e-3, 300
    start = np.array([1.5, -0.7 if dimension == 3 else 0.0, 2.0])
    thrown = Emitter("block", block((0.1, -0.4, -0.1), (0.5, 0.0, 0.3)), law, velocity=tuple(start), **lattice(dimension))
    described = scene(
        thrown,
        material(law, young_modulus=5e4),
        seconds=count * dt,
        fps=10.0,
        gravity=(0.0, 0.0, -gravity),
        dimension=dimension,
        precision=precision,
        kernel=kernel,
        time_step=dt,
        grid_spacing=0.05,
    )
    simulation = Simulation(described)
    first, expected = np.zeros((0, 3)), np.zeros((0, 3))
    steps = 0
    for frame in simulation.frames():
        if frame.number == 0:
            first = diagnostics.positions(simulation)[np.argsort(diagnostics.ids(simulation))]
        steps += frame.statistics.substeps
    assert steps == count
    expected = first + start * count * dt
    expected[:, 2] -= GRAVITY * dt**2 * count * (count + 1) / 2
    last = diagnostics.positions(simulation)[np.argsort(diagnostics.ids(simulation))]
    explicit = expected + np.array([0.0, 0.0, GRAVITY * dt**2 * count])
    return FreeFall(
        float(np.abs(last - expected).max()),
        float(np.abs(diagnostics.deformations(simulation) - np.eye(3)).max()),
        float(np.abs(last - explicit).max()),
    )


@dataclass(frozen=True)
class Spin:
    """A body that spins about the y axis.

    Attributes:
        time: [s].
        angular_momentum: about y, over its first value.
        kinetic_energy: without the affine part, over its first value.
        total_energy: kinetic with the affine part where the transfer carries it, and elastic, over its first value.
    """

    time: Floats
    angular_momentum: Floats
    kinetic_energy: Floats
    total_energy: Floats


@lru_cache
def spinning_body(
    dimension: int, transfer: str, *, cells: int = 64, turns: float = 2.0, kernel: str = "quadratic", flip_ratio: float = 1.0
) -> Spin:
    """A disk (2D) or a ball of radius 0.2 m turns once a second, free of any force; E 1e5 Pa, nu 0.3, 1000 kg/m^3.

    Args:
        cells: cells per meter.
    """
    disk = SHAPES["sphere"](center=(0.5, 0.5, 0.5), radius=0.2)
    turning = Emitter("disk", disk, "neo_hookean", angular_velocity=(0.0, 360.0, 0.0), **lattice(dimension))
    described = scene(
        turning,
        material("neo_hookean", young_modulus=1e5, poisson_ratio=0.3, density=1000.0),
        seconds=turns,
        fps=20.0,
        gravity=(0.0, 0.0, 0.0),
        dimension=dimension,
        transfer=transfer,
        flip_ratio=flip_ratio,
        kernel=kernel,
        precision="float64",
        grid_spacing=1.0 / cells,
    )

    def measure(simulation: Simulation) -> tuple[float, float, float]:
        kinetic = diagnostics.kinetic_energy(simulation)
        carried = diagnostics.kinetic_energy(simulation, with_affine=transfer == "apic")
        return diagnostics.angular_momentum(simulation)[1], kinetic, carried + diagnostics.elastic_energy(simulation)

    time, values = observe(described, measure)
    spin, kinetic, total = np.array(values).T
    return Spin(time, spin / spin[0], kinetic / kinetic[0], total / total[0])


@dataclass(frozen=True)
class Drift:
    """Kinetic Energy over time of a body that drifts and turns.

    Attributes:
        time: [s].
        kinetic_energy: over its first value.
    """

    time: Floats
    kinetic_energy: Floats


@lru_cache
def drifting_square(dimension: int, *, transfer: str = "apic", spacing: float = 0.05, seconds: float = 20.0, cfl: float = 0.4) -> Drift:
    """A square (2D) or cube of 1 m that moves at (0.5, 0.5) m/s and turns at 1 rad/s; E 1e6 Pa, nu 0.3, 1550 kg/m^3."""
    turning = Emitter(
        "square",
        block((0.0, -0.5, 0.0), (1.0, 0.5, 1.0)),
        "neo_hookean",
        velocity=(0.5, 0.0, 0.5),
        angular_velocity=(0.0, float(np.degrees(1.0)), 0.0),
        **lattice(dimension),
    )
    described = scene(
        turning,
        material("neo_hookean", young_modulus=1e6, poisson_ratio=0.3, density=1550.0),
        seconds=seconds,
        fps=2.0,
        gravity=(0.0, 0.0, 0.0),
        dimension=dimension,
        transfer=transfer,
        precision="float64",
        grid_spacing=spacing,
        cfl=cfl,
    )
    time, energy = observe(described, diagnostics.kinetic_energy)
    return Drift(time, np.array(energy) / energy[0])
