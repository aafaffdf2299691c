"""Water at rest in a tank: pressure, density and level."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mpm_addon.core.scene.description import Emitter
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.transfer.rows import STRESS
from tests import diagnostics

from .setting import GRAVITY, Floats, block, lattice, material, observe, scene, walls

HEIGHT, WIDTH, DENSITY, EXPONENT = 0.5, 0.25, 1000.0, 7.0
SOUND_SPEED = 10.0 * np.sqrt(2.0 * GRAVITY * HEIGHT)
BULK_MODULUS = DENSITY * SOUND_SPEED**2
# of the compressed column: the center of mass lies at .49836 H
CENTER = 0.49836 * HEIGHT
AVERAGED = 0.2


@dataclass(frozen=True)
class WaterColumn:
    """A column of water, averaged over the last 0.2 s.

    Attributes:
        height: middles of the height bins [m].
        pressure: mean pressure in each bin [Pa].
        gradient: slope of the pressure over the height [Pa/m].
        base_pressure: the same line at the floor [Pa].
        center: height of the center of mass [m].
        volume_ratio: mean J.
        top: height of the highest thousandth of the particles, and half a particle's spacing [m].
        kinetic_energy: at the end, over m g H.
        time, centers: the center of mass over time [s], [m].
    """

    height: Floats
    pressure: Floats
    gradient: float
    base_pressure: float
    center: float
    volume_ratio: float
    top: float
    kinetic_energy: float
    time: Floats
    centers: Floats


@lru_cache
def water_column(
    dimension: int, *, cells: int = 40, seconds: float = 2.0, sampling: str = "lattice", gravity: float = GRAVITY, offset: float = 0.0
) -> WaterColumn:
    """Water 0.5 m high and 0.25 m wide at rest; in 3D a slab of four cells between smooth walls.

    Args:
        cells: cells over the height.
        offset: how far the walls lie above nodes [cells].
    """
    spacing = HEIGHT / cells
    depth = 4.0 * spacing
    shift = offset * spacing
    low = (shift, shift, shift)
    words = {**lattice(dimension), "sampling": sampling}
    described = scene(
        Emitter("water", block(low, (WIDTH + shift, depth + shift, HEIGHT + shift)), "water", **words),
        material("water", bulk_modulus=BULK_MODULUS, exponent=EXPONENT, density=DENSITY),
        # the sound crosses the column many times in a frame's 4 ms
        seconds=seconds,
        fps=250.0,
        gravity=(0.0, 0.0, -gravity),
        domain=walls(low, (WIDTH + shift, depth + shift, 1.5 * HEIGHT + shift)),
        dimension=dimension,
        grid_spacing=spacing,
    )
    edges = np.linspace(0.0, HEIGHT, 21)
    kept: list[tuple[Floats, Floats, Floats]] = []

    def measure(simulation: Simulation) -> tuple[float, float]:
        height = diagnostics.positions(simulation)[:, 2] - shift
        ratio = diagnostics.volume_ratios(simulation)
        kept.append((height, pressures(simulation, dimension), ratio))
        if len(kept) > round(AVERAGED * 250.0):
            del kept[0]
        energy = diagnostics.kinetic_energy(simulation) / (diagnostics.mass(simulation) * GRAVITY * HEIGHT)
        return diagnostics.center_of_mass(simulation)[2] - shift, energy

    time, values = observe(described, measure)
    centers, energies = np.array(values).T
    height, pressure, ratio = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    number = np.clip(np.digitize(height, edges) - 1, 0, len(edges) - 2)
    count = np.bincount(number, minlength=len(edges) - 1)
    middle = np.bincount(number, height, len(edges) - 1) / count
    means = np.bincount(number, pressure, len(edges) - 1) / count
    gradient, base = np.polyfit(middle[1:-2], means[1:-2], 1)
    return WaterColumn(
        middle,
        means,
        float(gradient),
        float(base),
        float(centers[-len(kept) :].mean()),
        float(ratio.mean()),
        float(np.mean([np.quantile(each[0], 0.999) for each in kept])) + spacing / 4.0,
        float(energies[-1]),
        time,
        centers,
    )


def pressures(simulation: Simulation, dimension: int) -> Floats:
    """p = -tr tau / (d J) [Pa] of every particle."""
    slots = np.flatnonzero(simulation.store.live)
    xx, yy, zz = (simulation.store.table[STRESS + row, slots].astype(np.float64) for row in (0, 3, 5))
    trace = xx + zz + (yy if dimension == 3 else 0.0)
    return -trace / (dimension * diagnostics.volume_ratios(simulation))
