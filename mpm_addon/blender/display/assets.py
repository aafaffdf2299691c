"""The extension's node groups and materials: built once per file, rebuilt by newer versions, and never over an artist's edits.

A record of the nodes is stored on the group itself. A group that still matches its record was not edited, and may be replaced.
Files keep their groups, so they open unchanged in a Blender without the extension.
"""

import json
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import bpy

from ...core.laws.finish import GRAINS, POINTS, SPHERES, SURFACE
from ..host.blender_types import NodeTree
from . import debris, foam, grains, points, spheres, surface
from .node_builder import Builder, declare

_BUILT, _VERSION = "mpm_built", "mpm_version"
# Every group has NAME, VERSION, HELP, INPUTS and build().
OF_MODE: Mapping[str, ModuleType] = {POINTS: points, SPHERES: spheres, GRAINS: grains, SURFACE: surface}
GROUPS: tuple[ModuleType, ...] = (*OF_MODE.values(), foam, debris)
_CATALOG = "9a4c1f0e-6d5b-4f0c-9a57-3b8f4f1d6e21"


def asset(module: ModuleType) -> NodeTree:
    """The file's own group of a display mode. Built if missing, and rebuilt if it is older and was not edited."""
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
    """Rebuild the file's groups that an older version made, except edited ones."""
    for module in GROUPS:
        if bpy.data.node_groups.get((module.NAME, None)) is not None:
            asset(module)


def restore(module: ModuleType) -> bool:
    """If an asset was edited, rename it and leave it to the user, so that a new one is built. Returns whether it was edited."""
    group: Any = bpy.data.node_groups.get((module.NAME, None))
    if group is None or not is_edited(group):
        return False
    group.name = f"{module.NAME} (edited)"
    del group[_BUILT]
    return True


def edited() -> list[str]:
    """The names of the edited assets in the file."""
    groups = (bpy.data.node_groups.get((module.NAME, None)) for module in GROUPS)
    return [group.name for group in groups if group is not None and is_edited(group)]


def note(tree: NodeTree) -> None:
    """Record nodes and links as built."""
    tree[_BUILT] = json.dumps(_content(tree))


def forget(tree: NodeTree) -> None:
    """Remove the record before rebuilding; half-built nodes left by an error then do not count as edited."""
    if _BUILT in tree:
        del tree[_BUILT]


def is_edited(tree: NodeTree) -> bool:
    """Whether nodes were added, removed, relinked or given other values since they were built.

    Sockets that newer versions of Blender add to a node do not count; neither do positions and colors of nodes.
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
    """A node's settings and input values, ready for JSON."""
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
    """Mark a group as an asset, which lists it in the asset browser and in the Add menus of node editors, here and in other files."""
    group.asset_mark()
    data = group.asset_data
    data.description, data.author, data.catalog_id = words, "MPM", _CATALOG
    for tag in ("MPM", "particles"):
        data.tags.new(tag, skip_if_exists=True)
