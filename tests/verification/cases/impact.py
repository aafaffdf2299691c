"""Elastic balls that collide, and one that falls on a floor."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Emitter
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics

from .setting import GRAVITY, Floats, lattice, material, observe, scene

RADIUS, SPEED = 0.2, 1.0


@dataclass(frozen=True)
class Collision:
    """Two balls that meet head on.

    Attributes:
        time: [s].
        momentum: of both along x, over one ball's first (n,).
        velocities: mean velocity along x of each ball (n, 2) [m/s].
        centers: center of mass of each along x (n, 2) [m].
        energy: kinetic, with the affine part, and elastic, over its first value (n,).
        restitution: speed at which they part over the speed at which they met.
    """

    time: Floats
    momentum: Floats
    velocities: Floats
    centers: Floats
    energy: Floats
    restitution: float


@lru_cache
def colliding_balls(
    dimension: int, *, cells: int = 50, law: str = "neo_hookean", body: str = "", speed: float = SPEED, reference: str = "current"
) -> Collision:
    """Two disks (2D) or balls of 0.2 m radius, E 1e6 Pa, nu 0.3, 1000 kg/m^3, each at 1 m/s toward the other.

    Args:
        cells: cells per meter.
        body: the body that both are parts of; by default, each is one of its own.
        reference: state that forces are computed from; of neo_hookean only.
    """
    gap = 4.0 / cells
    balls = [
        Emitter(name, _ball(side * (RADIUS + gap), 0.0), law, velocity=(-side * speed, 0.0, 0.0), body=body, **lattice(dimension))
        for name, side in (("left", -1.0), ("right", 1.0))
    ]
    described = scene(
        balls,
        material(law, young_modulus=1e6, poisson_ratio=0.3, density=1000.0, **({"reference": reference} if reference != "current" else {})),
        seconds=0.3 / speed,
        fps=200.0 * speed,
        gravity=(0.0, 0.0, 0.0),
        dimension=dimension,
        precision="float64",
        grid_spacing=1.0 / cells,
    )
    half: list[int] = []

    def measure(simulation: Simulation) -> tuple[Floats, Floats, float, float]:
        order = np.argsort(diagnostics.ids(simulation))
        half.append(len(order) // 2)
        mass, place = diagnostics.masses(simulation)[order], diagnostics.positions(simulation)[order, 0]
        velocity = diagnostics.velocities(simulation)[order, 0]
        parts = (slice(None, half[0]), slice(half[0], None))
        means = [np.array([mass[part] @ values[part] / mass[part].sum() for part in parts]) for values in (velocity, place)]
        energy = diagnostics.kinetic_energy(simulation, with_affine=True) + diagnostics.elastic_energy(simulation)
        return means[0], means[1], diagnostics.linear_momentum(simulation)[0] / mass[parts[0]].sum() / speed, energy

    time, values = observe(described, measure)
    velocities, centers = np.array([value[0] for value in values]), np.array([value[1] for value in values])
    energy = np.array([value[3] for value in values])
    restitution = (velocities[-1, 1] - velocities[-1, 0]) / (velocities[0, 0] - velocities[0, 1])
    momentum = np.array([value[2] for value in values])
    return Collision(time, momentum, velocities, centers, energy / energy[0], float(restitution))


@dataclass(frozen=True)
class Bounce:
    """A ball that falls on a floor.

    Attributes:
        time: [s].
        height: of the ball's lowest point at rest shape: center of mass less the radius [m] (n,).
        rebound: the height that it reaches after the first contact, over that from which it fell.
    """

    time: Floats
    height: Floats
    rebound: float


@lru_cache
def bouncing_ball(
    dimension: int,
    *,
    cells: int = 40,
    drop: float = 0.5,
    friction: float = 0.0,
    offset: float = 0.0,
    surface: str = "separate",
    reference: str = "current",
) -> Bounce:
    """A ball of 0.2 m radius, E 3e5 Pa, nu 0.3, 1000 kg/m^3, falls on a floor.

    Args:
        cells: cells per meter.
        offset: how far the floor lies above a node [cells].
        surface: of the floor.
        reference: state that forces are computed from.
    """
    ground = offset / cells
    falling = Emitter("ball", _ball(0.0, ground + drop + RADIUS), "neo_hookean", **lattice(dimension))
    described = scene(
        falling,
        material("neo_hookean", young_modulus=3e5, poisson_ratio=0.3, density=1000.0, reference=reference),
        seconds=1.0,
        fps=100.0,
        colliders=(Collider("floor", SHAPES["plane"](point=(0.0, 0.0, ground)), surface=surface, friction=friction),),
        dimension=dimension,
        grid_spacing=1.0 / cells,
    )
    time, values = observe(described, lambda simulation: float(diagnostics.center_of_mass(simulation)[2]) - RADIUS - ground)
    height = np.array(values)
    fall = np.sqrt(2.0 * drop / GRAVITY)
    after = height[time > fall]
    # not that of a second contact
    lowest = int(after[: np.count_nonzero(time[time > fall] < 1.5 * fall)].argmin())
    return Bounce(time, height, float(after[lowest:].max() / drop))


def _ball(x: float, z: float) -> Any:
    return SHAPES["sphere"](center=(x, 0.0, z), radius=RADIUS)
