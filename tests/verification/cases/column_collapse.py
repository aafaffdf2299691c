"""A collapsing column of sand: its runout, and its final height."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Emitter
from mpm_addon.core.scene.settings import Side
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.transfer.rows import STATE
from tests import diagnostics

from .setting import GRAVITY, Floats, material, observe, scene, walls

BASE = 0.1
# heights over L0 in a channel, each with so many cells over L0 that the column is twenty cells high or more
COLUMNS = ((0.5, 40), (1.0, 20), (1.5, 20), (2.0, 20))
DENSITY, YOUNG_MODULUS, POISSON_RATIO = 1800.0, 1.0e6, 0.3


REFERENCE = tomllib.loads((Path(__file__).parents[2] / "reference" / "column_collapse.toml").read_text(encoding="utf-8"))


def envelope(aspect: Any) -> tuple[Any, Any]:
    """The run-out in a channel, for low columns: from a tenth less than Lube 2005 to 15 % more than Lajeunesse 2005."""
    return 0.9 * REFERENCE["channel"]["lube"] * aspect, 1.15 * REFERENCE["channel"]["lajeunesse"] * aspect


@dataclass(frozen=True)
class Collapse:
    """The heap at the end, and the way to it.

    Attributes:
        run_out: (L - L0) / L0 of the farthest particle at the end.
        shoulder: (x - L0) / L0 where the heap is a fifth of L0 high.
        height: of the heap over L0.
        energy: kinetic energy at the end, over the potential energy at the start.
        volume: sum V0 det F at the end, with the volume that the law remembers to be added, over that at the start.
        time: t sqrt(g / L0).
        front: (L - L0) / L0 of the farthest particle over time.
        profile: x / L0 and z / L0 of the surface at the end, shape (bins, 2).
    """

    run_out: float
    shoulder: float
    height: float
    energy: float
    volume: float
    time: Floats
    front: Floats
    profile: Floats


@lru_cache
def column_collapse(
    dimension: int,
    aspect: float,
    *,
    friction_angle: float = 30.0,
    cells: int = 20,
    seconds: float = 1.5,
    offset: float = 0.0,
    floor: str = "sticky",
    floor_friction: float = 0.0,
    young_modulus: float = YOUNG_MODULUS,
) -> Collapse:
    """Sand beside a smooth wall in 2D, or a quarter of a cylinder between two smooth walls in 3D.

    Args:
        aspect: height over L0, the base's width or the cylinder's radius, 0.1 m.
        cells: cells over L0.
        offset: how far the floor lies above a node [cells].
    """
    spacing = BASE / cells
    ground = offset * spacing
    position = _column(dimension, aspect, spacing) + np.array([0.0, 0.0, ground])
    volume = np.full(len(position), (spacing / 2.0) ** dimension)
    high = BASE * (2.0 + 8.0 * aspect)
    described = scene(
        Emitter("sand", SHAPES["points"](position=position, volume=volume), "sand"),
        material("sand", density=DENSITY, young_modulus=young_modulus, poisson_ratio=POISSON_RATIO, friction_angle=friction_angle),
        seconds=seconds,
        fps=50.0,
        domain=walls((0.0, 0.0, -high), (high, high, high), sides={"z_min": Side(surface="open"), "z_max": Side(surface="open")}),
        colliders=(Collider("floor", SHAPES["plane"](point=(0.0, 0.0, ground)), surface=floor, friction=floor_friction),),
        dimension=dimension,
        grid_spacing=spacing,
    )

    def measure(simulation: Simulation) -> dict[str, Any]:
        place = diagnostics.positions(simulation) - np.array([0.0, 0.0, ground])
        reach = np.hypot(place[:, 0], place[:, 1]) if dimension == 3 else place[:, 0]
        added = simulation.store.table[STATE + 1, np.flatnonzero(simulation.store.live)].astype(np.float64)
        return {
            "reach": float(reach.max()) + spacing / 4.0,
            "kinetic": diagnostics.kinetic_energy(simulation),
            "potential": diagnostics.potential_energy(simulation),
            "volume": float(diagnostics.rest_volumes(simulation) @ (diagnostics.volume_ratios(simulation) * np.exp(added))),
            "profile": (reach, place[:, 2]),
        }

    time, values = observe(described, measure)
    first, last = values[0], values[-1]
    profile = _surface(*last["profile"], spacing)
    return Collapse(
        last["reach"] / BASE - 1.0,
        _where_high(profile, 0.2) - 1.0,
        float(profile[:, 1].max()),
        last["kinetic"] / first["potential"],
        last["volume"] / first["volume"],
        time * np.sqrt(GRAVITY / BASE),
        np.array([value["reach"] / BASE - 1.0 for value in values]),
        profile,
    )


def _column(dimension: int, aspect: float, spacing: float) -> Floats:
    """A lattice of two particles along each edge of a cell."""
    across = np.arange(0.25 * spacing, BASE, 0.5 * spacing)
    up = np.arange(0.25 * spacing, aspect * BASE, 0.5 * spacing)
    place = np.stack(np.meshgrid(across, across if dimension == 3 else [0.0], up, indexing="ij"), axis=-1).reshape(-1, 3)
    return place[np.hypot(place[:, 0], place[:, 1]) < BASE]


def _where_high(profile: Floats, height: float) -> float:
    """The farthest x / L0 at which the surface is so high, over L0."""
    x, z = profile.T
    last = int(np.flatnonzero(z >= height)[-1])
    if last + 1 == len(z):
        return float(x[last])
    return float(x[last] + (z[last] - height) / (z[last] - z[last + 1]) * (x[last + 1] - x[last]))


def _surface(reach: Floats, height: Floats, spacing: float) -> Floats:
    """The highest particle in each bin of two cells."""
    number = (reach / (2.0 * spacing)).astype(int)
    bins = np.unique(number)
    top = np.array([height[number == each].max() for each in bins]) + spacing / 4.0
    return np.stack([(bins + 0.5) * 2.0 * spacing / BASE, top / BASE], axis=1)
