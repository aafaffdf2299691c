"""The kinds of derived data in the interface, each declared once: what panels and operators say of it, how it is made and shown."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import bpy

from ...core.messages import Message
from ...core.particles import Moment
from ...derived.debris_settings import DebrisSettings
from ...derived.sources import bodies_of_debris, emitters_of_debris
from ...storage import open_cache, read_scene
from ...storage.derived import derived_path
from ...storage.take import DEBRIS, FOAM, SCENE, SKIN, SURFACE, VOLUME
from .. import display
from ..host.blender_types import BlenderMaterial, BlenderObject, BlenderScene
from ..playback import particle_objects, skin_objects, surface_objects, swarm_objects, volume_objects
from ..settings import paths
from ..settings.derived_settings import displayed_as_mesh
from . import skin_meshes


class DerivedKind:
    """A kind of derived data. What the base class does suits a kind that covers all particles and is shown by nothing of its own.

    Attributes:
        name: one of `take.KINDS`; also the group of its settings on `Scene.mpm`.
        label: the title of its panel.
        help_page: the page of the manual about it.
        icon: the icon of what shows it.
        making: the tooltip of the operator that makes it, `stopping` and `deleting` of the others.
        make_label, delete_label: the names of these operators; `update_label` that of the first where some frames are outdated.
        when_busy: why an operator cannot run while it is being made, and `when_idle` while it is not.
        lost_too: what is deleted with it, as the end of a clause.
        is_undoable: whether deleting it can be undone.
        first: the settings that its panel shows outside of the details.
        shown: the properties of particle objects that show it; the first one switches it on.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    help_page: ClassVar[str]
    icon: ClassVar[str]
    making: ClassVar[str]
    deleting: ClassVar[str]
    stopping: ClassVar[str]
    make_label: ClassVar[str]
    update_label: ClassVar[str]
    delete_label: ClassVar[str]
    when_busy: ClassVar[str]
    when_idle: ClassVar[str]
    lost_too: ClassVar[str] = ""
    is_undoable: ClassVar[bool] = False
    first: ClassVar[tuple[str, ...]] = ()
    shown: ClassVar[tuple[str, ...]] = ()

    def prepare(self, scene: BlenderScene, folder: Path, *, is_fresh: bool) -> None:
        """Add to the file what its process needs. Raises MpmError.

        Args:
            scene: the scene.
            folder: the cache.
            is_fresh: whether to renew what is there; a bake that is running adds only what is missing.
        """

    def is_displayed(self, scene: BlenderScene, folder: Path) -> bool:
        """Whether something is displayed as what a process would make of a cache, so that a bake makes it on the way."""
        return True

    def sources(self, scene: BlenderScene, folder: Path) -> list[str] | None:
        """The emitters that it is made of in a cache; None if its settings decide."""
        return None

    def object_of(self, item: BlenderObject) -> BlenderObject | None:
        """The object that shows it beside a particle object, if any."""
        return None

    def add_object(self, scene: BlenderScene, item: BlenderObject) -> bool:
        """Add the object that shows it beside a particle object, if it is missing; returns whether it was."""
        return False

    def remove_objects(self, item: BlenderObject) -> None:
        """Remove what shows it beside a particle object."""

    def status(self, item: BlenderObject) -> Message:
        """The panel's message about it at the current frame; `NOTHING` if there is none."""
        raise NotImplementedError


class _Surface(DerivedKind):
    name, label, help_page, icon = SURFACE, "Surface", "manual/surfaces", "OUTLINER_OB_META"
    making = "Make a smooth mesh from the particles of each cached frame, in the background; frames that already have one are skipped"
    deleting = "Delete the surface of all frames and takes, but keep the particles"
    stopping = "Stop making the surface and keep the finished frames"
    make_label, update_label, delete_label = "Make Surface", "Update Surface", "Delete Surface"
    when_busy, when_idle = "A surface is being made; stop it first", "No surface is being made"
    first = ("quality",)
    shown = ("is_shown", "has_points")

    def is_displayed(self, scene: BlenderScene, folder: Path) -> bool:
        return display.is_rendered_as_surface(showing(scene, folder)) and open_cache(folder).manifest.get("dimension", 3) == 3

    def object_of(self, item: BlenderObject) -> BlenderObject | None:
        return surface_objects.surface_of(item)

    def add_object(self, scene: BlenderScene, item: BlenderObject) -> bool:
        known = surface_objects.surface_of(item)
        if known is not None and known.users_collection:
            return False
        surface_objects.add(item)
        display.rebuild(item)
        return True

    def remove_objects(self, item: BlenderObject) -> None:
        surface_objects.remove(item)

    def status(self, item: BlenderObject) -> Message:
        return surface_objects.status(item)


class _Skin(DerivedKind):
    name, label, help_page, icon = SKIN, "Skin", "manual/surfaces", "OUTLINER_OB_MESH"
    making = "Make the meshes of emitters displayed as Mesh follow their particles, in the background; frames that have a skin are skipped"
    deleting = "Delete the skin of all frames and takes and the meshes that show it, but keep the particles and emitters"
    stopping = "Stop making the skin and keep the finished frames"
    make_label, update_label, delete_label = "Make Skin", "Update Skin", "Delete Skin"
    when_busy, when_idle = "A skin is being made; stop it first", "No skin is being made"
    lost_too = " and the meshes that show it"
    # the meshes hold an artist's materials and modifiers
    is_undoable = True

    def prepare(self, scene: BlenderScene, folder: Path, *, is_fresh: bool) -> None:
        for item in showing(scene, folder):
            skin_meshes.add(scene, item, is_fresh=is_fresh)

    def is_displayed(self, scene: BlenderScene, folder: Path) -> bool:
        return bool(displayed_as_mesh(scene, folder))

    def sources(self, scene: BlenderScene, folder: Path) -> list[str] | None:
        return displayed_as_mesh(scene, folder)

    def remove_objects(self, item: BlenderObject) -> None:
        skin_meshes.remove(item)

    def status(self, item: BlenderObject) -> Message:
        return skin_objects.status(item)


class _Volume(DerivedKind):
    """A volume is displayed beside any display."""

    name, label, help_page, icon = VOLUME, "Volume", "manual/volumes", "OUTLINER_OB_VOLUME"
    making = "Make a volume from the loose particles of each cached frame, in the background; frames that already have one are skipped"
    deleting = "Delete the volume of all frames and takes, but keep the particles"
    stopping = "Stop making the volume and keep the finished frames"
    make_label, update_label, delete_label = "Make Volume", "Update Volume", "Delete Volume"
    when_busy, when_idle = "A volume is being made; stop it first", "No volume is being made"
    first = ("powder_only", "max_fullness")
    shown = ("is_shown",)

    def object_of(self, item: BlenderObject) -> BlenderObject | None:
        return volume_objects.volume_of(item)

    def add_object(self, scene: BlenderScene, item: BlenderObject) -> bool:
        if volume_objects.volume_of(item) is not None:
            return False
        display.dress_volume(item, volume_objects.add(item), scene.unit_settings.scale_length)
        return True

    def remove_objects(self, item: BlenderObject) -> None:
        volume_objects.remove(item)

    def status(self, item: BlenderObject) -> Message:
        return volume_objects.status(item)


class _Swarm(DerivedKind):
    """Foam and debris are displayed beside any display."""

    shown = ("is_shown", "is_fog", "fog_detail")

    def object_of(self, item: BlenderObject) -> BlenderObject | None:
        return swarm_objects.swarm_of(item, self.name)

    def add_object(self, scene: BlenderScene, item: BlenderObject) -> bool:
        if swarm_objects.swarm_of(item, self.name) is not None:
            return False
        self.dress(scene, item, swarm_objects.add(item, self.name))
        display.dress_fog(item, self.name)
        return True

    def dress(self, scene: BlenderScene, item: BlenderObject, shown: BlenderObject) -> None:
        """Give the object that shows it beside a particle object its look. Raises MpmError: there is no cache."""
        raise NotImplementedError

    def remove_objects(self, item: BlenderObject) -> None:
        swarm_objects.remove(item, self.name)

    def status(self, item: BlenderObject) -> Message:
        return swarm_objects.status(item, self.name)


class _Foam(_Swarm):
    name, label, help_page, icon = FOAM, "Foam", "manual/foam", "MOD_FLUIDSIM"
    making = "Make spray, foam and bubbles from the water of each cached frame, in the background; frames that have foam are skipped"
    deleting = "Delete the foam of all frames and takes, but keep the particles"
    stopping = "Stop making the foam and keep the finished frames"
    make_label, update_label, delete_label = "Make Foam", "Update Foam", "Delete Foam"
    when_busy, when_idle = "Foam is being made; stop it first", "No foam is being made"
    first = ("amount", "life")

    def dress(self, scene: BlenderScene, item: BlenderObject, shown: BlenderObject) -> None:
        display.dress_foam(shown)


class _Debris(_Swarm):
    name, label, help_page, icon = DEBRIS, "Debris", "manual/debris", "MOD_EXPLODE"
    making = "Make chips and dust where the material of each cached frame breaks, in the background; frames that have debris are skipped"
    deleting = "Delete the debris of all frames and takes, but keep the particles"
    stopping = "Stop making the debris and keep the finished frames"
    make_label, update_label, delete_label = "Make Debris", "Update Debris", "Delete Debris"
    when_busy, when_idle = "Debris is being made; stop it first", "No debris is being made"
    first = ("chips", "dust")

    def dress(self, scene: BlenderScene, item: BlenderObject, shown: BlenderObject) -> None:
        described = read_scene(open_cache(paths.shown_folder(item)).takes[-1].folder / SCENE)
        bodies = bodies_of_debris(described, DebrisSettings())
        items = {name: found for found in scene.objects if found.mpm.type == "collider" for name in (found.name_full, found.name)}
        inside = {number: _inside_of(items[name]) for name, number in bodies.items() if name in items}
        # without a material that breaks, emitters are named
        makers = {*emitters_of_debris(described, DebrisSettings()), *bodies.values()} if bodies else None
        display.dress_debris(item, shown, inside, makers)


def _inside_of(item: BlenderObject) -> BlenderMaterial | None:
    """The material of the faces inside the pieces of a collider."""
    slots, chosen = item.material_slots, item.mpm.collider.inside
    return slots[chosen].material if chosen < len(slots) else display.inside_of_pieces(item)


DERIVED_KINDS: Mapping[str, DerivedKind] = {kind.name: kind for kind in (_Surface(), _Skin(), _Volume(), _Foam(), _Debris())}


def show_cached(scene: BlenderScene, item: BlenderObject) -> None:
    """Add what shows the derived data that the cache of a particle object contains; skins, if the window shows the scene.

    Raises:
        MpmError: there is no cache.
    """
    folder = paths.shown_folder(item)
    cache = open_cache(folder)
    for name, kind in DERIVED_KINDS.items():
        if any(derived_path(cache, Moment(number), name).exists() for number in cache.frames):
            kind.add_object(scene, item)
            if bpy.context.scene == scene:
                kind.prepare(scene, folder, is_fresh=False)


def showing(scene: BlenderScene, folder: Path) -> list[BlenderObject]:
    """The objects of the file that show a cache."""
    items = particle_objects.result_objects(scene)
    return [item for item in items if item.library is None and paths.absolute(item.mpm.cache) == folder]
