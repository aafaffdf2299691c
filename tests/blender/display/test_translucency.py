"""Light that passes through jelly: more through what is thin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import display

pytestmark = pytest.mark.blender

SIZE, THIN, THICK = 0.2, 0.02, 0.2


@pytest.mark.parametrize(("material", "passes"), [("jelly", True), ("rubber", False)])
def test_a_thin_slab_lit_from_behind_is_bright_and_a_thick_one_dark(bpy: Any, tmp_path: Path, material: str, passes: bool) -> None:
    look = display.Look("Slab", (0.75, 0.04, 0.08, 1.0), law="damped_elastic", material=material, thickness=THICK)
    made = display.material_of(look)
    thin, thick = (seen_from_the_front(bpy, made, thickness, tmp_path) for thickness in (THIN, THICK))
    if passes:
        # green falls off as exp(-x / d (1 - 0.04)) with d = 0.05 m, so most is lost in the thick one
        assert thin[1] > 4.0 * thick[1] and thin[0] > 1.2 * thick[0]
        assert thin.mean() > 0.2
        # what comes through takes on the color
        assert thick[0] > 4.0 * thick[1]
    else:
        assert max(thin.max(), thick.max()) < 0.02


def test_torn_jelly_is_as_clear_as_whole_jelly(bpy: Any, tmp_path: Path) -> None:
    look = display.Look("Slab", (0.75, 0.04, 0.08, 1.0), law="damped_elastic", material="jelly", thickness=THICK)
    made = display.material_of(look)
    inside = display.inside_material("Slab Inside", made, look.finish)
    whole, torn = (seen_from_the_front(bpy, made, THIN, tmp_path, behind) for behind in (None, inside))
    assert whole[0] > 0.3
    # a copy of the material on the far face would absorb nearly all light
    assert torn == pytest.approx(whole, rel=0.1)


def seen_from_the_front(bpy: Any, material: Any, thickness: float, folder: Path, behind: Any = None) -> Any:
    """The color of the middle of a slab in front of a wall that glows evenly with strength 1, in the dark.

    Args:
        behind: the material of its far face, if that has torn.
    """
    scene = bpy.context.scene
    for item in list(scene.objects):
        bpy.data.objects.remove(item)
    add(bpy, (SIZE, thickness, SIZE), (0.0, 0.5 * thickness, 0.0), material)
    if behind is not None:
        mesh = scene.objects[-1].data
        mesh.materials.append(behind)
        next(polygon for polygon in mesh.polygons if polygon.normal.y > 0.9).material_index = 1
    add(bpy, (8.0, 0.1, 8.0), (0.0, 1.0, 0.0), glow(bpy))
    scene.world = None
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 32, False
    scene.cycles.max_bounces = scene.cycles.transmission_bounces = 8
    scene.render.resolution_x = scene.render.resolution_y = 12
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format, scene.view_settings.view_transform = "OPEN_EXR", "Raw"
    camera = bpy.data.cameras.new("Front")
    camera.type, camera.ortho_scale = "ORTHO", 0.5 * SIZE
    scene.camera = bpy.data.objects.new("Front", camera)
    scene.collection.objects.link(scene.camera)
    scene.camera.location, scene.camera.rotation_euler = (0.0, -1.0, 0.0), (0.5 * np.pi, 0.0, 0.0)
    scene.render.filepath = str(folder / "slab.exr")
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath)
    found = np.reshape(image.pixels[:], (-1, 4))[:, :3].mean(axis=0)
    bpy.data.images.remove(image)
    return found


def add(bpy: Any, size: tuple[float, float, float], at: tuple[float, float, float], material: Any) -> None:
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new("Box")
    mesh.from_pydata((corners * size + at).tolist(), [], faces)
    mesh.materials.append(material)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Box", mesh))


def glow(bpy: Any) -> Any:
    material = bpy.data.materials.new("Glow")
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    node = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    node.inputs["Emission Color"].default_value, node.inputs["Emission Strength"].default_value = (1.0, 1.0, 1.0, 1.0), 1.0
    node.inputs["Base Color"].default_value = (0.0, 0.0, 0.0, 1.0)
    return material
