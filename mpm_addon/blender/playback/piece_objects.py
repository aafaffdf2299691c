"""The pieces of rigid bodies that broke in a bake, as objects with keyframes, and the unbroken object hidden while they are shown.

A piece is a mesh of its own, with the materials and UVs of the unbroken object outside and a material slot of its choice inside.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ...core.particles import Piece
from ..host.blender_types import BlenderMaterial, BlenderObject, BlenderScene
from ..host.meshes import Floats, mesh_of
from .derived_objects import tell_exporters
from .keyed_objects import OF_COLLIDERS, hide, hide_whole, move
from .keyframes import has_baked_keys, start_matrix


class Outside(NamedTuple):
    """The surface of an unbroken object at the start of a bake.

    Attributes:
        tree: of its triangles in world space [Blender units].
        corners: of its triangles, shape (n, 3, 3).
        materials: material slot of each triangle, shape (n,).
        slots: the materials in these slots.
        is_smooth: whether each is shaded smooth, shape (n,).
        uvs: name of a UV map -> UVs of the corners, shape (n, 3, 2).
    """

    tree: Any
    corners: Floats
    materials: np.ndarray
    slots: list[Any]
    is_smooth: np.ndarray
    uvs: dict[str, Floats]


def write_pieces(
    scene: BlenderScene,
    pieces: Mapping[str, Piece],
    poses: Mapping[int, Mapping[str, Floats]],
    items: Mapping[str, BlenderObject],
    cache: str,
    inside_of: Callable[[BlenderObject], BlenderMaterial],
) -> None:
    """Add an object for each piece, and keyframe when it and the unbroken object are hidden; after `keyed_objects.remove`.

    Unbroken objects without the keyframes of a bake keep their look, and get no pieces.

    Args:
        pieces: by name.
        poses: frame number -> name of a collider or a piece -> world from local (4, 4) [m].
        items: the objects of the dynamic colliders, by name.
        cache: the cache folder as Blender stores it.
        inside_of: the material inside an object that has no slot for it.
    """
    numbers, units = sorted(poses), scene.unit_settings.scale_length
    for name in sorted({piece.whole for piece in pieces.values()}):
        item = items.get(name)
        if item is None or not has_baked_keys(item):
            continue
        start = poses[numbers[0]][name].copy()
        start[:3, 3] /= units
        start[:3, :3] /= units
        outside = _outside_of(item)
        inside = _inside_slot(item, outside)
        materials = outside.slots if inside < len(outside.slots) else [*outside.slots, inside_of(item)]
        for key, piece in pieces.items():
            frames = [number for number in numbers if key in poses[number]]
            # a piece may break again before a frame shows it
            if piece.whole != name or not frames:
                continue
            made = _piece_object(f"{item.name} {key.rpartition('/')[2]}", piece, start, outside, materials, inside)
            made[OF_COLLIDERS.piece] = cache
            for collection in item.users_collection:
                collection.objects.link(made)
            move(made, frames, [poses[number][key] for number in frames], start, units)
            hide(made, [number not in frames for number in numbers], numbers)
        hide_whole(item, [name not in poses[number] for number in numbers], numbers, cache, OF_COLLIDERS)


def _outside_of(item: BlenderObject) -> Outside:
    """The surface of an object, with its modifiers, where it was at the start of the bake."""
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    world = start_matrix(item)
    with mesh_of(evaluated, f'Object "{item.name}"') as mesh:
        mesh.calc_loop_triangles()
        vertices = np.array([vertex.co[:] for vertex in mesh.vertices]) @ world[:3, :3].T + world[:3, 3]
        loops = np.array([triangle.loops[:] for triangle in mesh.loop_triangles])
        corners = vertices[np.array([triangle.vertices[:] for triangle in mesh.loop_triangles])]
        polygons = [mesh.polygons[triangle.polygon_index] for triangle in mesh.loop_triangles]
        materials = np.array([polygon.material_index for polygon in polygons])
        # modifiers add slots of their own
        added = [None if material is None else material.original for material in mesh.materials][len(item.material_slots) :]
        is_smooth = np.array([polygon.use_smooth for polygon in polygons])
        uvs = {layer.name: np.array([each.uv[:] for each in layer.data])[loops] for layer in mesh.uv_layers}
    # the tests' stand-in for Blender has none
    from mathutils.bvhtree import BVHTree

    flat = corners.reshape(-1, 3)
    tree = BVHTree.FromPolygons(flat.tolist(), np.arange(len(flat)).reshape(-1, 3).tolist())
    slots = [slot.material for slot in item.material_slots] + added
    return Outside(tree, corners, materials, slots or [None], is_smooth, uvs)


def _inside_slot(item: BlenderObject, outside: Outside) -> int:
    """The slot of inside faces: that chosen for the collider, or one more if it has fewer."""
    chosen = item.mpm.collider.inside
    return chosen if chosen < max(1, len(item.material_slots)) else len(outside.slots)


def _piece_object(name: str, piece: Piece, start: Floats, outside: Outside, materials: list[Any], inside: int) -> BlenderObject:
    """An object with the mesh of a piece, around its own middle."""
    world = piece.vertices @ start[:3, :3].T + start[:3, 3]
    middle = 0.5 * (world.min(axis=0) + world.max(axis=0))
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata((world - middle).tolist(), [], piece.triangles.tolist())
    for material in materials:
        mesh.materials.append(material)
    nearest = _nearest(world[piece.triangles].mean(axis=1), outside)
    mesh.polygons.foreach_set("material_index", np.where(piece.is_inside, inside, outside.materials[nearest]).astype(np.int32))
    mesh.polygons.foreach_set("use_smooth", ~piece.is_inside & outside.is_smooth[nearest])
    for layer_name, uvs in outside.uvs.items():
        layer = mesh.uv_layers.new(name=layer_name)
        layer.data.foreach_set("uv", _uvs(world[piece.triangles], outside.corners[nearest], uvs[nearest]).astype(np.float32).ravel())
    mesh.update()
    made = bpy.data.objects.new(name, mesh)
    made.rotation_mode = "QUATERNION"
    made.location = middle.tolist()
    # what is hidden when an export begins has no mesh in its first frame
    tell_exporters(made)
    return made


def _nearest(points: Floats, outside: Outside) -> np.ndarray:
    """The triangle of the unbroken object that is nearest to each point (n, 3)."""
    return np.array([outside.tree.find_nearest(Vector(point))[2] for point in points.tolist()])


def _uvs(corners: Floats, around: Floats, uvs: Floats) -> Floats:
    """The UVs of the corners (n, 3, 3) of triangles in the planes of others, given their corners (n, 3, 3) and UVs (n, 3, 2)."""
    u, v = around[:, 1] - around[:, 0], around[:, 2] - around[:, 0]
    way = corners - around[:, :1]
    uu, uv, vv = ((a * b).sum(axis=1)[:, None] for a, b in ((u, u), (u, v), (v, v)))
    wu, wv = (np.einsum("nki,ni->nk", way, axis) for axis in (u, v))
    size = np.maximum(uu * vv - uv * uv, 1e-300)
    s, t = (vv * wu - uv * wv) / size, (uu * wv - uv * wu) / size
    first, second, third = (uvs[:, None, corner] for corner in range(3))
    return first + s[..., None] * (second - first) + t[..., None] * (third - first)
