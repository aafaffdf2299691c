"""Inputs of a geometry-nodes modifier by name, across versions of Blender."""

from typing import Any

import bpy

from ..host.blender_types import Layout, Modifier, NodeTree


def set_input(modifier: Modifier, name: str, value: Any) -> None:
    """Set an input of a geometry-nodes modifier by name. Raises KeyError if the group has no such input."""
    identifier = input_identifier(modifier.node_group, name)
    if bpy.app.version >= (5, 2, 0):
        getattr(modifier.properties.inputs, identifier).value = value
    else:
        modifier[identifier] = value
    modifier.id_data.update_tag()


def input_value(modifier: Modifier, name: str) -> Any:
    """The value of an input of a geometry-nodes modifier by name, None if its group has no such input."""
    try:
        identifier = input_identifier(modifier.node_group, name)
    except KeyError:
        return None
    if bpy.app.version >= (5, 2, 0):
        return getattr(modifier.properties.inputs, identifier).value
    return modifier.get(identifier)


def draw_input(layout: Layout, modifier: Modifier, name: str, label: str = "") -> None:
    """Draw an input of a modifier, if its group has it, with another label if one is given."""
    try:
        identifier = input_identifier(modifier.node_group, name)
    except KeyError:
        return
    if bpy.app.version >= (5, 2, 0):
        layout.prop(getattr(modifier.properties.inputs, identifier), "value", text=label or name)
    elif identifier in modifier.keys():  # noqa: SIM118 - a modifier is no dictionary
        layout.prop(modifier, f'["{identifier}"]', text=label or name)


def input_identifier(group: NodeTree, name: str) -> str:
    """The identifier of a node group's input."""
    for socket in group.interface.items_tree:
        if socket.item_type == "SOCKET" and socket.in_out == "INPUT" and socket.name == name:
            return socket.identifier
    raise KeyError(name)
