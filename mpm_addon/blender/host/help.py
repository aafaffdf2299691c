"""The manual: its pages, which the extension ships, and the buttons and Blender's *Online Manual* entry that open them."""

import webbrowser
from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from ...core.errors import MpmError
from ...storage.installation import PACKAGE
from .blender_types import Context, Layout
from .operation import Operation
from .registrar import Registrar

START = "index"
# Manual pages of properties and operators: Blender's identifier in lowercase -> page. The first match counts.
_SUBJECTS = (
    ("bpy.types.mpm_pg_material*", "manual/choosing_materials"),
    ("bpy.types.mpm_pg_law*", "materials"),
    ("bpy.types.mpm_mt_materials*", "manual/presets"),
    ("bpy.types.mpm_pg_collider*", "manual/objects"),
    ("bpy.types.mpm_pg_forces*", "manual/forces"),
    ("bpy.types.mpm_pg_solver*", "manual/speed"),
    ("bpy.types.mpm_pg_cache*", "manual/baking"),
    ("bpy.types.mpm_pg_object.playback*", "manual/time"),
    ("bpy.types.mpm_pg_object.*retime*", "manual/time"),
    ("bpy.types.mpm_pg_display*", "manual/display"),
    ("bpy.types.mpm_pg_surface*", "manual/surfaces"),
    ("bpy.types.mpm_pg_shown_surface*", "manual/surfaces"),
    ("bpy.types.mpm_pg_skin*", "manual/surfaces"),
    ("bpy.types.mpm_pg_volume*", "manual/volumes"),
    ("bpy.types.mpm_pg_shown_volume*", "manual/volumes"),
    ("bpy.types.mpm_pg_foam*", "manual/foam"),
    ("bpy.types.mpm_pg_shown_foam*", "manual/foam"),
    ("bpy.types.mpm_pg_debris*", "manual/debris"),
    ("bpy.types.mpm_pg_shown_debris*", "manual/debris"),
    ("bpy.types.mpm_pg_*", "manual/objects"),
    ("bpy.ops.mpm.export*", "manual/interchange"),
    ("bpy.ops.mpm.publish*", "manual/interchange"),
    ("bpy.ops.mpm.add*", "manual/start"),
    ("bpy.ops.mpm.quick*", "manual/start"),
    ("bpy.ops.mpm.material*", "manual/presets"),
    ("bpy.ops.mpm.live*", "manual/preview"),
    ("bpy.ops.mpm.preview*", "manual/preview"),
    ("bpy.ops.mpm.surface*", "manual/surfaces"),
    ("bpy.ops.mpm.skin*", "manual/surfaces"),
    ("bpy.ops.mpm.volume*", "manual/volumes"),
    ("bpy.ops.mpm.foam*", "manual/foam"),
    ("bpy.ops.mpm.debris*", "manual/debris"),
    ("bpy.ops.mpm.*", "manual/bake_panel"),
)


def manual_folder() -> Path:
    """The folder of the pages: in the package if installed, in build/ in the source tree."""
    inside = PACKAGE / "manual"
    return inside if inside.is_dir() else PACKAGE.parent / "build" / "site"


def page_address(page: str) -> str:
    """The address of a page. Raises MpmError if the manual is missing."""
    path = manual_folder() / f"{page}.html"
    if not path.is_file():
        raise MpmError(f'The manual has no page "{page}" in {manual_folder()}', "reinstall the extension, or run make site")
    return path.as_uri()


def open_address(address: str) -> None:
    """Open an address in the web browser. Raises MpmError if no browser starts."""
    if not webbrowser.open(address):
        raise MpmError("No web browser can be started", f"open {address} in one")


class MPM_OT_help(Operation, bpy.types.Operator):
    """Open the manual page for this panel in the web browser"""

    bl_idname = "mpm.help"
    bl_label = "Manual"
    bl_options = {"INTERNAL"}

    page: StringProperty(name="Page", description="Page of the manual, such as manual/baking", default=START, options={"SKIP_SAVE"})

    def execute(self, context: Context) -> Any:
        open_address(page_address(self.page))
        return {"FINISHED"}


def draw_help(layout: Layout, page: str) -> None:
    """Draw a button that opens a page of the manual."""
    layout.operator("mpm.help", text="", icon="HELP", emboss=False).page = page


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """What *Online Manual* in a button's context menu needs: a base address, and a path for each identifier."""
    return manual_folder().as_uri() + "/", tuple((subject, f"{page}.html") for subject, page in _SUBJECTS)


def register(registrar: Registrar) -> None:
    registrar.classes((MPM_OT_help,))
    bpy.utils.register_manual_map(manual_map)
    registrar.on_removal(bpy.utils.unregister_manual_map, manual_map)
