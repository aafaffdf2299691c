"""Properties with their names in a column of their own, which is as wide as the longest name needs. Reads and never writes."""

from collections.abc import Iterable
from typing import Any

from ...host.blender_types import Layout
from ...host.text_width import panel_width, width_of
from ...host.translations import text
from ...settings.declarations import is_set

# Of a panel's width: Blender's own column of names, and the widest one that leaves room for values.
USUAL_FACTOR = 0.4
_MOST = 0.64
# Between a name and its value, in pixels of an unscaled screen.
_GAP = 14.0


def factor_for(names: Iterable[str]) -> float:
    """The share of a panel's width that the column of these translated names needs, without those that need lines of their own."""
    needed = (_needed(name) for name in names)
    return max((factor for factor in needed if factor <= _MOST), default=USUAL_FACTOR)


def has_own_line(name: str) -> bool:
    """Whether a translated name is too long to be beside its value."""
    return _needed(name) > _MOST


def _needed(name: str) -> float:
    return max(USUAL_FACTOR, (width_of(name) + _GAP) / panel_width())


def label_of(group: Any, name: str) -> str:
    """The translated name of a property."""
    return text(group.bl_rna.properties[name].name)


def draw_property(layout: Layout, group: Any, name: str, factor: float = 0.0) -> None:
    """Draw a property; an optional one has its checkbox in front.

    Args:
        factor: the width of the column of names, shared with the rows around it; what this name needs if not given.
    """
    factor = factor or factor_for([label_of(group, name)])
    declared = group.bl_rna.properties[name]
    # the letters of a vector's axes need room
    if has_own_line(label_of(group, name)) or (factor > USUAL_FACTOR and _is_vector(declared)):
        factor = 1.0
    is_optional = hasattr(group, f"use_{name}")
    if factor == USUAL_FACTOR:
        if is_optional:
            _draw_optional(layout.row(align=True, heading=declared.name), group, name, has_keys=layout.use_property_decorate)
        else:
            layout.prop(group, name)
        return
    label = "" if declared.type == "BOOLEAN" else declared.name
    row = labeled(layout, label, factor)
    if is_optional:
        _draw_optional(row, group, name, has_keys=layout.use_property_decorate)
        return
    _value(row, group, name, shows_name=not label)
    if layout.use_property_decorate and declared.is_animatable:
        row.prop_decorator(group, name)


def labeled(layout: Layout, label: str, factor: float) -> Layout:
    """A row for a value beside its name, or below it if the factor is 1."""
    if factor == 1.0:
        column = layout.column(align=True)
        if label:
            column.label(text=label)
        row = column.row(align=True)
    else:
        split = layout.split(factor=factor)
        name = split.row()
        name.alignment = "RIGHT"
        name.label(text=label)
        row = split.row(align=True)
    row.use_property_split = False
    row.use_property_decorate = False
    return row


def _draw_optional(row: Layout, group: Any, name: str, *, has_keys: bool) -> None:
    """Draw an optional value as Blender does: checkbox, value (grayed out if disabled) and keyframe button."""
    row.use_property_decorate = False
    row = row.row(align=True)
    row.prop(group, f"use_{name}", text="")
    place = row.row(align=True)
    place.active = is_set(group, name)
    _value(place, group, name)
    if has_keys:
        row.prop_decorator(group, name)


def _value(row: Layout, group: Any, name: str, *, shows_name: bool = False) -> None:
    """The fields of a property, those of a vector one below the other."""
    place = row.column(align=True) if _is_vector(group.bl_rna.properties[name]) else row
    if shows_name:
        place.prop(group, name)
    else:
        place.prop(group, name, text="")


def _is_vector(declared: Any) -> bool:
    return declared.type == "FLOAT" and declared.is_array and "COLOR" not in declared.subtype
