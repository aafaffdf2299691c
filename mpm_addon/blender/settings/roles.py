"""The types that an object can have in the simulation, and their labels. Reads and never writes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..host.blender_types import BlenderObject
from ..host.meshes import CLOUD_TYPES, SURFACE_TYPES


class Role(NamedTuple):
    """A type of simulated object: label, tooltip and icon."""

    label: str
    help: str
    icon: Any


ROLES: Mapping[str, Role] = {
    "emitter": Role("Emitter", "Turns into particles: water, jelly, snow, sand and more", "MOD_FLUIDSIM"),
    "collider": Role("Collider", "Particles collide with it (floors, walls, bowls, tools)", "MOD_PHYSICS"),
    "outflow": Role("Outflow", "Removes particles that enter (drains, edges of the shot)", "TRASH"),
}
NO_ROLE = Role("None", "Not simulated", "NONE")

_ABLE = SURFACE_TYPES | CLOUD_TYPES | {"EMPTY"}
_REMEDY = "use a mesh, curve, text, metaball, point cloud, or an empty that instances a collection"


def has_role(item: BlenderObject) -> bool:
    """Whether an object is simulated; false for objects that cannot be."""
    return item.mpm.type in ROLES and item.type in _ABLE


def refusal(item: BlenderObject | None) -> str:
    """Why an object cannot be added to the simulation; "" if it can."""
    if item is None:
        return "No active object; select one"
    if item.type not in _ABLE:
        return f"{item.type.replace('_', ' ').title()} objects cannot be simulated; {_REMEDY}"
    if item.mpm.cache:
        return "This object shows the particles of a bake; choose another one"
    return locked(item)


def locked(item: BlenderObject) -> str:
    """Why an object's settings cannot be changed; "" if they can."""
    if item.library is not None:
        return f"Linked from {item.library.name}; make a library override to change it (Object > Library Override)"
    if item.override_library is not None and item.override_library.is_system_override:
        return "This library override is not editable; make it editable in the Outliner"
    return ""


def complaint(item: BlenderObject) -> str:
    """What is wrong with an object's type in the simulation; "" if nothing."""
    if item.mpm.type not in ROLES:
        return ""
    if item.type in CLOUD_TYPES and item.mpm.type != "emitter":
        return "A point cloud has no surface; it can only be an emitter"
    if item.type == "EMPTY" and item.instance_collection is None:
        return "This empty has no surface; let it instance a collection, or use a mesh"
    return ""
