"""The Quality panel in the viewport's sidebar: resolution and frames, and what these will take."""

import bpy

from ...baking import preflight
from ...baking.automatic_values import automatic_values
from ...host.blender_types import Context, Layout
from .drawing import ScenePanel, draw_lines, draw_values, split_layout


class MPM_PT_quality(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_quality"
    help_page = "manual/sizes"
    bl_label = "Quality"

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        settings, solver = context.scene.mpm, context.scene.mpm.solver
        column = layout.column(align=True)
        column.prop(solver, "spacing")
        column.prop(solver, "resolution" if solver.spacing == "resolution" else "grid_spacing")
        column = layout.column(align=True)
        row = column.row(heading="Frames")
        row.prop(settings, "use_frame_range", text="Own Range")
        owner = settings if settings.use_frame_range else context.scene
        column = column.column(align=True)
        column.active = settings.use_frame_range
        column.prop(owner, "frame_start", text="Start")
        column.prop(owner, "frame_end", text="End")
        column = layout.column(align=True)
        column.prop(settings, "time_scale")
        column.prop(settings, "subframes")


class MPM_PT_automatic(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_automatic"
    help_page = "manual/sizes"
    bl_label = "Automatic Values"
    bl_parent_id = "MPM_PT_quality"

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        found = automatic_values(context.scene)
        if found is None:
            draw_lines(layout, "Known after a pre-flight check or a bake", "INFO")
            return
        layout.label(text=found.source, icon="INFO")
        draw_values(layout.column(align=True), found.rows)


class MPM_PT_preflight(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_preflight"
    help_page = "manual/speed"
    bl_label = "Pre-flight"
    bl_parent_id = "MPM_PT_quality"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        if preflight.current() is not None:
            row = layout.row(align=True)
            row.label(text="Checking", icon="TIME")
            row.operator("mpm.preflight_cancel", text="", icon="CANCEL")
            return
        column = layout.column(align=True)
        column.operator("mpm.preflight", text="Check", icon="CHECKMARK").probe = False
        column.operator("mpm.preflight", text="Check and Measure", icon="TIME").probe = True
        failure, is_current = preflight.kept_failure(context.scene)
        if failure and is_current:
            draw_lines(layout, "The check failed", "ERROR")
            draw_lines(layout, failure, "BLANK1")
            return
        report, is_current = preflight.kept_report(context.scene)
        if failure:
            is_current = False
        elif report is None:
            return
        if report is None or not is_current:
            layout.label(text="The scene has changed since the last check", icon="INFO")
            return
        column = layout.column(align=True)
        for line in preflight.lines_of(report):
            column.label(text=line)
        for warning in report["warnings"]:
            column = layout.column(align=True)
            for number, line in enumerate(preflight.warning_lines(warning)):
                column.label(text=line, icon="BLANK1" if number else "ERROR")


CLASSES = (MPM_PT_quality, MPM_PT_automatic, MPM_PT_preflight)
