"""Makes Blender's properties from the parameters that the core declares, and converts their values to SI.

Lengths, velocities, accelerations and masses are in Blender units, as everywhere in Blender; `values_of` converts them to SI.
"""

import dataclasses
import functools
import types
import zlib
from collections.abc import Callable, Collection, Mapping
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty

from ...core.parameters import Parameter, parameters_of
from ..host.actions import animated_paths
from ..host.wording import title

# Types that cannot be keyframed. The numbers of enums are too large for F-curves.
STILL: set[Any] = set()

_parameters = functools.cache(parameters_of)

# Declared unit -> Blender's unit, and the power of the scene's unit scale by which Blender multiplies the displayed value.
BLENDER_UNITS: dict[str, tuple[Any, int]] = {
    "m": ("LENGTH", 1),
    "m/s": ("VELOCITY", 1),
    "m/s^2": ("ACCELERATION", 1),
    "kg": ("MASS", 3),
    "s": ("TIME_ABSOLUTE", 0),
}
_SUBTYPES: dict[str, Any] = {"m": "XYZ_LENGTH", "m/s": "VELOCITY", "m/s^2": "ACCELERATION"}
_OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


def label_of(declared: Parameter) -> str:
    """The label of a parameter, with its unit if Blender does not show it: "Young's Modulus (Pa)"."""
    name = title(declared.name)
    return name if declared.unit in ("", *BLENDER_UNITS) else f"{name} ({declared.unit_words})"


# 2^24 - 1: integers up to this are exact in float32.
LARGEST_NUMBER = 0xFFFFFF


def enum_items(words: Mapping[str, tuple[str, str]]) -> list[tuple[str, str, str, int]]:
    """Enum items from word -> (label, description).

    A .blend file stores the number of an item. It is computed from the word, so it stays valid when items are added or reordered. Buttons
    store numbers as float32: clicking an item whose number is not exact there would select nothing.
    """
    return [(word, label, description, zlib.crc32(word.encode()) & LARGEST_NUMBER) for word, (label, description) in words.items()]


def property_of(declared: Parameter) -> Any:
    """The Blender property of one declared parameter: default, limits, unit, tooltip, and whether it can be keyframed.

    The value of an exclusive limit can be entered, and the core refuses it with its own message; sliders stay inside.
    """
    default = first_value(declared)
    if declared.choices:
        items = enum_items({word: (title(word), declared.choice_help.get(word, "")) for word in declared.choices})
        return EnumProperty(name=title(declared.name), description=declared.help, items=items, default=default, options=STILL)
    words: dict[str, Any] = {
        "name": label_of(declared),
        "description": declared.help,
        "options": {"ANIMATABLE"} if declared.is_animatable else STILL,
    }
    if declared.kind == "flag":
        return BoolProperty(**words, default=default)
    if declared.kind == "text":
        return StringProperty(**words, default=default)
    bounds = _bounds(declared, default)
    if declared.kind == "integer":
        whole: dict[str, Any] = {name: int(bound) for name, bound in bounds.items()}
        return IntProperty(**words, default=default, **whole)
    bounds["precision"] = _decimals(default)
    if declared.kind == "number":
        return FloatProperty(**words, default=default, unit=BLENDER_UNITS.get(declared.unit, ("NONE", 0))[0], **bounds)
    return FloatVectorProperty(**words, default=default, size=declared.size, subtype=_vector_subtype(declared), **bounds)


def _vector_subtype(declared: Parameter) -> Any:
    if declared.name == "color":
        return "COLOR"
    return _SUBTYPES.get(declared.unit, "XYZ" if declared.size == 3 else "NONE")


def first_value(declared: Parameter) -> Any:
    """The initial value in the interface: the default, or the declared example if there is none."""
    has_default = not declared.is_required and declared.default is not None
    value = declared.default if has_default else declared.example
    if value is None:
        raise ValueError(f'parameter "{declared.name}" has neither a default nor an example for the interface')
    return value


def _bounds(declared: Parameter, default: Any) -> dict[str, Any]:
    """`min` and `max` for entered values, `soft_min` and `soft_max` for sliders."""
    bounds: dict[str, Any] = {}
    center = float(np.mean(default))
    for name, inclusive, exclusive in (
        ("min", declared.minimum, declared.above),
        ("max", declared.maximum, declared.below),
    ):
        if inclusive is not None:
            bounds[name] = inclusive
        elif exclusive is not None:
            bounds[name] = exclusive
            bounds[f"soft_{name}"] = exclusive + 1e-3 * (center - exclusive)
    return bounds


def _decimals(default: Any) -> int:
    """Decimal places of a field: enough for the default and one more."""
    smallest = min((abs(value) for value in np.atleast_1d(default) if value), default=1.0)
    return int(np.clip(1 - np.floor(np.log10(smallest)), 2, 6))


def toggle(name: str, description: str, *, default: bool = False, update: Callable[[Any, Any], None] | None = None) -> Any:
    """A checkbox that cannot be keyframed."""
    return BoolProperty(name=name, description=description, default=default, options=STILL, update=update)


def annotations_of(owner: type, *, names: Collection[str] = (), **changes: Mapping[str, Any]) -> dict[str, Any]:
    """The Blender properties of the parameters of a dataclass: name -> property, with `use_name` for optional ones.

    Args:
        names: the parameters; all if not given.
        changes: parameter name -> attributes of `Parameter` that differ in the interface.
    """
    annotations: dict[str, Any] = {}
    for declared in (each for each in parameters_of(owner) if not names or each.name in names):
        declared = dataclasses.replace(declared, **changes.get(declared.name, {}))
        if declared.optional:
            annotations[f"use_{declared.name}"] = BoolProperty(
                name=f"Use {title(declared.name)}", description=f"Override the {title(declared.name).lower()}", options=STILL
            )
        annotations[declared.name] = property_of(declared)
    return annotations


def _all_count(_group: Any) -> Collection[str]:
    return ()


def property_group(
    name: str,
    deciding: Mapping[str, Any],
    *,
    description: str,
    aside: Mapping[str, Any] = types.MappingProxyType({}),
    idle: Callable[[Any], Collection[str]] = _all_count,
    set_by_keys: Mapping[str, str] = types.MappingProxyType({}),
) -> type:
    """A PropertyGroup class with the given properties. A library override may change all of them.

    Args:
        deciding: properties that affect a bake, and therefore its fingerprint.
        aside: properties that do not affect a bake: frames stay valid when they change.
        idle: returns the deciding properties of a group that currently have no effect.
        set_by_keys: optional properties that count as set while they are animated, whatever their checkbox says: name -> data path.
    """
    annotations = {**deciding, **aside}
    for declared in annotations.values():
        declared.keywords.setdefault("override", _OVERRIDABLE)
    roles = {"deciding": tuple(deciding), "idle": staticmethod(idle), "set_by_keys": set_by_keys}
    namespace = {"__annotations__": annotations, "__doc__": description, "__module__": __name__, **roles}
    return type(name, (bpy.types.PropertyGroup,), namespace)


def deciding_names(group: Any) -> dict[str, Any]:
    """The properties of a group class that affect a bake: name -> None, or the same mapping for a nested group."""
    kinds = {name: group.__annotations__[name].keywords.get("type") for name in group.deciding}
    return {name: deciding_names(kind) if hasattr(kind, "deciding") else None for name, kind in kinds.items()}


def is_set(group: Any, name: str) -> bool:
    """Whether a property of a group has a value; an optional one may have none."""
    if getattr(group, f"use_{name}", True):
        return True
    path = type(group).set_by_keys.get(name)
    return path is not None and path in animated_paths(group.id_data)


def values_of(group: Any, owner: type, *, names: Collection[str] = (), scale_length: float = 1.0) -> dict[str, Any]:
    """The values of a dataclass's parameters in a property group, in SI: name -> value, None if unset.

    Args:
        names: the parameters; all if not given.
        scale_length: meters per Blender unit.
    """
    values: dict[str, Any] = {}
    for declared in (each for each in _parameters(owner) if not names or each.name in names):
        if declared.optional and not is_set(group, declared.name):
            values[declared.name] = None
            continue
        value = getattr(group, declared.name)
        factor = scale_length ** BLENDER_UNITS.get(declared.unit, ("NONE", 0))[1]
        if declared.kind == "number":
            value = decimal(value) * factor
        elif declared.kind == "vector":
            value = tuple(decimal(component) * factor for component in value)
        values[declared.name] = value
    return values


def decimal(value: float) -> float:
    """The shortest decimal number that a Blender float represents: 0.3, not 0.30000001192."""
    return float(str(np.float32(value)))


def assign(group: Any, instance: Any, *, scale_length: float = 1.0) -> None:
    """Set a property group to the parameters of a dataclass instance; `scale_length` is that of `values_of`."""
    for declared in parameters_of(type(instance)):
        value = getattr(instance, declared.name)
        if declared.optional and hasattr(group, f"use_{declared.name}"):
            setattr(group, f"use_{declared.name}", value is not None)
        if value is None:
            continue
        factor = scale_length ** BLENDER_UNITS.get(declared.unit, ("NONE", 0))[1]
        if declared.kind == "number":
            value /= factor
        elif declared.kind == "vector":
            value = tuple(component / factor for component in value)
        setattr(group, declared.name, value)
