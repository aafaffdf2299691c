"""The panels of the bake in the viewport's sidebar: state, frames, cache, takes, statistics and pre-flight."""

import bpy

from ....core.scene.settings import CacheSettings
from ....storage.overview import TakeOverview
from ...baking import bake_queue, cache_watch, preflight, session
from ...baking.bake_facts import facts_of, frame_notes
from ...baking.bake_view import LIVE, BakeView, Button, State, view_of
from ...host.blender_types import Context, Layout
from ...host.translations import text
from ...host.wording import counted, duration, size
from ...settings import paths
from . import graphs
from .drawing import ScenePanel, draw_lines, draw_parameters, split_layout


class MPM_PT_bake(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_bake"
    help_page = "manual/baking"
    bl_label = "Bake"

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        scene = context.scene
        row = layout.row(align=True)
        # a path needs the whole width
        row.use_property_split = False
        row.prop(scene.mpm, "cache", text="")
        row.operator("mpm.open_cache_folder", text="", icon="FOLDER_REDIRECT")
        if paths.is_temporary(scene.mpm.cache):
            place = text("The file is not saved: frames go to {folder}", folder=paths.cache_path(scene))
            draw_lines(layout, place, "INFO")
        view = view_of(facts_of(scene))
        _draw_view(layout, view)
        for note in () if view.state in (State.EMPTY, State.READING) else frame_notes(scene):
            draw_lines(layout, note, "INFO")
        if view.state not in LIVE and len(bpy.data.scenes) > 1:
            layout.operator("mpm.bake_all", icon="SCENE_DATA")
        _draw_queue(layout)
        layout.prop(scene.mpm, "when_closing", text="When Quitting")


def _draw_view(layout: Layout, view: BakeView) -> None:
    """Draw the state of a bake, with its buttons."""
    if view.fraction is None:
        layout.label(text=view.headline, icon=view.icon)
    else:
        layout.progress(factor=view.fraction, type="BAR", text=view.headline)
    if view.details:
        column = layout.column(align=True)
        for line in view.details:
            column.label(text=line, icon="BLANK1")
    draw_lines(layout, view.message, "ERROR" if view.state is State.FAILED else "INFO")
    draw_lines(layout, view.remedy, "FORWARD")
    for warning in view.warnings:
        draw_lines(layout, warning, "ERROR")
    for number, buttons in enumerate(view.buttons):
        row = layout.row(align=True)
        row.scale_y = 1.0 if number else 1.4
        for button in buttons:
            _draw_button(row, button)


def _draw_button(layout: Layout, button: Button) -> None:
    drawn = layout.operator(button.operator, text=button.text, icon=button.icon)
    for name, value in button.options.items():
        setattr(drawn, name, value)


def _draw_queue(layout: Layout) -> None:
    queue = bake_queue.current()
    if queue is None:
        return
    column = layout.column(align=True)
    for number, entry in enumerate(queue.entries):
        if entry.is_over:
            icon = "ERROR" if entry.failure else "CHECKMARK"
        else:
            icon = "TIME" if number == queue.index else "BLANK1"
        column.label(text=entry.name, icon=icon)


class MPM_PT_bake_alone(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_bake_alone"
    bl_label = "Active Emitter Only"
    bl_parent_id = "MPM_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if context.scene is None or context.object is None or context.object.mpm.type != "emitter":
            return False
        running = session.current()
        return running is None or running.object_name == context.object.name

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        layout.label(text=f"{context.object.name}, in {paths.cache_path(context.scene, object_name=context.object.name)}")
        _draw_view(layout, view_of(facts_of(context.scene, context.object.name)))


class MPM_PT_frames(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_frames"
    bl_label = "Frames"
    bl_parent_id = "MPM_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Context) -> None:
        layout: Layout = self.layout
        layout.prop(context.scene.mpm, "use_frame_range", text="")

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        settings = context.scene.mpm
        column = layout.column(align=True)
        column.active = settings.use_frame_range
        owner = settings if settings.use_frame_range else context.scene
        column.prop(owner, "frame_start", text="Start")
        column.prop(owner, "frame_end", text="End")
        column = layout.column(align=True)
        column.prop(settings, "time_scale")
        column.prop(settings, "subframes")


class MPM_PT_cache(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_cache"
    bl_label = "Cache"
    bl_parent_id = "MPM_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        draw_parameters(split_layout(self).column(), context.scene.mpm.cache_settings, CacheSettings)


class MPM_PT_takes(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_takes"
    bl_label = "Takes"
    bl_parent_id = "MPM_PT_bake"

    @classmethod
    def poll(cls, context: Context) -> bool:
        found = None if context.scene is None else cache_watch.overview(paths.absolute(paths.cache_path(context.scene)))
        return found is not None and len(found.takes) > 1

    def draw(self, context: Context) -> None:
        found = cache_watch.overview(paths.absolute(paths.cache_path(context.scene)))
        column = split_layout(self).column(align=True)
        for take in found.takes if found is not None else ():
            row = column.row(align=True)
            icon = "RADIOBUT_ON" if take.is_shown else "RADIOBUT_OFF"
            row.operator("mpm.take_show", text=_take_words(take), icon=icon).take = take.take
            row.operator("mpm.take_remove", text="", icon="X").take = take.take


def _take_words(take: TakeOverview) -> str:
    """A take in a few words, to fit the narrow sidebar."""
    words = [f"Take {take.take}: {'no frames' if take.frames is None else '{}-{}'.format(*take.frames)}"]
    if take.parent is not None:
        words.append(f"after {take.from_frame} of take {take.parent}")
    if take.outdated is not None:
        words.append("{}-{} outdated".format(*take.outdated))
    return ", ".join(words)


class MPM_PT_statistics(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_statistics"
    bl_label = "Statistics"
    bl_parent_id = "MPM_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        found = None if context.scene is None else cache_watch.overview(paths.absolute(paths.cache_path(context.scene)))
        return found is not None and len(found.rows) > 1

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        folder = paths.absolute(paths.cache_path(context.scene))
        found = cache_watch.overview(folder)
        if found is None:
            return
        picture = graphs.picture(folder, found)
        if picture is not None and picture.icon:  # without a window, there are no icons
            layout.template_icon(icon_value=picture.icon, scale=graphs.SCALE)
        column = layout.column(align=True)
        for curve in graphs.curves(found):
            column.label(text=curve.words, icon_value=graphs.legend(curve))
        column = layout.column(align=True)
        slowest = max(found.rows.values(), key=lambda row: row.get("seconds") or 0.0)
        column.label(text=f"Slowest: frame {slowest['frame']}, {slowest.get('seconds') or 0.0:.3g} s")
        column.label(text=f"{counted(len(found.rows), 'frame')} in {duration(found.seconds)}, {size(found.bytes)}")


class MPM_PT_farm(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_farm"
    bl_label = "Bake Elsewhere"
    bl_parent_id = "MPM_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        layout.label(text="Copy command line for:")
        row = layout.row(align=True)
        row.operator("mpm.copy_command", text="Blender", icon="COPYDOWN").kind = "blender"
        row.operator("mpm.copy_command", text="Python Only", icon="COPYDOWN").kind = "python"


class MPM_PT_preflight(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_preflight"
    help_page = "manual/speed"
    bl_label = "Pre-flight"
    bl_parent_id = "MPM_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        if preflight.current() is not None:
            row = layout.row(align=True)
            row.label(text="Checking", icon="TIME")
            row.operator("mpm.preflight_cancel", text="", icon="CANCEL")
            return
        row = layout.row(align=True)
        row.operator("mpm.preflight", text="Check", icon="CHECKMARK").probe = False
        row.operator("mpm.preflight", text="Check and Measure", icon="TIME").probe = True
        report, is_current = preflight.kept_report(context.scene)
        if report is None:
            return
        if not is_current:
            layout.label(text="The scene has changed since the last check", icon="INFO")
            return
        column = layout.column(align=True)
        for line in preflight.lines_of(report):
            column.label(text=line)
        for warning in report["warnings"]:
            column = layout.column(align=True)
            for number, line in enumerate(preflight.warning_lines(warning)):
                column.label(text=line, icon="BLANK1" if number else "ERROR")


CLASSES = (
    MPM_PT_bake,
    MPM_PT_bake_alone,
    MPM_PT_frames,
    MPM_PT_cache,
    MPM_PT_takes,
    MPM_PT_statistics,
    MPM_PT_farm,
    MPM_PT_preflight,
)
