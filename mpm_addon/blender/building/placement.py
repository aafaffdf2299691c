"""Adds objects to a scene and makes them emitters or colliders. Shared by the Add menu, quick effects and ready scenes."""

from collections.abc import Mapping
from typing import Any

import bpy

from ..host.blender_types import BlenderObject, BlenderScene, Context
from ..reading.simulated_objects import meters
from ..settings.emitter_look import show_as_wire
from . import material_presets
from .solids import Point, Solid

# Cells across the longest side of the first emitter: about 60,000 particles in a cube.
CELLS_ACROSS = 20


def add_object(collection: Any, name: str, solid: Solid, location: Point, *, rotation: Point = (0.0, 0.0, 0.0)) -> BlenderObject:
    """Add a mesh object to a collection. Lengths in Blender units, angles in radians."""
    mesh: Any = bpy.data.meshes.new(name)
    mesh.from_pydata(solid.vertices, [], solid.faces)
    mesh.update()
    item: BlenderObject = bpy.data.objects.new(name, mesh)
    item.location = location
    item.rotation_euler = rotation
    collection.objects.link(item)
    return item


def make_emitter(item: BlenderObject, preset: str, **settings: Any) -> None:
    """Make an object an emitter of a named material. Its particles replace it: it is drawn as a wire and not rendered."""
    item.mpm.type = "emitter"
    material_presets.choose(item, preset)
    give(item.mpm.emitter, settings)
    show_as_wire(item)


def make_collider(item: BlenderObject, **settings: Any) -> None:
    """Make an object a collider."""
    item.mpm.type = "collider"
    give(item.mpm.collider, settings)


def give(group: Any, settings: Mapping[str, Any]) -> None:
    """Set properties of a group, enabling optional ones."""
    for name, value in settings.items():
        if hasattr(group, f"use_{name}"):
            setattr(group, f"use_{name}", True)
        setattr(group, name, value)


def target_collection(context: Context) -> Any:
    """The collection for new objects: the active one, or the scene's if that is linked or hidden."""
    collection = context.collection
    if collection is None or collection.library is not None or collection.override_library is not None:
        return context.scene.collection
    layer = context.view_layer.active_layer_collection
    return context.scene.collection if layer is not None and layer.exclude else collection


def select_only(context: Context, items: list[BlenderObject]) -> None:
    """Select only these objects and make the last one active."""
    for item in context.selected_objects:
        item.select_set(state=False)
    for item in items:
        item.select_set(state=True)
        context.view_layer.objects.active = item


def simulated(scene: BlenderScene) -> list[BlenderObject]:
    """The emitters, colliders and outflows of a scene."""
    return [item for item in scene.objects if item.mpm.type != "none"]


def fit_cells(scene: BlenderScene, cell: float, *, without: list[BlenderObject]) -> bool:
    """Set the scene's cell size [Blender units] unless something else decides it. Returns whether it was set.

    It is set if no other object is simulated, or if there is no other emitter and the cell size was never edited.

    Args:
        without: the objects that the cell size is for.
    """
    others = [item for item in simulated(scene) if item not in without]
    solver = scene.mpm.solver
    if any(item.mpm.type == "emitter" for item in others) or (others and solver.is_property_set("grid_spacing")):
        return False
    solver.spacing = "spacing"
    solver.grid_spacing = cell
    return True


def cell_size(scene: BlenderScene) -> float | None:
    """The cell size [Blender units]; None if it follows from a resolution."""
    solver = scene.mpm.solver
    return solver.grid_spacing if solver.spacing == "spacing" else None


def from_meters(scene: BlenderScene, length: float) -> float:
    """Convert a length [m] to the scene's Blender units."""
    return length / meters(scene)


def refusal(context: Context) -> str:
    """Why nothing can be added now; "" if something can."""
    if context.scene is None:
        return "There is no scene"
    if context.scene.library is not None:
        return "The scene is linked from another file; make it local first"
    if context.mode != "OBJECT":
        return "Only available in Object Mode"
    return ""
