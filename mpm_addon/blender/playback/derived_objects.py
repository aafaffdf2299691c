"""The objects that show derived data beside particle objects: whose results they show, and which of them are orphans.

An orphan is one whose particle object was deleted. It shows nothing, and the next particle object of the same emitters adopts it, with the
artist's materials and modifiers. A copy of such an object is the artist's own: it is never an orphan.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...storage.take import DEBRIS, FOAM, SKIN, SURFACE, VOLUME
from ..host.blender_types import BlenderObject
from ..host.runtime import OfFile, runtime

# A modifier that is off and does nothing.
MARKER = "MPM Animated Mesh"
# Marks particles of the bake, and what is shown beside them, that are hidden while a preview is shown.
HIDDEN = "mpm_hidden_by_preview"


class Child(NamedTuple):
    """An object that shows derived data: one of `take.KINDS` (of a fog, see `fog_objects.mark`), the emitter of a skin, and the object."""

    kind: str
    emitter: str
    shown: BlenderObject


class Moved(NamedTuple):
    """What of a derived mesh is shown, whose vertices move on between frames.

    Attributes:
        frame: the frame that it was made from.
        seconds: time over which its vertices are advanced with their velocity [s of simulated time].
        factor: factor on the velocities.
        scale_length: meters per Blender unit.
        has_speed: whether colors show the speed.
    """

    frame: int
    seconds: float
    factor: np.float32
    scale_length: float
    has_speed: bool = False


@dataclass(frozen=True)
class Place:
    """Where a particle object keeps an object that shows derived data.

    Attributes:
        kind: how the object is marked: see `Child`.
        settings: the name of the settings in `item.mpm` that point to it.
        pointer: the name of their property that does.
        name: of a new object.
        is_volume: whether it is a volume; else it is a mesh.
    """

    kind: str
    settings: str
    pointer: str
    name: str
    is_volume: bool = False

    def of(self, item: BlenderObject) -> BlenderObject | None:
        """The object; None if there is none, or only that of the particle object that this one was copied from."""
        shown = self._known(item)
        return shown if shown is not None and shown.users_collection else None

    def _known(self, item: BlenderObject) -> BlenderObject | None:
        """The same object, also if it was deleted: the particle object keeps it."""
        shown = getattr(getattr(item.mpm, self.settings), self.pointer)
        data_type = bpy.types.Volume if self.is_volume else bpy.types.Mesh
        return shown if shown is not None and isinstance(shown.data, data_type) and shown.parent in (None, item) else None

    def _point_to(self, item: BlenderObject, shown: BlenderObject | None) -> None:
        setattr(getattr(item.mpm, self.settings), self.pointer, shown)

    def add(self, item: BlenderObject) -> BlenderObject:
        """The object; if there is none, an orphan or a new one becomes a child of the particle object."""
        shown = self._known(item)
        if shown is None:
            shown = adopt(item, self.kind)
            if shown is None:
                shown = bpy.data.objects.new(self.name, self._new_data())
                shown.parent = item
            self._point_to(item, shown)
        link_beside(shown, item)
        keep(item)
        return shown

    def _new_data(self) -> Any:
        if not self.is_volume:
            return bpy.data.meshes.new(self.name)
        volume = bpy.data.volumes.new(self.name)
        # the grid of velocities has the name that Blender looks for
        volume.velocity_unit = "SECOND"
        return volume

    def remove(self, item: BlenderObject) -> None:
        """Remove the object, if any."""
        shown = self.of(item)
        self._point_to(item, None)
        if shown is None:
            return
        data: Any = shown.data
        bpy.data.objects.remove(shown)
        if not data.users:
            (bpy.data.volumes if self.is_volume else bpy.data.meshes).remove(data)


def size_as(shown: BlenderObject, wanted: Moved) -> None:
    """Give a volume, whose file is in meters, its size and the velocities that are shown."""
    size = 1.0 / wanted.scale_length
    if tuple(shown.scale) != (size, size, size):
        shown.scale = (size, size, size)
    if shown.data.velocity_scale != wanted.factor:
        shown.data.velocity_scale = float(wanted.factor)


@dataclass
class Families(OfFile):
    """Particle objects that had such objects, by session UID: their name, and the session UIDs of those objects."""

    by_owner: dict[int, tuple[str, tuple[int, ...]]] = field(default_factory=dict)


def children_of(item: BlenderObject) -> Iterator[Child]:
    """What a particle object points to, including objects of the one that it was copied from."""
    found = [Child(kind, "", getattr(item.mpm, kind).object) for kind in (SURFACE, VOLUME, FOAM, DEBRIS)]
    found += [Child(f"{kind} {VOLUME}", "", getattr(item.mpm, kind).fog) for kind in (FOAM, DEBRIS)]
    found += [Child(SKIN, part.name, part.skin) for part in item.mpm.display.parts]
    return (child for child in found if child.shown is not None)


def keep(item: BlenderObject) -> None:
    """Note on the objects beside a particle object whose results they show. Writes only what has changed."""
    own = [child for child in children_of(item) if child.shown.parent in (None, item) and _is_local(child.shown)]
    for child in own:
        mark = child.shown.mpm.derived
        wanted = {"kind": child.kind, "bake": item.mpm.emitter_name, "emitter": child.emitter}
        wanted |= {"cache": item.mpm.cache, "name": child.shown.name}
        for name, value in wanted.items():
            if getattr(mark, name) != value:
                setattr(mark, name, value)
    runtime.of(Families).by_owner[item.session_uid] = (item.name, tuple(child.shown.session_uid for child in own))


def have_lost_owner() -> bool:
    """Whether a particle object that had such objects is gone since the last call. Cheap enough for every change of the file."""
    known = runtime.of(Families).by_owner
    missing = [number for number, (name, _children) in known.items() if not _is_there(number, name)]
    if not missing:
        return False
    objects: Any = bpy.data.objects
    present = {item.session_uid: item for item in objects}
    gone = False
    for number in missing:
        _name, children = known.pop(number)
        owner = present.get(number)
        if owner is not None and owner.users_collection:  # it has another name
            known[number] = (owner.name, children)
            continue
        gone = True
        for child in [present[each] for each in children if each in present]:
            # also if it was renamed since it was last shown
            child.mpm.derived.name = child.name
    return gone


def orphans() -> list[BlenderObject]:
    """The objects of the file that show derived data, but belong to no particle object."""
    objects: Any = bpy.data.objects
    owners = [item for item in objects if item.mpm.cache and item.users_collection]
    owned = {child.shown.session_uid for item in owners for child in children_of(item)}
    marked = [item for item in objects if item.mpm.derived.kind and item.mpm.derived.name == item.name]
    return [item for item in marked if item.session_uid not in owned and _is_local(item) and item.users_collection]


def adopt(item: BlenderObject, kind: str, emitter: str = "") -> BlenderObject | None:
    """Make an orphan that showed the same emitters a child of a particle object in the same scene; None if there is none.

    Args:
        item: the particle object.
        kind: one of `take.KINDS`.
        emitter: the emitter of a skin.
    """
    wanted = (kind, item.mpm.emitter_name, emitter)
    found = [shown for shown in orphans() if _shows(shown) == wanted and _share_scene(shown, item)]
    # that of the same folder, if there are several
    found.sort(key=lambda shown: shown.mpm.derived.cache != item.mpm.cache)
    if not found:
        return None
    found[0].parent = item
    return found[0]


def tell_exporters(shown: BlenderObject) -> None:
    """Let Blender's exporters write a mesh at every frame, which they do only for objects with a modifier, even one that is off."""
    if not len(shown.modifiers):
        marker: Any = shown.modifiers.new(MARKER, "NODES")
        marker.show_viewport = marker.show_render = False


def link_beside(shown: BlenderObject, item: BlenderObject) -> None:
    """Put an object into the collections of a particle object, unless it is in some: if it was deleted, what points to it has kept it."""
    if not shown.users_collection:
        for collection in item.users_collection:
            collection.objects.link(shown)


def _shows(shown: BlenderObject) -> tuple[str, str, str]:
    mark = shown.mpm.derived
    return mark.kind, mark.bake, mark.emitter


def _is_local(item: BlenderObject) -> bool:
    return item.library is None and item.override_library is None


def _is_there(number: int, name: str) -> bool:
    objects: Any = bpy.data.objects
    found = objects.get(name)
    return found is not None and found.session_uid == number and bool(found.users_collection)


def _share_scene(one: BlenderObject, other: BlenderObject) -> bool:
    scenes: Any = bpy.data.scenes
    return any(all(scene.objects.get(item.name) == item for item in (one, other)) for scene in scenes)
