"""Shows the frames of a cache as points: one vertex-only mesh, filled at every frame change. Reads only cache files.

Particles are interpolated between frames, for motion blur and retiming. A missing frame shows no particles and a
status text. Handlers never raise and call no operators.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.app.handlers import persistent
from numpy.typing import NDArray

from ...core.errors import MpmError
from ...core.messages import NOTHING, Message
from ...core.particles import ATTRIBUTES
from ...storage import open_cache
from ...storage.retimed_frames import MomentReader, nearest_frame
from ..host import homes
from ..host.blender_types import BlenderMesh, BlenderObject, BlenderScene
from ..host.registrar import Registrar
from ..host.runtime import OfFile, OfSession, runtime
from ..settings import paths, retime
from ..settings.declarations import decimal
from ..settings.display_settings import SPEED
from ..settings.listeners import PlaybackListeners
from . import attributes, derived_objects, lost_caches, orphans, packing, skin_objects, surface_objects, swarm_objects, volume_objects

OBJECT_NAME = "MPM Particles"
MATERIAL_INDEX = attributes.MATERIAL_INDEX

_STRIDE = 1009
_SEPARATE = "make it single-user (Object > Relations)"


@dataclass
class Shown(OfFile):
    """What is displayed, by the session UIDs of objects, which survive renaming and undo.

    Attributes:
        status: the panel's message about the frame.
        filled: last arrays in each mesh: session UID of the mesh -> attribute name -> values.
        shutter: during a render, the cached frame at the center of the shutter: objects use its particles at all moments of the
            shutter.
        held: during a live simulation, the cached frame that an object shows, whatever the scene's frame.
    """

    status: dict[int, Message] = field(default_factory=dict)
    readers: dict[int, MomentReader] = field(default_factory=dict)
    filled: dict[int, dict[str, NDArray[Any]]] = field(default_factory=dict)
    shutter: dict[int, float] = field(default_factory=dict)
    is_rendering: bool = False
    held: dict[int, float] = field(default_factory=dict)


@dataclass
class Suspension(OfSession):
    """Number of blocks that keep particles unchanged."""

    depth: int = 0


def status(item: BlenderObject) -> Message:
    """The panel's message about the frame that an object shows; `NOTHING` if there is none."""
    return runtime.of(Shown).status.get(item.session_uid, NOTHING)


def forget(item: BlenderObject) -> None:
    """Discard the state of an object that is about to be removed."""
    shown = runtime.of(Shown)
    shown.status.pop(item.session_uid, None)
    shown.readers.pop(item.session_uid, None)
    shown.filled.pop(item.data.session_uid, None)
    skin_objects.forget(item)


def hold(item: BlenderObject, frame: int) -> None:
    """Make an object show one frame of its cache, whatever the scene's frame."""
    runtime.of(Shown).held = {item.session_uid: float(frame)}


def release() -> None:
    """Make all objects follow the scene's frame again."""
    runtime.of(Shown).held.clear()


def frame_rate(scene: BlenderScene) -> float:
    """The scene's frames per second."""
    return scene.render.fps / decimal(scene.render.fps_base)


@contextmanager
def suspended() -> Iterator[None]:
    """Keep particles unchanged while the block changes frames."""
    suspension = runtime.of(Suspension)
    suspension.depth += 1
    try:
        yield
    finally:
        suspension.depth -= 1


def result_objects(scene: BlenderScene) -> list[BlenderObject]:
    """The objects of a scene that show a cache."""
    return [item for item in scene.objects if item.mpm.cache]


def known_object(scene: BlenderScene, cache: str) -> BlenderObject | None:
    """The object that shows a cache folder, or its predecessor from before the file was first saved, or saved elsewhere; None without."""
    folder = paths.absolute(cache)
    for known in (folder, paths.unsaved_folder() / folder.name):
        for item in result_objects(scene):
            if paths.absolute(item.mpm.cache) == known or (item.mpm.home and paths.placed(item.mpm.home) == cache):
                return item
    return None


def result_object(scene: BlenderScene, cache: str, *, object_name: str = "") -> BlenderObject:
    """The object that shows the cache folder `cache`; added, without particles, in the collection of the emitters if there is none.

    Args:
        object_name: the only baked emitter; all emitters if empty.
    """
    known = known_object(scene, cache)
    if known is not None:
        known.mpm.cache, known.mpm.home, known.mpm.is_freed = cache, "", False
        return known
    item: BlenderObject = bpy.data.objects.new(OBJECT_NAME, bpy.data.meshes.new(OBJECT_NAME))
    item.mpm.cache = cache
    homes.home_of(scene, object_name).objects.link(item)
    # Blender's manual requires it if a handler changes data during rendering.
    scene.render.use_lock_interface = True
    return item


def show(scene: BlenderScene, depsgraph: Any = None) -> None:
    """Update all objects of the scene that show a cache to the current frame.

    Args:
        depsgraph: the source of animated settings; in a render, the scene itself holds those of another frame.
    """
    orphans.empty_new()
    shown, status = _played_objects(scene), runtime.of(Shown).status
    meshes: dict[int, BlenderObject] = {}
    for item in shown:
        if isinstance(item.data, bpy.types.Mesh):
            paths.adopt(item)
            derived_objects.keep(item)
            settings = item.mpm if depsgraph is None else item.evaluated_get(depsgraph).mpm
            other = meshes.setdefault(item.data.session_uid, item)
            status[item.session_uid] = (
                _show(item, settings, item.data, scene)
                if other == item or _is_alike(item, other)
                else Message(f'Shares its mesh with "{other.name}", which shows something else', (_SEPARATE,))
            )
    _forget_removed({item.session_uid for item in shown}, {item.data.session_uid for item in shown if item.data is not None})


def _played_objects(scene: BlenderScene) -> list[BlenderObject]:
    """The objects of a scene that show a cache, including those in collections that it instances, which may be linked."""
    found = {item.session_uid: item for item in result_objects(scene)}
    waiting = {item.instance_collection for item in scene.objects if item.instance_collection is not None}
    seen = set()
    while waiting:
        collection = waiting.pop()
        seen.add(collection)
        items = list(collection.all_objects)
        found |= {item.session_uid: item for item in items if item.mpm.cache}
        waiting |= {item.instance_collection for item in items if item.instance_collection is not None} - seen
    return list(found.values())


def _is_alike(item: BlenderObject, other: BlenderObject) -> bool:
    """Whether two objects show the same, now and later."""
    return paths.shown_folder(item) == paths.shown_folder(other) and not (item.mpm.use_retime or other.mpm.use_retime)


def _forget_removed(numbers: set[int], meshes: set[int]) -> None:
    """Discard the state of removed objects and meshes, given those that are known to exist."""
    objects: Any = bpy.data.objects
    shown = runtime.of(Shown)
    if shown.readers.keys() - numbers:
        numbers = numbers | {item.session_uid for item in objects if item.mpm.cache}
        for number in shown.readers.keys() - numbers:
            del shown.readers[number]
            shown.status.pop(number, None)
    if shown.filled.keys() - meshes:
        for number in shown.filled.keys() - {item.data.session_uid for item in objects if isinstance(item.data, bpy.types.Mesh)}:
            del shown.filled[number]


class Wanted(NamedTuple):
    """What an object shows: a fractional frame of its cache, with the particles of frame `like`, and velocities times `factor`."""

    frame: float
    like: int
    factor: np.float32

    def read(self, reader: MomentReader) -> Mapping[str, NDArray[Any]]:
        """Read the attributes. Independent of Blender, so that any thread may call it. Raises CacheError or OSError."""
        arrays = reader.arrays(self.frame, like=self.like)
        if self.factor == 1.0 or "velocity" not in arrays:
            return arrays
        return {**arrays, "velocity": arrays["velocity"] * self.factor}


def wanted(item: BlenderObject, settings: Any, scene: BlenderScene, reader: MomentReader) -> Wanted:
    """What an object should show now. Raises CacheError."""
    time = reader.cache.time
    # not frame_current_final: a bake samples poses at the frames of the scene too, regardless of time remapping
    position = retime.position(item, settings, scene.frame_current + scene.frame_subframe, time.frame_start)
    shown = runtime.of(Shown)
    if item.session_uid in shown.held:
        position = retime.Position(shown.held[item.session_uid], 1.0)
    if shown.is_rendering:
        shown.shutter.setdefault(item.session_uid, position.frame)
    like = shown.shutter.get(item.session_uid, position.frame)
    # meters per second of simulated time -> meters per second of the scene, as renderers expect
    factor = time.time_scale * frame_rate(scene) / time.fps * position.rate
    return Wanted(position.frame, nearest_frame(like), np.float32(factor))


def _show(item: BlenderObject, settings: Any, mesh: BlenderMesh, scene: BlenderScene) -> Message:
    try:
        reader = _reader(item)
        asked = wanted(item, settings, scene, reader)
        present(item, mesh, scene, reader, asked, lambda: asked.read(reader))
        lost_caches.show_skins(item)
    except (MpmError, OSError) as error:
        clear(mesh)
        if surface_objects.surface_of(item) is not None:
            surface_objects.clear(item.mpm.surface.object.data)
        skin_objects.clear(item)
        volume_objects.clear(item)
        swarm_objects.clear(item)
        return lost_caches.hide_skins(item) or (error.message if isinstance(error, MpmError) else Message(str(error)))
    return NOTHING


def present(
    item: BlenderObject,
    mesh: BlenderMesh,
    scene: BlenderScene,
    reader: MomentReader,
    asked: Wanted,
    read: Callable[[], Mapping[str, NDArray[Any]]],
) -> None:
    """Show the derived data of a frame, if it has any, and the particles that it does not replace.

    Args:
        read: returns the particles; not called if all are covered. Raises CacheError or OSError.
    """
    scale_length, time = scene.unit_settings.scale_length, reader.cache.time
    moved = time.seconds_at(asked.frame) - time.seconds_at(asked.like)
    has_speed = item.mpm.display.color_by == SPEED
    advanced = derived_objects.Moved(asked.like, moved, asked.factor, scale_length, has_speed)
    smooth = surface_objects.show(item, reader.cache, advanced)
    volume_objects.show(item, reader.cache, advanced)
    swarm_objects.show(item, reader.cache, advanced)
    followed = skin_objects.Wanted(asked.frame, asked.like, asked.factor, scale_length, smooth)
    covered = {*(() if item.mpm.surface.has_points else smooth), *skin_objects.show(item, reader.cache, followed)}
    if covered and set(range(len(reader.cache.manifest.get("emitters", ())))) <= covered:
        clear(mesh)
        return
    arrays = read()
    if covered:
        others = ~np.isin(arrays[surface_objects.EMITTER], list(covered))
        arrays = {name: values[others] for name, values in arrays.items()}
    arrays = packing.in_shutter(item, arrays) if runtime.of(Shown).is_rendering else arrays
    fill(mesh, attributes.with_speed(arrays, scale_length) if has_speed else arrays, scale_length)


def take_over(item: BlenderObject, reader: MomentReader) -> None:
    """Reuse what another reader has read of an object's cache; the object's status is cleared."""
    shown = runtime.of(Shown)
    shown.readers[item.session_uid] = reader
    shown.status[item.session_uid] = NOTHING


def _reader(item: BlenderObject) -> MomentReader:
    """The reader of the object's cache. Raises CacheError if there is none."""
    cache = open_cache(paths.shown_folder(item))
    readers = runtime.of(Shown).readers
    reader = readers.setdefault(item.session_uid, MomentReader(cache))
    if not reader.cache.is_same(cache):
        reader = readers[item.session_uid] = MomentReader(cache)
    return reader


def fill(mesh: BlenderMesh, arrays: Mapping[str, NDArray[Any]], scale_length: float) -> None:
    """Fill the mesh with the points of a frame, storing its arrays as named attributes.

    Args:
        arrays: attribute name -> array in SI, as in `Frame.arrays`.
        scale_length: meters per Blender unit.
    """
    count = len(arrays["position"])
    if len(mesh.vertices) != count:
        mesh.clear_geometry()
        mesh.vertices.add(count)
        runtime.of(Shown).filled.pop(mesh.session_uid, None)
    filled = runtime.of(Shown).filled.setdefault(mesh.session_uid, {})
    for name, values in arrays.items() if count else ():
        flat = attributes.in_blender_units(name, values, scale_length)
        # writing to an attribute copies it, because the evaluated mesh shares its memory
        if attributes.stored_name(name) in mesh.attributes and _is_same(flat, filled.get(name)):
            continue
        attributes.store(mesh, name, values, flat)
        filled[name] = flat
    if count:
        # remove values of an earlier frame that this frame lacks
        for name in (ATTRIBUTES.keys() | filled.keys() | {packing.FULLNESS}) - arrays.keys():
            filled.pop(name, None)
            attribute = mesh.attributes.get(attributes.stored_name(name))
            if attribute is not None:
                mesh.attributes.remove(attribute)
        # the bounding box is cached, and invalidated only when a vertex is moved through the API
        mesh.vertices[0].co = mesh.vertices[0].co
    mesh.update_tag()


def _is_same(values: NDArray[Any], before: NDArray[Any] | None) -> bool:
    """Whether arrays are equal; usually decided by comparing a few values."""
    if before is None or values.shape != before.shape:
        return False
    # attributes that never change are the same array in every frame, and nobody writes to it
    is_one = values.ctypes.data == before.ctypes.data
    return is_one or (np.array_equal(values[::_STRIDE], before[::_STRIDE]) and np.array_equal(values, before))


def clear(mesh: BlenderMesh) -> None:
    """Remove all points."""
    if len(mesh.vertices):
        mesh.clear_geometry()
        mesh.update_tag()


@persistent
def _on_frame_change(scene: BlenderScene, depsgraph: Any = None) -> None:
    if not runtime.of(Suspension).depth:
        show(scene, depsgraph)


@persistent
def _begin_shutter(_scene: Any = None, _unused: Any = None) -> None:
    """A frame is about to be rendered: the next displayed moment is the frame itself."""
    runtime.of(Shown).shutter.clear()
    packing.drop()
    runtime.of(Shown).is_rendering = True


@persistent
def _end_shutter(_scene: Any = None, _unused: Any = None) -> None:
    _begin_shutter()
    runtime.of(Shown).is_rendering = False


@persistent
def _on_load(_path: str = "", _unused: Any = None) -> None:
    for scene in bpy.data.scenes:
        show(scene)


@persistent
def _on_undo(scene: BlenderScene | None = None, _unused: Any = None) -> None:
    """Undo restores earlier meshes, perhaps with particles from before a bake, so the arrays in them are unknown."""
    runtime.of(Shown).filled.clear()
    surface_objects.forget_filled()
    skin_objects.forget_filled()
    if scene is not None and not runtime.of(Suspension).depth:
        show(scene)


@persistent
def _on_import(_context: Any = None, _unused: Any = None) -> None:
    """Appended objects contain the particles of a frame of their file."""
    if bpy.context.scene is not None and not runtime.of(Suspension).depth:
        show(bpy.context.scene)


def _on_setting(scene: BlenderScene) -> None:
    if scene is not None and not runtime.of(Suspension).depth:
        show(scene)


def register(registrar: Registrar) -> None:
    lists = bpy.app.handlers
    registrar.member(lists.frame_change_post, _on_frame_change)
    registrar.member(lists.load_post, _on_load)
    registrar.member(lists.undo_post, _on_undo)
    registrar.member(lists.redo_post, _on_undo)
    registrar.member(lists.render_pre, _begin_shutter)
    registrar.member(lists.render_post, _end_shutter)
    registrar.member(lists.render_cancel, _end_shutter)
    registrar.import_handler(_on_import)  # in older versions, objects update at the next frame
    registrar.member(runtime.of(PlaybackListeners).functions, _on_setting)
