"""Rigid bodies that rebound from planes and from each other."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider
from mpm_addon.core.stepping.simulation import Simulation
from tests.verification.cases.setting import Floats

from .setting import everyday_scene

DROP = 0.5


@lru_cache
def rebound(plane: float, ball: float, *, offset: float = 0.0, spacing: float = 0.05) -> float:
    """How high a ball rises after its first impact on a plane, over how far it fell; both with a restitution."""
    scene = everyday_scene("bounce", offset=offset, spacing=spacing)
    floor, body = scene.colliders
    scene = replace(scene, colliders=(replace(floor, restitution=plane), replace(body, restitution=ball)))
    simulation = Simulation(scene)
    lowest = offset * spacing
    heights = np.array([_center(simulation)[2] - 0.1 - lowest for _ in simulation.frames()])
    impact = int(np.argmin(heights[:50]))
    return float(heights[impact:].max()) / DROP


def _center(simulation: Simulation) -> Floats:
    return simulation.rigid_bodies[0].center


@lru_cache
def balls(first: float, second: float) -> tuple[float, float]:
    """The velocities of two equal balls after the first, with 1 m/s, has hit the second; without gravity."""
    scene = everyday_scene("bounce")
    _, body = scene.colliders
    pair = (
        replace(body, name="first", restitution=first, velocity=(1.0, 0.0, 0.0)),
        replace(body, name="second", restitution=second, shape=replace(body.shape, center=(0.35, 0.0, 0.6))),
    )
    simulation = Simulation(replace(scene, colliders=pair, solver=replace(scene.solver, gravity=(0.0, 0.0, 0.0))))
    for _ in simulation.frames():
        pass
    one, two = simulation.rigid_bodies
    return float(one.velocity[0]), float(two.velocity[0])


@lru_cache
def stack(count: int = 9, *, seconds: float = 1.0, hit: float = 0.0) -> Floats:
    """The centers of bricks that lie on each other, from the lowest to the highest, at every frame, shape (frames, bricks, 3) [m].

    Args:
        hit: speed of a ball that hits them two thirds up [m/s]; 0 for none.
    """
    scene = everyday_scene("bricks")
    floor, brick = scene.colliders
    x, y, z = brick.shape.center
    bricks = [
        replace(brick, name=f"brick {number}", shape=replace(brick.shape, center=(x, y, z + 2.0 * z * number))) for number in range(count)
    ]
    if hit > 0.0:
        place = SHAPES["sphere"](center=(-0.3, 0.0, 1.4 * z * count), radius=0.06)
        bricks.append(Collider("ball", place, dynamic=True, density=2000.0, velocity=(hit, 0.0, 0.0)))
    time = replace(scene.time, frame_end=scene.time.frame_start + round(seconds * scene.time.fps))
    simulation = Simulation(replace(scene, colliders=(floor, *bricks), time=time))
    return np.array([[body.center.copy() for body in simulation.rigid_bodies[:count]] for _ in simulation.frames()])
