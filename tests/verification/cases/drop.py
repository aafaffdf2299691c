"""Drops and threads of water without gravity, held together by their surface tension."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mpm_addon.core.geometry.shapes import SHAPES, Points
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from tests import diagnostics

from .setting import Floats, block, material, observe, scene, walls

SPACING = 2.5e-4
DENSITY, TENSION, VISCOSITY = 1000.0, 0.072, 0.001
FREE = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Swing:
    """An oscillation between prolate and oblate shapes.

    Attributes:
        period: over the period of an inviscid drop.
        pressure: mean pressure inside over that of Laplace.
        elongation: <z^2> - <x^2> (in 3D, of the mean of x and y) over the radius squared, frame by frame.
    """

    period: float
    pressure: float
    elongation: Floats


def water(tension: float = TENSION, **parameters: Any) -> Any:
    return material("water", **{"surface_tension": tension, "viscosity": VISCOSITY, "stiffness": "automatic", **parameters})


def ellipsoid(dimension: int, cells: float, elongation: float, shift: float, density: int) -> Points:
    """A ball of a radius in cells, stretched along z without a change of volume; points on a jittered lattice, `density` along a cell."""
    step = 1.0 / density
    ticks = np.arange(-1.5 * cells, 1.5 * cells, step) + 0.5 * step
    grid = np.stack(np.meshgrid(ticks, ticks if dimension == 3 else [0.0], ticks, indexing="ij"), axis=-1).reshape(-1, 3)
    jitter = 0.25 * step * np.random.default_rng(1).uniform(-1.0, 1.0, grid.shape)
    grid += jitter if dimension == 3 else jitter * (1.0, 0.0, 1.0)
    across = (1.0 + elongation) ** (-1.0 / (dimension - 1))
    inside = np.square(grid / (across, across, 1.0 + elongation)).sum(axis=1) < cells**2
    moved = (grid[inside] + np.array([0.3, 0.1 if dimension == 3 else 0.0, 0.2]) + shift) * SPACING
    if dimension == 2:
        moved[:, 1] = 0.0
    return Points(moved, None, np.full(len(moved), (step * SPACING) ** dimension))


@lru_cache
def swing(
    dimension: int,
    cells: float,
    *,
    elongation: float = 0.1,
    tension: float = TENSION,
    shift: float = 0.0,
    density: int = 2,
    kernel: str = "quadratic",
    periods: float = 1.4,
) -> Swing:
    """A drop of a radius in cells that begins at rest as an ellipsoid.

    Inviscid, its second mode has w^2 = 8 sigma / (rho R^3); in two dimensions, w^2 = 6 sigma / (rho R^3) (Rayleigh 1879).
    """
    shape = ellipsoid(dimension, cells, elongation, shift, density)
    assert shape.volume is not None
    volume = float(shape.volume.sum())
    radius = (3.0 * volume / (4.0 * np.pi)) ** (1.0 / 3.0) if dimension == 3 else np.sqrt(volume / np.pi)
    period = 2.0 * np.pi * np.sqrt(DENSITY * radius**3 / ((8.0 if dimension == 3 else 6.0) * TENSION))
    described = scene(
        Emitter("drop", shape, "water"),
        water(tension),
        seconds=periods * period,
        fps=40.0 / period,
        gravity=FREE,
        dimension=dimension,
        grid_spacing=SPACING,
        kernel=kernel,
    )

    def measure(simulation: Any) -> tuple[float, float]:
        away = diagnostics.positions(simulation) - diagnostics.positions(simulation).mean(axis=0)
        deep = np.linalg.norm(away, axis=1) < radius - 3.0 * SPACING
        modulus = simulation.instances[0].law.bulk_modulus
        # Tait's equation of state with the exponent 7
        pressure = np.maximum(modulus / 7.0 * (diagnostics.volume_ratios(simulation)[deep] ** -7.0 - 1.0), 0.0)
        x, y, z = np.square(away).mean(axis=0)
        return float(z - (x + y) / (dimension - 1)), float(pressure.mean())

    times, values = observe(described, measure)
    elongations, pressures = np.array(values).T
    # a whole period lies between every second zero
    before = np.flatnonzero(elongations[1:] * elongations[:-1] < 0.0)
    steps = elongations[before] / (elongations[before] - elongations[before + 1])
    zeros = times[before] + steps * (times[before + 1] - times[before])
    whole = times > times[-1] - period
    laplace = (dimension - 1) * TENSION / radius
    found = (zeros[2] - zeros[0]) / period if len(zeros) > 2 else np.inf
    return Swing(found, float(pressures[whole].mean()) / laplace, elongations / radius**2)


@lru_cache
def cube(tension: float = TENSION) -> Floats:
    """A cube ten cells wide: the sum of the fourth moments about its center over the square of the sum of the second ones, at frames.

    25/21 = 1.19 for a ball, 1.27 for a cube.
    """
    edge = 10.0 * SPACING
    shape = SHAPES["box"](center=(1e-4, 2e-5, 3e-5), size=(edge, edge, edge))
    described = scene(Emitter("cube", shape, "water"), water(tension), seconds=0.06, fps=100.0, gravity=FREE, grid_spacing=SPACING)

    def measure(simulation: Any) -> float:
        squared = np.square(diagnostics.positions(simulation) - diagnostics.positions(simulation).mean(axis=0)).sum(axis=1)
        return float(np.square(squared).mean() / squared.mean() ** 2)

    return np.array(observe(described, measure)[1])


THREAD_RADIUS = 3.0
# 9 radii: the wavelength of the ripples that grow fastest (Rayleigh 1878)
WAVELENGTH = 9.0 * THREAD_RADIUS


@lru_cache
def thread(tension: float = TENSION) -> Floats:
    """A thread with a radius of 3 cells between two slippery walls, two wavelengths long and thicker by 5 % in their middles.

    Returns:
        How many particles are in each slice one cell long, over those at first, after five times the time sqrt(rho R^3 / sigma).
    """
    length, step = 2.0 * WAVELENGTH, 0.5
    ticks, along = np.arange(-4.0, 4.0, step) + 0.5 * step, np.arange(0.0, length, step) + 0.5 * step
    grid = np.stack(np.meshgrid(ticks, ticks, along, indexing="ij"), axis=-1).reshape(-1, 3)
    grid += 0.25 * step * np.random.default_rng(2).uniform(-1.0, 1.0, grid.shape)
    inside = np.hypot(grid[:, 0], grid[:, 1]) < THREAD_RADIUS * (1.0 + 0.05 * np.cos(2.0 * np.pi * grid[:, 2] / WAVELENGTH))
    shape = Points(grid[inside] * SPACING, None, np.full(int(inside.sum()), (step * SPACING) ** 3))
    far = 30.0 * SPACING
    described = scene(
        Emitter("thread", shape, "water"),
        water(tension),
        seconds=12.0 * float(np.sqrt(DENSITY * (THREAD_RADIUS * SPACING) ** 3 / TENSION)),
        fps=1.0 / (12.0 * float(np.sqrt(DENSITY * (THREAD_RADIUS * SPACING) ** 3 / TENSION))),
        gravity=FREE,
        domain=walls((-far, -far, 0.0), (far, far, length * SPACING)),
        grid_spacing=SPACING,
    )
    slices = round(length)

    def measure(simulation: Any) -> Floats:
        return np.histogram(diagnostics.positions(simulation)[:, 2] / SPACING, slices, (0.0, length))[0].astype(np.float64)

    first, last = observe(described, measure)[1]
    return last / first


def resting(surface: str, dimension: int = 2, *, fps: float = 20.0) -> Scene:
    """Half a disk of viscous water on a plane, for three frames."""
    radius = 9.0 * SPACING
    floor = Collider("floor", SHAPES["plane"](point=(0.0, 0.0, 0.3 * SPACING)), surface=surface)
    shape = block((-0.9 * radius, -radius, 0.3 * SPACING), (0.9 * radius, radius, 0.9 * radius))
    return scene(
        Emitter("drop", shape, "water", particles_per_cell=9),
        water(viscosity=0.02),
        seconds=3.0 / fps,
        fps=fps,
        colliders=(floor,),
        gravity=FREE,
        dimension=dimension,
        grid_spacing=SPACING,
    )


def contact_angle(surface: str) -> float:
    """The angle [degrees] inside the water of a drop that comes to rest, from the height and the width of its arc; 180 if it lets go."""

    def measure(simulation: Any) -> Floats:
        return diagnostics.positions(simulation) / SPACING - (0.0, 0.0, 0.3)

    last = observe(resting(surface), measure)[1][-1]
    foot = last[last[:, 2] < 1.0, 0]
    if foot.size < 10:
        return 180.0
    return float(np.degrees(2.0 * np.arctan2(np.quantile(last[:, 2], 0.995), 0.5 * np.ptp(foot))))
