"""A beam clamped at one end: its first natural frequency, and its deflection under its own weight."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.transfer.rows import VELOCITY, VELOCITY_GRADIENT
from tests import diagnostics

from .bar import period_of
from .setting import GRAVITY, Floats, block, material, observe, scene

LENGTH, DENSITY = 1.0, 1000.0
# of a beam that sags
THICKNESS = 0.1
# after so many periods beams are within .2 % of their length after three
RESTED = 2.0
# the first root of cos(x) cosh(x) = -1
FIRST_ROOT = 1.875104068711961


@dataclass(frozen=True)
class BeamVibration:
    """The first mode of a clamped beam.

    Attributes:
        time: [s].
        amplitude: sum m v w_1(x), over its first value.
        frequency: from the zero crossings [1/s].
        expected: Euler and Bernoulli's [1/s].
    """

    time: Floats
    amplitude: Floats
    frequency: float
    expected: float


@lru_cache
def beam_vibration(
    dimension: int, *, cells: int = 4, thickness: float = 0.05, young_modulus: float = 1.0e6, transfer: str = "apic", periods: float = 3.0
) -> BeamVibration:
    """A beam that is struck with the speed of its first mode, nu = 0, no gravity.

    omega_1 = 1.8751^2 / L^2 sqrt(E H^2 / (12 rho)) (Euler and Bernoulli; Timoshenko, Vibration Problems in Engineering, 1937).

    Args:
        cells: cells over the thickness.
        thickness: H, over the length of 1 m.
    """
    position, spacing = _lattice(dimension, thickness, cells)
    shape = first_mode(position[:, 0])
    velocity = np.zeros_like(position)
    velocity[:, 2] = 0.02 * shape
    expected = FIRST_ROOT**2 * np.sqrt(young_modulus * thickness**2 / (12.0 * DENSITY)) / (2.0 * np.pi * LENGTH**2)
    described = _clamped(
        dimension, position, velocity, spacing, _elastic(young_modulus), seconds=periods / expected, fps=60.0 * expected, transfer=transfer
    )

    def measure(simulation: Simulation) -> float:
        weights = diagnostics.masses(simulation) * shape[diagnostics.ids(simulation)]
        return float(weights @ diagnostics.velocities(simulation)[:, 2])

    time, values = observe(described, measure)
    amplitude = np.array(values) / values[0]
    return BeamVibration(time, amplitude, 1.0 / period_of(time, amplitude), expected)


def first_mode(x: Floats) -> Floats:
    """The first mode's deflection, 1 at the free end; 0 inside the clamp."""
    z = FIRST_ROOT * np.maximum(x, 0.0) / LENGTH
    ratio = (np.cosh(FIRST_ROOT) + np.cos(FIRST_ROOT)) / (np.sinh(FIRST_ROOT) + np.sin(FIRST_ROOT))
    return 0.5 * (np.cosh(z) - np.cos(z) - ratio * (np.sinh(z) - np.sin(z)))


@dataclass(frozen=True)
class Sag:
    """A beam at rest under its weight.

    Attributes:
        tip: of the free end's middle: how far it has moved back along x and down along z, over L.
        expected: the same of the elastica.
        line: the middle line, x / L and z / L, shape (n, 2).
        elastica: likewise.
    """

    tip: Floats
    expected: Floats
    line: Floats
    elastica: Floats


@lru_cache
def sagging_beam(
    dimension: int,
    load: float,
    *,
    cells: int = 4,
    stiffness_scale: float = 1.0,
    reference: str = "current",
    clamp: str = "collider",
    offset: float = 0.0,
    periods: float = 3.0,
    cfl: float = 0.4,
) -> Sag:
    """A beam that bends under its own weight until it rests, nu = 0.

    Whenever the kinetic energy has passed a peak all velocities are set to zero, which brings it to rest in a few swings
    (dynamic relaxation with kinetic damping; Cundall 1976).

    Args:
        load: w L^3 / (E I) with w the weight of a meter.
        cells: cells over the thickness H, a tenth of the length.
        stiffness_scale: a factor on E that the expected values do not know.
        reference: of the elastic law.
        clamp: "collider": a sticky box around the first three cells; "pins": their particles are pinned.
        offset: how far everything is moved along all axes [cells].
        periods: how long it may take to come to rest, in periods of the first mode.
        cfl: of the solver.
    """
    position, spacing = _lattice(dimension, THICKNESS, cells)
    young_modulus = 12.0 * DENSITY * GRAVITY * LENGTH**3 / (load * THICKNESS**2)
    frequency = FIRST_ROOT**2 * np.sqrt(young_modulus * THICKNESS**2 / (12.0 * DENSITY)) / (2.0 * np.pi * LENGTH**2)
    described = _clamped(
        dimension,
        position,
        np.zeros_like(position),
        spacing,
        _elastic(young_modulus * stiffness_scale, reference),
        seconds=periods / frequency,
        fps=60.0 * frequency,
        gravity=(0.0, 0.0, -GRAVITY),
        clamp=clamp,
        shift=offset * spacing,
        cfl=cfl,
    )
    energies = [0.0]

    def relax(simulation: Simulation) -> Floats:
        energies.append(diagnostics.kinetic_energy(simulation))
        if energies[-1] < energies[-2]:
            table = simulation.store.table
            table[VELOCITY : VELOCITY + 3] = 0.0
            table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9] = 0.0
            simulation._stepper.rest.grid.velocity[:] = 0.0
            energies[-1] = 0.0
        return diagnostics.positions(simulation)[np.argsort(diagnostics.ids(simulation))] - offset * spacing

    line = _middle_line(position, observe(described, relax)[1][-1])
    # the outermost section lies a quarter of a cell before the end
    tip = line[-1] + (line[-1] - line[-2]) * 0.5
    shape = elastica(load)
    return Sag(np.array([1.0, 0.0]) - tip / LENGTH, np.array([1.0, 0.0]) - shape[-1], line / LENGTH, shape)


def _middle_line(position: Floats, place: Floats) -> Floats:
    """Each cross-section's middle, x and z, from the clamp on."""
    sections, number = np.unique(position[:, 0], return_inverse=True)
    count = np.bincount(number)
    return np.stack([np.bincount(number, place[:, axis]) / count for axis in (0, 2)], axis=1)[sections > 0.0]


@lru_cache
def elastica(load: float, tip_load: float = 0.0, count: int = 2000) -> Floats:
    """The shape of a thin clamped beam under its weight and a force at its end.

    E I theta'' = -(P + w (L - s)) cos theta, theta(0) = 0, theta'(L) = 0 (Bisshopp and Drucker 1945 for P alone, Rohde 1953 for
    w alone), by shooting with the classical Runge-Kutta method.

    Args:
        load: w L^3 / (E I); tip_load: P L^2 / (E I).

    Returns:
        x / L and z / L along the beam, shape (count + 1, 2); z is negative.
    """

    def slope(s: float, angle: float, curvature: float) -> tuple[float, float, float, float]:
        cosine = math.cos(angle)
        return curvature, -(tip_load + load * (1.0 - s)) * cosine, cosine, -math.sin(angle)

    def shot(curvature: float) -> list[tuple[float, ...]]:
        step = 1.0 / count
        states: list[tuple[float, ...]] = [(0.0, curvature, 0.0, 0.0)]
        for number in range(count):
            s, y = number * step, states[-1]
            k1 = slope(s, y[0], y[1])
            k2 = slope(s + step / 2, y[0] + step / 2 * k1[0], y[1] + step / 2 * k1[1])
            k3 = slope(s + step / 2, y[0] + step / 2 * k2[0], y[1] + step / 2 * k2[1])
            k4 = slope(s + step, y[0] + step * k3[0], y[1] + step * k3[1])
            states.append(tuple(a + step / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4, strict=True)))
        return states

    low, high = 0.0, tip_load + load / 2.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if shot(middle)[-1][1] < 0.0 else (low, middle)
    return np.array(shot(0.5 * (low + high)))[:, 2:]


def _lattice(dimension: int, thickness: float, cells: int) -> tuple[Floats, float]:
    """Two particles along each edge of a cell; the beam reaches three cells into the clamp. Positions and the cell size."""
    spacing = thickness / cells
    along = np.arange(-3.0 * spacing + 0.25 * spacing, LENGTH, 0.5 * spacing)
    up = np.arange(0.25 * spacing - 0.5 * thickness, 0.5 * thickness, 0.5 * spacing)
    across = np.arange(0.25 * spacing, 2.0 * spacing, 0.5 * spacing) if dimension == 3 else np.zeros(1)
    return np.stack(np.meshgrid(along, across, up, indexing="ij"), axis=-1).reshape(-1, 3), spacing


def _elastic(young_modulus: float, reference: str = "current") -> Material:
    return material("neo_hookean", young_modulus=young_modulus, poisson_ratio=0.0, density=DENSITY, reference=reference)


def _clamped(
    dimension: int,
    position: Floats,
    velocity: Floats,
    spacing: float,
    law: Material,
    *,
    seconds: float,
    fps: float,
    clamp: str = "collider",
    shift: float = 0.0,
    **solver: Any,
) -> Scene:
    """The scene, moved by `shift` [m] along all axes; without gravity by default."""
    far, way = LENGTH, np.array([shift, shift if dimension == 3 else 0.0, shift])

    def part(name: str, its: NDArray[np.bool_], goal: float) -> Emitter:
        volume = np.full(np.count_nonzero(its), (spacing / 2.0) ** dimension)
        points = SHAPES["points"](position=position[its] + way, velocity=velocity[its], volume=volume)
        return Emitter(name, points, "neo_hookean", body="beam", goal=goal)

    # the particles of both parts in the order of `position`, as the middle line needs them
    is_held = (position[:, 0] < 0.0) & (clamp == "pins")
    parts = [part(name, its, goal) for name, its, goal in (("root", is_held, 1.0), ("beam", ~is_held, 0.0)) if its.any()]
    box = block((-far, -far, -far), (0.0, far, far))
    held = Collider("clamp", replace(box, center=tuple(float(each) for each in np.add(box.center, shift))), surface="sticky")
    return scene(
        parts,
        law,
        seconds=seconds,
        fps=fps,
        colliders=() if clamp == "pins" else (held,),
        dimension=dimension,
        precision="float64",
        grid_spacing=spacing,
        **{"gravity": (0.0, 0.0, 0.0), **solver},
    )
