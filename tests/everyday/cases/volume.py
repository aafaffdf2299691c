"""Conservation of volume: poured, shaken, in a dam break, and in a free stream."""

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from mpm_addon.core.arithmetic.operations import constant, generic, maximum, minimum
from mpm_addon.core.contact import obstacles
from mpm_addon.core.laws import LAWS
from mpm_addon.core.laws.water import Water, WaterConstants
from mpm_addon.core.scene.animation import Animation
from mpm_addon.core.scene.description import Material, Scene
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics
from tests.verification.cases.setting import GRAVITY, Floats

from .setting import Pool, everyday_scene, pools

SHAKEN_SECONDS, SHAKES_PER_SECOND = 4.0, 1.5
NOZZLE_RADIUS, NOZZLE_SPEED, NOZZLE_HEIGHT = 0.08, 1.0, 1.6


@lru_cache
def poured(*, offset: float = 0.0, spacing: float | None = None, times: tuple[float, ...] = (4.0, 6.0)) -> list[Pool]:
    """A glass .4 m wide, filled by a nozzle for two seconds."""
    return pools(everyday_scene("poured", offset=offset, spacing=spacing), times)


DriftingConstants = NamedTuple("DriftingConstants", list(WaterConstants.__annotations__.items()))


@generic
def drift(constants: DriftingConstants, volume_ratio: Any, velocity_gradient: Any, space: Any, dt: Any) -> Any:
    """J <- (1 + dt tr L) J, at most max(1, 1 / fullness)."""
    fullness, _ = space
    a, _, _, _, e, _, _, _, i = velocity_gradient
    followed = volume_ratio + dt * (a + e + i) * volume_ratio
    one = constant(1.0, fullness)
    return minimum(maximum(1.0 / maximum(fullness, constant(1e-3, fullness)), one), followed)


@dataclass(frozen=True)
class Drifting(Water):
    """Water whose J follows its velocity and is bounded from above alone, so that errors add up."""

    constants_type = DriftingConstants
    advance = staticmethod(drift)

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> Any:
        return DriftingConstants(*super().constants(stiffness_scale, dimension))


def poured_drifting_scene(*, offset: float = 0.0) -> Scene:
    """The scene with such water: the negative control."""
    scene = everyday_scene("poured", offset=offset)
    ((name, material),) = scene.materials.items()
    law = Drifting(**{field.name: getattr(material.law, field.name) for field in fields(material.law)})
    return replace(scene, materials={name: replace(material, law=law)})


@lru_cache
def poured_drifting(*, offset: float = 0.0) -> Pool:
    """The glass with it after four seconds."""
    return pools(poured_drifting_scene(offset=offset), (4.0,))[0]


@lru_cache
def shaken(law: str = "water", *, offset: float = 0.0, spacing: float | None = None, is_upright: bool = False) -> Pool:
    """A box half full, after it was shaken at .8 g for four seconds, sideways or up and down, and stood still for three."""
    scene = everyday_scene("shaken", offset=offset, spacing=spacing)
    frames = np.arange(scene.time.frame_end + 1.0)
    time = frames / scene.time.fps
    shake = np.where(time < SHAKEN_SECONDS, 0.8 * GRAVITY * np.sin(2.0 * np.pi * SHAKES_PER_SECOND * time), 0.0)
    gravity = np.tile([0.0, 0.0, -GRAVITY], (len(frames), 1))
    gravity[:, 2 if is_upright else 0] += shake
    material = Material("filling", LAWS[law]())
    scene = replace(scene, materials={"filling": material}, solver=replace(scene.solver, animation=Animation(frames, {"gravity": gravity})))
    return pools(scene, (7.0,))[0]


@lru_cache
def fallen_dam(*, offset: float = 0.0) -> Pool:
    """Water in a tank, eight seconds after a column of it was let go."""
    return pools(everyday_scene("dam", offset=offset), (8.0,))[0]


def slab_surface(*, offset: float, fall: float) -> float:
    """The height below which 98 % of a slab of water is, over .98 of its depth, three seconds after it fell by a number of cells."""
    scene = everyday_scene("slab", offset=offset)
    (emitter,) = scene.emitters
    depth, low = emitter.shape.size[2], scene.domain.min[2]
    x, y, _ = emitter.shape.center
    center = (x, y, low + fall * scene.solver.grid_spacing + 0.5 * depth)
    scene = replace(scene, emitters=(replace(emitter, shape=replace(emitter.shape, center=center)),))
    simulation = Simulation(scene)
    for _ in simulation.frames():
        pass
    return (float(np.quantile(diagnostics.positions(simulation)[:, 2], 0.98)) - low) / (0.98 * depth)


def slab_surface_without_sinking(*, offset: float) -> float:
    """The same if water never sinks onto what it has landed on: the negative control."""
    with mock.patch.object(obstacles, "SETTLING", 0.0):
        return slab_surface(offset=offset, fall=1.0)


@lru_cache
def stream_radii(heights_fallen: tuple[float, ...], *, cohesion: float | None = None, spacing: float | None = None) -> Floats:
    """The radius of a falling stream over the nozzle's, by how far it has fallen [m]; means over half a second."""
    scene = everyday_scene("stream", spacing=spacing, material=None if cohesion is None else {"cohesion": cohesion})
    simulation = Simulation(scene)
    seen = []
    for frame in simulation.frames():
        if frame.time > scene.time.frame_end / scene.time.fps - 0.5:
            seen.append(diagnostics.positions(simulation))
    position = np.concatenate(seen)
    radius = np.hypot(position[:, 0], position[:, 1])
    found = []
    for fallen in heights_fallen:
        is_there = np.abs(position[:, 2] - (NOZZLE_HEIGHT - fallen)) < 0.05
        # of a full disk the mean square is half the radius squared
        found.append(np.sqrt(2.0 * np.mean(radius[is_there] ** 2)) / NOZZLE_RADIUS)
    return np.array(found)


def ideal_radii(heights_fallen: tuple[float, ...]) -> Floats:
    """The same of an incompressible stream in free fall: sqrt(v0 / v)."""
    speed = np.sqrt(NOZZLE_SPEED**2 + 2.0 * GRAVITY * np.asarray(heights_fallen))
    return np.sqrt(NOZZLE_SPEED / speed)
