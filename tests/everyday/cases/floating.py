"""Rigid bodies in water: how deep they float, and what the water does meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from unittest import mock

import numpy as np

from mpm_addon.core.contact import coupling
from mpm_addon.core.contact.coupling import RigidBodies
from mpm_addon.core.contact.obstacles import ObstacleGroup
from mpm_addon.core.contact.uplift import Uplift
from mpm_addon.core.geometry.shapes import Mesh
from mpm_addon.core.geometry.shapes.box import CUBE_TRIANGLES
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.stepping import stepper
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.transfer.particle_store import ParticleStore
from tests import diagnostics
from tests.verification.cases.setting import GRAVITY, Floats

from .setting import everyday_scene

# water this deep in a body is not at its surface [cells]
DEEP = 0.5
# at the end, over which waves are averaged [s]
LAST = 1.0
WATER = 1000.0
# of the crate [m]
EDGE = 0.32


@dataclass(frozen=True)
class Floating:
    """A body in a tank, over the last second.

    Attributes:
        draft: how far the bottom of an upright body of the same height would be below the level, over its height.
        bottom: its height above the floor [cells].
        level: of the water, over what water and the displaced volume fill.
        inside: the volume of water deeper than half a cell in the body, over the body's.
    """

    draft: float
    bottom: float
    level: float
    inside: float


class Plain(ObstacleGroup):
    """Feet with linear weights, one for each node: the negative control."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.footing._is_exact = False


class Held(RigidBodies):
    """Rigid bodies that gravity and water do not move, and that add up what water does to them."""

    impulse = np.zeros(3)

    def exchange_momentum(self, store: ParticleStore, gravity: Floats, dt: float) -> None:
        state = self.state()
        super().exchange_momentum(store, 0.0 * gravity, dt)
        (body,) = self.bodies
        self.impulse += body.mass * body.velocity
        self.load(state)


def crate(density: float, *, offset: float, seconds: float, cells: int = 8, dimension: int = 3) -> Scene:
    """The scene.

    Args:
        density: [kg/m^3].
        offset: how far everything is moved along all axes [cells].
        cells: how many there are along an edge of the crate.
    """
    scene = everyday_scene("floating", offset=offset, spacing=EDGE / cells)
    (body,) = scene.colliders
    x, y, level = body.shape.center
    # the scene's is let go with half of it above the level
    center = (x, y, level + EDGE * (0.5 - min(density / WATER, 1.0)))
    body = replace(body, density=density, shape=replace(body.shape, center=center))
    time, solver = replace(scene.time, frame_end=round(seconds * scene.time.fps)), replace(scene.solver, dimension=dimension)
    return replace(scene, time=time, solver=solver, colliders=(body,))


def lying(gap: float, *, offset: float, seconds: float, cells: int, depth: float) -> Scene:
    """A crate of 400 kg/m^3 above the floor, with water around it, in a plane.

    Args:
        gap: of dry space below it at the start [cells].
        depth: of the water [edges].
    """
    scene = crate(400.0, offset=offset, seconds=seconds, cells=cells, dimension=2)
    (body,), (water,) = scene.colliders, scene.emitters
    x, y, _ = body.shape.center
    floor = scene.domain.min[2]
    body = replace(body, shape=replace(body.shape, center=(x, y, floor + gap * EDGE / cells + 0.5 * EDGE)))
    width = water.shape.size[0]
    shape = replace(water.shape, center=(x, y, floor + 0.5 * depth * EDGE), size=(width, width, depth * EDGE))
    return replace(scene, colliders=(body,), emitters=(replace(water, shape=shape),))


def risen(gap: float, *, offset: float, seconds: float = 3.0, cells: int = 6, depth: float = 1.75) -> float:
    """How far a crate of `lying` rises [edges]."""
    return _rise(lying(gap, offset=offset, seconds=seconds, cells=cells, depth=depth))


def risen_without_uplift(*, offset: float) -> float:
    """The same with nothing that presses in narrow gaps: the negative control."""
    with mock.patch.object(Uplift, "push", lambda *arguments: None):
        return risen(0.0, offset=offset)


def risen_in_a_dry_box(*, offset: float) -> float:
    """How far it rises if it stands a cell away from walls, outside of which the water is as high as itself [edges]."""
    scene = lying(0.0, offset=offset, seconds=1.0, cells=6, depth=1.0)
    (body,), (water,) = scene.colliders, scene.emitters
    (x, y, z), spacing = body.shape.center, EDGE / 6
    distance = 0.5 * EDGE + 1.5 * spacing
    walls = tuple(
        Collider(name, replace(body.shape, center=(x + side * distance, y, z + 0.5 * EDGE), size=(spacing, EDGE, 2.0 * EDGE)))
        for name, side in (("left", -1.0), ("right", 1.0))
    )
    beside = 0.5 * water.shape.size[0] - distance - 0.5 * spacing
    pools = tuple(
        replace(water, name=f"water {name}", shape=replace(water.shape, center=(x + side * place, y, z), size=(beside, EDGE, EDGE)))
        for name, side, place in (
            (wall.name, side, 0.5 * (water.shape.size[0] - beside)) for wall, side in zip(walls, (-1.0, 1.0), strict=True)
        )
    )
    return _rise(replace(scene, colliders=(body, *walls), emitters=pools))


def pressure_below_a_filled_box(*, offset: float) -> float:
    """The mean uplift in the gaps of a hollow box with water inside, eight cells wide, over half a second [Pa]."""
    spacing = EDGE / 8
    scene = lying(0.0, offset=offset, seconds=0.5, cells=8, depth=1.0)
    (body,), (water,) = scene.colliders, scene.emitters
    outside = body.shape
    inside = replace(outside, size=(EDGE - 2.0 * spacing,) * 3)
    shell = Mesh(
        np.concatenate([outside.corners(), inside.corners()]),
        np.concatenate([CUBE_TRIANGLES, CUBE_TRIANGLES[:, ::-1] + len(outside.corners())]),
    )
    scene = replace(scene, colliders=(replace(body, shape=shell, density=900.0),), emitters=(replace(water, shape=inside),))
    pressures: list[float] = []
    measure = Uplift._pressure

    def note(*arguments: Any) -> Floats:
        found = measure(*arguments)
        pressures.append(float(found.mean()))
        return found

    with mock.patch.object(Uplift, "_pressure", note):
        for _ in Simulation(scene).frames():
            pass
    return float(np.mean(pressures))


def _rise(scene: Scene) -> float:
    simulation = Simulation(scene)
    heights = [float(simulation.rigid_bodies[0].center[2]) for _ in simulation.frames()]
    return (heights[-1] - heights[0]) / EDGE


@dataclass(frozen=True)
class Course:
    """What a body does all the time.

    Attributes:
        time: [s], shape (frames,).
        seen: draft, bottom, level and water inside as in `Floating`, shape (frames, 4).
    """

    time: Floats
    seen: Floats

    @property
    def draft(self) -> Floats:
        return self.seen[:, 0]

    def until(self, seconds: float) -> Floating:
        """The means of the last second before this time [s]."""
        is_late = (self.time > seconds - LAST + 1e-6) & (self.time < seconds + 1e-6)
        return Floating(*(float(each) for each in self.seen[is_late].mean(axis=0)))

    def end(self) -> Floating:
        """The means of the last second."""
        return self.until(float(self.time[-1]))


def _run(scene: Scene) -> Course:
    simulation = Simulation(scene)
    frames = [(frame.time, _look(simulation)) for frame in simulation.frames()]
    return Course(np.array([time for time, _ in frames]), np.array([seen for _, seen in frames]))


def _look(simulation: Simulation) -> tuple[float, float, float, float]:
    """Draft, bottom, level, and share of water inside, now."""
    (body,) = simulation.rigid_bodies
    scene = simulation.scene
    spacing = scene.solver.grid_spacing
    low, high = np.array([scene.domain.min, scene.domain.max])
    position, volume = diagnostics.positions(simulation), diagnostics.rest_volumes(simulation) * diagnostics.volume_ratios(simulation)
    body.place()
    distance = body.obstacle.distance(position)[0]
    body_volume = body.mass / scene.colliders[0].density
    inside = volume[distance < -DEEP * spacing].sum() / body_volume
    # the level where the body is not
    reach = body.obstacle.world(corners(scene))
    beside = np.ones(len(position), np.bool_)
    sides = scene.solver.dimension - 1
    hole = np.ones(sides)
    for axis in range(sides):
        least, most = reach[:, axis].min() - spacing, reach[:, axis].max() + spacing
        beside &= (position[:, axis] > least) & (position[:, axis] < most)
        hole[axis] = min(most, high[axis]) - max(least, low[axis])
    width = high[:sides] - low[:sides]
    level = volume[~beside].sum() / (width.prod() - hole.prod())
    bottom = body.center[2] - 0.5 * EDGE - low[2]
    draft = (level - bottom) / EDGE
    # compressed water is a little denser
    ratio = float(np.mean(diagnostics.volume_ratios(simulation)))
    displaced = min(scene.colliders[0].density * ratio / WATER, 1.0) * body_volume
    return draft, bottom / spacing, level * width.prod() / (volume.sum() + displaced), inside


def corners(scene: Scene) -> Floats:
    """The corners of the crate, in its shape's coordinates [m]."""
    low, high = scene.colliders[0].shape.bounds()
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


@lru_cache
def course(density: float = 500.0, *, offset: float = 0.0, seconds: float = 3.0, cells: int = 8, dimension: int = 3) -> Course:
    """A crate in a tank for some seconds."""
    return _run(crate(density, offset=offset, seconds=seconds, cells=cells, dimension=dimension))


def floating(density: float = 500.0, *, offset: float = 0.0, seconds: float = 3.0, cells: int = 8, dimension: int = 3) -> Floating:
    """A crate in a tank after some seconds."""
    return course(density, offset=offset, seconds=seconds, cells=cells, dimension=dimension).end()


@contextmanager
def plain() -> Iterator[None]:
    """Feet that do not take the whole pressure: the negative control."""
    with mock.patch.object(coupling, "ObstacleGroup", Plain):
        yield


@lru_cache
def floating_plainly(density: float = 500.0, *, offset: float = 0.0, seconds: float = 3.0) -> Floating:
    """The same with feet that do not take the whole pressure: the negative control."""
    with plain():
        return _run(crate(density, offset=offset, seconds=seconds)).end()


@lru_cache
def buoyancy(*, offset: float = 0.0, seconds: float = 2.0, cells: int = 8, dimension: int = 3) -> float:
    """The force of resting water on a crate held a quarter of its edge below the level, over rho g V; mean of the last second."""
    scene = crate(1e6, offset=offset, seconds=seconds, cells=cells, dimension=dimension)
    (body,) = scene.colliders
    x, y, level = body.shape.center
    body = replace(body, shape=replace(body.shape, center=(x, y, level - 0.25 * EDGE)))
    held = type("Held", (Held,), {"impulse": np.zeros(3)})
    with mock.patch.object(stepper, "RigidBodies", held):
        simulation = Simulation(replace(scene, colliders=(body,)))
    for frame in simulation.frames():
        if frame.time < seconds - LAST + 1e-6:
            held.impulse[:] = 0.0
    return float(held.impulse[2] / (LAST * WATER * GRAVITY * EDGE**dimension))
