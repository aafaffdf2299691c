"""Situations in which an artist may see the panels: types of objects, modes, links, and missing data. Real Blender only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .scenes import add_collider, add_emitter, add_field, add_mesh, add_outflow, write_cache

Situation = Callable[[Any, Path], dict[str, Any] | None]
SITUATIONS: dict[str, Situation] = {}
ROLES = ("none", "emitter", "collider", "outflow")


def situation(function: Situation) -> Situation:
    """A function that sets up a situation in an empty file; it returns context overrides, if any."""
    SITUATIONS[function.__name__.replace("_", " ")] = function
    return function


def object_types(bpy: Any) -> list[str]:
    return [item.identifier for item in bpy.types.Object.bl_rna.properties["type"].enum_items]


def add_object(bpy: Any, kind: str) -> Any:
    """Add and activate an object of a type; None for a type whose data this Blender lacks."""
    makers = {
        "MESH": lambda: bpy.data.meshes.new("Mesh"),
        "CURVE": lambda: bpy.data.curves.new("Curve", "CURVE"),
        "SURFACE": lambda: bpy.data.curves.new("Surface", "SURFACE"),
        "FONT": lambda: bpy.data.curves.new("Font", "FONT"),
        "META": lambda: bpy.data.metaballs.new("Meta"),
        "CURVES": lambda: bpy.data.hair_curves.new("Curves"),
        "POINTCLOUD": lambda: bpy.data.pointclouds.new("PointCloud"),
        "VOLUME": lambda: bpy.data.volumes.new("Volume"),
        "GPENCIL": lambda: bpy.data.grease_pencils.new("Pencil"),
        "GREASEPENCIL": lambda: _new_pencil(bpy),
        "ARMATURE": lambda: bpy.data.armatures.new("Armature"),
        "LATTICE": lambda: bpy.data.lattices.new("Lattice"),
        "EMPTY": lambda: None,
        "LIGHT": lambda: bpy.data.lights.new("Light", "POINT"),
        "LIGHT_PROBE": lambda: bpy.data.lightprobes.new("Probe", "SPHERE"),
        "CAMERA": lambda: bpy.data.cameras.new("Camera"),
        "SPEAKER": lambda: bpy.data.speakers.new("Speaker"),
    }
    try:
        item = bpy.data.objects.new(kind.title(), makers[kind]())
    except (AttributeError, RuntimeError, TypeError):
        return None
    bpy.context.scene.collection.objects.link(item)
    bpy.context.view_layer.objects.active = item
    item.select_set(True)
    return item


def _new_pencil(bpy: Any) -> Any:
    return (bpy.data.grease_pencils_v3 if hasattr(bpy.data, "grease_pencils_v3") else bpy.data.grease_pencils).new("Pencil")


@situation
def nothing(bpy: Any, folder: Path) -> None:
    pass


@situation
def no_active_object(bpy: Any, folder: Path) -> None:
    add_emitter(bpy)
    bpy.context.view_layer.objects.active = None


@situation
def a_whole_scene_in_a_saved_file(bpy: Any, folder: Path) -> None:
    add_outflow(bpy)
    add_collider(bpy, dynamic=True)
    add_field(bpy, "WIND")
    add_emitter(bpy).mpm.material.source = "custom"
    bpy.context.scene.mpm.domain.kind = "box"
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))


@situation
def two_hundred_objects(bpy: Any, folder: Path) -> None:
    for number in range(200):
        add_emitter(bpy, f"Drop {number}").mpm.type = ROLES[number % 4]


@situation
def a_cache_that_is_played(bpy: Any, folder: Path) -> None:
    from mpm_addon.blender.playback import particle_objects

    add_emitter(bpy)
    bpy.context.scene.mpm.cache = str(write_cache(folder / "cache", {1: 3, 2: 3}))
    item = particle_objects.result_object(bpy.context.scene, bpy.context.scene.mpm.cache)
    bpy.context.view_layer.objects.active = item


@situation
def a_cache_folder_that_is_missing(bpy: Any, folder: Path) -> None:
    item = add_mesh(bpy, "Particles")
    item.mpm.cache = bpy.context.scene.mpm.cache = str(folder / "nowhere" / "cache")
    item.mpm.use_retime = True


@situation
def a_cache_folder_that_is_a_file(bpy: Any, folder: Path) -> None:
    (folder / "file").write_text("no cache")
    add_emitter(bpy)
    bpy.context.scene.mpm.cache = str(folder / "file")
    add_mesh(bpy, "Particles").mpm.cache = str(folder / "file")


@situation
def no_cache_folder(bpy: Any, folder: Path) -> None:
    add_emitter(bpy)
    bpy.context.scene.mpm.cache = ""


@situation
def words_of_a_newer_version(bpy: Any, folder: Path) -> None:
    """A role, a preset and a law unknown to this version."""
    item = add_emitter(bpy)
    _forge(item.mpm.material, "preset")
    item = add_emitter(bpy, "Custom")
    item.mpm.material.source = "custom"
    _forge(item.mpm.material, "law")
    _forge(item.mpm.emitter, "mode")
    item = add_mesh(bpy, "Newer")
    _forge(item.mpm, "type")
    _forge(bpy.context.scene.mpm.domain, "kind")
    _forge(bpy.context.scene.mpm.solver, "spacing")


def _forge(group: Any, name: str) -> None:
    """Store a number that is no item of an enum."""
    stored = group.bl_system_properties_get(do_create=True) if hasattr(group, "bl_system_properties_get") else group
    stored[name] = 123456
    assert getattr(group, name) == ""


@situation
def deleted_objects(bpy: Any, folder: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.domain.kind = "box"
    scene.mpm.domain.object = add_mesh(bpy, "Box")
    scene.mpm.effector_collection = bpy.data.collections.new("Fields")
    gone = [add_emitter(bpy, "Gone"), scene.mpm.domain.object]
    for item in gone:
        bpy.data.objects.remove(item)
    bpy.data.collections.remove(scene.mpm.effector_collection)


@situation
def hidden_objects(bpy: Any, folder: Path) -> None:
    add_emitter(bpy, "Off").hide_viewport = True
    add_emitter(bpy, "Hidden").hide_set(True)
    apart = bpy.data.collections.new("Excluded")
    bpy.context.scene.collection.children.link(apart)
    item = add_emitter(bpy, "Excluded")
    bpy.context.scene.collection.objects.unlink(item)
    apart.objects.link(item)
    bpy.context.view_layer.layer_collection.children["Excluded"].exclude = True


@situation
def another_scene(bpy: Any, folder: Path) -> dict[str, Any]:
    add_emitter(bpy)
    scene = bpy.data.scenes.new("Other")
    return {"scene": scene, "view_layer": scene.view_layers[0]}


@situation
def a_scene_without_a_camera_and_a_world(bpy: Any, folder: Path) -> None:
    add_emitter(bpy)
    bpy.context.scene.camera = bpy.context.scene.world = None


def _library(bpy: Any, folder: Path) -> str:
    """A file with an emitter, its collection and its scene; the open file is empty again."""
    item = add_emitter(bpy, "Prop")
    inside = bpy.data.collections.new("Props")
    bpy.context.scene.collection.children.link(inside)
    inside.objects.link(item)
    bpy.context.scene.name = "Library Scene"
    path = str(folder / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    return path


def _linked(bpy: Any, folder: Path, kind: str, name: str) -> Any:
    path = _library(bpy, folder)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        setattr(into, kind, [name])
    return getattr(into, kind)[0]


@situation
def a_linked_object(bpy: Any, folder: Path) -> None:
    item = _linked(bpy, folder, "objects", "Prop")
    bpy.context.scene.collection.objects.link(item)
    bpy.context.view_layer.objects.active = item
    item.select_set(True)


@situation
def a_linked_object_beside_one_of_its_name(bpy: Any, folder: Path) -> None:
    a_linked_object(bpy, folder)
    add_emitter(bpy, "Prop")


@situation
def a_library_override(bpy: Any, folder: Path) -> None:
    a_linked_object(bpy, folder)
    item = bpy.context.view_layer.objects.active.override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = item


@situation
def an_instance_of_a_linked_collection(bpy: Any, folder: Path) -> None:
    item = add_object(bpy, "EMPTY")
    inside = _linked(bpy, folder, "collections", "Props")
    item = add_object(bpy, "EMPTY")
    item.instance_type, item.instance_collection = "COLLECTION", inside
    item.mpm.type = "emitter"


@situation
def a_linked_scene(bpy: Any, folder: Path) -> dict[str, Any]:
    scene = _linked(bpy, folder, "scenes", "Library Scene")
    return {"scene": scene, "view_layer": scene.view_layers[0]}


@situation
def a_missing_library(bpy: Any, folder: Path) -> None:
    a_linked_object(bpy, folder)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "user.blend"))
    (folder / "library.blend").unlink()
    bpy.ops.wm.open_mainfile(filepath=str(folder / "user.blend"))
    for item in bpy.data.objects:
        bpy.context.view_layer.objects.active = item


def _in_mode(mode: str, kind: str = "MESH") -> Situation:
    def enter(bpy: Any, folder: Path) -> None:
        item = add_emitter(bpy) if kind == "MESH" else add_object(bpy, kind)
        if kind == "ARMATURE":
            bpy.ops.object.mode_set(mode="EDIT")
            bpy.ops.armature.bone_primitive_add()
        if mode == "PARTICLE_EDIT":
            item.modifiers.new("Hair", "PARTICLE_SYSTEM").particle_system.settings.type = "HAIR"
        bpy.ops.object.mode_set(mode=mode)
        assert item.mode == mode

    return enter


for _mode in ("EDIT", "SCULPT", "VERTEX_PAINT", "WEIGHT_PAINT", "TEXTURE_PAINT", "PARTICLE_EDIT"):
    SITUATIONS[f"mesh in mode {_mode}"] = _in_mode(_mode)
for _mode in ("EDIT", "POSE"):
    SITUATIONS[f"armature in mode {_mode}"] = _in_mode(_mode, "ARMATURE")
for _kind in ("CURVE", "SURFACE", "FONT", "META", "LATTICE"):
    SITUATIONS[f"{_kind.lower()} in mode EDIT"] = _in_mode("EDIT", _kind)


@situation
def a_mesh_that_is_broken(bpy: Any, folder: Path) -> None:
    """No faces, a scale of 0, and a vertex at NaN."""
    item = add_emitter(bpy)
    item.data.clear_geometry()
    flat = add_collider(bpy)
    flat.scale = (0.0, 0.0, 0.0)
    odd = add_emitter(bpy, "Odd")
    odd.data.vertices.foreach_set("co", np.full(24, np.nan, np.float32))
    bpy.context.view_layer.objects.active = item
