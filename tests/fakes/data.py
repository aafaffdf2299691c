"""The fake's Blender file: data-blocks and their collections, meshes and their attributes, scenes.

Only what tests of the add-on's logic need. Whatever depends on Blender's own computation (evaluation of modifiers, geometry
nodes, files, rendering) is left to the real bpy.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from . import vectors
from .structs import (
    BEHAVIORS,
    COMPUTED,
    DEFAULTS,
    NAMESPACES,
    ON_CHANGE,
    STUBS,
    bpy_prop_collection,
    create,
    struct_class,
)

OBJECT_TYPES = {
    "Mesh": "MESH",
    "Curve": "CURVE",
    "Camera": "CAMERA",
    "Light": "LIGHT",
    "Volume": "VOLUME",
    "Armature": "ARMATURE",
    "PointCloud": "POINTCLOUD",
    "Lattice": "LATTICE",
    "Speaker": "SPEAKER",
}
LIGHT_CLASSES = {"POINT": "PointLight", "SUN": "SunLight", "SPOT": "SpotLight", "AREA": "AreaLight"}
OBJECT_TYPES.update(dict.fromkeys(LIGHT_CLASSES.values(), "LIGHT"))
MODIFIER_CLASSES = {
    "NODES": "NodesModifier",
    "COLLISION": "CollisionModifier",
    "BEVEL": "BevelModifier",
    "SUBSURF": "SubsurfModifier",
}

DEFAULTS.update(
    {
        ("ID", "library"): None,
        ("ID", "override_library"): None,
        ("Object", "instance_collection"): None,
        ("Object", "display_type"): "TEXTURED",
        ("Object", "visible_camera"): True,
        ("Scene", "frame_start"): 1,
        ("Scene", "frame_end"): 250,
        ("Scene", "frame_current"): 1,
        ("Scene", "frame_step"): 1,
        ("Scene", "gravity"): lambda: vectors.Vector((0.0, 0.0, -9.81)),
        ("Scene", "use_gravity"): True,
        ("RenderSettings", "fps"): 24,
        ("RenderSettings", "fps_base"): 1.0,
        ("RenderSettings", "frame_map_old"): 100,
        ("RenderSettings", "frame_map_new"): 100,
        ("UnitSettings", "scale_length"): 1.0,
        ("UnitSettings", "system"): "METRIC",
        ("Object", "scale"): lambda: vectors.Vector((1.0, 1.0, 1.0)),
        ("Object", "type"): "EMPTY",
        ("Object", "color"): lambda: [1.0, 1.0, 1.0, 1.0],
        ("FieldSettings", "type"): "NONE",
    }
)


def unique_name(wanted: str, taken: list[str]) -> str:
    """The name, numbered as in Blender if it is taken."""
    if wanted not in taken:
        return wanted
    stem = re.sub(r"\.\d{3,}$", "", wanted)
    return next(name for number in range(1, 1000) if (name := f"{stem}.{number:03d}") not in taken)


def _new_block(self: Any, name: str, *arguments: Any, **_keywords: Any) -> Any:
    item_type = STUBS.struct(type(self).STRUCT).item_type or "ID"
    if item_type == "NodeTree" and arguments:
        item_type = arguments[0]
    if item_type == "Light" and arguments:
        item_type = LIGHT_CLASSES[arguments[0]]
    block = create(struct_class(item_type), name=unique_name(name, self.keys()), siblings=self)
    if item_type == "Object":
        data = arguments[0]
        block._values.update(data=data, type=OBJECT_TYPES.get(type(data).__name__, "EMPTY"))
    if item_type == "Camera":
        block._values["dof"] = create(struct_class("CameraDOFSettings"), id_data=block)
    if item_type == "Scene":
        block._values["collection"] = create(struct_class("Collection"), name="Scene Collection", id_data=block)
        block._values["view_settings"] = create(struct_class("ColorManagedViewSettings"), id_data=block)
        block.view_layers._list.append(create(struct_class("ViewLayer"), name="ViewLayer", id_data=block))
    self._list.append(block)
    return block


def _remove_block(self: Any, block: Any, **_keywords: Any) -> None:
    if block not in self:
        raise RuntimeError(f"Error: {block!r} not in {type(self).__name__}")
    self._list.remove(block)
    for collection in _all_collections():
        objects = collection.objects
        if block in objects:
            objects._list.remove(block)


def _rename(self: Any, name: str) -> str:
    siblings = self._values.get("siblings")
    return name if siblings is None else unique_name(name, [item.name for item in siblings if item is not self])


def _all_collections() -> list[Any]:
    current = CURRENT["data"]
    return [*current.collections, *(scene.collection for scene in current.scenes)]


# The open file, which the package fills and empties.
CURRENT: dict[str, Any] = {}

for _collection_name in [name for name in STUBS.names("bpy.types") if name.startswith("BlendData")]:
    if "new" in STUBS.struct(_collection_name).methods:
        BEHAVIORS[_collection_name, "new"] = _new_block
    if "remove" in STUBS.struct(_collection_name).methods:
        BEHAVIORS[_collection_name, "remove"] = _remove_block
ON_CHANGE["ID", "name"] = _rename
_numbers = itertools.count(1)
# Saved data, in place of a file: the fake reads no files.
BEHAVIORS["PropertyGroup", "items"] = lambda _self: []
COMPUTED["ID", "library"] = COMPUTED["ID", "override_library"] = lambda _self: None
COMPUTED["ID", "session_uid"] = lambda self: self._values.setdefault("number", next(_numbers))
NAMESPACES["ID"] = {
    "id_data": property(lambda self: self),
    "__repr__": lambda self: f"bpy.data.{type(self._values.get('siblings')).__name__[9:].lower()}[{self.name!r}]",
}


# Objects and collections.


def _link(self: Any, block: Any) -> None:
    if block in self:
        raise RuntimeError(f"Error: Object '{block.name}' already in collection")
    self._list.append(block)


def _unlink(self: Any, block: Any) -> None:
    if block not in self:
        raise RuntimeError(f"Error: Object '{block.name}' not in collection")
    self._list.remove(block)


def _objects_of(collection: Any) -> list[Any]:
    found = list(collection.objects)
    for child in collection.children:
        found += [block for block in _objects_of(child) if block not in found]
    return found


def _view(items: list[Any], cls: type = bpy_prop_collection) -> Any:
    collection = create(cls)
    collection._list.extend(items)
    return collection


def _add_modifier(self: Any, name: str, kind: str) -> Any:
    cls = struct_class(MODIFIER_CLASSES.get(kind, "Modifier"))
    owner = self._values["owner"]
    modifier = create(cls, name=unique_name(name, self.keys()), type=kind, id_data=owner, show_viewport=True)
    self._list.append(modifier)
    return modifier


def _evaluated_mesh(self: Any, **_keywords: Any) -> Any:
    if self.type != "MESH":
        raise RuntimeError("Error: Object does not have geometry data")
    return self.data


BEHAVIORS.update(
    {
        ("CollectionObjects", "link"): _link,
        ("CollectionObjects", "unlink"): _unlink,
        ("CollectionChildren", "link"): _link,
        ("CollectionChildren", "unlink"): _unlink,
        ("Object", "hide_set"): lambda self, state, **_: self._values.__setitem__("hidden", bool(state)),
        ("Object", "hide_get"): lambda self, **_: self._values.get("hidden", False),
        ("Object", "select_set"): lambda self, state, **_: self._values.__setitem__("selected", bool(state)),
        ("Object", "select_get"): lambda self, **_: self._values.get("selected", False),
        ("Object", "visible_get"): lambda self, **_: not self.hide_viewport,
        ("Object", "to_mesh"): lambda self, *_, **__: _evaluated_mesh(self),
        ("Object", "to_mesh_clear"): lambda self: None,
        ("ID", "update_tag"): lambda self, **_: None,
        ("ObjectModifiers", "new"): _add_modifier,
        ("ObjectModifiers", "remove"): lambda self, modifier: self._list.remove(modifier),
        ("ObjectModifiers", "clear"): lambda self: self._list.clear(),
        ("ViewLayer", "update"): lambda self: None,
        ("Depsgraph", "update"): lambda self: None,
        ("Depsgraph", "id_type_updated"): lambda self, id_type: False,
    }
)
COMPUTED.update(
    {
        ("Collection", "all_objects"): lambda self: _view(_objects_of(self)),
        ("Scene", "objects"): lambda self: _view(_objects_of(self.collection), struct_class("SceneObjects")),
        ("Object", "users_collection"): lambda self: tuple(collection for collection in _all_collections() if self in collection.objects),
    }
)


def _layer_objects(layer: Any) -> Any:
    collection = _view(_objects_of(layer.id_data.collection), struct_class("LayerObjects"))
    collection._values["layer"] = layer
    active = layer._values.get("active")
    collection._values["active"] = active if active in collection else None
    return collection


NAMESPACES["ViewLayer"] = {
    "objects": property(_layer_objects),
    "depsgraph": property(lambda self: create(struct_class("Depsgraph"), scene=self.id_data, view_layer=self)),
}


def _activate(self: Any, block: Any) -> Any:
    if block is not None and block not in self:
        raise RuntimeError(f"Error: ViewLayer does not contain object '{block.name}'")
    self._values["layer"]._values["active"] = block
    return block


ON_CHANGE["LayerObjects", "active"] = _activate
COMPUTED["LayerObjects", "selected"] = lambda self: [item for item in self if item.select_get()]


# Windows.

BEHAVIORS.update(
    {
        ("WindowManager", "event_timer_add"): lambda self, time_step, window=None: create(struct_class("Timer"), time_step=time_step),
        ("WindowManager", "event_timer_remove"): lambda self, timer: None,
        ("WindowManager", "modal_handler_add"): lambda self, operator: True,
        ("WindowManager", "progress_begin"): lambda self, minimum, maximum: None,
        ("WindowManager", "progress_update"): lambda self, value: None,
        ("WindowManager", "progress_end"): lambda self: None,
    }
)


def add_preferences(cls: type) -> None:
    """List an add-on's preferences, as Blender does for an enabled add-on."""
    module = cls.bl_idname
    addon = create(struct_class("Addon"), name=module, module=module, preferences=create(cls))
    CURRENT["preferences"].addons._list.append(addon)


def remove_preferences(cls: type) -> None:
    """Remove an add-on's preferences."""
    addons = CURRENT["preferences"].addons
    addons._list[:] = [addon for addon in addons if not isinstance(addon.preferences, cls)]


def new_file() -> Any:
    """An empty file as after `read_homefile(use_empty=True)`: one scene, one view layer, no object."""
    data = create(struct_class("BlendData"), filepath="", is_saved=False, is_dirty=False)
    CURRENT["data"] = data
    scene = data.scenes.new("Scene")
    layer = scene.view_layers[0]
    data.window_managers._list.append(create(struct_class("WindowManager"), name="WinMan", siblings=data.window_managers))
    CURRENT["scene"], CURRENT["view_layer"] = scene, layer
    return data
