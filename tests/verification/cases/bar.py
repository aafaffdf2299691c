"""A bar clamped at both ends that vibrates along its axis."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Emitter
from mpm_addon.core.scene.settings import Side
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics

from .setting import Floats, material, observe, scene, walls

LENGTH, YOUNG_MODULUS, DENSITY, SPEED = 25.0, 100.0, 1.0, 0.1
# the first mode of a bar with fixed ends: T = 2 L / c, c = sqrt(E / rho)
PERIOD = 2.0 * LENGTH / np.sqrt(YOUNG_MODULUS / DENSITY)


@dataclass(frozen=True)
class BarVibration:
    """The first mode's share of the motion.

    Attributes:
        time: [s].
        amplitude: sum m v sin(pi x / L) over its first value.
        period: from the zero crossings [s].
        kept: the greatest |amplitude| in the sixth period, after five.
    """

    time: Floats
    amplitude: Floats
    period: float
    kept: float


@lru_cache
def bar_vibration(
    dimension: int, cells: int, *, transfer: str = "apic", young_modulus: float = YOUNG_MODULUS, cfl: float = 0.4
) -> BarVibration:
    """v = 0.1 sin(pi x / L) at the start, nu = 0, so that the bar swings like a string of springs.

    Args:
        cells: cells along the bar.
    """
    spacing = LENGTH / cells
    # as many particles as cells times two along each axis; two cells thick
    along = (np.arange(2 * cells) + 0.5) * spacing / 2.0
    across = (np.arange(4) + 0.5) * spacing / 2.0
    y = across if dimension == 3 else np.zeros(1)
    position = np.stack(np.meshgrid(along, y, across, indexing="ij"), axis=-1).reshape(-1, 3)
    velocity = np.zeros_like(position)
    velocity[:, 0] = SPEED * np.sin(np.pi * position[:, 0] / LENGTH)
    volume = np.full(len(position), (spacing / 2.0) ** dimension)
    held = {"x_min": Side(surface="sticky"), "x_max": Side(surface="sticky")}
    far = 10.0 * spacing
    described = scene(
        Emitter("bar", SHAPES["points"](position=position, velocity=velocity, volume=volume), "neo_hookean"),
        material("neo_hookean", young_modulus=young_modulus, poisson_ratio=0.0, density=DENSITY),
        seconds=5.75 * PERIOD,
        fps=20.0,
        gravity=(0.0, 0.0, 0.0),
        domain=walls((0.0, -far, -far), (LENGTH, far, far), sides=held),
        dimension=dimension,
        transfer=transfer,
        flip_ratio=0.0,
        precision="float64",
        grid_spacing=spacing,
        cfl=0.4,
    )
    shape = np.sin(np.pi * position[:, 0] / LENGTH)

    def measure(simulation: Simulation) -> float:
        order = diagnostics.ids(simulation)
        return float((diagnostics.masses(simulation) * diagnostics.velocities(simulation)[:, 0]) @ shape[order])

    time, values = observe(described, measure)
    amplitude = np.array(values) / values[0]
    return BarVibration(time, amplitude, period_of(time, amplitude), float(np.abs(amplitude[time >= 5.0 * PERIOD - 0.25]).max()))


def period_of(time: Floats, values: Floats) -> float:
    """The mean time between every second zero crossing, interpolated between samples."""
    before = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0.0)
    crossing = time[before] - values[before] * (time[before + 1] - time[before]) / (values[before + 1] - values[before])
    return float(2.0 * (crossing[-1] - crossing[0]) / (len(crossing) - 1))
