"""The panels of the whole simulation in the viewport's sidebar: who takes part, the solver and the domain."""

from typing import Any

import bpy

from ..core.laws import LAWS
from ..core.settings import SIDES, Domain, Side, Solver
from .blender_types import BlenderObject, Context
from .declarations import title
from .drawing import ScenePanel, draw_parameters, split_layout
from .participants import metres, scene_gravity
from .properties import PRESET_LABELS

TYPE_ICONS: dict[str, Any] = {"emitter": "MOD_FLUIDSIM", "collider": "MOD_PHYSICS", "outflow": "TRASH"}


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


class MPM_PT_solver(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_solver"
    help_page = "manual/speed"
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
    help_page = "manual/objects"
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


CLASSES = (MPM_PT_objects, MPM_PT_solver, MPM_PT_domain)
