"""Jelly on jelly and jelly in water: contact of bodies with separate velocity fields."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from unittest import mock

import numpy as np
from scipy.spatial import ConvexHull

from mpm_addon.core.geometry.rotation import euler_matrix
from mpm_addon.core.geometry.shapes.sphere import Sphere
from mpm_addon.core.laws import Law
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.stepping import simulation as simulation_module
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics
from tests.verification.cases.setting import GRAVITY, Floats

from .setting import everyday_scene

# at the end, over which waves are averaged [s]
LAST = 1.0
WATER = 1000.0
# the damping of stacked jellies [Pa s], Young's modulus times the damping time: the same for all, because it shortens substeps
VISCOSITY = 2000.0
# of the jelly in water [m], eight cells
EDGE = 0.32


@contextmanager
def one_velocity() -> Iterator[None]:
    """One velocity field for all bodies: the negative control."""
    with mock.patch.object(simulation_module, "fields_of", lambda bodies: (range(len(bodies)),)):
        yield


@dataclass(frozen=True)
class Parts:
    """Positions [m] and velocities [m/s] of each emitter's particles in a frame."""

    time: float
    position: list[Floats]
    velocity: list[Floats]


def parts_of(scene: Scene) -> list[Parts]:
    """All frames of a simulation."""
    simulation = Simulation(scene)
    found = []
    for frame in simulation.frames():
        whose = simulation.provenance.emitter[frame.id]
        its = [whose == number for number in range(len(scene.emitters))]
        found.append(Parts(frame.time, [frame.position[each] for each in its], [frame.velocity[each] for each in its]))
    return found


def _middle(position: Floats, reach: float) -> Floats:
    """Heights of the particles near the vertical axis through the middle."""
    center = position[:, :2].mean(axis=0)
    return position[(np.abs(position[:, :2] - center) < reach).all(axis=1), 2]


@lru_cache
def stacked(*, offset: float = 0.0, spacing: float | None = None, young_modulus: float = 1e5) -> float:
    """The gap in the middle between two jellies at rest, beyond the distance of particles inside [cells]; negative if they overlap."""
    material = {"young_modulus": young_modulus, "damping_time": VISCOSITY / young_modulus}
    scene = everyday_scene("stack", offset=offset, spacing=spacing, material=material)
    cell = scene.solver.grid_spacing
    gaps = []
    for parts in parts_of(scene)[-10:]:
        lower, upper = (_middle(position, 2.0 * cell) for position in parts.position)
        gaps.append((upper.min() - lower.max()) / cell - 0.5)
    return float(np.mean(gaps))


def stacked_with_one_velocity(*, offset: float = 0.0, young_modulus: float = 1e5) -> float:
    with one_velocity():
        return stacked.__wrapped__(offset=offset, young_modulus=young_modulus)


@lru_cache
def passing(*, offset: float = 0.0) -> float:
    """The share of its speed that a jelly keeps that passes along another one cell above it, without gravity."""
    scene = everyday_scene("slope", offset=offset)
    block, slope = scene.emitters
    x, y, z = block.shape.center
    block = replace(block, velocity=(1.0, 0.0, 0.0), shape=replace(block.shape, center=(x, y, z + scene.solver.grid_spacing)))
    solver = replace(scene.solver, gravity=(0.0, 0.0, 0.0))
    return float(parts_of(replace(scene, solver=solver, emitters=(block, slope)))[-1].velocity[0][:, 0].mean())


def passing_with_one_velocity(*, offset: float = 0.0) -> float:
    with one_velocity():
        return passing.__wrapped__(offset=offset)


@dataclass(frozen=True)
class Slide:
    """The mean speed along a slope [m/s] at times [s]."""

    time: Floats
    speed: Floats


@lru_cache
def slide(friction: float, *, angle: float = 45.0, offset: float = 0.0, spacing: float | None = None, seconds: float = 0.5) -> Slide:
    """A jelly on a jelly slope, in the last three fifths of the time; the angle is in degrees."""
    scene = everyday_scene("slope", offset=offset, spacing=spacing, material={"contact_friction": friction})
    along, down = np.sin(np.radians(angle)), np.cos(np.radians(angle))
    solver = replace(scene.solver, gravity=(float(GRAVITY * along), 0.0, float(-GRAVITY * down)))
    frames = parts_of(replace(scene, solver=solver, time=replace(scene.time, frame_end=round(seconds * scene.time.fps))))
    late = frames[len(frames) * 2 // 5 :]
    return Slide(np.array([each.time for each in late]), np.array([each.velocity[0][:, 0].mean() for each in late]))


def sliding(friction: float, *, angle: float = 45.0, offset: float = 0.0, seconds: float = 0.5) -> float:
    """How fast it becomes faster, over g times the sine of the angle."""
    run = slide(friction, angle=angle, offset=offset, seconds=seconds)
    return float((run.speed[-1] - run.speed[0]) / (run.time[-1] - run.time[0]) / (GRAVITY * np.sin(np.radians(angle))))


@dataclass(frozen=True)
class Collided:
    """Two equal jellies after a collision.

    Attributes:
        kept: the share that is left of the kinetic energy of their centers.
        momentum: how much the mean velocity of all particles has changed [m/s].
    """

    kept: float
    momentum: float


@lru_cache
def collided(*, offset: float = 0.0, boost: float = 0.0, turn: float = 0.0, one_field: bool = False, **material: float) -> Collided:
    """Two jellies that meet at 2 m/s.

    Args:
        boost: a velocity along x that both have in addition [m/s].
        turn: how far everything is turned about z [degrees].
        material: other parameters of their material.
    """
    scene = everyday_scene("collision", offset=offset, material=material)
    rotation = euler_matrix((0.0, 0.0, turn))
    along = rotation @ [boost, 0.0, 0.0]

    def turned(emitter: Emitter) -> Emitter:
        center, velocity = rotation @ emitter.shape.center, rotation @ emitter.velocity + along
        return replace(emitter, shape=replace(emitter.shape, center=tuple(center), rotation=(0.0, 0.0, turn)), velocity=tuple(velocity))

    scene = replace(scene, emitters=tuple(turned(emitter) for emitter in scene.emitters))
    if one_field:
        with one_velocity():
            frames = parts_of(scene)
    else:
        frames = parts_of(scene)
    energies = [sum(((v.mean(axis=0) - along) ** 2).sum() for v in parts.velocity) for parts in (frames[0], frames[-1])]
    means = [np.mean([v.mean(axis=0) for v in parts.velocity], axis=0) for parts in (frames[0], frames[-1])]
    return Collided(float(energies[1] / energies[0]), float(np.abs(means[1] - means[0]).max()))


def collision(**given: Any) -> float:
    """The share of the kinetic energy of two jellies' centers that is left after they have collided; see `collided`."""
    return collided(**given).kept


@dataclass(frozen=True)
class Afloat:
    """A jelly in water, over the last second; nothing depends on how it is turned.

    Attributes:
        submerged: the share of its volume below the level.
        top: how far its highest particle is above the level [cells].
        bottom: how far its lowest point is above the floor [cells].
        inside: the volume of water deeper than half a cell in it, over its own.
    """

    submerged: float
    top: float
    bottom: float
    inside: float


def jelly_in_water(density: float, *, offset: float, seconds: float, law: Law | None = None) -> Scene:
    """A jelly, or a cube of another law, just above the water of a tank, which is twice as wide."""
    scene = everyday_scene("floating", offset=offset)
    (crate,) = scene.colliders
    (water,) = scene.emitters
    x, y, z = water.shape.center
    shape = replace(crate.shape, center=(x, y, z + 0.5 * (water.shape.size[2] + EDGE)))
    law = law or replace(everyday_scene("stack").materials["jelly"].law, damping_time=0.003)
    time = replace(scene.time, frame_end=round(seconds * scene.time.fps))
    materials = {**scene.materials, "jelly": Material("jelly", replace(law, density=density))}
    return replace(scene, time=time, materials=materials, colliders=(), emitters=(water, Emitter("jelly", shape, "jelly")))


@lru_cache
def afloat(density: float, *, offset: float = 0.0, seconds: float = 4.0, is_ball: bool = False, law: Law | None = None) -> Afloat:
    """A jelly in a tank after some seconds: a cube eight cells wide, or a ball six cells across that was let go on the surface.

    The law is the jelly's by default.
    """
    scene = jelly_in_water(density, offset=offset, seconds=seconds, law=law)
    if is_ball:
        water, jelly = scene.emitters
        radius, (x, y, z) = 3.0 * scene.solver.grid_spacing, jelly.shape.center
        ball = Sphere(center=(x, y, z - 0.5 * EDGE + radius), radius=radius)
        scene = replace(scene, emitters=(water, replace(jelly, shape=ball)))
    simulation = Simulation(scene)
    seen = [_look(simulation) for frame in simulation.frames() if frame.time > seconds - LAST]
    return Afloat(*(float(each) for each in np.mean(seen, axis=0)))


def afloat_with_one_velocity(density: float, *, offset: float = 0.0, seconds: float = 4.0) -> Afloat:
    with one_velocity():
        return afloat.__wrapped__(density, offset=offset, seconds=seconds)


def _look(simulation: Simulation) -> tuple[float, float, float, float]:
    """Share submerged, top, bottom and water inside, now."""
    scene = simulation.scene
    cell, low, high = scene.solver.grid_spacing, np.array(scene.domain.min), np.array(scene.domain.max)
    position = diagnostics.positions(simulation)
    volume = diagnostics.rest_volumes(simulation) * diagnostics.volume_ratios(simulation)
    is_jelly = simulation.provenance.emitter[diagnostics.ids(simulation)] == 1
    jelly, water = position[is_jelly], position[~is_jelly]
    density = scene.materials["jelly"].law.density
    level = low[2] + (volume[~is_jelly].sum() + min(density / WATER, 1.0) * volume[is_jelly].sum()) / np.prod((high - low)[:2])
    submerged = volume[is_jelly][jelly[:, 2] < level].sum() / volume[is_jelly].sum()
    # the outermost particles lie a quarter of a cell inside
    faces = ConvexHull(jelly).equations
    depth = -(water @ faces[:, :3].T + faces[:, 3]).max(axis=1) / cell
    inside = volume[~is_jelly][depth > 0.25].sum() / volume[is_jelly].sum()
    return submerged, (jelly[:, 2].max() - level) / cell, (jelly[:, 2].min() - low[2]) / cell - 0.25, inside


@lru_cache
def landing(beside: str, *, offset: float = 0.0) -> Floats:
    """Heights of the center of a ball of jelly that falls on a floor, over its radius, frame by frame.

    Args:
        beside: the name of what else there is in the scene; nothing if empty.
        offset: how far everything is moved along all axes [cells].
    """
    scene = everyday_scene("landing", offset=offset)
    scene = replace(
        scene,
        emitters=tuple(each for each in scene.emitters if each.name in ("ball", beside)),
        colliders=tuple(each for each in scene.colliders if each.name in ("floor", beside)),
        forces=tuple(each for each in scene.forces if each.name == beside),
    )
    ball, floor = scene.emitters[0].shape, scene.colliders[0].shape
    heights = [parts.position[0][:, 2].mean() for parts in parts_of(scene)]
    return (np.array(heights) - floor.point[2]) / ball.radius
