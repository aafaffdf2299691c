"""The Blender material of faces where a mesh has torn or broken: that of the outside without its glaze, as rough as what is inside.

What has a volume inside, such as jelly, has one material. Cycles leaves a volume only through a face with the same material that light came
in by: through another one, light would go on being absorbed as far as what lies behind, and what is torn would be black. Another
material belongs to the artist: it is made once and then left unchanged.
"""

from typing import Any

import bpy

from ...core.laws.finish import Finish
from ..host.blender_types import BlenderMaterial, BlenderObject, NodeTree
from .materials import forget_look, tree_of


def inside_material(name: str, outside: BlenderMaterial | None, finish: Finish) -> BlenderMaterial:
    """A new material for inside faces, or that of the outside if it has a volume.

    Args:
        name: its name.
        outside: the material of the outside, which is copied; a plain one if there is none.
        finish: that of the simulated material.
    """
    if outside is not None and _has_volume(outside):
        return outside
    material = bpy.data.materials.new(name) if outside is None else outside.copy()
    material.name = name
    forget_look(material)
    material.diffuse_color = _shaded(material.diffuse_color, finish.inside_brightness)
    material.roughness = finish.inside_roughness
    tree = tree_of(material)
    for node in [] if tree is None else [node for node in tree.nodes if node.type == "BSDF_PRINCIPLED"]:
        _lay_open(tree, node, finish)
    return material


def inside_of_pieces(item: BlenderObject) -> BlenderMaterial:
    """The material inside the pieces of a collider, which is made once."""
    name = f"{item.name} Inside"
    known: Any = bpy.data.materials.get((name, None))
    outside = next((slot.material for slot in item.material_slots if slot.material is not None), None)
    return known if known is not None else inside_material(name, outside, Finish(inside_roughness=_roughness_inside(outside)))


def _roughness_inside(outside: BlenderMaterial | None) -> float:
    """That of what breaks, and at least that of the outside."""
    nodes = [] if outside is None else tree_of(outside).nodes
    shaders = [node.inputs["Roughness"] for node in nodes if node.type == "BSDF_PRINCIPLED"]
    return max([Finish().inside_roughness, *(socket.default_value for socket in shaders if not socket.is_linked)])


def _has_volume(material: BlenderMaterial) -> bool:
    ends = [node for node in tree_of(material).nodes if node.type == "OUTPUT_MATERIAL"]
    return any(node.inputs["Volume"].is_linked for node in ends)


def _lay_open(tree: NodeTree, node: Any, finish: Finish) -> None:
    """Give a shader the roughness and brightness of the inside."""
    for name, value in (("Roughness", finish.inside_roughness), ("Coat Weight", 0.0)):
        _unlink(tree, node.inputs[name])
        node.inputs[name].default_value = value
    # relief of the outside, such as a normal map, means nothing here
    _unlink(tree, node.inputs["Normal"])
    color = node.inputs["Base Color"]
    if not color.is_linked:
        color.default_value = _shaded(color.default_value, finish.inside_brightness)
        return
    source = color.links[0].from_socket
    shade: Any = tree.nodes.new("ShaderNodeHueSaturation")
    shade.location = (node.location[0] - 180, node.location[1])
    shade.inputs["Value"].default_value = finish.inside_brightness
    tree.links.new(source, shade.inputs["Color"])
    tree.links.new(shade.outputs["Color"], color)


def _unlink(tree: NodeTree, socket: Any) -> None:
    for link in list(socket.links):
        tree.links.remove(link)


def _shaded(color: Any, brightness: float) -> tuple[float, float, float, float]:
    """A color of another brightness, at most white."""
    red, green, blue = (min(1.0, brightness * float(part)) for part in color[:3])
    return red, green, blue, 1.0
