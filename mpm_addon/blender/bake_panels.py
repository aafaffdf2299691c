"""The panels of the bake in the viewport's sidebar: its state, its frames, its cache and takes, and the pre-flight."""

from pathlib import Path
from typing import Any

import bpy

from ..core.settings import CacheSettings
from ..storage.status import is_asked_to_pause, status_words
from ..storage.takes import take_words
from . import observation, paths, playback, preflight, session, unstable
from .blender_types import BlenderScene, Context, Layout
from .drawing import ScenePanel, draw_missing_numba, draw_parameters, split_layout
from .fingerprint import fingerprint


class MPM_PT_bake(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_bake"
    help_page = "manual/baking"
    bl_label = "Bake"

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        draw_missing_numba(layout)
        scene = context.scene
        layout.prop(scene.mpm, "cache")
        if paths.is_temporary(scene.mpm.cache):
            column = layout.column(align=True)
            column.label(text="The file is not saved: the cache goes to", icon="INFO")
            column.label(text=paths.cache_path(scene))
        running = session.current()
        observed = observation.observed(scene)
        if running is not None:
            self._draw_running(layout, running.fraction, running.text, running.folder)
        elif observed is not None:
            status = observed.status
            share = (status.done + status.fraction) / max(1, status.total)
            self._draw_running(layout, share, status_words(status), observed.folder)
        else:
            self._draw_idle(layout, scene)
        layout.prop(scene.mpm, "when_closing")

    def _draw_running(self, layout: Layout, share: float, text: str, folder: Path) -> None:
        layout.progress(factor=share, type="BAR", text=text)
        row = layout.row(align=True)
        is_waiting = is_asked_to_pause(folder)
        row.operator("mpm.bake_pause", text="Go On" if is_waiting else "Pause", icon="PLAY" if is_waiting else "PAUSE")
        row.operator("mpm.bake_cancel", icon="CANCEL")

    def _draw_idle(self, layout: Layout, scene: BlenderScene) -> None:
        folder = paths.absolute(paths.cache_path(scene))
        shown = [item for item in playback.result_objects(scene) if paths.absolute(item.mpm.cache) == folder]
        is_outdated = any(item.mpm.fingerprint not in ("", fingerprint(scene, item.mpm.emitter_name)) for item in shown)
        if is_outdated:
            layout.label(text="Out of date: the scene has changed since the bake", icon="ERROR")
        stopped, status = unstable.shown(scene, str(folder)), observation.status_of(folder)
        if stopped is not None:
            _draw_lines(layout, unstable.message(stopped), "ERROR")
            layout.operator("mpm.select_unstable", icon="RESTRICT_SELECT_OFF")
        elif status is not None and status.state != "done":
            _draw_lines(layout, status_words(status), "ERROR" if status.state in ("error", "interrupted") else "INFO")
        row = layout.row(align=True)
        bake = row.operator("mpm.bake", text="Bake Again" if is_outdated else "Bake", icon="PHYSICS")
        bake.restart = is_outdated
        if is_outdated:
            row.operator("mpm.bake", text=f"From Frame {scene.frame_current}", icon="TRACKING_FORWARDS").from_frame = scene.frame_current
        row.operator("mpm.bake_free", text="", icon="TRASH")
        for item in shown:
            if playback.status(item):
                layout.label(text=playback.status(item), icon="INFO")


def _draw_lines(layout: Layout, text: str, icon: Any) -> None:
    """A text in lines that fit into the sidebar."""
    column = layout.column(align=True)
    for number, line in enumerate(preflight.wrapped(text)):
        column.label(text=line, icon="BLANK1" if number else icon)


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
        draw_parameters(split_layout(self).column(), context.scene.mpm.kept, CacheSettings)


class MPM_PT_takes(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_takes"
    bl_label = "Takes"
    bl_parent_id = "MPM_PT_bake"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return len(observation.takes_of(paths.absolute(paths.cache_path(context.scene)))) > 1

    def draw(self, context: Context) -> None:
        column = split_layout(self).column(align=True)
        for take in observation.takes_of(paths.absolute(paths.cache_path(context.scene))):
            icon = "RADIOBUT_ON" if take["is_shown"] else "RADIOBUT_OFF"
            column.operator("mpm.take_show", text=take_words(take).capitalize(), icon=icon).take = take["take"]


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


CLASSES = (MPM_PT_bake, MPM_PT_frames, MPM_PT_cache, MPM_PT_takes, MPM_PT_preflight)
