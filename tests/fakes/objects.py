"""The fake's objects: transforms, evaluated copies, vertex groups, force fields, and keyframes of any data.

An evaluated object has the values of its original. Between two keyframes, numbers change linearly.
"""

from __future__ import annotations

import math
from typing import Any

from . import registration, vectors
from .data import CURRENT, unique_name
from .structs import BEHAVIORS, COMPUTED, DEFAULTS, BoundProperty, FakeLimitation, create, struct_class

DEFAULTS.update(
    {
        ("FieldSettings", "shape"): "POINT",
        ("FieldSettings", "falloff_type"): "SPHERE",
        ("FieldSettings", "z_direction"): "BOTH",
        ("FieldSettings", "apply_to_location"): True,
        ("FieldSettings", "apply_to_rotation"): True,
        ("FieldSettings", "strength"): 1.0,
        ("FieldSettings", "size"): 1.0,
        ("FieldSettings", "seed"): 1,
        ("Object", "instance_type"): "NONE",
        ("Object", "rotation_mode"): "XYZ",
        ("Object", "show_instancer_for_viewport"): True,
    }
)


# Transforms.


def _finite(angle: float) -> float:
    """As in C, an infinite angle has no sine."""
    return angle if math.isfinite(angle) else math.nan


def _basis(item: Any) -> vectors.Matrix:
    if item.rotation_mode != "XYZ":
        raise FakeLimitation("the fake turns objects by XYZ Euler angles only; test it on the real bpy")
    (cx, sx), (cy, sy), (cz, sz) = ((math.cos(angle), math.sin(angle)) for angle in map(_finite, item.rotation_euler))
    rotation = [
        [cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz],
        [cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz],
        [-sy, sx * cy, cx * cy],
    ]
    rows = [
        [*(value * size for value, size in zip(row, item.scale, strict=True)), place]
        for row, place in zip(rotation, item.location, strict=True)
    ]
    return vectors.Matrix([*rows, [0.0, 0.0, 0.0, 1.0]])


def _world(item: Any) -> vectors.Matrix:
    given = item._values.get("matrix_world")
    if given is not None:
        return given
    return _basis(item) if item.parent is None else _world(item.parent) @ item.matrix_parent_inverse @ _basis(item)


def _bound_box(item: Any) -> list[list[float]]:
    """The corners of the bounding box of a mesh in local space, in Blender's order; zero for other types."""
    places = [tuple(vertex.co) for vertex in item.data.vertices] if item.type == "MESH" else [(0.0, 0.0, 0.0)]
    (x, right), (y, back), (z, top) = ((min(values), max(values)) for values in zip(*places, strict=True))
    return [
        [a, b, c]
        for a, pairs in ((x, ((y, z), (y, top), (back, top), (back, z))), (right, ((y, z), (y, top), (back, top), (back, z))))
        for b, c in pairs
    ]


# Evaluated copies.


def _evaluated(self: Any, _depsgraph: Any) -> Any:
    if "_original" in self.__dict__:
        return self
    copy = self.__dict__.get("_evaluated")
    if copy is None:
        copy = create(type(self))
        copy.__dict__.update(_values=self._values, _custom=self._custom, _original=self)
        self.__dict__["_evaluated"] = copy
    return copy


def _is_evaluated(self: Any) -> bool:
    original = self.__dict__.get("_original")
    return original is not None and not (original._values.get("hide_viewport") and "hide_viewport" not in _keyed_paths(original))


BEHAVIORS["ID", "evaluated_get"] = BEHAVIORS["Object", "evaluated_get"] = _evaluated
COMPUTED.update(
    {
        ("Object", "matrix_world"): _world,
        ("Object", "matrix_basis"): _basis,
        ("Object", "bound_box"): _bound_box,
        ("Object", "field"): lambda self: self._values.get("field"),
        ("ID", "is_evaluated"): _is_evaluated,
        ("ID", "original"): lambda self: self.__dict__.get("_original", self),
        ("ID", "name_full"): lambda self: self.name,
        ("ID", "animation_data"): lambda self: self._values.get("animation_data"),
        ("Object", "animation_data"): lambda self: self._values.get("animation_data"),
        ("Scene", "animation_data"): lambda self: self._values.get("animation_data"),
        ("Mesh", "animation_data"): lambda self: self._values.get("animation_data"),
    }
)


# Force fields.


def toggle_force_field(**_keywords: Any) -> set[str]:
    """Do what bpy.ops.object.forcefield_toggle() does to the active object."""
    item = CURRENT["context"]().object
    if item.field is None:
        item._values["field"] = create(struct_class("FieldSettings"), id_data=item)
    item.field.type = "FORCE" if item.field.type == "NONE" else "NONE"
    return {"FINISHED"}


registration.builtin_operators["object.forcefield_toggle"] = toggle_force_field


# Vertex groups.


def _new_group(self: Any, name: str = "Group") -> Any:
    group = create(struct_class("VertexGroup"), name=unique_name(name, self.keys()), index=len(self), id_data=self.id_data)
    self._list.append(group)
    return group


def _add_weights(self: Any, indices: Any, weight: float, kind: str) -> None:
    if kind != "REPLACE":
        raise FakeLimitation("the fake only replaces weights; test it on the real bpy")
    for index in indices:
        groups = self.id_data.data.vertices[index].groups
        groups._list[:] = [each for each in groups if each.group != self.index]
        groups._list.append(create(struct_class("VertexGroupElement"), group=self.index, weight=weight))


BEHAVIORS["VertexGroups", "new"] = _new_group
BEHAVIORS["VertexGroup", "add"] = _add_weights


# Keyframes.


def _keyed(block: Any) -> dict[tuple[int, str], tuple[Any, str, dict[float, Any]]]:
    return block.__dict__.setdefault("_keys", {})


def _keyed_paths(block: Any) -> set[str]:
    return {name for _, name in _keyed(block)}


def _insert_key(self: Any, data_path: str, index: int = -1, frame: float | None = None, **_keywords: Any) -> bool:
    *outer, name = data_path.split(".")
    owner = self
    for part in outer:
        owner = getattr(owner, part)
    declared = getattr(type(owner), name, None)
    if isinstance(declared, BoundProperty) and "ANIMATABLE" not in declared.arguments["options"]:  # type: ignore[attr-defined]
        raise TypeError(f'bpy_struct.keyframe_insert() property "{name}" not animatable')
    block = self.id_data
    if block._values.get("animation_data") is None:
        data = create(struct_class("AnimData"), id_data=block)
        data.__dict__["_values"]["action"] = CURRENT["data"].actions.new(f"{block.name}Action")
        block._values["animation_data"] = data
    value = getattr(owner, name)
    kept = tuple(value) if isinstance(value, (list, tuple)) else value
    number = CURRENT["scene"].frame_current if frame is None else frame
    _keyed(block).setdefault((id(owner), name), (owner, name, {}))[2][number] = kept
    return True


BEHAVIORS["bpy_struct", "keyframe_insert"] = _insert_key


def animate(frame: float) -> None:
    """Set everything that has keyframes to its values at a frame."""
    data = CURRENT["data"]
    for block in (*data.scenes, *data.objects, *data.meshes):
        for owner, name, keys in _keyed(block).values():
            setattr(owner, name, _between(keys, frame))


def _between(keys: dict[float, Any], frame: float) -> Any:
    before = max((number for number in keys if number <= frame), default=min(keys))
    after = min((number for number in keys if number >= frame), default=max(keys))
    first, second = keys[before], keys[after]
    if before == after or isinstance(first, (bool, str)):
        return first
    share = (frame - before) / (after - before)
    if isinstance(first, tuple):
        return [(1.0 - share) * a + share * b for a, b in zip(first, second, strict=True)]
    return type(first)((1.0 - share) * first + share * second)


# Evaluation of a scene.


def _instances(depsgraph: Any) -> list[Any]:
    """The objects of collections that empties instance; neither geometry nodes nor nested instances."""
    found = []
    for owner in depsgraph.scene.objects:
        if owner.instance_type != "COLLECTION" or owner.instance_collection is None or not _evaluated(owner, None).is_evaluated:
            continue
        for item in owner.instance_collection.all_objects:
            values = {"object": _evaluated(item, None), "parent": _evaluated(owner, None), "matrix_world": _world(owner) @ _world(item)}
            found.append(create(struct_class("DepsgraphObjectInstance"), is_instance=True, particle_system=None, **values))
    return found


COMPUTED["Depsgraph", "object_instances"] = _instances
COMPUTED["Depsgraph", "ids"] = lambda self: [_evaluated(item, None) for item in self.scene.objects]
