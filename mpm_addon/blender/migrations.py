"""Upgrades settings saved by earlier versions of the extension.

Scenes and objects carry the number of their form, 0 if they have none. Older forms are upgraded when a file is opened and when
something is appended; linked data keeps its form. A newer form is left unchanged, including its number, and the panel reports it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import bpy
from bpy.app.handlers import persistent

from ..core.messages import NOTHING, Message
from .host.blender_types import BlenderScene
from .host.registrar import Registrar
from .reading import freshness


class Migration(NamedTuple):
    """One step from a form to the next.

    Attributes:
        form: the number of the form that it leads to.
        scene, item: the change to the settings of a scene or an object. Applying it twice has no further effect.
    """

    form: int
    scene: Callable[[Any], None] | None = None
    item: Callable[[Any], None] | None = None


# In the order of their forms, starting with 2. A released form never changes; a new one follows it.
MIGRATIONS: tuple[Migration, ...] = ()
_FIRST_FORM = 1


def current_form() -> int:
    """The number of the form that this version saves."""
    return MIGRATIONS[-1].form if MIGRATIONS else _FIRST_FORM


def notice(scene: BlenderScene) -> Message:
    """The panel's message about a scene saved in a newer form; `NOTHING` otherwise."""
    newest = max([scene.mpm.version, *(item.mpm.version for item in scene.objects)])
    if newest <= current_form():
        return NOTHING
    forms = f"form {newest}; this one knows {current_form()}"
    problem = f"The file was saved by a newer version of MPM ({forms}): its new settings are hidden and have no effect"
    return Message(problem, ("update the extension",))


def update() -> None:
    """Upgrade everything in the file to the current form."""
    scenes: Any = bpy.data.scenes
    for scene in scenes:
        if is_own(scene):
            _update(scene.mpm, [migration.scene for migration in MIGRATIONS if migration.form > scene.mpm.version])
    items: Any = bpy.data.objects
    for item in items:
        if is_own(item) and _has_settings(item):
            _update(item.mpm, [migration.item for migration in MIGRATIONS if migration.form > item.mpm.version])
            _forget_digests(item.mpm)


def _forget_digests(settings: Any) -> None:
    """A digest depends on the set of settings, so one of an older version cannot tell whether the scene has changed."""
    if settings.fingerprint and not freshness.are_comparable(settings.fingerprint):
        settings.fingerprint = ""


def is_own(block: Any) -> bool:
    """Whether a data-block belongs entirely to this file, not to a library."""
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
    """Mark data added since the file was opened with the current form, and upgrade data appended from older files."""
    blocks: list[Any] = [*bpy.data.scenes, *(item for item in bpy.data.objects if _has_settings(item))]
    for block in blocks:
        if is_own(block) and block.mpm.version == 0:
            block.mpm.version = current_form()
    update()


def register(registrar: Registrar) -> None:
    registrar.member(bpy.app.handlers.load_post, _on_load)
    registrar.member(bpy.app.handlers.save_pre, _on_save)
    registrar.import_handler(_on_import)  # in older versions, appended data is upgraded when the file is saved
