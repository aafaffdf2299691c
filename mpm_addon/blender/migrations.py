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


class Migration(NamedTuple):
    """One step from a form to the next.

    Attributes:
        form: the number of the form that it leads to.
        scene, item: what it does to the settings of a scene or an object that is behind. Done twice, it does nothing more.
    """

    form: int
    scene: Callable[[Any], None] | None = None
    item: Callable[[Any], None] | None = None


# In the order of their forms, which begin with 2. A form that a release had is never changed, only followed by another.
MIGRATIONS: tuple[Migration, ...] = ()
_FIRST_FORM = 1


def current_form() -> int:
    """The number of the form that this code saves."""
    return MIGRATIONS[-1].form if MIGRATIONS else _FIRST_FORM


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
            _forget_digests(item.mpm)


def _forget_digests(settings: Any) -> None:
    """Digests change their form whenever a setting is added: one of other settings cannot tell whether the scene has changed."""
    if settings.fingerprint and not freshness.are_comparable(settings.fingerprint):
        settings.fingerprint = ""


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
