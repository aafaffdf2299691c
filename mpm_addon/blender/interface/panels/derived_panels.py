"""The panels of derived data in the viewport's sidebar: how it is made from cached frames, and which frames have it."""

from typing import ClassVar

import bpy

from ....storage.take import SKIN
from ...baking import broken_skins, derived_facts, derived_processes
from ...baking.derived_kinds import DERIVED_KINDS, DerivedKind
from ...baking.derived_processes import DerivedSession
from ...host.blender_types import BlenderObject, BlenderScene, Context, Layout
from ...host.wording import counted, duration, size
from ...settings import paths
from ...settings.derived_settings import DECLARED
from .display_panels import shown_object
from .drawing import ScenePanel, draw_lines, draw_parameters, split_layout


class _DerivedPanel(ScenePanel):
    """The panel of a kind."""

    kind: ClassVar[DerivedKind]
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        kind, layout, scene = self.kind, split_layout(self), context.scene
        settings = getattr(scene.mpm, kind.name)
        if kind.name in DECLARED:
            draw_parameters(layout.column(), settings, DECLARED[kind.name], kind.first)
        sources = kind.sources(scene, paths.absolute(paths.cache_path(scene)))
        if sources == []:
            draw_lines(layout, "Set Render to Mesh in Display to show an emitter's own mesh", "INFO")
        for name in sources or ():
            layout.label(text=name, icon="MESH_MONKEY")
        layout.prop(settings, "while_baking")
        _draw_making(context, layout, kind, is_possible=sources != [])
        item = shown_object(context)
        if item is not None:
            _draw_shown(layout, kind, item)
            if kind.name == SKIN:
                _draw_pieces(layout, scene, item)


class _DetailsPanel(ScenePanel):
    """The other settings of a kind."""

    kind: ClassVar[DerivedKind]
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        name = self.kind.name
        draw_parameters(split_layout(self), getattr(context.scene.mpm, name), DECLARED[name], without=self.kind.first)


def _draw_making(context: Context, layout: Layout, kind: DerivedKind, *, is_possible: bool) -> None:
    """Draw the running process, or which frames have it, and what went wrong."""
    running = derived_processes.current(kind.name)
    if running is not None:
        _draw_running(layout, running)
        return
    _draw_state(layout, derived_facts.facts_of(context.scene, kind.name), kind, is_possible=is_possible)
    draw_lines(layout, derived_processes.trouble(paths.absolute(paths.cache_path(context.scene)), kind.name), "ERROR")


def _draw_running(layout: Layout, running: DerivedSession) -> None:
    row = layout.row(align=True)
    row.progress(factor=running.done / max(1, running.total), type="BAR", text=f"{running.done} of {counted(running.total, 'frame')}")
    row.operator(f"mpm.{running.kind}_stop", text="", icon="CANCEL")
    words = [] if running.size is None else [f"About {size(running.size)}"]
    words += [] if running.seconds_left is None else [f"{duration(running.seconds_left)} left"]
    if words:
        layout.label(text=", ".join(words), icon="BLANK1")


def _draw_state(layout: Layout, facts: derived_facts.Facts, kind: DerivedKind, *, is_possible: bool) -> None:
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
    making.operator(f"mpm.{kind.name}_make", text=kind.update_label if facts.outdated else kind.make_label, icon=kind.icon)
    if has_any:
        row.operator(f"mpm.{kind.name}_delete", text="", icon="TRASH")


def _draw_shown(layout: Layout, kind: DerivedKind, item: BlenderObject) -> None:
    """Draw how an object shows it, and what is wrong at the current frame."""
    if kind.shown and kind.object_of(item) is not None:
        shown = getattr(item.mpm, kind.name)
        column = layout.column(align=True)
        first, *others = kind.shown
        column.prop(shown, first)
        rest = column.column()
        rest.active = getattr(shown, first)
        for name in others:
            rest.prop(shown, name)
    draw_lines(layout, kind.status(item), "ERROR")


def _draw_pieces(layout: Layout, scene: BlenderScene, item: BlenderObject) -> None:
    """Draw how a skin that breaks becomes objects."""
    made = broken_skins.pieces(scene, item)
    if not made and not broken_skins.breakable(item):
        return
    row = layout.row(align=True)
    row.operator("mpm.pieces_make", icon="MOD_EXPLODE")
    if made:
        row.operator("mpm.pieces_delete", text="", icon="TRASH")
        layout.label(text=counted(len(made), "piece"), icon="OBJECT_DATA")


def _panels_of(kind: DerivedKind) -> list[type]:
    """The panel of a kind, and its details if it has other settings."""
    name = f"MPM_PT_{kind.name}"
    made = {"bl_idname": name, "bl_label": kind.label, "bl_parent_id": "MPM_PT_scene_display", "help_page": kind.help_page, "kind": kind}
    made["__module__"] = __name__
    panels: list[type] = [type(name, (_DerivedPanel, bpy.types.Panel), made)]
    if kind.name in DECLARED:
        details = {"bl_idname": f"{name}_details", "bl_label": "Details", "bl_parent_id": name, "kind": kind, "__module__": __name__}
        panels.append(type(f"{name}_details", (_DetailsPanel, bpy.types.Panel), details))
    return panels


CLASSES = tuple(panel for kind in DERIVED_KINDS.values() for panel in _panels_of(kind))
