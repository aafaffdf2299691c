"""Small scenes and caches for the tests of the Blender layer, made without operators to work on both hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mpm_addon.core.failure import Failure, Kind
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.particles import ATTRIBUTES, Frame, FrameStatistics
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.settings import CacheSettings, Solver, Time
from mpm_addon.storage.cache_writer import CacheWriter

CORNERS = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
# Counterclockwise as seen from outside.
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def add_mesh(bpy: Any, name: str, vertices: Any = CORNERS, faces: Any = FACES) -> Any:
    """An object with a mesh (a unit cube by default), linked to the scene and active."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(vertex) for vertex in vertices], [], [tuple(face) for face in faces])
    mesh.update()
    item = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(item)
    bpy.context.view_layer.objects.active = item
    return item


def add_emitter(bpy: Any, name: str = "Cube", **settings: Any) -> Any:
    item = add_mesh(bpy, name)
    item.mpm.type = "emitter"
    for key, value in settings.items():
        setattr(item.mpm.emitter, key, value)
    return item


def add_collider(bpy: Any, name: str = "Floor", **settings: Any) -> Any:
    item = add_mesh(bpy, name)
    item.mpm.type = "collider"
    for key, value in settings.items():
        setattr(item.mpm.collider, key, value)
    return item


def add_outflow(bpy: Any, name: str = "Drain") -> Any:
    item = add_mesh(bpy, name)
    item.mpm.type = "outflow"
    return item


def add_field(bpy: Any, kind: str = "FORCE", name: str = "Field", **settings: Any) -> Any:
    """An empty with a force field; a mesh if the field acts from its whole surface."""
    if settings.get("shape") in ("SURFACE", "POINTS"):
        item = add_mesh(bpy, name)
    else:
        item = bpy.data.objects.new(name, None)
        bpy.context.scene.collection.objects.link(item)
    if item.field is None:
        with bpy.context.temp_override(object=item, active_object=item):
            bpy.ops.object.forcefield_toggle()
    item.field.type = kind
    values = {"strength": 1.0, "flow": 0.0, "noise": 0.0, "falloff_power": 0.0, **settings}
    for key, value in values.items():
        setattr(item.field, key, value)
    return item


def frame_arrays(number: int, count: int) -> dict[str, np.ndarray]:
    """Arrays that identify frame and particle: position (id, number, 0), velocity (0, 0, number), two emitters."""
    identity = np.arange(count, dtype=np.int32)
    arrays = {
        name: np.zeros((count, kind.components) if kind.components > 1 else count, dtype=kind.dtype) for name, kind in ATTRIBUTES.items()
    }
    arrays["position"][:, 0], arrays["position"][:, 1] = identity, number
    arrays["velocity"][:, 2] = number
    arrays["id"][:] = identity
    arrays["emitter_index"][:] = arrays["material_index"][:] = identity % 2
    arrays["scale"][:] = 0.1
    arrays["rotation"][:, 0] = 1.0
    arrays["stretch"][:] = 1.0
    return arrays


def description(frame_end: int = 3, cache: CacheSettings | None = None) -> Scene:
    """Two emitters of two materials."""
    materials = {name: Material(name, LAWS[name]()) for name in ("water", "snow")}
    sphere = SHAPES["sphere"](radius=0.2)
    emitters = tuple(Emitter(name=f"{name} ball", shape=sphere, material=name) for name in materials)
    return Scene(
        "test",
        Solver(grid_spacing=0.05),
        materials,
        emitters,
        time=Time(frame_end=frame_end),
        cache=cache or CacheSettings(stretch=True, density_ratio=True),
    )


def write_cache(folder: Path, counts: dict[int, int], settings: CacheSettings | None = None, scene: Scene | None = None) -> Path:
    """A cache with the given number of particles in each frame."""
    described = scene or description(cache=settings)
    writer = CacheWriter(folder, described)
    writer.prepare(described, restart=True)
    if writer.is_replacing:
        writer.begin(described)
    for number, count in counts.items():
        statistics = FrameStatistics(count, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)
        writer.write_frame(Frame(number, (number - 1) / 24.0, frame_arrays(number, count), statistics))
    return folder


def error_of(action: Any) -> str:
    """The error of a failing operator as scripts receive it, without Blender's "Error: "."""
    try:
        action()
    except RuntimeError as error:
        return str(error).strip().removeprefix("Error: ")
    raise AssertionError("the operator did not fail")


def failure(frame: int) -> Failure:
    """The reason why a bake stops: two particles."""
    position = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)
    return Failure(
        Kind.INVERTED, 'Material "snow"', frame, 0.1, 1e-6, 64, np.array([1, 3], np.int32), position, ("Cube",), "use a smaller cfl"
    )
