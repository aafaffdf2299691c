"""The panels: what an object is, in the Physics tab; the bake and all that is the scene's, in the viewport's sidebar.

Drawing reads and never writes; it must not fail on any selection.
"""

from pathlib import Path
from typing import Any

import bpy

from ..core.laws import LAWS
from ..core.settings import SIDES, CacheSettings, Domain, Side, Solver
from ..storage.status import is_asked_to_pause, status_words
from ..storage.takes import take_words
from . import emission_panels, force_panels, observation, paths, playback, preflight, session, unstable
from .blender_types import BlenderObject, BlenderScene, Context, Layout
from .declarations import title
from .drawing import ObjectPanel, PhysicsPanel, ScenePanel, draw_missing_numba, draw_parameters, split_layout
from .fingerprint import fingerprint
from .forces import has_field
from .meshes import CLOUD_TYPES, SURFACE_TYPES
from .participants import metres, scene_gravity
from .properties import PRESET_LABELS

TYPE_ICONS: dict[str, Any] = {"emitter": "MOD_FLUIDSIM", "collider": "MOD_PHYSICS", "outflow": "TRASH"}


class MPM_PT_object(PhysicsPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_object"
    bl_label = "MPM"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and context.object.type in SURFACE_TYPES | CLOUD_TYPES | {"EMPTY"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        draw_missing_numba(layout)
        item = context.object
        if not item.mpm.cache:
            layout.prop(item.mpm, "type")
            if has_field(item):
                layout.label(text="Its force field pushes matter", icon="FORCE_FORCE")
            return
        layout.prop(item.mpm, "cache")
        if playback.status(item):
            layout.label(text=playback.status(item), icon="INFO")


class MPM_PT_retime(PhysicsPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_retime"
    bl_label = "Retime"
    bl_parent_id = "MPM_PT_object"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and bool(context.object.mpm.cache)

    def draw_header(self, context: Context) -> None:
        layout: Layout = self.layout
        layout.prop(context.object.mpm, "use_retime", text="")

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        settings = context.object.mpm
        layout.active = settings.use_retime
        layout.row().prop(settings, "retime_mode", expand=True)
        if settings.retime_mode == "frame":
            layout.use_property_decorate = True
            layout.prop(settings, "playback_frame")
            return
        layout.prop(settings, "playback_speed")
        layout.prop(settings, "playback_offset")


class MPM_PT_material(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_material"
    bl_label = "Material"
    mpm_type = "emitter"

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        material = context.object.mpm.material
        layout.row().prop(material, "source", expand=True)
        if material.source == "preset":
            layout.prop(material, "preset")
            return
        layout.prop(material, "law")
        if material.law in LAWS:
            draw_parameters(layout.column(), getattr(material, material.law), LAWS[material.law])


class MPM_PT_bake(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_bake"
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


class MPM_PT_objects(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_objects"
    bl_label = "Objects"
    bl_parent_id = "MPM_PT_bake"

    def draw(self, context: Context) -> None:
        column = split_layout(self).column(align=True)
        participants = [item for item in context.scene.objects if item.mpm.type in TYPE_ICONS]
        for item in participants:
            row = column.row(align=True)
            row.label(text=item.name, icon=TYPE_ICONS[item.mpm.type])
            row.label(text=_summary(item))
            row.prop(item, "hide_viewport", text="")
        if not participants:
            column.label(text="Set an object's type in the Physics tab", icon="INFO")


def _summary(item: BlenderObject) -> str:
    """What the list of objects says of one: "Water", "Collider"."""
    if item.mpm.type == "collider" and item.mpm.collider.dynamic:
        return "Dynamic Collider"
    if item.mpm.type != "emitter":
        return title(item.mpm.type)
    material = item.mpm.material
    if material.source == "preset":
        return PRESET_LABELS.get(material.preset, "Missing preset")
    return LAWS[material.law].label if material.law in LAWS else "Missing law"


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


class MPM_PT_solver(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_solver"
    bl_label = "Solver"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        scene = context.scene
        solver = scene.mpm.solver
        layout.prop(solver, "spacing")
        layout.prop(solver, "resolution" if solver.spacing == "resolution" else "grid_spacing")
        without = ["grid_spacing", "gravity", "max_speed"]
        if solver.transfer != "flip":
            without.append("flip_ratio")
        draw_parameters(layout.column(), solver, Solver, without=tuple(without))
        layout.prop(solver, "use_scene_gravity")
        if not solver.use_scene_gravity:
            layout.column().prop(solver, "gravity")
        elif metres(scene) != 1.0:
            strength = sum(component**2 for component in scene_gravity(scene)) ** 0.5
            layout.label(text=f"Gravity is {strength:.3g} m/s²: the unit scale is {metres(scene):g}", icon="INFO")


class MPM_PT_domain(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_domain"
    bl_label = "Domain"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        domain = context.scene.mpm.domain
        layout.prop(domain, "kind")
        if domain.kind == "unbounded":
            return
        layout.prop(domain, "object")
        if domain.object is None:
            draw_parameters(layout.column(), domain, Domain, without=("kind",))
        for name in SIDES:
            column = layout.column(align=True, heading=domain.bl_rna.properties[name].name)
            draw_parameters(column, getattr(domain, name), Side)


CLASSES = (
    MPM_PT_object,
    MPM_PT_retime,
    MPM_PT_material,
    *emission_panels.CLASSES,
    MPM_PT_bake,
    MPM_PT_objects,
    MPM_PT_frames,
    MPM_PT_cache,
    MPM_PT_takes,
    *force_panels.CLASSES,
    MPM_PT_preflight,
    MPM_PT_solver,
    MPM_PT_domain,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
