"""Blender materials for objects other than particles, and for the pictures of presets."""

from collections.abc import Iterable
from typing import Any

import bpy

from ...storage.looks import Look, Rgb
from ..display.materials import Shader, tree_of
from ..host.blender_types import BlenderMaterial, BlenderObject

# Remaining share of the base color if the volume absorbs the color.
_TINT = 0.88
_BUMP_HEIGHT = 0.02


def paint(item: BlenderObject, color: Rgb, *, roughness: float = 0.5, metallic: float = 0.0) -> None:
    """Give an object a material of one color."""
    item.data.materials.append(surface_of(item.name, Look(color=color, roughness=roughness, metallic=metallic)))


def surface_of(name: str, look: Look) -> BlenderMaterial:
    """A new material with a look."""
    material = _new(name, look.color)
    if tree_of(material) is not None:
        shader = Shader(tree_of(material))
        ends = {"Surface": shader.node("ShaderNodeBsdfPrincipled", _principled(shader, look)).outputs[0]}
        if look.absorption:
            inside = {"Color": (*look.color, 1.0), "Density": look.absorption}
            ends["Volume"] = shader.node("ShaderNodeVolumeAbsorption", inside).outputs[0]
        shader.node("ShaderNodeOutputMaterial", ends)
    return material


def _principled(shader: Shader, look: Look) -> dict[str | int, Any]:
    """The inputs of a Principled BSDF."""
    values: dict[str | int, Any] = {
        "Base Color": (*look.color, 1.0),
        "Roughness": look.roughness,
        "Coat Weight": look.coat,
        "Metallic": look.metallic,
        "Transmission Weight": look.transmission,
        "Subsurface Weight": look.subsurface,
        "Subsurface Scale": 0.05,
        "IOR": look.ior,
    }
    if look.absorption:
        values["Base Color"] = (*(1.0 - _TINT * (1.0 - part) for part in look.color), 1.0)
    if look.bump:
        height = _noise(shader, look.bump_scale, detail=2.0)
        bumps = shader.node("ShaderNodeBump", {"Strength": look.bump, "Distance": _BUMP_HEIGHT, "Height": height})
        values["Normal"] = bumps.outputs["Normal"]
    if look.spots is not None:
        values["Base Color"] = _spotted(shader, look.bump_scale, look.spots, look.color)
    if look.glow is not None:
        values |= {"Emission Color": _spotted(shader, look.bump_scale, look.glow, (0.0, 0.0, 0.0)), "Emission Strength": look.emission}
    return values


def _spotted(shader: Shader, scale: float, spots: Rgb, rest: Rgb) -> Any:
    """The socket of a color with spots of another color."""
    ramp = shader.node("ShaderNodeValToRGB", {0: _noise(shader, scale, detail=3.0)})
    for element, place, color in zip(ramp.color_ramp.elements, (0.45, 0.55), (spots, rest), strict=True):
        element.position, element.color = place, (*color, 1.0)
    return ramp.outputs["Color"]


def _noise(shader: Shader, scale: float, *, detail: float) -> Any:
    place = shader.node("ShaderNodeTexCoord", {}).outputs["Object"]
    return shader.node("ShaderNodeTexNoise", {"Vector": place, "Scale": scale, "Detail": detail}).outputs[0]


def glaze(item: BlenderObject) -> None:
    """Give an object a thin-glass material: transparent, and reflective at its edges. Needs no caustics and few samples."""
    color = (0.92, 0.97, 1.0)
    material = _new(item.name, color)
    material.diffuse_color = (*color, 0.15)
    if tree_of(material) is not None:
        shader = Shader(tree_of(material))
        facing = shader.node("ShaderNodeLayerWeight", {"Blend": 0.15}).outputs["Facing"]
        share = shader.node("ShaderNodeMath", {0: facing, 1: 0.45}, operation="MULTIPLY").outputs[0]
        through = shader.node("ShaderNodeBsdfTransparent", {"Color": (*color, 1.0)}).outputs[0]
        mirror = shader.node("ShaderNodeBsdfAnisotropic", {"Roughness": 0.04}).outputs[0]
        shader.end(shader.node("ShaderNodeMixShader", {0: share, 1: through, 2: mirror}))
    item.data.materials.append(material)


def world_of(name: str, color: Rgb, strength: float) -> Any:
    """A new world of one color."""
    world: Any = bpy.data.worlds.new(name)
    background = _background(tree_of(world))
    if background is not None:
        background.inputs["Color"].default_value = (*color, 1.0)
        background.inputs["Strength"].default_value = strength
    return world


def is_factory_world(world: Any) -> bool:
    """Whether a world is that of Blender's startup file, or None."""
    if world is None:
        return True
    background = _background(world.node_tree)
    if world.name != "World" or background is None or background.inputs["Color"].is_linked:
        return False
    return all(abs(part - 0.0509) < 1e-3 for part in background.inputs["Color"].default_value[:3])


def _new(name: str, color: Rgb) -> BlenderMaterial:
    material: BlenderMaterial = bpy.data.materials.new(name)
    material.diffuse_color = (*color, 1.0)
    return material


def _background(tree: Any) -> Any:
    nodes: Iterable[Any] = () if tree is None else tree.nodes
    return next((node for node in nodes if node.type == "BACKGROUND"), None)
