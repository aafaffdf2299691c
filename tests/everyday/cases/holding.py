"""Containers hold material: cups of several colliders, upright and tilted, as boxes and as meshes; thin cups, slabs and sheets."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any
from unittest import mock

import numpy as np
from scipy.spatial.transform import Rotation

from mpm_addon.core.contact import obstacles
from mpm_addon.core.contact.thin_walls import Sides
from mpm_addon.core.geometry.rotation import euler_matrix
from mpm_addon.core.geometry.shapes.box import Box
from mpm_addon.core.geometry.shapes.cylinder import Cylinder
from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.core.geometry.shapes.plane import Plane
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Material, Scene
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage.presets import load_material_preset
from tests import diagnostics
from tests.core.scenes import box_mesh
from tests.verification.cases.setting import Floats

from .setting import TESTED_OFFSET, everyday_scene

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


def shell(inner: float, wall: float, height: float) -> Mesh:
    """A square cup of one closed mesh, with its floor's upper side at z = 0; half its inner width, the thickness of its walls [m]."""
    outer = inner + wall

    def ring(half: float, z: float) -> list[list[float]]:
        return [[-half, -half, z], [half, -half, z], [half, half, z], [-half, half, z]]

    vertices = np.array(ring(outer, -wall) + ring(outer, height) + ring(inner, height) + ring(inner, 0.0))
    sides = [(low + n, low + (n + 1) % 4, low + 4 + (n + 1) % 4, low + 4 + n) for low in (0, 4, 8) for n in range(4)]
    quads = np.array([(3, 2, 1, 0), *sides, (12, 13, 14, 15)])
    return Mesh(vertices, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]))


def round_shell(inner: float, height: float, *, foot: float, rim: float, base: float, corners: int = 48) -> Mesh:
    """A round cup of one closed mesh, with its floor's upper side at z = 0.

    Args:
        inner: radius of its inside [m].
        foot, rim: thickness of its wall at the lower and at the upper end [m].
        base: thickness of its floor [m].
    """
    angles = 2.0 * np.pi * np.arange(corners) / corners
    rings = ((inner + foot, -base), (inner + rim, height), (inner, height), (inner, 0.0))
    vertices = [np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(corners, z)]) for radius, z in rings]
    here, there = np.arange(corners), (np.arange(corners) + 1) % corners
    triangles = [np.column_stack([there, here, np.full(corners, 4 * corners)])]
    for low in range(0, 3 * corners, corners):
        high = low + corners
        triangles += [np.column_stack([low + here, low + there, high + there]), np.column_stack([low + here, high + there, high + here])]
    triangles.append(np.column_stack([3 * corners + here, 3 * corners + there, np.full(corners, 4 * corners + 1)]))
    return Mesh(np.concatenate([*vertices, [[0.0, 0.0, -base], [0.0, 0.0, 0.0]]]), np.concatenate(triangles))


def square(half: float) -> Mesh:
    """A sheet in the plane z = 0."""
    corners = half * np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    return Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]))


def moved(mesh: Mesh, way: float) -> Mesh:
    return Mesh(mesh.vertices + way, mesh.triangles)


def thin_cup(*, offset: float, wall: float, law: str = "water") -> Scene:
    """The same water, or another material, in a cup of one mesh with thin walls [cells]."""
    scene = cup(offset=offset)
    spacing = scene.solver.grid_spacing
    mesh = moved(shell(HALF_WIDTH, wall * spacing, 9.0 * spacing), offset * spacing)
    return _filled(replace(scene, colliders=(Collider("cup", mesh),)), law)


def on_sheet(*, offset: float, law: str = "water", rise: float = 0.0, deforms: bool = False) -> Scene:
    """The same on a sheet between four thick walls.

    Args:
        rise: how far the sheet moves up in each frame [cells].
        deforms: whether its vertices move, instead of the whole.
    """
    scene = cup(offset=offset, wall=6.0)
    spacing, frames = scene.solver.grid_spacing, np.arange(scene.time.frame_end + 1.0)
    sheet = moved(square(0.56), offset * spacing)
    motion = None
    if rise:
        way = rise * spacing * frames
        matrices = np.tile(np.eye(4), (len(frames), 1, 1))
        matrices[:, 2, 3] = way
        poses = sheet.vertices[None] + way[:, None, None] * np.array([0.0, 0.0, 1.0])
        motion = Motion(frames, vertices=poses) if deforms else Motion(frames, matrices=matrices)
    return _filled(replace(scene, colliders=(Collider("sheet", sheet, motion=motion), *map(_lower, scene.colliders[1:]))), law)


def on_slab(*, offset: float, wall: float, law: str = "water") -> Scene:
    """The same on a flat box this thick [cells], whose upper side is where the sheet is."""
    scene = on_sheet(offset=offset, law=law)
    spacing = scene.solver.grid_spacing
    way, thickness = offset * spacing, wall * spacing
    slab = Collider("slab", Box(center=(way, way, way - 0.5 * thickness), size=(1.12, 1.12, thickness)))
    return replace(scene, colliders=(slab, *scene.colliders[1:]))


def _lower(wall: Collider) -> Collider:
    """A wall that goes on below the sheet."""
    shape = wall.shape
    center, size = np.array(shape.center), np.array(shape.size)  # type: ignore[attr-defined]
    size[2] *= 4.0
    return replace(wall, shape=Box(center=tuple(float(each) for each in center), size=tuple(float(each) for each in size)))


def _filled(scene: Scene, law: str) -> Scene:
    """The scene with another law, or with the material of a preset."""
    if law == "water":
        return scene
    return replace(scene, materials={"water": Material("water", LAWS[law]() if law in LAWS else load_material_preset(law))})


def on_tilted_slab(*, wall: float, degrees: float) -> tuple[Scene, Floats]:
    """Water on a thin box between four thick walls, all turned about x; also the rotation.

    Args:
        wall: how thick the box is [cells].
    """
    scene = on_slab(offset=0.0, wall=wall)
    rotation = (degrees, 0.0, 0.0)
    turn = euler_matrix(rotation)

    def turned(box: Any) -> Box:
        return replace(box, center=tuple(float(each) for each in turn @ np.array(box.center)), rotation=rotation)

    colliders = tuple(replace(each, shape=turned(each.shape)) for each in scene.colliders)
    emitters = tuple(replace(each, shape=turned(each.shape)) for each in scene.emitters)
    return replace(scene, colliders=colliders, emitters=emitters), turn


def moving_cup(way: str, *, wall: float) -> Scene:
    """Water three cells deep in a cup of one thin mesh that moves once there and back.

    Args:
        way: `"sways"`, by a cell and a half to each side within a second, or `"tilts"`, to 30 degrees after a second and back.
        wall: how thick the walls are [cells].
    """
    scene = thin_cup(offset=TESTED_OFFSET, wall=wall)
    spacing = scene.solver.grid_spacing
    seconds = 1.0 if way == "sways" else 2.0
    frames = np.arange(round(seconds * scene.time.fps) + 1.0)
    time = frames / scene.time.fps
    matrices = np.tile(np.eye(4), (len(frames), 1, 1))
    if way == "sways":
        matrices[:, 0, 3] = 1.5 * spacing * np.sin(2.0 * np.pi * time)
    else:
        angles = np.radians(30.0) * np.sin(0.5 * np.pi * time)
        matrices[:, :3, :3] = Rotation.from_euler("y", angles[:, None]).as_matrix()
    (cup,), (filling,) = scene.colliders, scene.emitters
    low = TESTED_OFFSET * spacing
    width = 2.0 * HALF_WIDTH - 1e-6
    shape = Box(center=(low, low, low + 1.5 * spacing), size=(width, width, 3.0 * spacing))
    return replace(
        scene,
        time=replace(scene.time, frame_end=len(frames) - 1),
        colliders=(replace(cup, motion=Motion(frames, matrices=matrices)),),
        emitters=(replace(filling, shape=shape),),
    )


def _share_beyond(scene: Scene, places: Callable[[Simulation], Floats], floor: float = 0.0, wall: float = 0.5) -> float:
    """The share of the material that at the end is beyond a floor or beside a cup this thick [cells], at these places [m] in it."""
    simulation = Simulation(scene)
    for _ in simulation.frames():
        continue
    cells = places(simulation) / scene.solver.grid_spacing
    is_beside = np.abs(cells[:, :2]).max(axis=1) > HALF_WIDTH / scene.solver.grid_spacing + wall
    return float((is_beside | (cells[:, 2] < floor - wall)).mean())


@lru_cache
def leak_through(
    kind: str, *, offset: float, law: str = "water", wall: float = 0.0, rise: float = 0.0, deforms: bool = False, dimension: int = 3
) -> float:
    """The share of a material that a second later is beyond a `"cup"` of one thin mesh, a flat `"slab"`, or a `"sheet"`."""
    if kind == "cup":
        scene = thin_cup(offset=offset, wall=wall, law=law)
    elif kind == "slab":
        scene = on_slab(offset=offset, wall=wall, law=law)
    else:
        scene = on_sheet(offset=offset, law=law, rise=rise, deforms=deforms)
    solver = replace(scene.solver, dimension=dimension)
    # in the plane, y means nothing
    way = offset * solver.grid_spacing * np.array([1.0, dimension - 2.0, 1.0])
    floor = rise * scene.time.frame_end
    return _share_beyond(replace(scene, solver=solver), lambda simulation: diagnostics.positions(simulation) - way, floor)


@lru_cache
def leak_onto_table() -> float:
    """The share of the water that a second later is beside a round cup whose inner floor is level with the table that it stands in.

    Blender's Solidify gives it walls that are thinner at their foot than at their rim.
    """
    scene = cup()
    cell = scene.solver.grid_spacing
    mesh = round_shell(6.0 * cell, 15.0 * cell, foot=0.72 * cell, rim=cell, base=0.69 * cell)
    table = Collider("table", Box(center=(0.0, 0.0, -4.0 * cell), size=(80.0 * cell, 80.0 * cell, 8.0 * cell)))
    water = replace(scene.emitters[0], shape=Cylinder(center=(0.0, 0.0, 3.75 * cell), radius=5.75 * cell, height=7.0 * cell))
    simulation = Simulation(replace(scene, colliders=(Collider("cup", mesh), table), emitters=(water,)))
    for _ in simulation.frames():
        continue
    places = diagnostics.positions(simulation)
    return float((np.hypot(places[:, 0], places[:, 1]) > 6.5 * cell).mean())


@lru_cache
def leak_through_tilted_slab(*, wall: float, degrees: float = 30.0) -> float:
    """The share of the water that a second later is beyond a tilted slab, or outside its walls."""
    scene, turn = on_tilted_slab(wall=wall, degrees=degrees)
    return _share_beyond(scene, lambda simulation: diagnostics.positions(simulation) @ turn)


@lru_cache
def leak_out_of_moving_cup(way: str, *, wall: float) -> float:
    """The share of the water that is outside a moving cup when it has come back."""
    scene = moving_cup(way, wall=wall)
    (cup,) = scene.colliders
    assert cup.motion is not None
    assert cup.motion.matrices is not None
    pose = cup.motion.matrices[-1]
    low = TESTED_OFFSET * scene.solver.grid_spacing
    return _share_beyond(scene, lambda simulation: (diagnostics.positions(simulation) - pose[:3, 3]) @ pose[:3, :3] - low, wall=wall)


@contextmanager
def blind() -> Iterator[None]:
    """Nodes that do not tell the sides of thin colliders apart: the negative control."""
    nothing = np.zeros((0, 0), np.bool_)
    with mock.patch.object(obstacles, "sides_of", lambda level_sets, around, store, _: Sides(store.layout, level_sets, nothing, nothing)):
        yield


def blindly(case: Any, *arguments: Any, **more: Any) -> float:
    """What one of these cases gives where nodes do not tell the sides of thin colliders apart: the negative control."""
    with blind():
        return float(case.__wrapped__(*arguments, **more))


@lru_cache
def two_pools(*, offset: float) -> tuple[float, float]:
    """Water on both sides of a sheet: the shares of the upper and of the lower pool that are beyond it a second later."""
    scene = on_sheet(offset=offset)
    spacing = scene.solver.grid_spacing
    way = np.array([0.0, 0.0, spacing])
    upper = scene.emitters[0]
    center, size = np.array(upper.shape.center), np.array(upper.shape.size)  # type: ignore[attr-defined]
    pools = (
        replace(upper, shape=Box(center=tuple(center + 0.5 * way), size=tuple(size))),
        replace(upper, name="lower", shape=Box(center=tuple(center - 5.5 * way), size=tuple(size - 2.0 * way))),
    )
    base = Collider("base", Box(center=tuple(center - 10.5 * way), size=(1.6, 1.6, 0.24)))
    simulation = Simulation(replace(scene, emitters=pools, colliders=(*scene.colliders, base)))
    heights = []
    for _ in simulation.frames():
        heights.append(diagnostics.positions(simulation)[np.argsort(diagnostics.ids(simulation)), 2] - offset * spacing)
    is_upper, height = heights[0] > 0.0, heights[-1]
    return float((height[is_upper] < 0.0).mean()), float((height[~is_upper] > 0.0).mean())


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
