"""Saved settings from earlier forms of the extension to today's.

Scenes and objects carry the number of their form, 0 before there was one. What is behind is brought up when a file is opened and when
something is appended from another file; what is linked stays as it is in its library. A file of a newer form is left alone, number
included, and the panel says so.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import bpy
from bpy.app.handlers import persistent

from .host.blender_types import BlenderScene
from .host.registrar import Registrar
from .reading import freshness
from .settings.declarations import LARGEST_NUMBER


class Migration(NamedTuple):
    """One step from a form to the next.

    Attributes:
        form: the number of the form that it leads to.
        scene, item: what it does to the settings of a scene or an object that is behind. Done twice, it does nothing more.
    """

    form: int
    scene: Callable[[Any], None] | None = None
    item: Callable[[Any], None] | None = None


def _renumber_scene(settings: Any) -> None:
    """Form 1, the numbers of choices; and earlier answers of the pre-flight belong to digests that are not made any more."""
    _renumber(settings)
    settings.preflight = ""


def _renumber(group: Any) -> None:
    """Choices were once saved by numbers of 31 bits, of which the lowest 24 are those of today."""
    saved = dict(group.items())
    if not saved:  # all as it was at first
        return
    # groups first: a choice that is set may go through those in its group
    for found in sorted(group.bl_rna.properties, key=lambda found: found.type != "POINTER"):
        name = found.identifier
        if found.type == "ENUM" and isinstance(saved.get(name), int) and saved[name] > LARGEST_NUMBER:
            number = saved[name] & LARGEST_NUMBER
            word = next((item.identifier for item in found.enum_items if item.value == number), None)
            if word is not None:
                setattr(group, name, word)
        elif found.type == "POINTER" and name in saved and isinstance(getattr(group, name), bpy.types.PropertyGroup):
            _renumber(getattr(group, name))


def _forget_digests(settings: Any) -> None:
    """Digests that were made of other settings cannot tell whether the scene has changed since the bake."""
    if settings.fingerprint and not freshness.are_comparable(settings.fingerprint):
        settings.fingerprint = ""


def _renumber_item(settings: Any) -> None:
    """Form 1: the numbers of choices, and digests of earlier code."""
    _renumber(settings)
    _forget_digests(settings)


# In the order of their forms. A form that a release had is never changed, only followed by another.
MIGRATIONS: tuple[Migration, ...] = (Migration(1, scene=_renumber_scene, item=_renumber_item),)


def current_form() -> int:
    """The number of the form that this code saves."""
    return MIGRATIONS[-1].form


def notice(scene: BlenderScene) -> str:
    """What the panel says where a scene was saved in a newer form; "" where it was not."""
    newest = max([scene.mpm.version, *(item.mpm.version for item in scene.objects)])
    if newest <= current_form():
        return ""
    return (
        f"The file was saved by a newer version of MPM (form {newest}; this one knows {current_form()}): settings that are new in it "
        "are not shown and do not act. Update the extension."
    )


def update() -> None:
    """Bring everything in the file to today's form."""
    scenes: Any = bpy.data.scenes
    for scene in scenes:
        if is_own(scene):
            _update(scene.mpm, [migration.scene for migration in MIGRATIONS if migration.form > scene.mpm.version])
    items: Any = bpy.data.objects
    for item in items:
        if is_own(item) and _has_settings(item):
            _update(item.mpm, [migration.item for migration in MIGRATIONS if migration.form > item.mpm.version])
            # digests change their form whenever a setting is added, without a migration of its own
            _forget_digests(item.mpm)


def is_own(block: Any) -> bool:
    """Whether a data-block is of this file and not, or not in part, of a library."""
    return block.library is None and block.override_library is None


def _update(settings: Any, steps: list[Callable[[Any], None] | None]) -> None:
    for step in steps:
        if step is not None:
            step(settings)
    if settings.version < current_form():
        settings.version = current_form()


def _has_settings(item: Any) -> bool:
    return item.mpm.type != "none" or bool(item.mpm.cache) or bool(item.mpm.items())


@persistent
def _on_load(_path: str = "", _unused: Any = None) -> None:
    update()


@persistent
def _on_import(_context: Any = None, _unused: Any = None) -> None:
    update()


@persistent
def _on_save(_path: str = "", _unused: Any = None) -> None:
    """What was made since the file was opened is of today's form."""
    blocks: list[Any] = [*bpy.data.scenes, *(item for item in bpy.data.objects if _has_settings(item))]
    for block in blocks:
        if is_own(block) and block.mpm.version < current_form():
            block.mpm.version = current_form()


def register(registrar: Registrar) -> None:
    registrar.member(bpy.app.handlers.load_post, _on_load)
    registrar.member(bpy.app.handlers.save_pre, _on_save)
    registrar.import_handler(_on_import)  # before, what is appended keeps its form until the file is opened again
