"""The panels of the bake in the viewport's sidebar: its state at the top, and further down its files, takes and statistics."""

import bpy

from ....core.scene.settings import CacheSettings
from ....storage.overview import TakeOverview
from ...baking import bake_queue, cache_watch, session
from ...baking.bake_facts import facts_of, frame_notes
from ...baking.bake_view import LIVE, BakeView, Button, State, view_of
from ...host.blender_types import Context, Layout
from ...host.translations import text
from ...host.wording import counted, duration, size
from ...settings import paths
from . import graphs
from .beginning import draw_beginning
from .drawing import ScenePanel, draw_lines, draw_parameters, is_in_use, split_layout
from .live_panels import draw_previews


class MPM_PT_bake(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_bake"
    help_page = "manual/bake_panel"
    bl_label = "Bake"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None

    def draw(self, context: Context) -> None:
        layout, scene = split_layout(self), context.scene
        view = view_of(facts_of(scene))
        if view.state is State.EMPTY and not is_in_use(scene):
            draw_beginning(layout)
            return
        if paths.is_temporary(scene.mpm.cache):
            place = text("The file is not saved: frames go to {folder}", folder=paths.cache_path(scene))
            draw_lines(layout, place, "INFO")
        _draw_view(layout, view)
        if view.state in LIVE:
            layout.prop(scene.mpm, "use_follow_bake")
        for note in () if view.state in (State.EMPTY, State.READING) else frame_notes(scene):
            draw_lines(layout, note, "INFO")
        draw_previews(layout, scene)
        if view.state not in LIVE and len(bpy.data.scenes) > 1:
            layout.operator("mpm.bake_all", icon="SCENE_DATA")
        _draw_queue(layout)


def _draw_view(layout: Layout, view: BakeView) -> None:
    """Draw the state of a bake, with its buttons."""
    if view.fraction is None:
        layout.label(text=view.headline, icon=view.icon)
    else:
        layout.progress(factor=view.fraction, type="BAR", text=view.headline)
    if view.details:
        column = layout.column(align=True)
        for line in view.details:
            draw_lines(column, line, "BLANK1")
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


class MPM_PT_output(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_output"
    help_page = "manual/baking"
    bl_label = "Cache & Output"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        scene = context.scene
        row = layout.row(align=True)
        # a path needs the whole width
        row.use_property_split = False
        row.prop(scene.mpm, "cache", text="")
        row.operator("mpm.open_cache_folder", text="", icon="FOLDER_REDIRECT")
        draw_parameters(layout.column(), scene.mpm.cache_settings, CacheSettings)
        layout.prop(scene.mpm, "when_closing", text="When Quitting")
        layout.prop(scene.mpm, "use_follow_bake")


class MPM_PT_bake_alone(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_bake_alone"
    bl_label = "Active Emitter Only"
    bl_parent_id = "MPM_PT_output"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout, item = split_layout(self), context.object
        if item is None or item.mpm.type != "emitter":
            draw_lines(layout, "Select an emitter to bake it alone", "INFO")
            return
        running = session.current()
        if running is not None and running.object_name != item.name:
            draw_lines(layout, "Another bake is running", "TIME")
            return
        draw_lines(layout, f"{item.name}, in {paths.cache_path(context.scene, object_name=item.name)}", "OBJECT_DATA")
        _draw_view(layout, view_of(facts_of(context.scene, item.name)))


class MPM_PT_takes(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_takes"
    bl_label = "Takes"
    bl_parent_id = "MPM_PT_output"

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
            row.operator("mpm.take_rename", text="", icon="GREASEPENCIL").take = take.take
            row.operator("mpm.take_remove", text="", icon="X").take = take.take
            draw_lines(column, _take_history(take), "BLANK1")


def _take_words(take: TakeOverview) -> str:
    """The name and the frames of a take, to fit on its button in the narrow sidebar."""
    frames = "no frames" if take.frames is None else "{}-{}".format(*take.frames)
    return f"{take.name or f'Take {take.take}'}: {frames}"


def _take_history(take: TakeOverview) -> str:
    """What a take continues, and which of its frames are outdated; "" for a first take that is current."""
    words = [] if take.parent is None else [f"after {take.from_frame} of take {take.parent}"]
    words += [] if take.outdated is None else ["{}-{} outdated".format(*take.outdated)]
    return ", ".join(words)


class MPM_PT_statistics(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_statistics"
    bl_label = "Statistics"
    bl_parent_id = "MPM_PT_output"
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
    bl_parent_id = "MPM_PT_output"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        layout.label(text="Copy command line for:")
        row = layout.row(align=True)
        row.operator("mpm.copy_command", text="Blender", icon="COPYDOWN").kind = "blender"
        row.operator("mpm.copy_command", text="Python Only", icon="COPYDOWN").kind = "python"


OUTPUT = (MPM_PT_output, MPM_PT_takes, MPM_PT_bake_alone, MPM_PT_statistics, MPM_PT_farm)
