"""The operators and the panel that export particles for other programs and for farms."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ....core.errors import MpmError
from ....core.messages import Message
from ....storage.exporters import EXPORTERS
from ...baking import cache_watch
from ...exporting import particle_files, publishing
from ...host.blender_types import BlenderEvent, Context
from ...host.operation import Operation
from ...host.registrar import Registrar
from ...playback import particle_objects
from ...settings import paths
from ...settings.properties import PATH_OPTIONS
from ..panels.drawing import ScenePanel, split_layout

_FORMATS = [
    ("usdc", "USD", "One file with positions, velocity and all attributes"),
    ("abc", "Alembic", "One file with positions and velocity"),
    *((name, name.upper(), "One file per frame straight from the cache, in meters") for name in sorted(EXPORTERS)),
]


class MPM_OT_export_points(Operation, bpy.types.Operator):
    """Export the particles with their velocity for other programs"""

    bl_idname = "mpm.export_points"
    bl_label = "Export Points"
    bl_options = {"REGISTER"}

    filepath: StringProperty(
        name="File", description="File to write; its extension sets the format", subtype="FILE_PATH", options=PATH_OPTIONS
    )
    format: EnumProperty(name="Format", items=_FORMATS, description="File format and extension")
    object: StringProperty(name="Object", description="Object that displays the cache; not needed if there is only one")
    use_frame_range: BoolProperty(name="Frame Range", description="Export a frame range other than the scene's")
    frame_start: IntProperty(name="Start", description="First frame to export", default=1)
    frame_end: IntProperty(name="End", description="Last frame to export", default=250)
    check_existing: BoolProperty(default=True, options={"HIDDEN"})

    def execute(self, context: Context) -> Any:
        frames = (self.frame_start, self.frame_end) if self.use_frame_range else None
        self.notes(export(context, self.filepath, object_name=self.object, frames=frames))
        return {"FINISHED"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Ask for the file."""
        if not self.filepath:
            self.filepath = str(_beside(f"particles{_take_suffix(context)}.{self.format}"))
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def check(self, context: Context) -> bool:
        """Match the file extension to the format."""
        wanted = str(Path(self.filepath).with_suffix(f".{self.format}"))
        is_other = wanted != self.filepath
        self.filepath = wanted
        return is_other

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        layout.prop(self, "format")
        layout.prop(self, "use_frame_range")
        column = layout.column(align=True)
        column.active = self.use_frame_range
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")


class MPM_OT_publish(Operation, bpy.types.Operator):
    """Write a copy of this file to a folder; its particles, surfaces, skins and volumes play in any Blender without this extension"""

    bl_idname = "mpm.publish"
    bl_label = "Publish"
    bl_options = {"REGISTER"}

    directory: StringProperty(
        name="Folder", description="A new or empty folder, or an earlier publication", subtype="DIR_PATH", options=PATH_OPTIONS
    )
    # a file browser opens no folder that does not exist: there the folder is a name
    filepath: StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    def execute(self, context: Context) -> Any:
        self.notes(publish(context, self.filepath or self.directory))
        return {"FINISHED"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Ask for the folder."""
        self.filepath = self.directory.rstrip("/\\") or str(_beside(f"published{_take_suffix(context)}"))
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}


class MPM_PT_export(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_export"
    help_page = "manual/interchange"
    bl_label = "Export"
    bl_parent_id = "MPM_PT_output"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None and bool(particle_objects.result_objects(context.scene))

    def draw(self, context: Context) -> None:
        column = split_layout(self).column()
        items = particle_objects.result_objects(context.scene)
        for item in items:
            text = "Export Points" if len(items) == 1 else f"Export {item.name}"
            column.operator("mpm.export_points", text=text, icon="EXPORT").object = item.name
        column.operator("mpm.publish", icon="FILE_TICK")


def export(context: Context, filepath: str, *, object_name: str = "", frames: tuple[int, int] | None = None) -> list[Message]:
    """Export to a path as Blender stores it; see `export_points`."""
    item = particle_files.exported_object(context.scene, object_name)
    return particle_files.export_points(context, item, _absolute(filepath, "file"), frames)


def publish(context: Context, directory: str) -> list[Message]:
    """Publish to a path as Blender stores it; see `publishing.publish`."""
    return publishing.publish(context, _absolute(directory, "folder"))


def _absolute(path: str, noun: str) -> Path:
    if not path:
        raise MpmError(f"No {noun} is given", "choose one")
    if paths.is_temporary(path):
        raise MpmError("the path is relative to a file that is not saved", f"save the file or choose another {noun}", subject=str(path))
    return paths.absolute(path)


def _take_suffix(context: Context) -> str:
    """The name of the take that the scene shows, as the end of a file name; "" without a name."""
    found = cache_watch.overview(paths.absolute(paths.cache_path(context.scene)))
    name = next((take.name for take in found.takes if take.is_shown), "") if found is not None else ""
    return f"_{bpy.path.clean_name(name)}" if name else ""


def _beside(name: str) -> Path:
    """A path beside the .blend file, or in the home folder if the file was never saved."""
    return Path(bpy.data.filepath).parent / name if bpy.data.filepath else Path.home() / name


CLASSES = (MPM_OT_export_points, MPM_OT_publish, MPM_PT_export)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
