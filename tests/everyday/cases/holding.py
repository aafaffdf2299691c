"""What should hold, holds: cups of several colliders, upright and tilted, as boxes and as meshes."""

from dataclasses import replace
from functools import lru_cache
from unittest import mock

import numpy as np
from scipy.spatial.transform import Rotation

from mpm_addon.core.contact import obstacles
from mpm_addon.core.geometry.shapes.box import Box
from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.core.geometry.shapes.plane import Plane
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics
from tests.core.scenes import box_mesh
from tests.verification.cases.setting import Floats

from .setting import everyday_scene

# of the inside of the cup
HALF_WIDTH = 0.16
# about no axis of the grid
AXIS = np.array([1.0, 2.0, 0.5]) / np.linalg.norm([1.0, 2.0, 0.5])


def cup(*, offset: float = 0.0, wall: float = 2.0, on_plane: bool = False, seconds: float = 1.0) -> Scene:
    """A cup of five boxes.

    Args:
        offset: how far everything is moved along all axes [cells].
        wall: how thick the walls are [cells].
        on_plane: whether the walls stand on a plane instead of the plate.
    """
    scene = everyday_scene("cup", offset=offset)
    spacing = scene.solver.grid_spacing
    way, thickness = offset * spacing, wall * spacing
    widened = []
    for collider in scene.colliders:
        center, size = np.array(collider.shape.center) - way, np.array(collider.shape.size)  # type: ignore[attr-defined]
        normal = int(np.argmin(size))
        outer = np.flatnonzero(np.isclose(size, 2.0 * HALF_WIDTH + size.min() * 2.0))
        center[normal] += np.sign(center[normal]) * 0.5 * (thickness - size[normal])
        size[outer] = 2.0 * (HALF_WIDTH + thickness)
        size[normal] = thickness
        shape = Box(center=tuple(float(each) for each in center + way), size=tuple(float(each) for each in size))
        widened.append(replace(collider, shape=shape))
    if on_plane:
        widened[0] = Collider("floor", Plane(point=(way, way, way), normal=(0.0, 0.0, 1.0)))
    end = round(seconds * scene.time.fps)
    return replace(scene, colliders=tuple(widened), time=replace(scene.time, frame_end=end))


def tilted(scene: Scene, degrees: float) -> tuple[Scene, Floats]:
    """The scene of meshes, turned about the origin; also the rotation."""
    turn = Rotation.from_rotvec(np.radians(degrees) * AXIS).as_matrix()

    def mesh_of(box: Box) -> Mesh:
        mesh = box_mesh(box.size, box.center)
        return Mesh(mesh.vertices @ turn.T, mesh.triangles)

    colliders = tuple(replace(each, shape=mesh_of(each.shape)) for each in scene.colliders)  # type: ignore[arg-type]
    emitters = tuple(replace(each, shape=mesh_of(each.shape)) for each in scene.emitters)  # type: ignore[arg-type]
    return replace(scene, colliders=colliders, emitters=emitters), turn


@lru_cache
def leak(*, offset: float, wall: float = 2.0, on_plane: bool = False, degrees: float | None = None, is_joined: bool = True) -> float:
    """The share of the water that is outside the cup after a second.

    Args:
        degrees: how far the cup is tilted; its boxes are meshes then.
        is_joined: whether colliders that touch act as one; false for the negative control.
    """
    scene, turn = cup(offset=offset, wall=wall, on_plane=on_plane), np.eye(3)
    spacing = scene.solver.grid_spacing
    if degrees is not None:
        scene, turn = tilted(scene, degrees)
    join = obstacles.join_solids if is_joined else lambda *arguments: None
    with mock.patch.object(obstacles, "join_solids", join):
        simulation = Simulation(scene)
        for _ in simulation.frames():
            continue
    places = diagnostics.positions(simulation) @ turn - offset * spacing
    is_beside = np.abs(places[:, :2]).max(axis=1) > HALF_WIDTH + 0.5 * spacing
    return float((is_beside | (places[:, 2] < -0.5 * spacing)).mean())
