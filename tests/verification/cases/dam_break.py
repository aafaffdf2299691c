"""A collapsing column of water: the speed of its front along the floor."""

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from mpm_addon.core.scene.description import Emitter
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics

from .setting import GRAVITY, Floats, block, lattice, material, observe, scene, walls

BASE, HEIGHT = 0.146, 0.292
REFERENCE = Path(__file__).parents[2] / "reference" / "martin_moyce_1952.csv"
# how long the gate of the experiment takes to get out of the way, in its own measure of time
GATE_RELEASE = 0.175


@dataclass(frozen=True)
class DamBreak:
    """The front of the water.

    Attributes:
        time: T = t sqrt(2 g / a), with the gate's release.
        front: Z = x / a.
    """

    time: Floats
    front: Floats

    def at(self, time: Floats) -> Floats:
        """The front at given T."""
        return np.interp(time, self.time, self.front)


def measured_front() -> tuple[Floats, Floats]:
    """T and Z of Martin and Moyce 1952 for n^2 = 2."""
    lines = [line for line in REFERENCE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = np.array([[float(row["T"]), float(row["Z"])] for row in csv.DictReader(lines)])
    return rows[:, 0], rows[:, 1]


@lru_cache
def dam_break(
    dimension: int, *, cells: int = 20, gravity: float = GRAVITY, gate_release: float = GATE_RELEASE, sampling: str = "lattice"
) -> DamBreak:
    """Water 0.146 m wide and twice as high between smooth walls; in 3D a slab of two cells.

    Args:
        cells: cells over the base.
    """
    spacing = BASE / cells
    depth = 2.0 * spacing
    # ten times the fastest front, 2 sqrt(g h)
    sound_speed = 20.0 * np.sqrt(GRAVITY * HEIGHT)
    described = scene(
        Emitter("water", block((0.0, 0.0, 0.0), (BASE, depth, HEIGHT)), "water", **{**lattice(dimension), "sampling": sampling}),
        material("water", bulk_modulus=1000.0 * sound_speed**2, exponent=7.0, density=1000.0),
        seconds=0.28,
        fps=250.0,
        gravity=(0.0, 0.0, -gravity),
        domain=walls((0.0, 0.0, 0.0), (5.0 * BASE, depth, 2.0 * HEIGHT)),
        dimension=dimension,
        grid_spacing=spacing,
    )

    def measure(simulation: Simulation) -> float:
        return float(diagnostics.positions(simulation)[:, 0].max() + spacing / 4.0)

    time, front = observe(described, measure)
    return DamBreak(time * np.sqrt(2.0 * GRAVITY / BASE) + gate_release, np.array(front) / BASE)
