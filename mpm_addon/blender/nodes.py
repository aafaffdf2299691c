"""How particles look: geometry nodes that put a sphere on every point, and a Blender material for every emitter.

Made by code, from nodes that Blender 4.2 to 5.2 share. Spheres are instances, and the emitter's number picks the one
with its material; so colours show in Workbench, EEVEE and Cycles alike, and an artist edits an ordinary material.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy

from .blender_types import BlenderMaterial, BlenderObject, Modifier, NodeTree
from .colors import Color
from .playback import MATERIAL_INDEX

GROUP_NAME = "MPM Particles"
MODIFIER_NAME = "MPM Particles"
SUBDIVISIONS = "Subdivisions"
RADIUS_SCALE = "Radius Scale"

# The radius of a sphere as a share of the edge of a cube of the same volume: (3 / (4 pi))^(1/3).
_SPHERE_RADIUS = 0.6203504908994
_COLOR_KEY = "mpm_color"
_PAINTED_KEY = "mpm_is_painted"
_PAINTED_NODE = "MPM Painted Color"
# the attribute that colours particles one by one, where an emitter carries it
PAINTED_COLOR = "color"


class Look(NamedTuple):
    """How one emitter's particles are shown.

    Attributes:
        name: of its Blender material.
        color: the emitter's.
        is_painted: whether each particle has a colour of its own, the attribute `color`.
    """

    name: str
    color: Color
    is_painted: bool = False


def dress(item: BlenderObject, looks: Sequence[Look]) -> None:
    """Give a particle object its spheres: one look for every emitter, in their order. What an artist set is kept."""
    modifier = item.modifiers.get(MODIFIER_NAME)
    if modifier is None:
        modifier = item.modifiers.new(MODIFIER_NAME, "NODES")
    if modifier.node_group is None:
        modifier.node_group = _new_group()
    materials = [_material(look) for look in looks]
    item.data.materials.clear()
    for material in materials:
        item.data.materials.append(material)
    _build(modifier.node_group, materials)


def set_input(modifier: Modifier, name: str, value: Any) -> None:
    """Set an input of a geometry-nodes modifier by its name. Raises KeyError where the group has none of that name."""
    identifier = input_identifier(modifier.node_group, name)
    if bpy.app.version >= (5, 2, 0):
        getattr(modifier.properties.inputs, identifier).value = value
    else:
        modifier[identifier] = value
    modifier.id_data.update_tag()


def input_identifier(group: NodeTree, name: str) -> str:
    """The identifier of a node group's input."""
    for socket in group.interface.items_tree:
        if socket.item_type == "SOCKET" and socket.in_out == "INPUT" and socket.name == name:
            return socket.identifier
    raise KeyError(name)


def _material(look: Look) -> BlenderMaterial:
    """The emitter's material. Its colour follows the emitter's when that changes, and is left alone otherwise."""
    name = f"MPM {look.name}"
    material: BlenderMaterial = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    if tuple(material.get(_COLOR_KEY, ())) == tuple(look.color) and bool(material.get(_PAINTED_KEY, False)) == look.is_painted:
        return material
    _paint(material, look)
    return material


def _paint(material: BlenderMaterial, look: Look) -> None:
    material[_COLOR_KEY], material[_PAINTED_KEY] = look.color, look.is_painted
    material.diffuse_color = look.color
    if bpy.app.version < (5, 0, 0):  # since then every material uses nodes
        material.use_nodes = True
    tree = material.node_tree
    for node in tree.nodes:
        if node.type == "BSDF_PRINCIPLED":
            node.inputs["Base Color"].default_value = look.color
            if look.is_painted:
                tree.links.new(_painted_color(tree), node.inputs["Base Color"])


def _painted_color(tree: NodeTree) -> Any:
    """The socket with the colour of a particle; its node is made where there is none."""
    node = tree.nodes.get(_PAINTED_NODE)
    if node is None:
        node = tree.nodes.new("ShaderNodeAttribute")
        node.name = node.label = _PAINTED_NODE
        node.attribute_type, node.attribute_name = "INSTANCER", PAINTED_COLOR
        node.location = (-300, 300)
    return node.outputs["Color"]


def _new_group() -> NodeTree:
    group: NodeTree = bpy.data.node_groups.new(GROUP_NAME, "GeometryNodeTree")
    group.is_modifier = True
    interface = group.interface
    interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    subdivisions = interface.new_socket(SUBDIVISIONS, in_out="INPUT", socket_type="NodeSocketInt")
    subdivisions.description = "Roundness of the spheres: 1 has 20 faces, each further one four times as many"
    subdivisions.default_value, subdivisions.min_value, subdivisions.max_value = 2, 1, 6
    radius = interface.new_socket(RADIUS_SCALE, in_out="INPUT", socket_type="NodeSocketFloat")
    radius.description = "Factor on the radius; at 1 a sphere has its particle's volume"
    radius.default_value, radius.min_value, radius.max_value = 1.0, 0.0, 100.0
    interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    return group


class _Builder:
    """Adds nodes to a group and links them, from left to right."""

    def __init__(self, group: NodeTree) -> None:
        self._group = group

    def node(self, kind: str, column: int, row: int = 0, **settings: Any) -> Any:
        node = self._group.nodes.new(kind)
        node.location = (220 * column, -180 * row)
        for name, value in settings.items():
            setattr(node, name, value)
        return node

    def link(self, source: Any, target: Any) -> None:
        self._group.links.new(source, target)

    def attribute(self, name: str, kind: str, column: int, row: int) -> Any:
        """The socket with the values of a named attribute."""
        node = self.node("GeometryNodeInputNamedAttribute", column, row, data_type=kind)
        node.inputs["Name"].default_value = name
        return node.outputs["Attribute"]


def _build(group: NodeTree, materials: Sequence[bpy.types.Material]) -> None:
    """The nodes: vertices -> points with a radius -> on each, a sphere of its emitter's material."""
    group.nodes.clear()
    build = _Builder(group)
    inputs = build.node("NodeGroupInput", 0)
    outputs = build.node("NodeGroupOutput", 6)
    instances = build.node("GeometryNodeInstanceOnPoints", 5)
    instances.inputs["Pick Instance"].default_value = True
    build.link(_points(build, inputs), instances.inputs["Points"])
    build.link(_spheres(build, inputs, materials), instances.inputs["Instance"])
    build.link(build.attribute("emitter_index", "INT", 4, 3), instances.inputs["Instance Index"])
    build.link(build.node("GeometryNodeInputRadius", 4, 4).outputs["Radius"], instances.inputs["Scale"])
    build.link(instances.outputs["Instances"], outputs.inputs["Geometry"])


def _points(build: _Builder, inputs: Any) -> Any:
    """Points from the vertices; here `material_index` gets its name at last, which a mesh keeps for its faces."""
    radius = build.node("ShaderNodeMath", 1, 1, operation="MULTIPLY")
    radius.inputs[1].default_value = _SPHERE_RADIUS
    build.link(build.attribute("scale", "FLOAT", 0, 1), radius.inputs[0])
    scaled = build.node("ShaderNodeMath", 2, 1, operation="MULTIPLY")
    build.link(radius.outputs[0], scaled.inputs[0])
    build.link(inputs.outputs[RADIUS_SCALE], scaled.inputs[1])
    points = build.node("GeometryNodeMeshToPoints", 3)
    build.link(inputs.outputs["Geometry"], points.inputs["Mesh"])
    build.link(scaled.outputs[0], points.inputs["Radius"])
    named = build.node("GeometryNodeStoreNamedAttribute", 4, data_type="INT", domain="POINT")
    named.inputs["Name"].default_value = "material_index"
    build.link(points.outputs["Points"], named.inputs["Geometry"])
    build.link(build.attribute(MATERIAL_INDEX, "INT", 3, 2), named.inputs["Value"])
    return named.outputs["Geometry"]


def _spheres(build: _Builder, inputs: Any, materials: Sequence[bpy.types.Material]) -> Any:
    """One instance of a sphere for each material, in their order."""
    sphere = build.node("GeometryNodeMeshIcoSphere", 1, 3)
    sphere.inputs["Radius"].default_value = 1.0
    build.link(inputs.outputs[SUBDIVISIONS], sphere.inputs["Subdivisions"])
    smooth = build.node("GeometryNodeSetShadeSmooth", 2, 3)
    build.link(sphere.outputs["Mesh"], smooth.inputs["Geometry"])
    spheres = build.node("GeometryNodeGeometryToInstance", 4, 2)
    # a socket that takes many links has the last one first
    for row, material in reversed(list(enumerate(materials))):
        painted = build.node("GeometryNodeSetMaterial", 3, 3 + row)
        painted.inputs["Material"].default_value = material
        build.link(smooth.outputs["Geometry"], painted.inputs["Geometry"])
        build.link(painted.outputs["Geometry"], spheres.inputs["Geometry"])
    return spheres.outputs["Instances"]
