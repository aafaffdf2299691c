"""Node groups and materials that the extension makes: built once in a file, built anew by a newer version, and never over what was edited.

What was built is written beside it, on the group itself. Where that is still what is there, nobody edited it, and it may be replaced.
Files keep their groups, so they open the same in a Blender without the extension.
"""

import json
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import bpy

from ...core.laws.finish import GRAINS, POINTS, SPHERES, SURFACE
from ..host.blender_types import NodeTree
from . import grains, points, spheres, surface
from .building import Builder, declare

_BUILT, _VERSION = "mpm_built", "mpm_version"
# Every group has NAME, VERSION, HELP, INPUTS and build().
OF_MODE: Mapping[str, ModuleType] = {POINTS: points, SPHERES: spheres, GRAINS: grains, SURFACE: surface}
GROUPS: tuple[ModuleType, ...] = tuple(OF_MODE.values())
_CATALOG = "9a4c1f0e-6d5b-4f0c-9a57-3b8f4f1d6e21"


def asset(module: ModuleType) -> NodeTree:
    """The file's own group of a display mode. It is made where there is none, and made anew where it is older and was not edited."""
    group: Any = bpy.data.node_groups.get((module.NAME, None))
    if group is None:
        group = bpy.data.node_groups.new(module.NAME, "GeometryNodeTree")
    elif group.get(_VERSION, 0) >= module.VERSION or is_edited(group):
        return group
    group.is_modifier = True
    declare(group, module.INPUTS)
    module.build(Builder(group))
    group[_VERSION] = module.VERSION
    note(group)
    _mark(group, module.HELP)
    return group


def upgrade() -> None:
    """Build anew the groups in the file that an older version of the extension made, but those that were edited."""
    for module in GROUPS:
        if bpy.data.node_groups.get((module.NAME, None)) is not None:
            asset(module)


def restore(module: ModuleType) -> bool:
    """Where an asset was edited, leave it to the user under another name, and let the next one be new. Returns whether it was."""
    group: Any = bpy.data.node_groups.get((module.NAME, None))
    if group is None or not is_edited(group):
        return False
    group.name = f"{module.NAME} (edited)"
    del group[_BUILT]
    return True


def edited() -> list[str]:
    """The names of the assets in the file that were edited."""
    groups = (bpy.data.node_groups.get((module.NAME, None)) for module in GROUPS)
    return [group.name for group in groups if group is not None and is_edited(group)]


def note(tree: NodeTree) -> None:
    """Remember nodes and links as they were built."""
    tree[_BUILT] = json.dumps(_content(tree))


def forget(tree: NodeTree) -> None:
    """Nodes are about to be built anew; half built ones, where that fails, are nobody's edit."""
    if _BUILT in tree:
        del tree[_BUILT]


def is_edited(tree: NodeTree) -> bool:
    """Whether nodes were added, removed, linked otherwise, or given other values since they were built.

    Sockets that newer versions of Blender add to a node do not count, nor do places and colours of nodes.
    """
    kept = tree.get(_BUILT)
    if kept is None:
        return False
    built, found = json.loads(kept), _content(tree)
    if built["links"] != found["links"] or built["nodes"].keys() != found["nodes"].keys():
        return True
    return any(not _is_same(values, found["nodes"][name]) for name, values in built["nodes"].items())


def _is_same(built: dict[str, Any], found: dict[str, Any]) -> bool:
    return all(found.get(name, value) == value for name, value in built.items())


def _content(tree: Any) -> dict[str, Any]:
    links = sorted([link.from_node.name, link.from_socket.name, link.to_node.name, link.to_socket.name] for link in tree.links)
    return {"nodes": {node.name: dict(_values(node)) for node in tree.nodes}, "links": links}


def _values(node: Any) -> Iterator[tuple[str, Any]]:
    """The settings and the values of the inputs of a node, as JSON has them."""
    yield "kind", node.bl_idname
    yield "muted", node.mute
    for name in ("operation", "data_type", "domain", "input_type", "blend_type", "attribute_name"):
        if hasattr(node, name):
            yield name, getattr(node, name)
    if getattr(node, "color_ramp", None) is not None:
        yield "ramp", [[round(stop.position, 4), *(round(part, 4) for part in stop.color)] for stop in node.color_ramp.elements]
    if getattr(node, "node_tree", None) is not None:
        yield "tree", node.node_tree.name
    for socket in node.inputs:
        if socket.enabled and not socket.is_linked and hasattr(socket, "default_value"):
            yield f"in {socket.identifier}", _plain(socket.default_value)


def _plain(value: Any) -> Any:
    if isinstance(value, bpy.types.ID):
        return value.name
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return [float(f"{part:.5g}") for part in value]


def _mark(group: Any, words: str) -> None:
    """Make a group an asset: it is then in the asset browser and in the Add menu of the node editors, of this file and of libraries."""
    group.asset_mark()
    data = group.asset_data
    data.description, data.author, data.catalog_id = words, "MPM", _CATALOG
    for tag in ("MPM", "particles"):
        data.tags.new(tag, skip_if_exists=True)
