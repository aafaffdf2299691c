"""Blender materials for objects other than particles."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..display.materials import Shader, tree_of
from ..host.blender_types import BlenderMaterial, BlenderObject

Rgb = tuple[float, float, float]
# The width of the joints between tiles, relative to a tile's edge; their color and that of the darkest tile, relative to the brightest.
_JOINT, _JOINT_COLOR, _DARKEST_TILE = 0.02, 0.35, 0.8
# Wet sand throws back about half of the light of dry sand (Lekner and Dorf 1988), and is smoother.
_SOAKED, _SHINE = 0.45, 0.6


# How much paler than its color a sky is at the horizon, and its color above relative to that between.
_HAZE, _ZENITH = 0.35, 0.8


class Strand(NamedTuple):
    """Ground that waves have wetted, on the side of smaller x [Blender units]: up to where, over which width it dries, and how wavy."""

    edge: float
    fade: float
    waves: float


def paint(item: BlenderObject, color: Rgb, *, roughness: float = 0.5, metallic: float = 0.0, tile: float = 0.0) -> None:
    """Give an object a material of one color, or of square tiles of nearly that color if their edge [Blender units] is given."""
    item.data.materials.append(plain(item.name, color, roughness=roughness, metallic=metallic, tile=tile))


def plain(name: str, color: Rgb, *, roughness: float = 0.5, metallic: float = 0.0, tile: float = 0.0) -> BlenderMaterial:
    """A new material of one color, or of square tiles; see `paint`."""
    material = _new(name, color)
    if tree_of(material) is not None:
        shader = Shader(tree_of(material))
        base = _tiles(shader, color, tile) if tile else (*color, 1.0)
        values: dict[str | int, Any] = {"Base Color": base, "Roughness": roughness, "Metallic": metallic}
        shader.end(shader.node("ShaderNodeBsdfPrincipled", values))
    return material


def _tiles(shader: Shader, color: Rgb, edge: float) -> Any:
    """The color of tiles and the joints between them: their lines show how water bends light, and how large everything is."""
    place = shader.node("ShaderNodeTexCoord", {}).outputs["Object"]
    inputs: dict[str | int, Any] = {"Vector": place, "Scale": 1.0, "Brick Width": edge, "Row Height": edge, "Mortar Size": _JOINT * edge}
    for name, share in (("Color1", 1.0), ("Color2", _DARKEST_TILE), ("Mortar", _JOINT_COLOR)):
        inputs[name] = (*(share * part for part in color), 1.0)
    return shader.node("ShaderNodeTexBrick", inputs, offset=0.0).outputs["Color"]


def weather(
    item: BlenderObject, colors: tuple[Rgb, Rgb], size: float, *, relief: float = 0.3, roughness: float = 0.8, wet: Strand | None = None
) -> None:
    """Give an object a natural material: two colors in patches, and bumps, of sizes up to `size` [Blender units].

    The height of the bumps is `relief`, relative to their size. Where it is `wet`, it is darker and shines.
    """
    item.data.materials.append(natural(item.name, colors, size, relief=relief, roughness=roughness, wet=wet))


def natural(
    name: str, colors: tuple[Rgb, Rgb], size: float, *, relief: float = 0.3, roughness: float = 0.8, wet: Strand | None = None
) -> BlenderMaterial:
    """A new natural material; see `weather`."""
    material = _new(name, colors[1])
    if tree_of(material) is not None:
        shader = Shader(tree_of(material))
        place = shader.node("ShaderNodeTexCoord", {}).outputs["Object"]
        patches = shader.node("ShaderNodeTexNoise", {"Vector": place, "Scale": 1.0 / size, "Detail": 6.0, "Roughness": 0.6}).outputs[0]
        # nearly all of the noise is within 0.2 of its mean, 0.5
        share = shader.node("ShaderNodeMapRange", {0: patches, 1: 0.3, 2: 0.7}).outputs[0]
        ramp = shader.node("ShaderNodeValToRGB", {0: share})
        for stop, color in zip(ramp.color_ramp.elements, colors, strict=True):
            stop.color = (*color, 1.0)
        bumps = shader.node("ShaderNodeBump", {"Strength": 1.0, "Distance": relief * size, "Height": patches}).outputs[0]
        values: dict[str | int, Any] = {"Base Color": ramp.outputs[0], "Roughness": roughness, "Normal": bumps}
        if wet is not None:
            values |= _wetted(shader, place, ramp.outputs[0], roughness, wet)
        shader.end(shader.node("ShaderNodeBsdfPrincipled", values))
    return material


def _wetted(shader: Shader, place: Any, color: Any, roughness: float, wet: Strand) -> dict[str | int, Any]:
    """The color and roughness of ground that waves have wetted up to a ragged line."""
    along = shader.node("ShaderNodeSeparateXYZ", {0: place}).outputs["X"]
    ragged = shader.node("ShaderNodeTexNoise", {"Vector": place, "Scale": 1.0 / wet.waves, "Detail": 2.0}).outputs[0]
    # nearly all of the noise is within 0.2 of its mean, 0.5
    shift = shader.node("ShaderNodeMath", {0: ragged, 1: 0.5}, operation="SUBTRACT").outputs[0]
    reach = shader.node("ShaderNodeMath", {0: shift, 1: wet.waves, 2: along}, operation="MULTIPLY_ADD").outputs[0]
    share = shader.node("ShaderNodeMapRange", {0: reach, 1: wet.edge - wet.fade, 2: wet.edge, 3: 1.0, 4: 0.0}).outputs[0]
    soaked = shader.node("ShaderNodeMath", {0: share, 1: _SOAKED}, operation="MULTIPLY").outputs[0]
    dark = shader.node("ShaderNodeMix", {0: soaked, 6: color, 7: (0.0, 0.0, 0.0, 1.0)}, data_type="RGBA")
    rough = shader.node("ShaderNodeMapRange", {0: share, 3: roughness, 4: _SHINE}).outputs[0]
    return {"Base Color": dark.outputs[2], "Roughness": rough}


def layer(item: BlenderObject, colors: tuple[Rgb, Rgb], count: int) -> None:
    """Give an object a milky material with upright layers of two colors in turn, which follow its UV map, and unwrap it from the front.

    Args:
        count: the number of layers.
    """
    mesh: Any = item.data
    places, corners = np.empty(3 * len(mesh.vertices), np.float32), np.empty(len(mesh.loops), np.int32)
    mesh.attributes["position"].data.foreach_get("vector", places)
    mesh.attributes[".corner_vert"].data.foreach_get("value", corners)
    flat = places.reshape(-1, 3)[:, [0, 2]]
    flat = (flat - flat.min(axis=0)) / np.maximum(np.ptp(flat, axis=0), 1e-9)
    mesh.attributes.new("UVMap", "FLOAT2", "CORNER").data.foreach_set("vector", np.ascontiguousarray(flat[corners]).reshape(-1))
    material = _new(item.name, colors[0])
    if tree_of(material) is not None:
        shader = Shader(tree_of(material))
        height = shader.node("ShaderNodeSeparateXYZ", {0: shader.node("ShaderNodeUVMap", {}, uv_map="UVMap").outputs[0]}).outputs["Y"]
        pair = shader.node("ShaderNodeMath", {0: height, 1: 0.5 * count}, operation="MULTIPLY").outputs[0]
        place = shader.node("ShaderNodeMath", {0: pair}, operation="FRACT").outputs[0]
        is_second = shader.node("ShaderNodeMath", {0: place, 1: 0.5}, operation="GREATER_THAN").outputs[0]
        mixed = shader.node("ShaderNodeMix", {0: is_second, 6: (*colors[0], 1.0), 7: (*colors[1], 1.0)}, data_type="RGBA").outputs[2]
        depth = 0.1 * max(item.dimensions)
        milky = {"Subsurface Weight": 1.0, "Subsurface Radius": (1.0, 0.7, 0.5), "Subsurface Scale": depth, "Roughness": 0.15}
        shader.end(shader.node("ShaderNodeBsdfPrincipled", {"Base Color": mixed, **milky}))
    mesh.materials.append(material)


def glaze(item: BlenderObject) -> None:
    """Give an object a thin-glass material: transparent, and reflective at its edges. Needs no caustics and few samples."""
    color = (0.98, 0.993, 1.0)
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


def world_of(name: str, color: Rgb, strength: float, *, is_sky: bool = False) -> Any:
    """A new world of one color; as a sky, it is pale at the horizon and deeper above."""
    world: Any = bpy.data.worlds.new(name)
    background = _background(tree_of(world))
    if background is not None:
        background.inputs["Color"].default_value = (*color, 1.0)
        background.inputs["Strength"].default_value = strength
        if is_sky:
            _brighten_horizon(tree_of(world), background, color)
    return world


def _brighten_horizon(tree: Any, background: Any, color: Rgb) -> None:
    """Let the color of a background change with height, so that water and glass mirror something."""
    direction = tree.nodes.new("ShaderNodeTexCoord").outputs["Generated"]
    split = tree.nodes.new("ShaderNodeSeparateXYZ")
    tree.links.new(direction, split.inputs[0])
    ramp = tree.nodes.new("ShaderNodeValToRGB")
    tree.links.new(split.outputs["Z"], ramp.inputs[0])
    ramp.color_ramp.interpolation = "EASE"
    low, high = ramp.color_ramp.elements
    low.position, high.position = 0.0, 0.5
    low.color = (*(part + _HAZE * (1.0 - part) for part in color), 1.0)
    high.color = (*(_ZENITH * part for part in color), 1.0)
    tree.links.new(ramp.outputs["Color"], background.inputs["Color"])


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
