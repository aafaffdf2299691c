"""The fragments of a skin whose material came apart, as objects with keyframes, and the skin hidden while they are shown.

Each has the part of the skin that is its own, at rest: its UVs, materials and normals, and its inside faces.
"""

from collections.abc import Sequence

import bpy
import numpy as np

from ...derived.fragments import BrokenMesh, Fragment
from ..host.blender_types import BlenderMesh, BlenderObject
from . import skin_normals, subdivided_meshes, torn_meshes
from .derived_objects import tell_exporters
from .keyed_objects import OF_SKINS, hide, hide_whole, move

# What only a mesh needs that follows particles.
_OF_SKINS_ONLY = ("velocity", "mpm_rest_normal", "mpm_rest_position")


def cut_mesh(skin: BlenderObject, broken: BrokenMesh, units: float) -> BlenderMesh | None:
    """The mesh of a skin at rest, cut into pieces that still are where they were; None if it has other vertices than in the bake.

    Args:
        skin: the object that shows it.
        broken: its pieces.
        units: meters per Blender unit.
    """
    if not subdivided_meshes.subdivide(skin, broken.subdivision):
        return None
    added = 0 if broken.cut is None else len(broken.cut.parents)
    mesh = torn_meshes.cut_at_rest(skin, broken.cut, len(broken.rest) - added)
    if mesh is None:
        return None
    mesh.attributes["position"].data.foreach_set("vector", (broken.rest / units).astype(np.float32).ravel())
    mesh.update()
    skin_normals.follow(mesh)
    for name in _OF_SKINS_ONLY:
        if name in mesh.attributes:
            mesh.attributes.remove(mesh.attributes[name])
    return mesh


def add(skin: BlenderObject, name: str, broken: BrokenMesh, frames: Sequence[int], cache: str, units: float) -> list[BlenderObject]:
    """Add an object for each piece beside a skin, and keyframe when it and the skin are hidden; none without the baked mesh.

    Args:
        skin: the object that shows it.
        name: that of the pieces, before their numbers.
        broken: its pieces, which part at one of the frames.
        frames: ascending.
        cache: the cache folder as Blender stores it.
        units: meters per Blender unit.
    """
    mesh = cut_mesh(skin, broken, units)
    if mesh is None:
        return []
    start = np.eye(4)
    start[:3] /= units
    is_hidden = [broken.parts_at is None or number < broken.parts_at for number in frames]
    made = []
    for place, fragment in enumerate(broken.fragments, start=1):
        piece = _object(skin, f"{name} {place}", mesh, fragment, units)
        piece[OF_SKINS.piece] = cache
        there = sorted(fragment.poses)
        move(piece, there, [fragment.poses[number] for number in there], start, units)
        hide(piece, [early or number not in fragment.poses for early, number in zip(is_hidden, frames, strict=True)], list(frames))
        made.append(piece)
    bpy.data.meshes.remove(mesh)
    hide_whole(skin, [not early for early in is_hidden], list(frames), cache, OF_SKINS)
    return made


def _object(skin: BlenderObject, name: str, mesh: BlenderMesh, fragment: Fragment, units: float) -> BlenderObject:
    """An object with the part of a cut mesh that belongs to a fragment, around its center of mass."""
    made = bpy.data.objects.new(name, _part(name, mesh, fragment, units))
    made.parent = skin.parent
    made.rotation_mode = "QUATERNION"
    made.location = (fragment.middle / units).tolist()
    for group in skin.vertex_groups:
        if group.name not in made.vertex_groups:
            made.vertex_groups.new(name=group.name)
    for collection in skin.users_collection:
        collection.objects.link(made)
    # what is hidden when an export begins has no mesh in its first frame
    tell_exporters(made)
    return made


def _part(name: str, mesh: BlenderMesh, fragment: Fragment, units: float) -> BlenderMesh:
    import bmesh  # playback needs it nowhere else

    part = bpy.data.meshes.new(name)
    for material in mesh.materials:
        part.materials.append(material)
    built = bmesh.new()
    try:
        built.from_mesh(mesh)
        others = [vertex for vertex, is_own in zip(built.verts, fragment.owns.tolist(), strict=True) if not is_own]
        bmesh.ops.delete(built, geom=others, context="VERTS")
        bmesh.ops.translate(built, verts=list(built.verts), vec=(-fragment.middle / units).tolist())
        built.to_mesh(part)
    finally:
        built.free()
    part.update()
    return part
