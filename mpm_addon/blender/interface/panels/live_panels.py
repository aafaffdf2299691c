"""The Preview panel, below the bake: bake a preview in seconds, or run it live. Drawing reads and never writes."""

import bpy

from ...baking import previews, session
from ...host.blender_types import Context
from ...live import live_session
from ...playback import particle_objects
from .drawing import ScenePanel, draw_lines, split_layout


class MPM_PT_preview(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_preview"
    help_page = "manual/preview"
    bl_label = "Preview"
    bl_parent_id = "MPM_PT_bake"

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        scene = context.scene
        running = live_session.current()
        column = layout.column()
        column.enabled = running is None and session.current() is None
        column.prop(scene.mpm, "preview_particles")
        column.prop(scene.mpm, "use_live_repeat")
        row = layout.row(align=True)
        row.operator("mpm.preview", icon="MESH_ICOSPHERE")
        row.operator("mpm.live", text="Live" if running is None else "Stop", icon="REC" if running is None else "SNAP_FACE")
        row.operator("mpm.preview_free", text="", icon="TRASH")
        if running is not None:
            layout.label(text=running.text, icon="TIME")
            draw_lines(layout, running.message, "INFO")
            return
        draw_lines(layout, live_session.message(), "ERROR")
        item = previews.shown(scene)
        if item is not None:
            hidden = any(other.hide_viewport for other in particle_objects.result_objects(scene) if other.session_uid != item.session_uid)
            layout.label(text="Showing the preview; the full bake is hidden" if hidden else "Showing the preview", icon="HIDE_OFF")


CLASSES = (MPM_PT_preview,)
