"""The Surface panel in the viewport's sidebar: how surfaces are made from the cached frames, and which frames have one."""

import bpy

from ....derived.settings import SurfaceSettings
from ...baking import surface_facts, surfacing
from ...baking.surfacing import SurfaceSession
from ...host.blender_types import Context, Layout
from ...host.wording import counted, duration, in_blender, size
from ...playback import surface_objects
from ...settings import paths
from .display_panels import shown_object
from .drawing import ScenePanel, draw_lines, draw_parameters, split_layout

_FIRST = ("quality",)


class MPM_PT_surface(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_surface"
    help_page = "manual/surfaces"
    bl_label = "Surface"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        draw_parameters(layout.column(), context.scene.mpm.surface, SurfaceSettings, _FIRST)
        layout.prop(context.scene.mpm.surface, "while_baking")
        running = surfacing.current()
        if running is None:
            _draw_state(layout, surface_facts.facts_of(context.scene))
        else:
            _draw_running(layout, running)
        problem = surfacing.trouble(paths.absolute(paths.cache_path(context.scene)))
        if problem and running is None:
            draw_lines(layout, in_blender(problem), "ERROR")
        item = shown_object(context)
        if item is not None and surface_objects.surface_of(item) is not None:
            column = layout.column(align=True)
            column.prop(item.mpm.surface, "is_shown")
            kept = column.column()
            kept.active = item.mpm.surface.is_shown
            kept.prop(item.mpm.surface, "has_points")
            if surface_objects.status(item):
                draw_lines(layout, surface_objects.status(item), "ERROR")


def _draw_running(layout: Layout, running: SurfaceSession) -> None:
    row = layout.row(align=True)
    row.progress(factor=running.done / max(1, running.total), type="BAR", text=f"{running.done} of {counted(running.total, 'frame')}")
    row.operator("mpm.surface_stop", text="", icon="CANCEL")
    words = [] if running.size is None else [f"About {size(running.size)}"]
    words += [] if running.seconds_left is None else [f"{duration(running.seconds_left)} left"]
    if words:
        layout.label(text=", ".join(words), icon="BLANK1")


def _draw_state(layout: Layout, facts: surface_facts.Facts) -> None:
    """Draw which frames have a surface, and what can be done."""
    has_any = facts.made + facts.outdated > 0
    if has_any:
        layout.label(text=f"{facts.made} of {counted(facts.frames, 'frame')} ({size(facts.size)})", icon="MESH_DATA")
    if facts.outdated:
        layout.label(text=f"{counted(facts.outdated, 'frame')} outdated", icon="INFO")
    row = layout.row(align=True)
    row.scale_y = 1.4
    row.enabled = facts.frames > 0
    row.operator("mpm.surface_make", text="Update Surface" if facts.outdated else "Make Surface", icon="OUTLINER_OB_META")
    if has_any:
        row.operator("mpm.surface_delete", text="", icon="TRASH")


class MPM_PT_surface_details(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_surface_details"
    bl_label = "Details"
    bl_parent_id = "MPM_PT_surface"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        draw_parameters(layout.column(), context.scene.mpm.surface, SurfaceSettings, without=_FIRST)


CLASSES = (MPM_PT_surface, MPM_PT_surface_details)
