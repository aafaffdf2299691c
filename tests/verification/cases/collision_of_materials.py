"""Blocks of several materials that collide."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Emitter
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics

from .setting import Floats, block, lattice, material, observe, scene


@dataclass(frozen=True)
class Meeting:
    """What should be conserved, frame by frame.

    Attributes:
        mass: [kg], (n,).
        momentum: [kg m/s], (n, 3).
        angular_momentum: about the origin [kg m^2/s], (n, 3).
        kinetic_energy: [J], (n,).
        size: what errors are measured by: sum m |v| at the start [kg m/s]; of the order of L as well.
    """

    mass: Floats
    momentum: Floats
    angular_momentum: Floats
    kinetic_energy: Floats
    size: float


@lru_cache
def meeting(
    dimension: int,
    materials: tuple[str, ...],
    *,
    kernel: str = "quadratic",
    transfer: str = "apic",
    precision: str = "float64",
    has_post: bool = False,
) -> Meeting:
    """Blocks of 0.2 m on a circle around the origin fly toward its middle, past it by a little."""
    emitters = []
    for number, name in enumerate(materials):
        angle = 2.0 * np.pi * number / len(materials) + 0.1
        out, around = np.array([np.cos(angle), 0.0, np.sin(angle)]), np.array([-np.sin(angle), 0.0, np.cos(angle)])
        center, velocity = 0.3 * out, -3.0 * out + 0.5 * around
        shape = block(tuple(center - 0.1), tuple(center + 0.1))
        emitters.append(Emitter(name, shape, name, velocity=tuple(velocity), **lattice(dimension)))
    # where no block begins
    post = (Collider("post", SHAPES["sphere"](center=(0.04, 0.0, 0.03), radius=0.08)),)
    described = scene(
        emitters,
        [material(name) for name in materials],
        seconds=0.2,
        fps=20.0,
        gravity=(0.0, 0.0, 0.0),
        colliders=post if has_post else (),
        dimension=dimension,
        kernel=kernel,
        transfer=transfer,
        precision=precision,
        grid_spacing=0.05,
    )

    def measure(simulation: Simulation) -> tuple[float, Floats, Floats, float, float]:
        size = float(diagnostics.masses(simulation) @ np.linalg.norm(diagnostics.velocities(simulation), axis=1))
        # the order of summation changes with every sort: sorted by id the masses add up to the very same number
        mass = diagnostics.masses(simulation)[np.argsort(diagnostics.ids(simulation))].sum()
        return (
            float(mass),
            diagnostics.linear_momentum(simulation),
            diagnostics.angular_momentum(simulation),
            diagnostics.kinetic_energy(simulation),
            size,
        )

    _, values = observe(described, measure)
    mass, momentum, angular, energy, size = (np.array(part) for part in zip(*values, strict=True))
    return Meeting(mass, momentum, angular, energy, float(size[0]))
