"""The pieces of rigid bodies that broke in a bake, as objects with keyframes, and the unbroken object hidden while they are shown.

A piece is a mesh of its own, with the materials and UVs of the unbroken object outside and a material slot of its choice inside.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core.particles import Piece
from ..host.actions import curve_collections, new_curve
from ..host.blender_types import BlenderMaterial, BlenderObject, BlenderScene
from ..host.meshes import Floats, mesh_of
from ..settings import paths
from .derived_objects import tell_exporters
from .keyframes import has_baked_keys, start_matrix

# custom properties: of pieces, the cache; of an unbroken object, the cache and whether it was hidden in viewports and renders
CACHE, WHOLE = "mpm_piece_of", "mpm_whole_of"
_WAS_HIDDEN = "mpm_was_hidden"
_HIDES = ("hide_viewport", "hide_render")


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
    """Add an object for each piece, and keyframe when it and the unbroken object are hidden; after `remove_pieces`.

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
            made[CACHE] = cache
            for collection in item.users_collection:
                collection.objects.link(made)
            _move(made, frames, [poses[number][key] for number in frames], start, units)
            _hide(made, [number not in frames for number in numbers], numbers)
        _hide_whole(item, [name not in poses[number] for number in numbers], numbers, cache)


def remove_pieces(scene: BlenderScene, folder: Path | None = None) -> None:
    """Remove the pieces of the bake into a cache folder, or of every bake, and show the unbroken objects again."""
    for item in list(scene.objects):
        if CACHE in item and folder in (None, paths.absolute(item[CACHE])):
            _remove(item)
        elif WHOLE in item and folder in (None, paths.absolute(item[WHOLE])):
            _show_whole(item)


def _remove(item: BlenderObject) -> None:
    mesh, action = item.data, None if item.animation_data is None else item.animation_data.action
    bpy.data.objects.remove(item)
    if mesh is not None and not mesh.users:
        bpy.data.meshes.remove(mesh)
    if action is not None and not action.users:
        bpy.data.actions.remove(action)


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


def _move(made: BlenderObject, frames: list[int], poses: list[Floats], start: Floats, units: float) -> None:
    """Keyframe the location and rotation of a piece."""
    back = np.linalg.inv(start)
    middle = np.append(np.array(made.location), 1.0)
    locations, rotations = [], []
    for pose in poses:
        world = pose.copy()
        world[:3] /= units
        move = world @ back
        locations.append((move @ middle)[:3])
        rotation = Matrix(move[:3, :3].tolist()).to_quaternion()
        if rotations:
            rotation.make_compatible(rotations[-1])
        rotations.append(rotation)
    action = _action_of(made)
    for path, values in (("location", locations), ("rotation_quaternion", rotations)):
        for index in range(len(values[0])):
            _fill(new_curve(action, made, path, index), frames, [value[index] for value in values], "LINEAR")


def _action_of(item: BlenderObject) -> Any:
    animated = item.animation_data or item.animation_data_create()
    assert animated is not None
    if animated.action is None:
        animated.action = bpy.data.actions.new(f"MPM {item.name}")
    return animated.action


def _hide(item: BlenderObject, hidden: list[bool], frames: list[int]) -> None:
    """Keyframe whether an object is hidden, where that changes."""
    changes = [place for place in range(len(frames)) if place == 0 or hidden[place] != hidden[place - 1]]
    for path in _HIDES:
        curve = new_curve(_action_of(item), item, path, 0)
        _fill(curve, [frames[place] for place in changes], [float(hidden[place]) for place in changes], "CONSTANT")


def _hide_whole(item: BlenderObject, hidden: list[bool], frames: list[int], cache: str) -> None:
    item[WHOLE], item[_WAS_HIDDEN] = cache, [int(getattr(item, path)) for path in _HIDES]
    _hide(item, hidden, frames)


def _show_whole(item: BlenderObject) -> None:
    """Remove the keyframes that hide an unbroken object."""
    action = None if item.animation_data is None else item.animation_data.action
    for curves in () if action is None else curve_collections(action):
        for curve in [curve for curve in curves if curve.data_path in _HIDES]:
            curves.remove(curve)
    for path, value in zip(_HIDES, item[_WAS_HIDDEN], strict=True):
        setattr(item, path, bool(value))
    del item[WHOLE], item[_WAS_HIDDEN]


def _fill(curve: Any, frames: list[int], values: list[float], interpolation: str) -> None:
    points = curve.keyframe_points
    points.add(len(frames))
    points.foreach_set("co", np.column_stack([frames, values]).astype(np.float32).ravel())
    for point in points:
        point.interpolation = interpolation
    curve.update()
