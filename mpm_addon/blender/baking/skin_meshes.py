"""The objects that show skins: copies of the emitters' evaluated meshes, beside the particles."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, TypeVar

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.errors import MpmError
from ...core.particles import DAMAGE
from ...derived.refinement import MOST_VERTICES
from ...storage import open_cache
from ...storage.finishes import finish_of
from ...storage.take import SKIN
from .. import display
from ..host.blender_types import BlenderMesh, BlenderObject, BlenderScene, Depsgraph
from ..host.file_record import silent
from ..host.meshes import matrix_array
from ..host.modifiers import render_modifiers
from ..playback import derived_objects, skin_objects
from ..playback.attributes import MESH_COLOR, PAINTED_COLOR
from ..playback.particle_objects import suspended
from ..reading.extract import frame_kept, scene_time
from ..settings import paths
from ..settings.display_settings import is_asked_for, shows_mesh, wants_mesh

Answer = TypeVar("Answer")

# The last word of the name of the material of inside faces.
INSIDE = "Inside"


def add(scene: BlenderScene, item: BlenderObject, *, is_fresh: bool) -> None:
    """Add the objects that show the meshes of a particle object's emitters, as its children, where they are missing.

    An emitter that is displayed as a mesh only because *Automatic* chose it, but has none that could be copied, is displayed as a surface.

    Args:
        scene: the scene, which must be the one in the window.
        item: the particle object.
        is_fresh: whether to look for meshes that have another number of vertices than the emitters have now, rather than than they had in
            the bake. Such meshes are copied again, and keep their materials.

    Raises:
        MpmError: an emitter without a copy, for which the artist chose *Mesh*, has no mesh in the scene; or another scene is shown.
    """
    parts = [part for part in item.mpm.display.parts if any(wants_mesh(part, is_render=side) for side in (True, False))]
    tears = DAMAGE in open_cache(paths.shown_folder(item)).manifest["attributes"]
    missing = [part for part in parts if is_fresh or _is_missing(item, part)]
    if not missing:
        return
    if bpy.context.scene != scene:
        raise MpmError("it is not shown in the window", "switch to it", subject=f'Scene "{scene.name}"')
    sources = [(part, _or_surface(part, partial(_emitter, scene, item, part))) for part in missing]
    with suspended(), frame_kept(scene, scene_time(scene).frame_start), _modifiers_of(scene):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for part, source in sources:
            if source is not None:
                _or_surface(part, partial(_add, item, part, source, depsgraph, tears=tears))
    display.rebuild(item)


def _is_missing(item: BlenderObject, part: Any) -> bool:
    """Whether an emitter has no object that shows its mesh, or one whose mesh is not the baked one."""
    shown = skin_objects.skin_of(item, part)
    return shown is None or part.vertices not in (0, skin_objects.own_of(shown))


def _or_surface(part: Any, step: Callable[[], Answer]) -> Answer | None:
    """The answer of a step; if it fails and only *Automatic* chose the mesh, the part is displayed as a surface. Raises as the step."""
    try:
        return step()
    except MpmError:
        if is_asked_for(part):
            raise
        with silent():
            part.follows = False
        return None


def _emitter(scene: BlenderScene, item: BlenderObject, part: Any) -> BlenderObject | None:
    """The emitter; None if it was renamed or removed after its mesh was copied."""
    found = next((other for other in scene.objects if part.name in (other.name, other.name_full)), None)
    if found is None and skin_objects.skin_of(item, part) is None:
        raise MpmError(
            "it is not in the scene, so there is no mesh to show",
            "give it its former name, or choose another display",
            subject=f'Emitter "{part.name}"',
        )
    return found


def _modifiers_of(scene: BlenderScene) -> AbstractContextManager[None]:
    """Render or viewport modifiers, as the bake uses them."""
    return render_modifiers(bpy.context.evaluated_depsgraph_get()) if scene.mpm.use_render_modifiers else nullcontext()


def _add(item: BlenderObject, part: Any, source: BlenderObject, depsgraph: Depsgraph, *, tears: bool) -> None:
    part.skin = part.skin or derived_objects.adopt(item, SKIN, part.name)
    evaluated, known = source.evaluated_get(depsgraph), skin_objects.known_skin(item, part)
    if known is not None:
        derived_objects.link_beside(known, item)
    if not evaluated.is_evaluated:
        if known is not None:
            return
        raise MpmError(
            "it is disabled in viewports, so its mesh cannot be copied", "enable it to make the skin", subject=f'Emitter "{source.name}"'
        )
    mesh, matrix = _copied(source, evaluated, depsgraph), matrix_array(source.matrix_world)[:3, :3]
    if known is None:
        known = part.skin = _object(item, source, mesh, part)
    elif skin_objects.own_of(known) != len(mesh.vertices):
        _replace(known, mesh)
    derived_objects.tell_exporters(known)
    _keep_plain(known, mesh, matrix)
    if np.linalg.det(matrix) < 0.0:
        mesh.flip_normals()
    if tears:
        _keep_whole(known, mesh, part)
    if not mesh.users:
        bpy.data.meshes.remove(mesh)


def _replace(known: BlenderObject, mesh: BlenderMesh) -> None:
    """Show another mesh, with the materials of the one before."""
    before, others = known.data, _kept(known)
    for place, material in enumerate(before.materials):
        if place < len(mesh.materials):
            mesh.materials[place] = material
        else:
            mesh.materials.append(material)
    known.data, known.mpm.torn.whole = mesh, None
    known.mpm.subdivided.plain, known.mpm.subdivided.key, known.mpm.subdivided.added = None, "", 0
    for unused in (before, *others):
        if not unused.users:
            bpy.data.meshes.remove(unused)


def _kept(known: BlenderObject) -> list[BlenderMesh]:
    """The meshes that are kept beside that of a skin."""
    return [mesh for mesh in (known.mpm.torn.whole, known.mpm.subdivided.plain) if mesh is not None]


def _keep_plain(known: BlenderObject, mesh: BlenderMesh, matrix: NDArray[np.float64]) -> None:
    """Keep a mesh as it is at rest, with the rotation and scale of its emitter, if it could be too coarse to bend."""
    kept = known.mpm.subdivided
    if kept.plain is None and len(mesh.vertices) < MOST_VERTICES:
        kept.plain, kept.matrix = mesh.copy(), matrix.ravel().tolist()
        kept.plain.name = f"{known.name} Plain"


def _keep_whole(known: BlenderObject, mesh: BlenderMesh, part: Any) -> None:
    """Keep the mesh as it is at rest, and give inside faces a material slot, with a material that follows from the first."""
    torn, shown = known.mpm.torn, known.data
    if torn.whole is None:
        torn.whole = mesh.copy()
        torn.whole.name = f"{known.name} Whole"
        # it is subdivided with the next frame that is shown
        known.mpm.subdivided.key, known.mpm.subdivided.added = "", 0
    if not torn.inside:
        first = known.material_slots[0].material if len(known.material_slots) else None
        finish = finish_of(part.law, part.simulated_material)
        shown.materials.append(display.inside_material(f"{known.name} {INSIDE}", first, finish))
        torn.inside = len(shown.materials) - 1


def _copied(source: BlenderObject, evaluated: BlenderObject, depsgraph: Depsgraph) -> BlenderMesh:
    """A copy of an emitter's evaluated mesh. Raises MpmError if it has none."""
    try:
        mesh = bpy.data.meshes.new_from_object(evaluated, preserve_all_data_layers=True, depsgraph=depsgraph)
    except RuntimeError:  # an empty, for example
        mesh = None
    if mesh is None or not len(mesh.vertices):
        if mesh is not None:
            bpy.data.meshes.remove(mesh)
        raise MpmError(
            "it consists of instances and has no mesh",
            "realize its instances, or choose another display",
            subject=f'Emitter "{source.name}"',
        ) from None
    mesh.name = f"{source.name} Skin"
    _name_color(mesh)
    return mesh


def _name_color(mesh: BlenderMesh) -> None:
    """Store a painted color once more, under the name that the particles' materials read."""
    painted = mesh.attributes.get(PAINTED_COLOR)
    if painted is not None and painted.data_type in ("FLOAT_COLOR", "BYTE_COLOR"):
        values, domain = np.empty(4 * len(painted.data), np.float32), painted.domain
        painted.data.foreach_get("color", values)
        # making an attribute moves the others
        mesh.attributes.new(MESH_COLOR, "FLOAT_COLOR", domain).data.foreach_set("color", values)


def _object(item: BlenderObject, source: BlenderObject, mesh: BlenderMesh, part: Any) -> BlenderObject:
    shown = bpy.data.objects.new(mesh.name, mesh)
    shown.parent = item
    for collection in item.users_collection:
        collection.objects.link(shown)
    if not any(slot.material for slot in source.material_slots) and not len(mesh.materials):
        mesh.materials.append(part.material)
    for slot, own in zip(shown.material_slots, source.material_slots, strict=False):
        if own.link == "OBJECT":
            slot.link, slot.material = "OBJECT", own.material
    for group in source.vertex_groups:
        if group.name not in shown.vertex_groups:
            shown.vertex_groups.new(name=group.name)
    shown.hide_viewport, shown.hide_render = (not shows_mesh(part, is_render=side) for side in (False, True))
    return shown


def remove(item: BlenderObject) -> None:
    """Remove the objects that show the meshes of a particle object's emitters, and the copies of their meshes."""
    for part in item.mpm.display.parts:
        shown = skin_objects.skin_of(item, part)
        part.skin = None
        if shown is not None:
            meshes = [shown.data, *_kept(shown)]
            bpy.data.objects.remove(shown)
            for mesh in meshes:
                if not mesh.users:
                    bpy.data.meshes.remove(mesh)
