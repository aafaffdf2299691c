"""Solids on slopes and floors that hold them: they slide by Coulomb's law, stand, and touch what they have landed on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from unittest import mock

import numpy as np

from mpm_addon.core.contact import obstacles
from mpm_addon.core.emission.pins import Pins
from mpm_addon.core.geometry.shapes.box import Box
from mpm_addon.core.geometry.shapes.plane import Plane
from mpm_addon.core.laws import LAWS
from mpm_addon.core.laws.damped_elastic import DampedElastic
from mpm_addon.core.laws.law import Law
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.scene.settings import Solver, Time
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics
from tests.verification.cases.setting import GRAVITY, Floats, lattice

from . import bodies
from .setting import everyday_scene

SPACING = 0.05
FPS = 50.0
# as the preset, but for its color
JELLY = DampedElastic(density=1050.0, young_modulus=5e4, poisson_ratio=0.4, damping_time=0.003)
# three times as long as it is high, so that it does not tip [cells]
FLAT = (12.0, 6.0, 4.0)
CUBE = (8.0, 8.0, 8.0)


@dataclass(frozen=True)
class Slide:
    """A block on a slope.

    Attributes:
        time: [s]; way: of its center of mass down the slope [m]; speed: [m/s]; all of shape (frames,).
    """

    time: Floats
    way: Floats
    speed: Floats

    @property
    def acceleration(self) -> float:
        """In the second half of the time [m/s^2]."""
        late = self.time >= 0.5 * self.time[-1]
        return float(np.polyfit(self.time[late], self.speed[late], 1)[0])

    @property
    def creep(self) -> float:
        """The mean speed in the last quarter of the time [m/s]."""
        first = len(self.time) * 3 // 4
        return float((self.way[-1] - self.way[first]) / (self.time[-1] - self.time[first]))


def coulomb(angle: float, friction: float) -> float:
    """How fast a block on a slope [degrees] becomes faster [m/s^2]."""
    tilt = np.radians(angle)
    return float(max(0.0, GRAVITY * (np.sin(tilt) - friction * np.cos(tilt))))


@lru_cache
def slide(
    angle: float, friction: float, *, size: tuple[float, float, float] = FLAT, offset: float = 0.0, dimension: int = 2, seconds: float = 1.2
) -> Slide:
    """A block of jelly on a fixed slope.

    Args:
        angle: of the slope, which is turned against the grid [degrees].
        friction: Coulomb coefficient.
        size: of the block [cells].
        offset: how far the slope is moved along all axes [cells].
        dimension: 2 or 3.
        seconds: how long it is watched.
    """
    tilt, way = np.radians(angle), np.full(3, offset * SPACING)
    down, up = np.array([np.cos(tilt), 0.0, -np.sin(tilt)]), np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    edges = SPACING * np.array(size)
    box = Box(center=_tuple(way + 0.5 * edges[2] * up), size=_tuple(edges), rotation=(0.0, angle, 0.0))
    slope = Collider("slope", Plane(point=_tuple(way), normal=_tuple(up)), surface="separate", friction=friction)
    scene = _scene(box, JELLY, (slope,), dimension=dimension, seconds=seconds)
    simulation = Simulation(scene)
    rows = [
        (frame.time, diagnostics.center_of_mass(simulation) @ down, diagnostics.velocities(simulation).mean(axis=0) @ down)
        for frame in simulation.frames()
    ]
    return Slide(*np.array(rows).T)


@lru_cache
def jelly_slope(angle: float, friction: float, *, offset: float = 0.0, seconds: float = 1.2) -> Slide:
    """A flat jelly on a slope of jelly that is pinned; gravity is turned instead of the slope."""
    scene = everyday_scene("slope", offset=offset, material={"contact_friction": friction, "damping_time": JELLY.damping_time})
    tilt = np.radians(angle)
    solver = replace(scene.solver, gravity=(float(GRAVITY * np.sin(tilt)), 0.0, float(-GRAVITY * np.cos(tilt))))
    frames = bodies.parts_of(replace(scene, solver=solver, time=replace(scene.time, frame_end=round(seconds * scene.time.fps))))
    rows = [(each.time, each.position[0][:, 0].mean(), each.velocity[0][:, 0].mean()) for each in frames]
    return Slide(*np.array(rows).T)


@contextmanager
def giving_way() -> Iterator[None]:
    """Nodes that pinned particles hold give way to other bodies: the negative control."""
    with mock.patch.object(Pins, "held_nodes", lambda pins, store: np.zeros(store.layout.node_count, np.int64)):
        yield


@lru_cache
def landed(
    law: str = "jelly", *, offset: float = 0.0, height: float = 2.0, lift: bool = False, has_sand: bool = False, seconds: float = 2.0
) -> float:
    """The gap between a block at rest and what it has landed on [cells], below half of the distance of particles.

    Args:
        law: of its material, or `"jelly"`.
        offset: how far the floor is moved along all axes [cells].
        height: from which it falls [cells].
        lift: whether it lies on a box that throws it up: it rises by ten cells and stops at once.
        has_sand: whether sand falls on the floor ten cells beside it.
        seconds: how long it is watched.
    """
    way = np.full(3, offset * SPACING)
    edges = SPACING * np.array([8.0, 8.0, 4.0])
    fall = 0.0 if lift else height * SPACING
    box = Box(center=_tuple(way + np.array([0.0, 0.0, 0.5 * edges[2] + fall])), size=_tuple(edges))
    floor = Collider("floor", Plane(point=_tuple(way)))
    rise = 10.0 * SPACING if lift else 0.0
    if lift:
        frames = np.arange(round(seconds * FPS) + 1.0)
        matrices = np.tile(np.eye(4), (len(frames), 1, 1))
        matrices[:, 2, 3] = rise * np.minimum(frames / (0.25 * FPS), 1.0)
        floor = Collider(
            "floor",
            Box(center=_tuple(way - np.array([0.0, 0.0, 2.0 * SPACING])), size=(1.2, 1.2, 0.2)),
            motion=Motion(frames, matrices=matrices),
        )
    material = JELLY if law == "jelly" else LAWS[law]()
    scene = _scene(box, material, (floor,), dimension=2, seconds=seconds)
    if has_sand:
        (block,) = scene.emitters
        x, y, z = box.center
        sand = replace(block, name="sand", material="sand", shape=replace(box, center=(x + 16.0 * SPACING, y, z)))
        scene = replace(scene, materials={**scene.materials, "sand": Material("sand", LAWS["sand"]())}, emitters=(block, sand))
    simulation = Simulation(scene)
    for _ in simulation.frames():
        continue
    places = (diagnostics.positions(simulation) - way)[simulation.provenance.emitter[diagnostics.ids(simulation)] == 0]
    is_middle = np.abs(places[:, 0]) < 2.0 * SPACING
    return float((places[is_middle, 2].min() - rise) / SPACING - 0.25)


def landed_at_once(law: str = "jelly", **given: Any) -> float:
    """The same where solids do not settle after they have landed: the negative control."""
    with mock.patch.object(obstacles, "SETTLING", 0.0):
        return landed.__wrapped__(law, **given)


def _scene(box: Box, law: Law, colliders: tuple[Collider, ...], *, dimension: int, seconds: float) -> Scene:
    return Scene(
        "slope",
        Solver(grid_spacing=SPACING, dimension=dimension),
        {"material": Material("material", law)},
        (Emitter("block", box, "material", **lattice(dimension)),),
        time=Time(fps=FPS, frame_start=0, frame_end=round(seconds * FPS)),
        colliders=colliders,
    )


def _tuple(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(each) for each in values)
    return x, y, z
