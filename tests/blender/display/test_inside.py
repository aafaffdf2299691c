"""The material of faces where a mesh has torn or broken."""

from __future__ import annotations

from typing import Any

import pytest

from mpm_addon.blender import display
from mpm_addon.core.laws.finish import Finish
from mpm_addon.storage.finishes import finish_of

pytestmark = pytest.mark.blender


def shader_of(material: Any) -> Any:
    return next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")


def glazed(bpy: Any, **links: str) -> Any:
    """A material as an artist makes it; its inputs are linked to the outputs of new nodes of some types."""
    material = bpy.data.materials.new("Glaze")
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    node = shader_of(material)
    node.inputs["Base Color"].default_value, node.inputs["Roughness"].default_value = (0.8, 0.6, 0.4, 1.0), 0.1
    node.inputs["Coat Weight"].default_value = 0.7
    for name, kind in links.items():
        source = material.node_tree.nodes.new(kind)
        material.node_tree.links.new(source.outputs[0], node.inputs[name.replace("_", " ")])
    return material


def test_it_has_the_color_of_the_outside_without_its_glaze(bpy: Any) -> None:
    outside = glazed(bpy)
    inside = display.inside_material("Bowl Inside", outside, Finish(inside_roughness=0.9, inside_brightness=0.5))
    found = shader_of(inside).inputs
    assert (inside.name, found["Roughness"].default_value, found["Coat Weight"].default_value) == ("Bowl Inside", pytest.approx(0.9), 0.0)
    assert found["Base Color"].default_value[:] == pytest.approx((0.4, 0.3, 0.2, 1.0))
    assert inside.diffuse_color[:3] == pytest.approx([0.5 * part for part in outside.diffuse_color[:3]])
    # the outside is the artist's
    kept = shader_of(outside).inputs
    assert (kept["Roughness"].default_value, kept["Coat Weight"].default_value) == (pytest.approx(0.1), pytest.approx(0.7))


def test_textures_keep_their_color_and_lose_their_relief(bpy: Any) -> None:
    outside = glazed(bpy, Base_Color="ShaderNodeTexChecker", Normal="ShaderNodeNormalMap", Roughness="ShaderNodeTexNoise")
    found = shader_of(display.inside_material("Inside", outside, Finish(inside_brightness=1.4))).inputs
    assert not found["Normal"].is_linked and not found["Roughness"].is_linked
    shade = found["Base Color"].links[0].from_node
    assert shade.inputs["Value"].default_value == pytest.approx(1.4)
    assert shade.inputs["Color"].links[0].from_node.bl_idname == "ShaderNodeTexChecker"


def test_without_a_material_it_is_plain_and_brightness_ends_at_white(bpy: Any) -> None:
    assert shader_of(glazed(bpy)) is not None
    inside = display.inside_material("Inside", None, Finish(inside_brightness=4.0))
    assert max(inside.diffuse_color[:3]) == 1.0


def test_it_does_not_follow_the_emitter(bpy: Any) -> None:
    look = display.Look("Plate", (0.9, 0.9, 0.9, 1.0), law="brittle", material="ceramic")
    inside = display.inside_material("Plate Inside", display.material_of(look), finish_of("brittle", "ceramic"))
    before = shader_of(inside).inputs["Base Color"].default_value[:]
    display.material_of(look._replace(color=(0.1, 0.1, 0.1, 1.0)))
    assert shader_of(inside).inputs["Base Color"].default_value[:] == before
    assert before[0] == pytest.approx(0.62 * 0.9, abs=0.01)


@pytest.mark.parametrize(("outside", "expected"), [(0.1, 0.85), (0.95, 0.95)])
def test_pieces_are_at_least_as_rough_inside_as_outside(bpy: Any, outside: float, expected: float) -> None:
    item = bpy.data.objects.new("Wall", bpy.data.meshes.new("Wall"))
    item.data.materials.append(glazed(bpy))
    shader_of(item.data.materials[0]).inputs["Roughness"].default_value = outside
    inside = display.inside_of_pieces(item)
    assert shader_of(inside).inputs["Roughness"].default_value == pytest.approx(expected)


@pytest.mark.parametrize(("material", "is_same"), [("jelly", True), ("gelatin", True), ("rubber", False)])
def test_what_has_a_volume_has_one_material(bpy: Any, material: str, is_same: bool) -> None:
    look = display.Look("Block", (0.7, 0.1, 0.1, 1.0), law="damped_elastic", material=material)
    outside = display.material_of(look)
    inside = display.inside_material("Block Inside", outside, look.finish)
    assert (inside == outside) == is_same
    # the emitter's material still follows it
    assert outside.get("mpm_look")


@pytest.mark.parametrize("material", ["ceramic", "ice", "glass", "biscuit", "concrete", "wood", "dry_clay"])
def test_what_breaks_looks_different_inside(material: str) -> None:
    finish = finish_of("brittle", material)
    assert finish.inside_roughness > finish.roughness
    assert finish.inside_brightness != 1.0 or finish.transmission > 0.5
