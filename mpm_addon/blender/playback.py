"""Shows the frames of a cache as points: one vertex-only mesh, filled at every frame change. Reads cache files alone.

A frame that is missing shows nothing and a status text. Handlers raise nothing and use no operators.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent
from numpy.typing import NDArray

from ..core.errors import MpmError
from ..core.particles import ATTRIBUTES
from ..storage import open_cache
from . import paths
from .blender_types import BlenderMesh, BlenderObject, BlenderScene

OBJECT_NAME = "MPM Particles"

# A mesh has a `material_index` of its own, one for each face: the points' is stored under another name.
MATERIAL_INDEX = "mpm_material_index"
_STORED_NAMES = {"material_index": MATERIAL_INDEX}

# numpy dtype and components -> Blender's attribute type and the name of its values.
_TYPES = {
    ("int32", 1): ("INT", "value"),
    ("float32", 1): ("FLOAT", "value"),
    ("float32", 3): ("FLOAT_VECTOR", "vector"),
    ("float32", 4): ("QUATERNION", "value"),
}
_WITH_LENGTH = {"m", "m/s"}

_status: dict[str, str] = {}
_suspensions: list[None] = []


def status(item: BlenderObject) -> str:
    """What the panel says of the frame that an object shows; "" where there is nothing to say."""
    return _status.get(item.name_full, "")


def reset() -> None:
    """Forget everything about the file that was open."""
    _status.clear()


@contextmanager
def suspended() -> Iterator[None]:
    """Leave particles as they are while the block changes frames."""
    _suspensions.append(None)
    try:
        yield
    finally:
        _suspensions.pop()


def result_objects(scene: BlenderScene) -> list[BlenderObject]:
    """The objects of a scene that show a cache."""
    return [item for item in scene.objects if item.mpm.cache]


def result_object(scene: BlenderScene, cache: str) -> BlenderObject:
    """The object that shows the cache folder `cache`; made, without particles, where there is none.

    One that shows the folder which served for it before the file was first saved is taken over.
    """
    folder = paths.absolute(cache)
    for known in (folder, paths.unsaved_folder() / folder.name):
        for item in result_objects(scene):
            if paths.absolute(item.mpm.cache) == known:
                item.mpm.cache = cache
                return item
    item: BlenderObject = bpy.data.objects.new(OBJECT_NAME, bpy.data.meshes.new(OBJECT_NAME))
    item.mpm.cache = cache
    scene.collection.objects.link(item)
    # Blender's manual asks for it where a handler changes data while frames are rendered.
    scene.render.use_lock_interface = True
    return item


def show(scene: BlenderScene) -> None:
    """Give every object of the scene that shows a cache the particles of the current frame."""
    for item in result_objects(scene):
        if isinstance(item.data, bpy.types.Mesh):
            _status[item.name_full] = _show(item, item.data, scene)


def _show(item: BlenderObject, mesh: BlenderMesh, scene: BlenderScene) -> str:
    number = scene.frame_current
    try:
        cache = open_cache(paths.absolute(item.mpm.cache))
        if cache.frame_path(number).is_file():
            fill(mesh, cache.frame(number).arrays, scene.unit_settings.scale_length)
            return ""
    except (MpmError, OSError) as error:
        clear(mesh)
        return str(error)
    clear(mesh)
    return f"Frame {number} is not baked"


def fill(mesh: BlenderMesh, arrays: Mapping[str, NDArray[Any]], scale_length: float) -> None:
    """Make the mesh the points of a frame, with its arrays as named attributes.

    Args:
        arrays: attribute name -> array in SI, as in `Frame.arrays`.
        scale_length: metres in a Blender unit.
    """
    count = len(arrays["position"])
    if len(mesh.vertices) != count:
        mesh.clear_geometry()
        mesh.vertices.add(count)
    for name, values in arrays.items():
        if count and name in ATTRIBUTES:
            declared = ATTRIBUTES[name]
            kind, field = _TYPES[declared.dtype, declared.components]
            flat = np.ascontiguousarray(values, dtype=declared.dtype).ravel()
            if declared.unit in _WITH_LENGTH and scale_length != 1.0:
                flat = flat / np.float32(scale_length)
            _attribute(mesh, _STORED_NAMES.get(name, name), kind).data.foreach_set(field, flat)
    if count:
        # the box around the mesh is remembered, and forgotten only when a vertex is moved by itself
        mesh.vertices[0].co = mesh.vertices[0].co
    mesh.update_tag()


def clear(mesh: BlenderMesh) -> None:
    """Remove all points."""
    if len(mesh.vertices):
        mesh.clear_geometry()
        mesh.update_tag()


def _attribute(mesh: BlenderMesh, name: str, kind: str) -> Any:
    attribute = mesh.attributes.get(name)
    if attribute is not None and attribute.data_type == kind and attribute.domain == "POINT":
        return attribute
    if attribute is not None:
        mesh.attributes.remove(attribute)
    return mesh.attributes.new(name, kind, "POINT")


@persistent
def _on_frame_change(scene: BlenderScene, _depsgraph: Any = None) -> None:
    if not _suspensions:
        show(scene)


@persistent
def _on_load(_path: str = "", _unused: Any = None) -> None:
    reset()
    for scene in bpy.data.scenes:
        show(scene)


def register() -> None:
    bpy.app.handlers.frame_change_post.append(_on_frame_change)
    bpy.app.handlers.load_post.append(_on_load)


def unregister() -> None:
    bpy.app.handlers.load_post.remove(_on_load)
    bpy.app.handlers.frame_change_post.remove(_on_frame_change)
    reset()
