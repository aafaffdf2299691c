"""The contents of the open file as values that can be compared: data-blocks, settings, selection. For the real bpy and the fake."""

from __future__ import annotations

from typing import Any

KINDS = ("scenes", "objects", "collections", "worlds", "cameras", "lights", "meshes", "node_groups", "materials", "images", "actions")
OF_OBJECTS = ("hide_render", "hide_viewport", "display_type", "show_in_front", "location", "rotation_euler", "parent")
OF_SCENES = ("frame_start", "frame_end", "frame_current", "camera", "world")
OF_RENDER = ("engine", "resolution_x", "resolution_y", "resolution_percentage", "fps")


def file_state(bpy: Any) -> dict[str, Any]:
    """Name -> value of everything that an operator of the extension may change."""
    found: dict[str, Any] = {kind: sorted(block.name for block in getattr(bpy.data, kind)) for kind in KINDS}
    for scene in bpy.data.scenes:
        found |= {f"{scene.name}.{name}": plain(getattr(scene, name)) for name in OF_SCENES}
        found |= {f"{scene.name}.render.{name}": getattr(scene.render, name) for name in OF_RENDER}
        found |= settings(scene.mpm, f"{scene.name}.mpm")
        found[f"{scene.name}: objects"] = sorted(item.name for item in scene.objects)
    for item in bpy.data.objects:
        found |= {f"{item.name}.{name}": plain(getattr(item, name)) for name in OF_OBJECTS}
        found |= settings(item.mpm, f"{item.name}.mpm")
        groups = [(each.name, name_of(getattr(each, "node_group", None))) for each in item.modifiers]
        found[f"{item.name}: modifiers"] = groups
        found[f"{item.name}: materials"] = [name_of(each) for each in getattr(item.data, "materials", ())]
    layer = bpy.context.view_layer
    found["selected"] = sorted(item.name for item in layer.objects.selected)
    found["active"] = name_of(layer.objects.active)
    found["shown"] = name_of(bpy.context.window.scene if bpy.context.window is not None else None)
    return found


def name_of(block: Any) -> str:
    return "" if block is None else block.name


def plain(value: Any) -> Any:
    if hasattr(value, "__len__") and not isinstance(value, str | set):
        return tuple(value)
    return name_of(value) if hasattr(value, "session_uid") else value


def settings(group: Any, path: str) -> dict[str, Any]:
    """The values of a property group and of its nested groups."""
    found: dict[str, Any] = {}
    for name in group.bl_rna.properties.keys():  # noqa: SIM118 - no dictionary
        if name in ("rna_type", "name"):
            continue
        value = getattr(group, name)
        if hasattr(value, "bl_rna") and hasattr(value, "is_property_set") and not hasattr(value, "session_uid"):
            found |= settings(value, f"{path}.{name}")
        elif hasattr(value, "add"):
            for index, row in enumerate(value):
                found |= settings(row, f"{path}.{name}[{index}]") | {f"{path}.{name}[{index}].name": row.name}
        else:
            found[f"{path}.{name}"] = plain(value)
    return found


def difference(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Changed values: name -> value before and after."""
    return {name: (before.get(name), after.get(name)) for name in {*before, *after} if before.get(name) != after.get(name)}
