"""The fake's meshes: vertices, faces, triangles, and the attributes of point clouds and meshes."""

from __future__ import annotations

from typing import Any

from . import vectors
from .data import unique_name
from .structs import BEHAVIORS, DEFAULTS, NAMESPACES, STUBS, FakeLimitation, bpy_prop_collection, create, struct_class

ATTRIBUTE_CLASSES = {
    "FLOAT": "FloatAttribute",
    "INT": "IntAttribute",
    "FLOAT_VECTOR": "FloatVectorAttribute",
    "FLOAT_COLOR": "FloatColorAttribute",
    "BOOLEAN": "BoolAttribute",
    "FLOAT2": "Float2Attribute",
    "QUATERNION": "QuaternionAttribute",
    "INT8": "ByteIntAttribute",
    "INT32_2D": "Int2Attribute",
}
# Blender after 4.2 has a class name for each kind of geometry.
ATTRIBUTE_GROUP = "AttributeGroupMesh" if "AttributeGroupMesh" in STUBS.names("bpy.types") else "AttributeGroup"
DOMAINS = {"POINT": "vertices", "EDGE": "edges", "FACE": "polygons", "CORNER": "loops"}

DEFAULTS.update(
    {
        ("FloatVectorAttributeValue", "vector"): vectors.Vector,
        ("FloatColorAttributeValue", "color"): lambda: [0.0] * 4,
        ("QuaternionAttributeValue", "value"): vectors.Quaternion,
        ("Float2AttributeValue", "vector"): lambda: vectors.Vector((0.0, 0.0)),
        ("MeshEdge", "vertices"): lambda: [0, 0],
        ("MeshLoopTriangle", "vertices"): lambda: [0, 0, 0],
        ("MeshLoopTriangle", "loops"): lambda: [0, 0, 0],
    }
)


def _set_item_count(self: Any, count: int) -> None:
    item = struct_class(STUBS.struct(type(self).STRUCT).item_type or "")
    for _ in range(count):
        self._list.append(create(item, index=len(self), owner=self, id_data=self.id_data))


def _add_loops(self: Any, count: int) -> None:
    _set_item_count(self, count)
    _have_attributes(self.id_data, {CORNER: ("INT", "CORNER"), CORNER_EDGE: ("INT", "CORNER")})


def _add_edges(self: Any, count: int) -> None:
    _set_item_count(self, count)
    _have_attributes(self.id_data, {EDGE: ("INT32_2D", "EDGE")})


def _have_attributes(mesh: Any, wanted: dict[str, tuple[str, str]]) -> None:
    for name, (kind, domain) in wanted.items():
        if name not in mesh.attributes.keys():  # noqa: SIM118 - a collection is no dictionary
            _new_attribute(mesh.attributes, name, kind, domain)


def _clear_geometry(self: Any) -> None:
    for name in ("vertices", "edges", "polygons", "loops", "loop_triangles"):
        getattr(self, name)._list.clear()
    attributes = self.attributes
    attributes._list[:] = [attribute for attribute in attributes if attribute.name == "position"]


def _from_pydata(self: Any, vertices: Any, edges: Any, faces: Any, **_keywords: Any) -> None:
    if len(self.vertices):
        raise RuntimeError("Error: from_pydata expects a mesh without vertices")
    self.vertices.add(len(vertices))
    for vertex, position in zip(self.vertices, vertices, strict=True):
        vertex.co = position
    self.edges.add(len(edges))
    for edge, indices in zip(self.edges, edges, strict=True):
        edge._values["vertices"] = list(indices)
    self.polygons.add(len(faces))
    corners = [list(indices) for indices in faces]
    start = 0
    for polygon, indices in zip(self.polygons, corners, strict=True):
        polygon._values.update(vertices=indices, loop_start=start, loop_total=len(indices))
        start += len(indices)
    if not start:
        return
    self.loops.add(start)
    for loop, index in zip(self.loops, (index for indices in corners for index in indices), strict=True):
        loop._values["vertex_index"] = index


def _calculate_triangles(self: Any) -> None:
    triangles = self.loop_triangles
    triangles._list.clear()
    cls = struct_class("MeshLoopTriangle")
    for polygon in self.polygons:
        start = polygon.loop_start
        for second in range(1, polygon.loop_total - 1):
            corners = [0, second, second + 1]
            vertices, loops = [polygon.vertices[corner] for corner in corners], [start + corner for corner in corners]
            triangles._list.append(create(cls, vertices=vertices, loops=loops, polygon_index=polygon.index))


def _new_attribute(self: Any, name: str, kind: str, domain: str) -> Any:
    if kind not in ATTRIBUTE_CLASSES:
        raise FakeLimitation(f"the fake has no attributes of type {kind}; test it on the real bpy")
    cls = struct_class(ATTRIBUTE_CLASSES[kind])
    attribute = create(cls, name=unique_name(name, self.keys()), data_type=kind, domain=domain, owner=self, id_data=self.id_data)
    self._list.append(attribute)
    return attribute


def _mesh_attributes(mesh: Any) -> Any:
    if "attributes" not in mesh._values:
        group = create(struct_class(ATTRIBUTE_GROUP), id_data=mesh)
        mesh._values["attributes"] = group
        group.new("position", "FLOAT_VECTOR", "POINT")
    return mesh._values["attributes"]


def _attribute_data(attribute: Any) -> Any:
    if attribute.name in VIEWS:
        return ItemValues(attribute.id_data, *VIEWS[attribute.name])
    annotation = STUBS.find_property(type(attribute).STRUCT, "data")
    assert annotation is not None
    if "data" not in attribute._values:
        attribute._values["data"] = create(bpy_prop_collection)
    data = attribute._values["data"]
    item = struct_class(type(attribute).STRUCT + "Value")
    count = len(getattr(attribute.id_data, DOMAINS[attribute.domain]))
    del data._list[count:]
    data._list.extend(create(item) for _ in range(count - len(data)))
    return data


CORNER, CORNER_EDGE, EDGE = ".corner_vert", ".corner_edge", ".edge_verts"
# Attributes that are another view of a mesh's own items: the collection, the name of the values, and what the items call them.
VIEWS = {
    "position": ("vertices", "vector", "co"),
    CORNER: ("loops", "value", "vertex_index"),
    CORNER_EDGE: ("loops", "value", "edge_index"),
    EDGE: ("edges", "value", "vertices"),
    "material_index": ("polygons", "value", "material_index"),
}


class ItemValues:
    """The values of an attribute in `VIEWS`."""

    def __init__(self, mesh: Any, items: str, field: str, name: str) -> None:
        self._items, self._names = getattr(mesh, items), {field: name}

    def __len__(self) -> int:
        return len(self._items)

    def foreach_get(self, attr: str, seq: Any) -> None:
        self._items.foreach_get(self._names[attr], seq)

    def foreach_set(self, attr: str, seq: Any) -> None:
        self._items.foreach_set(self._names[attr], seq)


for _name in ("MeshVertices", "MeshPolygons"):
    BEHAVIORS[_name, "add"] = _set_item_count
BEHAVIORS["MeshLoops", "add"] = _add_loops
BEHAVIORS["MeshEdges", "add"] = _add_edges
BEHAVIORS.update(
    {
        ("IDMaterials", "append"): lambda self, material: self._list.append(material),
        ("Mesh", "shade_smooth"): lambda self: None,
        ("Mesh", "clear_geometry"): _clear_geometry,
        ("Mesh", "from_pydata"): _from_pydata,
        ("Mesh", "update"): lambda self, **_: None,
        ("Mesh", "validate"): lambda self, **_: False,
        ("Mesh", "calc_loop_triangles"): _calculate_triangles,
        (ATTRIBUTE_GROUP, "new"): _new_attribute,
        (ATTRIBUTE_GROUP, "remove"): lambda self, attribute: self._list.remove(attribute),
    }
)
NAMESPACES["Mesh"] = {"attributes": property(_mesh_attributes)}
for _name in {name for name in ATTRIBUTE_CLASSES.values() if name in STUBS.names("bpy.types")}:
    NAMESPACES[_name] = {"data": property(_attribute_data)}
# Python methods that Blender's own scripts add to meshes.
if STUBS.find_method("Mesh", "from_pydata") is None:
    NAMESPACES["Mesh"]["from_pydata"] = _from_pydata
