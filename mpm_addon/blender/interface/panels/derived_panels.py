"""The panels of surfaces, skins and volumes in the viewport's sidebar: how they are made from cached frames, and which frames have one."""

import bpy

from ....derived.settings import SurfaceSettings, VolumeSettings
from ....storage.take import SKIN, SURFACE, VOLUME
from ...baking import derived_facts, derived_processes
from ...baking.derived_processes import DerivedSession
from ...host.blender_types import Context, Layout
from ...host.wording import counted, duration, in_blender, size
from ...playback import skin_objects, surface_objects, volume_objects
from ...settings import paths
from ...settings.surface_settings import displayed_as_mesh
from .display_panels import shown_object
from .drawing import ScenePanel, draw_lines, draw_parameters, split_layout

_FIRST = ("quality",)
_FIRST_OF_VOLUME = ("powder_only", "max_fullness")


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
        _draw_making(context, layout, SURFACE)
        item = shown_object(context)
        if item is not None and surface_objects.surface_of(item) is not None:
            column = layout.column(align=True)
            column.prop(item.mpm.surface, "is_shown")
            kept = column.column()
            kept.active = item.mpm.surface.is_shown
            kept.prop(item.mpm.surface, "has_points")
            if surface_objects.status(item):
                draw_lines(layout, surface_objects.status(item), "ERROR")


class MPM_PT_skin(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_skin"
    help_page = "manual/surfaces"
    bl_label = "Skin"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        names = displayed_as_mesh(context.scene, paths.absolute(paths.cache_path(context.scene)))
        if not names:
            draw_lines(layout, "Set Render to Mesh in Display to show an emitter's own mesh", "INFO")
        for name in names:
            layout.label(text=name, icon="MESH_MONKEY")
        layout.prop(context.scene.mpm.skin, "while_baking")
        _draw_making(context, layout, SKIN, is_possible=bool(names))
        item = shown_object(context)
        if item is not None and skin_objects.status(item):
            draw_lines(layout, skin_objects.status(item), "ERROR")


class MPM_PT_volume(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_volume"
    help_page = "manual/volumes"
    bl_label = "Volume"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        draw_parameters(layout.column(), context.scene.mpm.volume, VolumeSettings, _FIRST_OF_VOLUME)
        layout.prop(context.scene.mpm.volume, "while_baking")
        _draw_making(context, layout, VOLUME)
        item = shown_object(context)
        if item is not None and volume_objects.volume_of(item) is not None:
            layout.prop(item.mpm.volume, "is_shown")
            if volume_objects.status(item):
                draw_lines(layout, volume_objects.status(item), "ERROR")


class MPM_PT_volume_details(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_volume_details"
    bl_label = "Details"
    bl_parent_id = "MPM_PT_volume"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        draw_parameters(layout.column(), context.scene.mpm.volume, VolumeSettings, without=_FIRST_OF_VOLUME)


def _draw_making(context: Context, layout: Layout, kind: str, *, is_possible: bool = True) -> None:
    """Draw the running process, or which frames have it, and what went wrong."""
    running = derived_processes.current(kind)
    if running is not None:
        _draw_running(layout, running)
        return
    _draw_state(layout, derived_facts.facts_of(context.scene, kind), kind, is_possible=is_possible)
    problem = derived_processes.trouble(paths.absolute(paths.cache_path(context.scene)), kind)
    if problem:
        draw_lines(layout, in_blender(problem), "ERROR")


def _draw_running(layout: Layout, running: DerivedSession) -> None:
    row = layout.row(align=True)
    row.progress(factor=running.done / max(1, running.total), type="BAR", text=f"{running.done} of {counted(running.total, 'frame')}")
    row.operator(f"mpm.{running.kind}_stop", text="", icon="CANCEL")
    words = [] if running.size is None else [f"About {size(running.size)}"]
    words += [] if running.seconds_left is None else [f"{duration(running.seconds_left)} left"]
    if words:
        layout.label(text=", ".join(words), icon="BLANK1")


def _draw_state(layout: Layout, facts: derived_facts.Facts, kind: str, *, is_possible: bool) -> None:
    """Draw which frames have it, and what can be done."""
    has_any = facts.made + facts.outdated > 0
    if has_any:
        layout.label(text=f"{facts.made} of {counted(facts.frames, 'frame')} ({size(facts.size)})", icon="MESH_DATA")
    if facts.outdated:
        layout.label(text=f"{counted(facts.outdated, 'frame')} outdated", icon="INFO")
    row = layout.row(align=True)
    row.scale_y = 1.4
    making = row.row(align=True)
    making.enabled = facts.frames > 0 and is_possible
    if kind == SURFACE:
        making.operator("mpm.surface_make", text="Update Surface" if facts.outdated else "Make Surface", icon="OUTLINER_OB_META")
    elif kind == VOLUME:
        making.operator("mpm.volume_make", text="Update Volume" if facts.outdated else "Make Volume", icon="OUTLINER_OB_VOLUME")
    else:
        making.operator("mpm.skin_make", text="Update Skin" if facts.outdated else "Make Skin", icon="OUTLINER_OB_MESH")
    if has_any:
        row.operator(f"mpm.{kind}_delete", text="", icon="TRASH")


class MPM_PT_surface_details(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_surface_details"
    bl_label = "Details"
    bl_parent_id = "MPM_PT_surface"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        draw_parameters(layout.column(), context.scene.mpm.surface, SurfaceSettings, without=_FIRST)


CLASSES = (MPM_PT_surface, MPM_PT_surface_details, MPM_PT_skin, MPM_PT_volume, MPM_PT_volume_details)
