"""What was baked remains that of its objects, and of its scene, after they were renamed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import bake_facts, derived_facts
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.reading.freshness import Freshness
from mpm_addon.blender.settings import paths
from mpm_addon.storage import open_cache
from mpm_addon.storage.take import SKIN
from tests.blender.building.test_add_menu import select
from tests.blender.scenes import add_mesh

pytestmark = pytest.mark.blender


def stamps(folder: Any) -> dict[str, int]:
    """When the frames and skins in a cache were written."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("frame_*")}


@pytest.mark.slow
def test_a_bake_goes_on_after_everything_was_renamed(bpy: Any, tmp_path: Any) -> None:
    scene = bpy.context.scene
    scene.mpm.cache, scene.frame_start, scene.frame_end = str(tmp_path / "cache"), 1, 2
    cube = add_mesh(bpy, "Jel")
    select(bpy, cube)
    assert bpy.ops.mpm.quick(material="jelly", particle_count=1000) == {"FINISHED"}
    assert bpy.ops.mpm.bake() == {"FINISHED"}
    folder = paths.absolute(scene.mpm.cache)
    whole, scene_hash = stamps(folder), open_cache(folder).manifest["scene_hash"]
    assert derived_facts.facts_of(scene, SKIN)[:3] == (2, 2, 0)
    (item,) = particle_objects.result_objects(scene)
    skin, material = item.mpm.display.parts[0].skin, item.mpm.display.parts[0].material
    skin.data.materials[0] = own = bpy.data.materials.new("Own Paint")

    cube.name, scene.objects["Floor"].name, scene.name = "Hero", "Boden", "Take A"
    assert bake_facts.facts_of(scene).freshness is Freshness.CURRENT
    assert bpy.ops.mpm.bake() == {"FINISHED"}
    assert stamps(folder) == whole
    assert derived_facts.facts_of(scene, SKIN)[:3] == (2, 2, 0)
    (part,) = item.mpm.display.parts
    assert (part.name, part.skin, part.material) == ("Hero", skin, material)
    assert (skin.data.materials[0], part.material.name) == (own, "MPM Hero")
    opened = open_cache(folder)
    assert (opened.manifest["emitters"], opened.manifest["scene_name"]) == (["Hero"], "Take A")
    assert opened.manifest["scene_hash"] == scene_hash

    # a partial cache goes on, with its skins
    scene.frame_end = 3
    assert bpy.ops.mpm.bake() == {"FINISHED"}
    assert {name: stamp for name, stamp in stamps(folder).items() if name in whole} == whole
    assert derived_facts.facts_of(scene, SKIN)[:3] == (3, 3, 0)
    scene.frame_set(3)
    assert np.abs(np.array([vertex.co[:] for vertex in skin.data.vertices])).max() > 0.0

    # and what changes more is still noticed
    cube.location.x += 1.0
    bpy.context.view_layer.update()
    assert bake_facts.facts_of(scene).freshness is Freshness.OUTDATED


@pytest.mark.slow
def test_a_rigid_body_that_was_renamed_keeps_its_motion(bpy: Any, tmp_path: Any) -> None:
    scene = bpy.context.scene
    scene.mpm.cache, scene.frame_start, scene.frame_end = str(tmp_path / "cache"), 1, 2
    scene.mpm.solver.grid_spacing = 0.25
    crate = add_mesh(bpy, "Crate")
    crate.mpm.type, crate.mpm.collider.dynamic = "collider", True
    assert bpy.ops.mpm.bake() == {"FINISHED"}
    folder = paths.absolute(scene.mpm.cache)
    whole = stamps(folder)
    crate.name, scene.frame_end = "Box", 4
    assert bpy.ops.mpm.bake() == {"FINISHED"}
    assert {name: stamp for name, stamp in stamps(folder).items() if name in whole} == whole
    heights = []
    for frame in (1, 2, 3, 4):
        scene.frame_set(frame)
        heights.append(crate.matrix_world.translation[2])
    assert heights[0] > heights[1] > heights[2] > heights[3]
    opened = open_cache(folder)
    assert [list(opened.frame(frame).poses) for frame in opened.frames] == [["Box"]] * 4
