"""Shared by the cases: scenes in two or three dimensions, and measuring a simulation frame by frame."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.scene.settings import Domain, Side, Solver, Time
from mpm_addon.core.stepping.simulation import Simulation

Floats = NDArray[np.float64]
Value = TypeVar("Value")

GRAVITY = 9.81


def lattice(dimension: int, per_axis: int = 2) -> dict[str, Any]:
    """An emitter's words for a lattice of so many particles along each edge of a cell."""
    return {"sampling": "lattice", "particles_per_cell": per_axis**dimension}


def material(name: str, **parameters: Any) -> Material:
    return Material(name, LAWS[name](**parameters))


def block(low: tuple[float, float, float], high: tuple[float, float, float]) -> Any:
    """A box from its lowest to its highest corner [m]."""
    center, size = np.add(low, high) / 2.0, np.subtract(high, low)
    return SHAPES["box"](center=tuple(float(c) for c in center), size=tuple(float(s) for s in size))


def walls(
    low: tuple[float, float, float], high: tuple[float, float, float], *, sides: dict[str, Side] | None = None, surface: str = "slip"
) -> Domain:
    """A box domain whose sides are alike but for those that are named."""
    names = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")
    return Domain(kind="box", min=low, max=high, sides={name: (sides or {}).get(name, Side(surface=surface)) for name in names})


def scene(
    emitters: list[Emitter] | Emitter,
    materials: list[Material] | Material,
    *,
    seconds: float,
    fps: float,
    colliders: tuple[Collider, ...] = (),
    domain: Domain | None = None,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
    **solver: Any,
) -> Scene:
    """A scene of a given time, frame by frame."""
    listed = materials if isinstance(materials, list) else [materials]
    return Scene(
        "verification",
        Solver(gravity=gravity, **solver),
        {each.name: each for each in listed},
        tuple(emitters) if isinstance(emitters, list) else (emitters,),
        time=Time(fps=fps, frame_start=0, frame_end=round(seconds * fps)),
        colliders=colliders,
        domain=domain or Domain(),
    )


def observe(described: Scene, measure: Callable[[Simulation], Value]) -> tuple[Floats, list[Value]]:
    """Simulate, and measure at every frame.

    Returns:
        The frames' times [s], and what was measured.
    """
    simulation = Simulation(described)
    times, values = [], []
    for frame in simulation.frames():
        times.append(frame.time)
        values.append(measure(simulation))
    return np.array(times), values
