"""The extension's preferences: threads for bakes, processor level, and the health of the installation.

They exist only if the extension is enabled as an add-on; a script that registers the package itself has none.
"""

import json
from typing import Any

import bpy
from bpy.props import EnumProperty, IntProperty

from ...command_line.arguments import MOST_THREADS
from ...core.errors import MpmError
from ...core.processor import LEVEL_VARIABLE, NATIVE
from ...storage.installation import presets_folder
from ..baking import health, worker
from ..host.blender_types import Context, Layout
from ..host.operation import Operation
from ..host.registrar import Registrar
from ..host.runtime import runtime
from ..settings import paths
from .panels.drawing import draw_lines

# Instruction sets for kernels: levels as in the x86-64 psABI. Automatic is the level of the existing cache, or the best one.
LEVEL_ITEMS = (
    ("AUTO", "Automatic", "The level of the existing cache, or the best level of this processor"),
    (
        "x86-64-v3",
        "x86-64-v3",
        "AVX2 (Intel since Haswell, AMD since Zen); a farm limited to one level computes identical frames on every machine",
    ),
    ("x86-64-v4", "x86-64-v4", "AVX-512, if this processor supports it"),
    (NATIVE, "This Processor", "Use everything this processor supports; kernels are compiled on this computer"),
)
PACKAGE = (__package__ or "").partition(".blender")[0]


def _own() -> Any:
    """The extension's preferences; None if a script registered the package."""
    known: Any = bpy.context.preferences
    return next((entry.preferences for entry in (() if known is None else known.addons) if entry.module == PACKAGE), None)


def told() -> dict[str, str]:
    """Environment variables for a bake's process: number of threads and processor level."""
    own = _own()
    threads, level = getattr(own, "threads", 0), getattr(own, "processor", "AUTO")
    return {
        **({"NUMBA_NUM_THREADS": str(threads)} if threads else {}),
        **({LEVEL_VARIABLE: level} if level != "AUTO" else {}),
    }


class MPM_AP_preferences(bpy.types.AddonPreferences):
    bl_idname = PACKAGE

    threads: IntProperty(
        name="Threads",
        description="Processor threads for bakes (0 uses all); does not affect the result",
        default=0,
        min=0,
        max=MOST_THREADS,
        soft_max=64,
    )

    processor: EnumProperty(
        name="Processor Level",
        description="Processor instructions to bake with; frames are identical on all processors of the same level",
        items=LEVEL_ITEMS,
    )

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "threads")
        layout.prop(self, "processor")
        draw_health(layout)


def draw_health(layout: Layout) -> None:
    """Draw versions, problems, and a button that copies a report of both."""
    found = health.report()
    box = layout.box()
    box.label(text=f"MPM {found['mpm_addon']}, Blender {found['blender']}, Python {found['python']}, NumPy {found['numpy']}")
    if isinstance(found["worker"], dict) and not health.baking_problems():
        told = found["worker"]
        box.label(text=f"Baking works: numba {told['numba']}, {told['threads']} threads, {told['processor_level']}", icon="CHECKMARK")
    for line in found["problems"]:
        draw_lines(box, line, "ERROR")
    box.label(text=f"Presets: {presets_folder()}", icon="FILE_FOLDER")
    box.label(text=f"Frames of unsaved files: {paths.temporary_root()}", icon="FILE_FOLDER")
    box.operator("mpm.doctor", icon="CHECKMARK")


class MPM_OT_doctor(Operation, bpy.types.Operator):
    """Check that baking works on this computer and copy a report of the installation to the clipboard"""

    bl_idname = "mpm.doctor"
    bl_label = "Check Installation and Copy Report"

    def execute(self, context: Context) -> Any:
        health.forget()
        try:
            health.ask_worker()
        except MpmError as error:
            self.notes([error.message])
        text = json.dumps(health.report(), indent=2)
        print(text, flush=True)
        context.window_manager.clipboard = text
        self.report({"INFO"}, "The report was copied to the clipboard")
        return {"FINISHED"}


CLASSES = (MPM_AP_preferences, MPM_OT_doctor)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
    registrar.member(runtime.of(worker.Environment).told_by, told)
