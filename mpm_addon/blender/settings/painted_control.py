"""The settings of painted control: the attributes of an emitter's mesh, and what they control. Declarations only."""

from collections.abc import Container, Iterable
from typing import Any

from bpy.props import FloatProperty, StringProperty

from ...core.scene.painting import ACTING
from ..host.blender_types import BlenderObject
from ..host.wording import title

# Blender's types of attributes with one number, and the domains whose values particles can take.
SCALARS = ("FLOAT", "INT", "INT8", "BOOLEAN")
DOMAINS = ("POINT", "CORNER", "FACE")
# What Blender keeps in attributes for itself.
_BLENDERS_OWN = ("position", "sharp_face", "material_index", "custom_normal")


def attribute_name(acting: str) -> str:
    """The property that names the attribute of a painted factor."""
    return f"{acting}_attribute"


def at_zero_name(acting: str) -> str:
    """The property with the factor at weight 0."""
    return f"{acting}_at_zero"


def choices(item: BlenderObject, attributes: Iterable[Any], types: Container[str]) -> list[str]:
    """The vertex groups and attributes of an object that can be chosen, in Blender's order.

    Args:
        attributes: those of its mesh.
        types: Blender's types of the attributes that can be used.
    """
    usable = [each.name for each in attributes if each.data_type in types and each.domain in DOMAINS]
    return [*item.vertex_groups.keys(), *(name for name in usable if not name.startswith(".") and name not in _BLENDERS_OWN)]


def _paintable(group: Any, _context: Any, _text: str) -> list[str]:
    """The choices of an attribute field."""
    item = group.id_data
    return choices(item, getattr(item.data, "attributes", ()), SCALARS)


def _properties() -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, acting in ACTING.items():
        properties[attribute_name(name)] = StringProperty(
            name=title(name),
            description=f"Vertex group or attribute that {acting.help}",
            search=_paintable,
            options=set(),
        )
        properties[at_zero_name(name)] = FloatProperty(
            name="Factor at Weight 0",
            description="Factor where the vertex group's weight is 0 (it is 1 at weight 1); named attributes are used unchanged",
            default=acting.at_zero,
            min=acting.minimum,
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
