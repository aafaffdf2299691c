"""A publication plays surfaces, skins, volumes, foam and debris in a Blender without this extension."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.exporting import publishing
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import particle_objects, surface_objects, swarm_objects, volume_objects
from mpm_addon.storage.take import FOAM
from tests.blender.playback import test_foam, test_skins, test_surface_files, test_torn_skins, test_volumes
from tests.blender.scenes import add_mesh, write_cache
from tests.blender.skin_objects import moved as moved_cube
from tests.blender.skin_objects import use

blender = pytest.mark.blender
FRAMES = (2, 3)
# Names as artists give them, none of which USD allows.
PARTICLES, SURFACE, SKIN = "Überlauf 1", "3 drops", "a-b.001 水"

# In a Blender without the extension: prints each mesh as it is evaluated, with the material and the UVs of every face.
LOOK = """
import json, os, sys
import bpy, numpy as np
assert not hasattr(bpy.types.Object, "mpm")
bpy.ops.wm.read_factory_settings()
bpy.ops.wm.open_mainfile(filepath=sys.argv[1], use_scripts=False)
scene = bpy.context.scene
FIELDS = {"FLOAT_VECTOR": "vector", "FLOAT2": "vector", "FLOAT_COLOR": "color", "BYTE_COLOR": "color"}
def told(item):
    if item.type == "VOLUME":
        item.data.grids.load()
        size = [len(item.data.grids), os.path.basename(item.data.grids.frame_filepath)]
        return {"grids": sorted(grid.name for grid in item.data.grids), "file": size[1], "error": item.data.grids.error_message}
    mesh = item.data
    slots = [slot.material.name if slot.material else "" for slot in item.material_slots]
    attributes = {each.name: [each.domain, each.data_type] for each in mesh.attributes}
    values = {}
    for each in mesh.attributes:
        if each.name in ("position", "velocity", "mpm_color", "UV map.001", "seen", "weight"):
            field = FIELDS.get(each.data_type, "value")
            values[each.name] = [list(one) if hasattr(one, "__len__") else one for one in (getattr(data, field) for data in each.data)]
    return {"hidden": item.hide_render, "vertices": len(mesh.vertices), "faces": [list(face.vertices) for face in mesh.polygons],
        "materials": [slots[face.material_index] for face in mesh.polygons] if slots else [],
        "smooth": [face.use_smooth for face in mesh.polygons], "attributes": attributes, "values": values,
        "normals": [list(corner.vector) for corner in mesh.corner_normals] if mesh.polygons else []}
shown = {}
for frame in json.loads(sys.argv[2]):
    scene.frame_set(int(frame // 1), subframe=frame % 1)
    graph = bpy.context.evaluated_depsgraph_get()
    shown[frame] = {item.name: told(item.evaluated_get(graph)) for item in scene.objects if item.type in ("MESH", "VOLUME")}
settings = [item.bl_system_properties_get() if hasattr(item, "bl_system_properties_get") else item for item in scene.objects]
print("ANSWER", json.dumps({"shown": shown, "has_settings": [each is not None and "mpm" in each.keys() for each in settings]}))
sys.stdout.flush()
os._exit(0)
"""


@pytest.fixture
def saved(bpy: Any, tmp_path: Path) -> Any:
    """The particle object of a saved file with frames 1 to 3 of two emitters; at the last two, one is a skin and the other a surface."""
    scene = bpy.context.scene
    write_cache(tmp_path / "cache", {1: 6, 2: 6, 3: 6})
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "plan é.blend"))
    scene.mpm.cache = "//cache"
    scene.frame_start, scene.frame_end = 1, 3
    item = particle_objects.result_object(scene, "//cache")
    item.mpm.cache = str(tmp_path / "cache")
    for name in ("first", "second"):
        item.mpm.display.parts.add().name = name
    skin = item.mpm.display.parts[0].skin = add_mesh(bpy, "first Skin")
    skin.parent = item
    paint(bpy, skin)
    use(item, render="mesh")
    for number in FRAMES:
        test_skins.write(item, number)
        test_surface_files.write(item, number, emitters=(1,))
        test_volumes.write(item, number)
        test_foam.write(item, number, count=number + 2)
    surface = surface_objects.add(item)
    for name in ("glass", "water"):
        surface.data.materials.append(bpy.data.materials.new(name))
    volume_objects.add(item)
    swarm_objects.add(item, FOAM)
    item.name, surface.name, skin.name = PARTICLES, SURFACE, SKIN
    scene.frame_set(2)
    bpy.ops.wm.save_mainfile()
    return item


def paint(bpy: Any, skin: Any) -> None:
    """Two materials, UVs with a name that USD does not allow, a vertex group, an attribute of faces, a flat face and sharp edges."""
    mesh = skin.data
    for name in ("fur", "horn"):
        mesh.materials.append(bpy.data.materials.new(name))
    for number, face in enumerate(mesh.polygons):
        face.material_index, face.use_smooth = number % 2, number != 3
    layer = mesh.uv_layers.new(name="UV map.001")
    layer.data.foreach_set("uv", np.arange(48, dtype=np.float32) / 64.0)
    mesh.attributes.new("seen", "BOOLEAN", "FACE").data.foreach_set("value", [True, False, False, True, True, False])
    mesh.attributes.new("sharp_edge", "BOOLEAN", "EDGE").data.foreach_set("value", np.arange(12) % 3 == 0)
    group = skin.vertex_groups.new(name="weight")
    group.add([1, 2], 0.25, "REPLACE")


def look(blend: Path, frames: list[float], tmp_path: Path) -> Mapping[str, Any]:
    (tmp_path / "look.py").write_text(LOOK)
    command = [sys.executable, "-P", tmp_path / "look.py", blend, json.dumps(frames)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.rpartition("ANSWER ")[2].splitlines()[0])


@blender
def test_derived_data_plays_without_the_extension_whatever_its_name(bpy: Any, saved: Any, tmp_path: Path) -> None:
    normals = [list(corner.vector) for corner in saved.mpm.display.parts[0].skin.data.corner_normals]
    blocks = counts(bpy)
    notes = list(map(in_blender, publishing.publish(bpy.context, tmp_path / "out")))
    assert counts(bpy) == blocks
    assert f'"{PARTICLES}" has no surface at frame 1; press Make Surface, then publish again.' in notes
    assert f'"{PARTICLES}" has no foam at frame 1; press Make Foam, then publish again.' in notes
    (tmp_path / "cache").rename(tmp_path / "gone")
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    answer = look(tmp_path / "elsewhere" / "plan é.blend", [3, 1, 2, 2.25], tmp_path)
    shown = answer["shown"]
    assert not any(answer["has_settings"])
    for frame in FRAMES:
        found = shown[str(frame)]
        check_surface(found[SURFACE])
        check_skin(found[SKIN], float(frame - 1))
        np.testing.assert_allclose(found[SKIN]["normals"], normals, atol=2e-3)
        places = found["MPM Foam"]["values"]["position"]
        assert [place[2] for place in np.round(places, 3).tolist()] == [float(frame)] * (frame + 2)
        volume = found["MPM Volume"]
        assert (volume["file"], volume["grids"], volume["error"]) == (f"frame_{frame:06d}.vdb", ["density", "velocity"], "")
        assert found[PARTICLES]["vertices"] == 0
    first = shown["1"]
    assert (first[SURFACE]["vertices"], first[PARTICLES]["vertices"], first["MPM Volume"]["error"]) == (0, 6, "")
    # without a skin, all vertices lie at one point
    assert not np.ptp(np.array(first[SKIN]["values"]["position"]), axis=0).any()
    # between two frames, vertices move along their velocity from the nearest one: 24 m/s, 24 frames per second
    for name in (SURFACE, SKIN):
        moved = np.array(shown["2.25"][name]["values"]["position"]) - np.array(shown["2"][name]["values"]["position"])
        np.testing.assert_allclose(moved, np.tile([0.25, 0.0, 0.0], (len(moved), 1)), atol=1e-3)


def counts(bpy: Any) -> list[int]:
    data = bpy.data
    return [len(group) for group in (data.objects, data.meshes, data.volumes, data.scenes, data.node_groups)]


def check_surface(found: dict[str, Any]) -> None:
    assert (found["vertices"], found["materials"], found["smooth"]) == (4, ["water"] * 4, [True] * 4)
    assert sorted(np.round(found["values"]["position"], 3).tolist()) == sorted(test_surface_files.VERTICES.tolist())
    np.testing.assert_allclose(found["values"]["velocity"], [[24.0, 0.0, 0.0]] * 4, rtol=1e-3)
    np.testing.assert_allclose(found["values"]["mpm_color"], [[0.5, 0.25, 1.0, 1.0]] * 4, atol=1e-6)
    assert found["attributes"]["age"] == ["POINT", "FLOAT"] and found["attributes"]["emitter_index"] == ["POINT", "INT"]
    assert not any(name.endswith(("_vector", "_number")) for name in found["attributes"])


def check_skin(found: dict[str, Any], moved: float) -> None:
    assert (found["vertices"], len(found["faces"]), found["materials"]) == (8, 6, ["fur", "horn"] * 3)
    assert found["smooth"] == [True, True, True, False, True, True]
    np.testing.assert_allclose(found["values"]["position"], moved_cube(test_skins.CUBE, moved, 0.0, 0.0), atol=1e-5)
    np.testing.assert_allclose(found["values"]["velocity"], [[24.0, 0.0, 0.0]] * 8, rtol=1e-3)
    np.testing.assert_allclose(np.ravel(found["values"]["UV map.001"]), np.arange(48) / 64.0, atol=1e-6)
    assert found["attributes"]["UV map.001"] == ["CORNER", "FLOAT2"]
    assert found["values"]["seen"] == [True, False, False, True, True, False]
    np.testing.assert_allclose(found["values"]["weight"], [0.0, 0.25, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0])


@blender
def test_outdated_derived_data_is_published_and_named(bpy: Any, saved: Any, tmp_path: Path) -> None:
    test_surface_files.write(saved, 3, emitters=(1,), settings="other")
    bpy.context.scene.frame_start = 2
    notes = list(map(in_blender, publishing.publish(bpy.context, tmp_path / "out")))
    assert f'"{PARTICLES}": its surface is outdated at frame 3; press Update Surface, then publish again.' in notes


@pytest.mark.slow
@blender
def test_a_mesh_that_tears_later_keeps_its_inside_material(bpy: Any, tmp_path: Path) -> None:
    """Before, all faces have the first material, and the mesh has no attribute for it."""
    item = test_torn_skins.torn_cube(bpy, tmp_path, levels=2, materials=("Red",))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "plan.blend"))
    skin, scene = test_torn_skins.skin_of(item), bpy.context.scene
    wanted = {}
    for frame in (1, 2, 3, 4):
        scene.frame_set(frame)
        names = [skin.material_slots[polygon.material_index].material.name for polygon in skin.data.polygons]
        wanted[str(frame)] = {name: names.count(name) for name in sorted(set(names))}
    assert list(wanted["2"]) == ["Red"] and list(wanted["3"]) == ["Jelly Skin Inside", "Red"]
    publishing.publish(bpy.context, tmp_path / "out")
    shown = look(tmp_path / "out" / "plan.blend", [3, 1, 4, 2], tmp_path)["shown"]
    for frame, counted in wanted.items():
        names = shown[frame][skin.name]["materials"]
        assert {name: names.count(name) for name in sorted(set(names))} == counted


@pytest.mark.slow
@blender
def test_pieces_take_the_place_of_a_published_skin(bpy: Any, tmp_path: Path) -> None:
    item = test_torn_skins.torn_cube(bpy, tmp_path, levels=2)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "plan.blend"))
    assert bpy.ops.mpm.pieces_make() == {"FINISHED"}
    skin = test_torn_skins.skin_of(item)
    assert publishing.publish(bpy.context, tmp_path / "out") == []
    shown = look(tmp_path / "out" / "plan.blend", [3, 1, 4, 2], tmp_path)["shown"]
    for frame, names in {"1": [skin.name], "2": [skin.name], "3": ["Jelly 1", "Jelly 2"], "4": ["Jelly 1", "Jelly 2"]}.items():
        seen = {name: each for name, each in shown[frame].items() if not each["hidden"] and each["faces"]}
        assert sorted(seen.keys() - {"Jelly"}) == names
    assert len(shown["1"][skin.name]["faces"]) == len(skin.mpm.torn.whole.polygons)
