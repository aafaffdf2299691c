"""Rigid bodies moved by material, gravity and colliders."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mpm_addon.core.geometry.rotation import euler_matrix
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics

from .setting import GRAVITY, Floats, block, lattice, material, scene, walls

JELLY: dict[str, Any] = {"young_modulus": 2e4, "density": 1000.0}


def _far_jelly(dimension: int) -> Emitter:
    """Matter that meets nothing; a scene needs some, and it sets the step."""
    return Emitter("far", block((-40.1, -0.1, 39.9), (-39.9, 0.1, 40.1)), "corotated", **lattice(dimension))


def alone(body: Collider, *others: Collider, seconds: float, gravity: tuple[float, float, float], dimension: int = 3) -> list[Simulation]:
    """A body without matter: the simulation at its end, in a list of one, for the bodies in it."""
    described = scene(
        _far_jelly(dimension),
        material("corotated", **JELLY),
        seconds=seconds,
        fps=20.0,
        gravity=gravity,
        precision="float64",
        grid_spacing=0.1,
        dimension=dimension,
        colliders=(*others, body),
    )
    simulation = Simulation(described)
    for _ in simulation.frames():
        pass
    return [simulation]


@lru_cache
def on_slope(shape: Any, friction: float, *, angle: float = 20.0, dimension: int = 3) -> tuple[float, float, float]:
    """A body on a slope for one second.

    Returns:
        Its acceleration over g sin(angle), how fast it slides at the floor over how fast it is, and its height [m].
    """
    tilt = np.radians(angle)
    gravity = (GRAVITY * np.sin(tilt), 0.0, -GRAVITY * np.cos(tilt))
    floor = Collider("floor", SHAPES["plane"](), friction=friction)
    body = Collider("body", shape, dynamic=True, friction=friction)
    (simulation,) = alone(body, floor, seconds=1.0, gravity=gravity, dimension=dimension)
    rigid = simulation.rigid_bodies[0]
    velocity = rigid.velocities
    slip = velocity[0] - velocity[4] * rigid.center[2]
    return velocity[0] / gravity[0], slip / max(velocity[0], 1e-9), float(rigid.center[2])


@dataclass(frozen=True)
class Impact:
    """What a ball and a block of jelly have together, frame by frame.

    Attributes:
        momentum: [kg m/s] (frames, 3); angular_momentum: [kg m^2/s] (frames, 3).
        center: center of mass of both [m] (frames, 3); energy: kinetic [J] (frames,).
        ball_velocity: [m/s] (frames, 3).
    """

    momentum: Floats
    angular_momentum: Floats
    center: Floats
    energy: Floats
    ball_velocity: Floats
    mass: float


@lru_cache
def ball_hits_jelly(dimension: int, precision: str, *, density: float = 1000.0, is_kinematic: bool = False) -> Impact:
    """A ball hits a turning block of jelly, off its middle and with friction; no gravity and no walls."""
    turn = (0.0, 40.0, 0.0) if dimension == 2 else (30.0, 40.0, 50.0)
    shape = SHAPES["sphere"](center=(-0.35, 0.0 if dimension == 2 else 0.02, 0.06), radius=0.12)
    ball: dict[str, Any] = {"dynamic": True, "density": density, "velocity": (3.0, 0.0, 0.0), "angular_velocity": (0.0, 100.0, 0.0)}
    if is_kinematic:
        ball = {"motion": Motion(np.array([0.0, 10.0]), np.stack([np.eye(4), _shift(1.5)]))}
    described = scene(
        Emitter("jelly", block((-0.2, -0.2, -0.2), (0.2, 0.2, 0.2)), "corotated", angular_velocity=turn, **lattice(dimension)),
        material("corotated", **JELLY),
        seconds=0.5,
        fps=20.0,
        gravity=(0.0, 0.0, 0.0),
        precision=precision,
        grid_spacing=0.05,
        dimension=dimension,
        colliders=(Collider("ball", shape, friction=0.4, **ball),),
    )
    simulation = Simulation(described)
    rows = []
    for _ in simulation.frames():
        momentum, turning = diagnostics.linear_momentum(simulation), diagnostics.angular_momentum(simulation)
        center = diagnostics.masses(simulation) @ diagnostics.positions(simulation)
        energy, mass, velocity = diagnostics.kinetic_energy(simulation, with_affine=True), diagnostics.mass(simulation), np.zeros(3)
        for body in simulation.rigid_bodies:
            momentum = momentum + body.mass * body.velocity
            turning = turning + body.spin + body.mass * np.cross(body.center, body.velocity)
            center, mass, velocity = center + body.mass * body.center, mass + body.mass, body.velocity
            energy += body.kinetic_energy
        rows.append((momentum, turning, center / mass, energy, velocity, mass))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Impact(*columns[:5], mass=float(columns[5][0]))


def _shift(way: float) -> Floats:
    pose = np.eye(4)
    pose[0, 3] = way
    return pose


@lru_cache
def tumbling(dimension: int = 3) -> tuple[Floats, Floats, Floats]:
    """A box of three different edges spins near its middle axis, freely; spin, energy and angular velocity at every frame."""
    turn = (5.0, 600.0, 5.0)
    body = Collider("box", SHAPES["box"](size=(0.4, 0.2, 0.1)), dynamic=True, density=100.0, angular_velocity=turn)
    described = scene(
        _far_jelly(dimension),
        material("corotated", **JELLY),
        seconds=4.0,
        fps=20.0,
        gravity=(0.0, 0.0, 0.0),
        precision="float64",
        grid_spacing=0.1,
        dimension=dimension,
        colliders=(body,),
    )
    simulation = Simulation(described)
    rows = []
    for _ in simulation.frames():
        rigid = simulation.rigid_bodies[0]
        # in the body's own axes
        rows.append((rigid.spin, rigid.kinetic_energy, rigid.rotation.T @ rigid.velocities[3:]))
    return tuple(np.array(column) for column in zip(*rows, strict=True))  # type: ignore[return-value]


@lru_cache
def floating(ratio: float, *, spacing: float = 0.025, seconds: float = 3.0) -> tuple[float, float, float]:
    """A flat box in the water of a tank 1.6 m wide, let go a fifth of its height above where it floats, in the hole that it would fill.

    Args:
        ratio: the box's density over the water's.

    Returns:
        The share of the box that lies below the level which the volume of the water gives, the tilt [degrees] and the speed [m/s],
        over the last quarter.
    """
    width, length, height, level = 1.6, 0.6, 0.2, 0.4
    bottom = level - ratio * height
    side, half = 0.5 * width, 0.5 * length
    parts = [((-side, 0.0), (-half, level)), ((-half, 0.0), (half, bottom)), ((half, 0.0), (side, level))]
    water = [
        Emitter(f"water {number}", block((x0, -0.5, z0), (x1, 0.5, z1)), "water", **lattice(2))
        for number, ((x0, z0), (x1, z1)) in enumerate(parts)
    ]
    box = SHAPES["box"](center=(0.0, 0.0, bottom + 0.7 * height), size=(length, 1.0, height))
    described = scene(
        water,
        material("water", bulk_modulus=1e6, density=1000.0, viscosity=2.0),
        seconds=seconds,
        fps=20.0,
        grid_spacing=spacing,
        dimension=2,
        domain=walls((-side, -0.5, 0.0), (side, 0.5, 2.0)),
        colliders=(Collider("box", box, dynamic=True, density=1000.0 * ratio),),
    )
    simulation = Simulation(described)
    bottoms, tilts, speeds = [], [], []
    for _ in simulation.frames():
        body = simulation.rigid_bodies[0]
        bottoms.append(body.center[2] - 0.5 * height)
        tilts.append(np.degrees(np.arccos(np.clip(body.rotation[2, 2], -1.0, 1.0))))
        speeds.append(np.linalg.norm(body.velocity))
    last = len(bottoms) * 3 // 4
    # the level z is where the water and what the box displaces fill the tank: z = filled + share (z - its bottom)
    share = length / width
    filled = level - share * ratio * height
    draught = (filled - float(np.mean(bottoms[last:]))) / (1.0 - share)
    return draught / height, float(np.max(tilts[last:])), float(np.max(speeds[last:]))


@lru_cache
def pushed_by(kind: str, dimension: int) -> tuple[float, float]:
    """A box moves at 10 m/s into a block of jelly: straight, oblique to the grid, or turning about its end.

    Returns:
        The depth of the deepest particle at any frame [cells], and the jelly's final momentum over its mass [m/s].
    """
    speed, fps, frames, spacing = 10.0, 100.0, 11, 0.05
    poses = np.tile(np.eye(4), (frames, 1, 1))
    for number, time in enumerate(np.arange(frames) / fps):
        if kind == "rotating":
            poses[number, :3, :3] = euler_matrix((0.0, -95.0 + np.degrees(speed / 0.5 * time), 0.0))
            poses[number, :3, 3] = -0.5, 0.0, -0.4
        else:
            poses[number, :3, :3] = euler_matrix((0.0, 30.0 if kind == "oblique" else 0.0, 0.0))
            poses[number, 0, 3] = -0.45 + speed * time
    size = (2.4, 1.0, 0.15) if kind == "rotating" else (0.2, 1.0, 0.6)
    box = Collider("box", SHAPES["box"](size=size), friction=0.2, motion=Motion(np.arange(frames, dtype=np.float64), poses))
    described = scene(
        Emitter("jelly", block((-0.2, -0.2, -0.2), (0.2, 0.2, 0.2)), "corotated", **lattice(dimension)),
        material("corotated", **JELLY),
        seconds=(frames - 1) / fps,
        fps=fps,
        gravity=(0.0, 0.0, 0.0),
        grid_spacing=spacing,
        dimension=dimension,
        colliders=(box,),
    )
    simulation = Simulation(described)
    deepest = -np.inf
    for frame in simulation.frames():
        local = (diagnostics.positions(simulation) - poses[frame.number, :3, 3]) @ poses[frame.number, :3, :3]
        deepest = max(deepest, -float(box.shape.signed_distance(local).min()) / spacing)
    momentum = np.linalg.norm(diagnostics.linear_momentum(simulation)) / diagnostics.mass(simulation)
    return deepest, float(momentum)


def mixing(scene: Scene) -> Floats:
    """How far two emitters' particles are mixed, frame by frame: 1 - variance of the share in cells of two spacings over that at first.

    The Lacey index (Lacey 1954) without the variance of a random mixture, which is small for so many particles.
    """
    cell = 2.0 * scene.solver.grid_spacing
    variances = []
    for frame in Simulation(scene).frames():
        is_first = (frame.arrays["emitter_index"] == 0).astype(np.float64)
        _, cells = np.unique(np.floor(frame.position[:, [0, 2]] / cell).astype(np.int64), axis=0, return_inverse=True)
        cells = cells.ravel()
        counts = np.bincount(cells)
        share = np.bincount(cells, is_first) / counts
        variances.append(float(counts @ (share - is_first.mean()) ** 2 / counts.sum()))
    return 1.0 - np.array(variances) / variances[0]


def lands_on(law: str, ratio: float, **parameters: float) -> Floats:
    """A sticky square, a little turning, lands on matter in a tank and stays there; its speed at every frame [m/s].

    Args:
        ratio: its density over the matter's.
    """
    spacing = 0.05
    box = SHAPES["box"](center=(0.0, 0.0, 0.55 + 0.3 * spacing), size=(0.3, 0.3, 0.3))
    body = Collider(
        "box", box, surface="sticky", dynamic=True, density=1000.0 * ratio, velocity=(0.0, 0.0, -0.5), angular_velocity=(0.0, 90.0, 0.0)
    )
    low, high = (-0.6, -0.6, 0.0), (0.6, 0.6, 2.0)
    described = scene(
        Emitter("matter", block(low, (0.6, 0.6, 0.4)), law, **lattice(2)),
        material(law, density=1000.0, **parameters),
        seconds=0.5,
        fps=20.0,
        grid_spacing=spacing,
        dimension=2,
        domain=walls(low, high, surface="separate"),
        colliders=(body,),
    )
    simulation = Simulation(described)
    return np.array([np.linalg.norm(simulation.rigid_bodies[0].velocity) for _ in simulation.frames()])
