"""A block on a slope with Coulomb friction."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Emitter
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics

from .setting import GRAVITY, Floats, lattice, material, observe, scene

SPACING = 0.05
FRICTION = float(np.tan(np.radians(15.0)))


@dataclass(frozen=True)
class Slide:
    """The way of the block's center of mass down the slope, since it has settled.

    Attributes:
        time: since then [s].
        way: beyond what the speed at that moment explains [m].
        speed: at that moment [m/s].
    """

    time: Floats
    way: Floats
    speed: float


@lru_cache
def sliding_block(
    dimension: int, angle: float, *, friction: float = FRICTION, is_floor_tilted: bool = False, settling: float = 0.3, offset: float = 0.0
) -> Slide:
    """A block of E 1e7 Pa, eight cells long and four high, on a slope.

    Args:
        angle: of the slope [degrees].
        is_floor_tilted: turn the floor against the grid, else gravity.
        settling: time before the measurement [s].
        offset: how far the floor lies above a node [cells].
    """
    tilt = np.radians(angle)
    down, up = np.array([np.cos(tilt), 0.0, -np.sin(tilt)]), np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    if not is_floor_tilted:
        down, up = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    gravity = GRAVITY * (np.sin(tilt) * down - np.cos(tilt) * up)
    size = np.array([8.0, 4.0, 4.0]) * SPACING
    ground = offset * SPACING * up
    shape = SHAPES["box"](
        center=tuple(ground + 0.5 * size[2] * up), size=tuple(size), rotation=(0.0, angle if is_floor_tilted else 0.0, 0.0)
    )
    described = scene(
        Emitter("block", shape, "neo_hookean", **lattice(dimension)),
        material("neo_hookean", young_modulus=1e7, poisson_ratio=0.3, density=1000.0),
        seconds=settling + 0.6,
        fps=50.0,
        gravity=tuple(gravity),
        colliders=(Collider("slope", SHAPES["plane"](point=tuple(ground), normal=tuple(up)), surface="separate", friction=friction),),
        dimension=dimension,
        precision="float64",
        grid_spacing=SPACING,
    )

    def measure(simulation: Simulation) -> tuple[float, float]:
        speed = diagnostics.linear_momentum(simulation) @ down / diagnostics.mass(simulation)
        return float(diagnostics.center_of_mass(simulation) @ down), float(speed)

    time, values = observe(described, measure)
    place, speed = np.array(values).T
    settled = time >= settling - 1e-9
    since = time[settled] - settling
    return Slide(since, place[settled] - place[settled][0] - speed[settled][0] * since, float(speed[settled][0]))
