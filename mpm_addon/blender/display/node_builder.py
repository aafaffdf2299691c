"""Builds geometry nodes by code, from nodes and sockets that Blender 4.2 to 5.2 share, and arranges them from left to right."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import bpy

from ..host.blender_types import NodeTree

COLUMN, ROW = 220, 190
# Values or sockets for a node's inputs, by name, identifier or number.
Inputs: TypeAlias = Mapping[Any, Any]


class Socket(NamedTuple):
    """An input of a node group.

    Attributes:
        kind: its class without "NodeSocket": "Geometry", "Float", "Int", "Bool", "Material".
        help: the tooltip.
        minimum, maximum: limits of numbers.
        subtype: "NONE", "PERCENTAGE", "DISTANCE" or "FACTOR".
    """

    name: str
    kind: str
    help: str = ""
    default: Any = None
    minimum: float | None = None
    maximum: float | None = None
    subtype: str = "NONE"
    is_field: bool = False


GEOMETRY = Socket("Geometry", "Geometry")


def declare(group: NodeTree, inputs: tuple[Socket, ...]) -> list[Socket]:
    """Give a group its sockets. Existing ones are kept by name, and with them the values set in modifiers. Returns the new inputs."""
    interface, new = group.interface, []
    if _find(group, "Geometry", "OUTPUT") is None:
        interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    for socket in inputs:
        made = _find(group, socket.name, "INPUT")
        if made is None:
            made = interface.new_socket(socket.name, in_out="INPUT", socket_type=f"NodeSocket{socket.kind}")
            new.append(socket)
        made.description = socket.help
        if socket.is_field:
            made.hide_value = True
        if socket.subtype != "NONE":
            made.subtype = socket.subtype
        for name, value in (("default_value", socket.default), ("min_value", socket.minimum), ("max_value", socket.maximum)):
            if value is not None:
                setattr(made, name, value)
    return new


def _find(group: NodeTree, name: str, direction: str) -> Any:
    sockets = (item for item in group.interface.items_tree if item.item_type == "SOCKET")
    return next((socket for socket in sockets if socket.in_out == direction and socket.name == name), None)


class Builder:
    """Adds nodes to an empty group, and links them.

    Attributes:
        inputs: the group's inputs by name.
    """

    def __init__(self, group: NodeTree) -> None:
        self._group = group
        group.nodes.clear()
        node = group.nodes.new("NodeGroupInput")
        self.inputs = {socket.name: socket for socket in node.outputs if socket.name}

    def node(self, kind: str, inputs: Inputs | None = None, **settings: Any) -> Any:
        """Add a node with settings; each input, by name, identifier or number, gets a value, a socket, or several sockets."""
        node = self._group.nodes.new(kind)
        for name, value in settings.items():
            setattr(node, name, value)
        for name, value in (inputs or {}).items():
            self.give(_input(node, name), value)
        return node

    def give(self, socket: Any, value: Any) -> None:
        if isinstance(value, bpy.types.NodeSocket):
            self._group.links.new(value, socket)
        elif isinstance(value, list):
            # a multi-input socket lists its last link first
            for each in reversed(value):
                self._group.links.new(each, socket)
        else:
            socket.default_value = value

    def out(self, kind: str, inputs: Inputs | None = None, **settings: Any) -> Any:
        """The first available output of a new node."""
        node = self.node(kind, inputs, **settings)
        return next(socket for socket in node.outputs if socket.enabled)

    def math(self, operation: str, first: Any, second: Any = None) -> Any:
        values = {number: value for number, value in enumerate((first, second)) if value is not None}
        return self.out("ShaderNodeMath", values, operation=operation)

    def vector(self, operation: str, first: Any, second: Any = None, *, scale: Any = None) -> Any:
        values: dict[Any, Any] = {number: value for number, value in enumerate((first, second)) if value is not None}
        if scale is not None:
            values["Scale"] = scale
        return self.out("ShaderNodeVectorMath", values, operation=operation)

    def attribute(self, name: str, kind: str) -> Any:
        """The socket with the values of a named attribute; 0 if it does not exist."""
        return self.out("GeometryNodeInputNamedAttribute", {"Name": name}, data_type=kind)

    def has_attribute(self, name: str, kind: str) -> Any:
        """The socket that tells whether a named attribute exists."""
        return self.node("GeometryNodeInputNamedAttribute", {"Name": name}, data_type=kind).outputs["Exists"]

    def store(self, geometry: Any, name: str, kind: str, value: Any, **inputs: Any) -> Any:
        given = {"Geometry": geometry, "Name": name, "Value": value, **inputs}
        return self.out("GeometryNodeStoreNamedAttribute", given, data_type=kind, domain="POINT")

    def switch(self, kind: str, condition: Any, no: Any, yes: Any) -> Any:
        return self.out("GeometryNodeSwitch", {"Switch": condition, "False": no, "True": yes}, input_type=kind)

    def is_equal(self, value: Any, number: int) -> Any:
        return self.out("FunctionNodeCompare", {"A": value, "B": number}, data_type="INT", operation="EQUAL")

    def random(self, kind: str, minimum: Any, maximum: Any, number: Any, seed: int) -> Any:
        """Random values that depend only on an ID."""
        return self.out("FunctionNodeRandomValue", {"Min": minimum, "Max": maximum, "ID": number, "Seed": seed}, data_type=kind)

    def smooth(self, mesh: Any) -> Any:
        return self.out("GeometryNodeSetShadeSmooth", {"Geometry": mesh})

    def painted(self, geometry: Any, material: Any, **inputs: Any) -> Any:
        return self.out("GeometryNodeSetMaterial", {"Geometry": geometry, "Material": material, **inputs})

    def group(self, tree: NodeTree, label: str, inputs: Inputs) -> Any:
        """The output geometry of another group. One that an artist edited in an older version may lack inputs, which are left out."""
        known = {name: value for name, value in inputs.items() if _find(tree, name, "INPUT") is not None}
        return self.out("GeometryNodeGroup", known, node_tree=tree, label=label)

    def end(self, geometry: Any) -> None:
        """Connect a geometry to the group's output, and arrange all nodes."""
        self.node("NodeGroupOutput", {0: geometry})
        _arrange(self._group)


def _input(node: Any, name: str | int) -> Any:
    sockets = [socket for socket in node.inputs if socket.enabled]
    if isinstance(name, int):
        return sockets[name]
    found = next((socket for socket in sockets if socket.name == name), None)
    # some sockets have different names across versions, but the same identifier
    return found if found is not None else next(socket for socket in sockets if socket.identifier == name)


def _arrange(group: NodeTree) -> None:
    """Arrange nodes in columns, each to the left of the nodes it links to."""
    columns = {node.name: 0 for node in group.nodes}
    links = [(link.from_node.name, link.to_node.name) for link in group.links]
    for _ in range(len(columns)):
        moved = False
        for source, target in links:
            if columns[source] <= columns[target]:
                columns[source], moved = columns[target] + 1, True
        if not moved:
            break
    rows: dict[int, int] = {}
    for node in group.nodes:
        column = columns[node.name]
        row = rows.get(column, 0)
        rows[column] = row + 1
        node.location = (-COLUMN * column, -ROW * row)
