"""The settings of painted control: which attribute of an emitter's mesh drives what. Declarations alone."""

from typing import Any

from bpy.props import FloatProperty, StringProperty

from ...core.scene.painting import ACTING

# Factors where a vertex group's weight is 0; a weight of 1 is a factor of 1. Without stiffness or mass there is no matter.
AT_ZERO = {"stiffness": 0.05, "density": 0.1}


def attribute_name(acting: str) -> str:
    """The property that names the attribute which drives a painted factor."""
    return f"{acting}_attribute"


def at_zero_name(acting: str) -> str:
    """The property with the factor that a weight of 0 stands for."""
    return f"{acting}_at_zero"


def _paintable(group: Any, _context: Any, _text: str) -> list[str]:
    """What an attribute field offers: vertex groups and attributes of the object's own mesh."""
    item = group.id_data
    attributes = getattr(item.data, "attributes", ())
    return [*item.vertex_groups.keys(), *(each.name for each in attributes if not each.name.startswith(".") and each.name != "position")]


def _properties() -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, limits in ACTING.items():
        first = AT_ZERO.get(name, 0.0)
        properties[attribute_name(name)] = StringProperty(
            name=name.title(),
            description=f"{limits.help}: a vertex group or a named attribute; nothing where it is empty",
            search=_paintable,
            options=set(),
        )
        properties[at_zero_name(name)] = FloatProperty(
            name="At Weight 0",
            description="The factor where a vertex group's weight is 0; at 1 it is 1. Named attributes are taken as they are",
            default=first,
            min=limits.minimum,
            max=1.0,
            precision=3,
            options=set(),
        )
    properties["carried_attributes"] = StringProperty(
        name="Carry Along",
        description="Attributes, UV maps and colours that the particles keep, to be shown: their names with commas between",
        options=set(),
    )
    return properties


PAINTED_CONTROL = _properties()
