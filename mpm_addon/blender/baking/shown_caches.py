"""Shows the frames of a cache: adds an object for the particles, and keyframes to dynamic colliders.

A bake of this Blender adds them as its frames arrive (`Result`), using session UIDs of scenes and objects, which survive undo and
renaming. For a cache that was baked elsewhere (by a farm, in a terminal, or before the file moved), `show_cache` adds the object.
"""

from pathlib import Path

import bpy
import numpy as np

from ...core.errors import CacheError, MpmError
from ...core.geometry.shapes import Mesh
from ...core.messages import Message
from ...core.scene.description import Scene
from ...derived.settings import follow_problem
from ...storage import open_cache, read_scene
from ...storage.take import SCENE
from .. import display
from ..host.blender_types import BlenderObject, BlenderScene
from ..playback import arriving_frames, keyed_objects, keyframes, particle_objects, piece_objects
from ..playback.attributes import PAINTED_COLOR
from ..reading import freshness
from ..settings import paths
from . import cache_watch, derived_kinds, emitter_wires, one_result, previews, unstable


class Result:
    """The result of one bake in one scene.

    Attributes:
        cache: the cache folder as Blender stores it.
        folder: the same folder as an absolute path, which saving the file elsewhere does not change.
        scene_hash: the hash of the baked scene; "" until it is known.
        newest: the last frame that arrived; None before the first.
        is_made: whether the object that shows the frames displays the emitters of this bake.
        news: what became of objects that showed an earlier bake, to report.
    """

    def __init__(self, scene: BlenderScene, cache: str, *, object_name: str = "", fingerprint: str = "") -> None:
        self.folder = paths.absolute(cache)
        self.scene_hash = ""
        self._cache = cache
        self._scene_number = scene.session_uid
        self._emitter_number = next((item.session_uid for item in scene.objects if item.name == object_name), None)
        self._fingerprint = fingerprint
        self._looks: list[display.Look] = []
        self._dynamic: dict[str, int | None] = {}
        self.newest: int | None = None
        self.is_made = False
        self.news: list[Message] = []
        # a frame that waits until its object is built
        self._awaited: int | None = None

    @property
    def scene(self) -> BlenderScene | None:
        """The scene; None if it was removed."""
        return next((scene for scene in bpy.data.scenes if scene.session_uid == self._scene_number), None)

    @property
    def cache(self) -> str:
        return self._cache if paths.absolute(self._cache) == self.folder else str(self.folder)

    def describe(self, baked: Scene) -> None:
        """Store the description of the bake, once known."""
        self._looks = looks_of(baked)
        scene = self.scene
        dynamic = [collider.name for collider in baked.colliders if collider.dynamic]
        numbers = {name: item.session_uid for item in (scene.objects if scene else ()) for name in (item.name, item.name_full)}
        self._dynamic = {name: numbers.get(name) for name in dynamic}

    def is_shown(self) -> bool:
        """Whether an object of the scene shows the frames."""
        scene = self.scene
        return scene is not None and any(paths.absolute(item.mpm.cache) == self.folder for item in particle_objects.result_objects(scene))

    def show(self, frame: int | None) -> None:
        """Add the object that shows the frames, again if an undo removed it, and update it if it shows `frame`.

        With an interface, a thread reads the frame, which is shown once read; `build_next` builds the object for the first frame.

        Args:
            frame: the frame that arrived; None at the end of the bake, when only missing parts are added.
        """
        scene = self.scene
        if scene is None:
            return
        self.newest = self.newest if frame is None else frame
        is_new = not self.is_made or not self.is_shown()
        if is_new and frame is not None:
            self._awaited = frame
            return
        self._show(scene, frame, is_new=is_new)

    def build_next(self) -> None:
        """Build a part of what shows the first frame: building everything at once would block Blender's main loop."""
        if self._awaited is not None and not display.build_missing(self._looks):
            self.finish()

    def finish(self) -> None:
        """Show a frame that is still waiting."""
        frame, self._awaited = self._awaited, None
        scene = self.scene
        if frame is not None and scene is not None:
            self._show(scene, frame, is_new=not self.is_made or not self.is_shown())

    def _show(self, scene: BlenderScene, frame: int | None, *, is_new: bool) -> None:
        self._awaited = None
        if is_new:
            emitter = self._object(scene, self._emitter_number)
            name = emitter.name if emitter is not None else ""
            self.news += filter(None, [one_result.follow(scene, self.cache, object_name=name)])
            item = particle_objects.result_object(scene, self.cache, object_name=name)
            is_same = freshness.is_last(item, self.scene_hash)
            freshness.note(item, self.scene_hash, self._fingerprint)
            item.mpm.emitter_name = name
            display.dress(item, self._looks, is_same=is_same)
            emitter_wires.hide(scene, {look.name for look in self._looks})
            self.is_made = True
        elif frame is None:
            display.refit_all(scene)
        if is_new or frame == scene.frame_current or (frame is None and self._lacks_something(scene)):
            arriving_frames.show(scene, self.folder)

    def _lacks_something(self, scene: BlenderScene) -> bool:
        return any(
            particle_objects.status(item)
            for item in particle_objects.result_objects(scene)
            if paths.absolute(item.mpm.cache) == self.folder
        )

    def show_unstable(self) -> list[Message]:
        """Show the particles that stopped the bake, or remove those of an earlier bake. Returns what went wrong."""
        scene = self.scene
        try:
            if scene is not None:
                unstable.refresh(scene, self.cache)
        except MpmError as error:
            return [error.message.within("The unstable particles are not shown")]
        return []

    def write_keys(self) -> list[Message]:
        """Keyframe dynamic colliders as they moved in the bake. Returns a message for each that could not be keyframed."""
        scene = self.scene
        if scene is not None and self.newest is not None:
            # they are of frames that were baked again, or end before the new ones
            keyed_objects.remove(scene, self.folder, (keyed_objects.OF_SKINS,))
        if scene is None or not self._dynamic:
            return []
        try:
            poses = baked_poses(self.folder)
        except (MpmError, OSError) as error:
            told = error.message if isinstance(error, MpmError) else Message(str(error))
            return [told.within("The motion of dynamic colliders was not written")]
        items = {name: self._object(scene, number) for name, number in self._dynamic.items()}
        names = {name: item.name_full for name, item in items.items() if item is not None}
        renamed = {number: {names.get(name, name): pose for name, pose in found.items()} for number, found in poses.items()}
        keyed_objects.remove(scene, every=(keyed_objects.OF_COLLIDERS,))
        refusals = keyframes.write_keys(scene, renamed, self.cache)
        known = {name: item for name, item in items.items() if item is not None}
        return refusals + _show_pieces(scene, self.cache, poses, known)

    @staticmethod
    def _object(scene: BlenderScene, number: int | None) -> BlenderObject | None:
        return next((item for item in scene.objects if item.session_uid == number), None)


def show_cache(scene: BlenderScene, cache: str = "", *, object_name: str = "") -> BlenderObject:
    """Show the frames of a cache folder in a scene, and return the object that shows them.

    Reuses an object that shows this folder, else one whose own cache is missing, else, for the folder of the scene's bake, the one that
    shows an earlier bake, keeping the artist's changes to it; else adds one, which keeps its folder if it is not the scene's.

    Args:
        cache: the folder, as Blender stores it; the scene's if not given.
        object_name: the only baked emitter; all emitters if empty.

    Raises:
        CacheError: there is no cache in the folder.
    """
    chosen = paths.cache_path(scene, object_name=object_name, cache=cache)
    folder = paths.absolute(chosen)
    baked = open_cache(folder)
    shown = particle_objects.result_objects(scene)
    if all(paths.absolute(item.mpm.cache) != folder for item in shown):
        for item in shown:
            if item.mpm.emitter_name == object_name and not previews.is_preview(item) and not _has_cache(item):
                item.mpm.cache = chosen
                break
    is_own = folder == paths.absolute(paths.cache_path(scene, object_name=object_name))
    has_moved = is_own and bool(one_result.follow(scene, chosen, object_name=object_name))
    count = len(shown)
    item = particle_objects.result_object(scene, chosen, object_name=object_name)
    freshness.note_known(item, baked.manifest.get("scene_hash", ""))
    is_new = len(particle_objects.result_objects(scene)) > count
    if is_new:
        item.mpm.emitter_name, item.mpm.keeps_cache = object_name, not is_own
    if is_new or has_moved:
        looks = looks_of(read_scene(baked.takes[-1].folder / SCENE))
        display.dress(item, looks)
        emitter_wires.hide(scene, {look.name for look in looks})
        derived_kinds.show_cached(scene, item)
    particle_objects.show(scene)
    return item


def _has_cache(item: BlenderObject) -> bool:
    try:
        open_cache(paths.absolute(item.mpm.cache))
    except CacheError:
        return False
    return True


def looks_of(scene: Scene) -> list[display.Look]:
    """The look of each emitter's particles."""
    return [
        display.Look(
            emitter.name,
            emitter.color,
            is_painted=emitter.painting is not None and PAINTED_COLOR in emitter.painting.carried,
            law=scene.materials[emitter.material].law.name,
            material=emitter.material,
            is_heated=scene.is_heated,
            spacing=scene.solver.grid_spacing,
            thickness=emitter.thickness(),
            can_follow=scene.solver.dimension == 3 and not follow_problem(emitter),
            vertices=len(emitter.shape.vertices) if isinstance(emitter.shape, Mesh) else 0,
        )
        for emitter in scene.emitters
    ]


def show_motion(scene: BlenderScene, cache: str) -> list[Message]:
    """Keyframe dynamic colliders as in the displayed frames of a cache. Returns a message for each that could not be. Raises CacheError."""
    folder = paths.absolute(cache)
    keyed_objects.remove(scene, folder, (keyed_objects.OF_SKINS,))
    poses = baked_poses(folder)
    if not any(poses.values()):
        return []
    keyed_objects.remove(scene, every=(keyed_objects.OF_COLLIDERS,))
    refusals = keyframes.write_keys(scene, poses, cache)
    items = {name: item for item in scene.objects if item.mpm.type == "collider" for name in (item.name_full, item.name)}
    return refusals + _show_pieces(scene, cache, poses, items)


def _show_pieces(
    scene: BlenderScene, cache: str, poses: dict[int, dict[str, keyframes.Floats]], items: dict[str, BlenderObject]
) -> list[Message]:
    """Add objects for the pieces of colliders that broke. Returns what went wrong."""
    try:
        found = open_cache(paths.absolute(cache)).pieces()
        piece_objects.write_pieces(
            scene, {name: piece for name, (_, piece) in found.items()}, poses, items, cache, display.inside_of_pieces
        )
    except MpmError as error:
        return [error.message.within("The pieces of broken colliders are not shown")]
    return []


def baked_poses(folder: Path) -> dict[int, dict[str, keyframes.Floats]]:
    """Poses of dynamic colliders at each frame of a cache: frame number -> name -> world from local (4, 4) [m]. Reads no frames.

    Raises:
        CacheError: there is no cache, or it is damaged.
    """
    watch = cache_watch.watch(folder)
    found = watch.look()
    if found is None:
        raise CacheError.of(watch.problem or Message("it contains no cache", ("choose the folder of a bake",), str(folder)))
    return {
        frame: {name: np.array(pose, np.float64) for name, pose in noted.get("poses", {}).items()} for frame, noted in found.rows.items()
    }
