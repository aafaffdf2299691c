"""The settings of painted control: which attribute of an emitter's mesh drives what. Declarations alone."""

from typing import Any

from bpy.props import FloatProperty, StringProperty

from ...core.scene.painting import ACTING
from .declarations import title

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
            name=title(name),
            description=f"Vertex group or attribute that {limits.help}",
            search=_paintable,
            options=set(),
        )
        properties[at_zero_name(name)] = FloatProperty(
            name="Factor at Weight 0",
            description="Factor where the vertex group's weight is 0 (it is 1 at weight 1); named attributes are used as they are",
            default=first,
            min=limits.minimum,
            max=1.0,
            precision=3,
            options=set(),
        )
    properties["carried_attributes"] = StringProperty(
        name="Carried Attributes",
        description="Names of attributes, UV maps and colors that the particles carry for display, separated by commas",
        options=set(),
    )
    return properties


PAINTED_CONTROL = _properties()
