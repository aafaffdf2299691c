"""The extension's preferences: how many threads bakes take, and what this installation is and lacks.

They are there where the extension was enabled as an add-on; a script that registers the package itself has none.
"""

import json
from typing import Any

import bpy
from bpy.props import IntProperty

from ..core.errors import MpmError
from ..storage.installation import presets_folder
from . import health, paths, worker
from .blender_types import Context, Layout
from .drawing import draw_lines
from .operation import Operation

PACKAGE = (__package__ or "").rpartition(".")[0]
_MOST_THREADS = 1024


def threads() -> int | None:
    """The threads that a bake takes; None for all cores."""
    known: Any = bpy.context.preferences
    for entry in () if known is None else known.addons:
        if entry.module == PACKAGE:
            return getattr(entry.preferences, "threads", 0) or None
    return None


class MPM_AP_preferences(bpy.types.AddonPreferences):
    bl_idname = PACKAGE

    threads: IntProperty(
        name="Threads",
        description="Processor threads that a bake takes, fewer to keep some for other work; 0 takes all. The result is the same with any",
        default=0,
        min=0,
        max=_MOST_THREADS,
        soft_max=64,
    )

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "threads")
        draw_health(layout)


def draw_health(layout: Layout) -> None:
    """What is there, what is wrong with it, and a report of both."""
    found = health.report()
    box = layout.box()
    box.label(text=f"MPM {found['mpm_addon']}, Blender {found['blender']}, Python {found['python']}, NumPy {found['numpy']}")
    if isinstance(found["worker"], dict):
        told = found["worker"]
        box.label(text=f"Bakes run: numba {told['numba']}, {told['threads']} threads ({told['threading_layer']})", icon="CHECKMARK")
    for line in found["problems"]:
        draw_lines(box, line, "ERROR")
    box.label(text=f"Presets: {presets_folder()}", icon="FILE_FOLDER")
    box.label(text=f"Frames of unsaved files: {paths.temporary_root()}", icon="FILE_FOLDER")
    box.operator("mpm.doctor", icon="CHECKMARK")


class MPM_OT_doctor(Operation, bpy.types.Operator):
    """Try whether bakes run on this computer, and copy a report of the installation to the clipboard, for a report of a bug"""

    bl_idname = "mpm.doctor"
    bl_label = "Check Installation and Copy Report"

    def execute(self, context: Context) -> Any:
        health.forget()
        try:
            health.ask_worker()
        except MpmError as error:
            self.notes([str(error)])
        text = json.dumps(health.report(), indent=2)
        print(text, flush=True)
        context.window_manager.clipboard = text
        self.report({"INFO"}, "The report was copied to the clipboard")
        return {"FINISHED"}


CLASSES = (MPM_AP_preferences, MPM_OT_doctor)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    worker.thread_counts.append(threads)


def unregister() -> None:
    worker.thread_counts.clear()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    health.forget()
