"""Surfaces of what is seen beside the particles, as ordinary Blender materials."""

from collections.abc import Iterable
from typing import Any

import bpy

from ...host.blender_types import BlenderMaterial, BlenderObject

Rgb = tuple[float, float, float]


def paint(item: BlenderObject, color: Rgb, *, roughness: float = 0.5, metallic: float = 0.0) -> None:
    """Give an object a surface of one colour."""
    material = _new(item.name, color)
    surface = _node(material.node_tree, "BSDF_PRINCIPLED")
    if surface is not None:
        surface.inputs["Base Color"].default_value = (*color, 1.0)
        surface.inputs["Roughness"].default_value = roughness
        surface.inputs["Metallic"].default_value = metallic
    item.data.materials.append(material)


def glaze(item: BlenderObject, color: Rgb = (0.92, 0.97, 1.0)) -> None:
    """Give an object the look of thin glass: seen through straight, reflecting at its edges. Costs no caustics and few samples."""
    material = _new(item.name, color)
    material.diffuse_color = (*color, 0.15)
    tree = material.node_tree
    output = _node(tree, "OUTPUT_MATERIAL")
    if output is not None:
        tree.links.new(_thin_glass(tree, color), output.inputs["Surface"])
    item.data.materials.append(material)


def _thin_glass(tree: Any, color: Rgb) -> Any:
    """The socket of a shader that is transparent where it is looked at straight, and a mirror at grazing angles."""
    weight = tree.nodes.new("ShaderNodeLayerWeight")
    weight.inputs["Blend"].default_value = 0.15
    share = tree.nodes.new("ShaderNodeMath")
    share.operation = "MULTIPLY"
    share.inputs[1].default_value = 0.45
    through = tree.nodes.new("ShaderNodeBsdfTransparent")
    through.inputs["Color"].default_value = (*color, 1.0)
    mirror = tree.nodes.new("ShaderNodeBsdfAnisotropic")
    mirror.inputs["Roughness"].default_value = 0.04
    mixed = tree.nodes.new("ShaderNodeMixShader")
    tree.links.new(weight.outputs["Facing"], share.inputs[0])
    tree.links.new(share.outputs[0], mixed.inputs[0])
    tree.links.new(through.outputs[0], mixed.inputs[1])
    tree.links.new(mirror.outputs[0], mixed.inputs[2])
    for column, node in enumerate((weight, share, through, mirror, mixed)):
        node.location = (-600 + 180 * column, 350)
    return mixed.outputs[0]


def world_of(name: str, color: Rgb, strength: float) -> Any:
    """A new world of one colour."""
    world: Any = bpy.data.worlds.new(name)
    _use_nodes(world)
    background = _node(world.node_tree, "BACKGROUND")
    if background is not None:
        background.inputs["Color"].default_value = (*color, 1.0)
        background.inputs["Strength"].default_value = strength
    return world


def is_factory_world(world: Any) -> bool:
    """Whether a world is that of Blender's startup file, or none."""
    if world is None:
        return True
    background = _node(world.node_tree, "BACKGROUND")
    if world.name != "World" or background is None or background.inputs["Color"].is_linked:
        return False
    return all(abs(part - 0.0509) < 1e-3 for part in background.inputs["Color"].default_value[:3])


def _new(name: str, color: Rgb) -> BlenderMaterial:
    material: BlenderMaterial = bpy.data.materials.new(name)
    _use_nodes(material)
    material.diffuse_color = (*color, 1.0)
    return material


def _use_nodes(block: Any) -> None:
    if bpy.app.version < (5, 0, 0):  # since then everything uses nodes
        block.use_nodes = True


def _node(tree: Any, kind: str) -> Any:
    nodes: Iterable[Any] = () if tree is None else tree.nodes
    return next((node for node in nodes if node.type == kind), None)
