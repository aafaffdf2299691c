"""Previews and the live simulation: their buttons in the bake's panel, and their settings. Drawing reads and never writes."""

import bpy

from ...baking import previews, session
from ...host.blender_types import BlenderScene, Context, Layout
from ...live import live_session
from ...playback import particle_objects
from .drawing import ScenePanel, draw_lines, split_layout


def draw_previews(layout: Layout, scene: BlenderScene) -> None:
    """Draw the buttons for a preview and for the live simulation, and what these tell."""
    running = live_session.current()
    row = layout.row(align=True)
    row.operator("mpm.preview", icon="MESH_ICOSPHERE")
    row.operator("mpm.live", text="Live" if running is None else "Stop", icon="REC" if running is None else "SNAP_FACE")
    if running is not None:
        layout.label(text=running.text, icon="TIME")
        draw_lines(layout, running.message, "INFO")
        return
    draw_lines(layout, live_session.message(), "ERROR")
    item = previews.shown(scene)
    if item is not None:
        hidden = any(other.hide_viewport for other in particle_objects.result_objects(scene) if other.session_uid != item.session_uid)
        row = layout.row(align=True)
        row.label(text="Preview shown, bake hidden" if hidden else "Preview shown", icon="HIDE_OFF")
        row.operator("mpm.preview_free", text="", icon="TRASH")


class MPM_PT_preview(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_preview"
    help_page = "manual/preview"
    bl_label = "Preview"
    bl_parent_id = "MPM_PT_quality"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        layout.enabled = live_session.current() is None and session.current() is None
        layout.prop(context.scene.mpm, "preview_particles")
        layout.prop(context.scene.mpm, "use_live_repeat")


CLASSES = (MPM_PT_preview,)
