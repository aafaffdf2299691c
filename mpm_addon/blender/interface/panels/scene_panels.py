"""The panels of the simulation in the viewport's sidebar: its objects, and for experts the solver and the domain."""

import bpy

from ....core.scene.settings import SIDES, Domain, Side, Solver
from ...host.blender_types import Context, Layout
from ...reading.simulated_objects import meters, scene_gravity
from .drawing import ScenePanel, draw_lines, draw_parameters, split_layout
from .object_lists import MPM_UL_objects, draw_list

_STEPS = ("cfl", "max_displacement", "time_step")
_HEAT = ("ambient_temperature", "heat_speed")
_SCHEME = ("kernel", "precision", "dimension", "seed")
# Surfaces without friction.
_FRICTIONLESS = ("sticky", "open")


class MPM_PT_objects(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_objects"
    help_page = "manual/objects"
    bl_label = "Objects"

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        row = layout.row()
        draw_list(row, MPM_UL_objects, context.scene)
        column = row.column(align=True)
        column.operator_menu_enum("mpm.objects_add", "type", text="", icon="ADD")
        column.operator("mpm.object_remove", text="", icon="REMOVE")
        if not MPM_UL_objects.listed(context.scene):
            draw_lines(layout, "Select objects and press + to add them as emitters or colliders", "INFO")


class MPM_PT_advanced(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_advanced"
    help_page = "manual/speed"
    bl_label = "Advanced"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        solver = context.scene.mpm.solver
        layout.prop(solver, "transfer")
        if solver.transfer == "flip":
            layout.prop(solver, "flip_ratio", slider=True)
        draw_parameters(layout.column(), solver, Solver, _SCHEME)


class MPM_PT_gravity(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_gravity"
    bl_label = "Gravity"
    bl_parent_id = "MPM_PT_advanced"

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        scene = context.scene
        solver = scene.mpm.solver
        layout.prop(solver, "use_scene_gravity")
        if not solver.use_scene_gravity:
            layout.column().prop(solver, "gravity")
        elif not scene.use_gravity:
            draw_lines(layout, "Gravity is disabled in the scene properties", "INFO")
        elif meters(scene) != 1.0:
            strength = sum(component**2 for component in scene_gravity(scene)) ** 0.5
            draw_lines(layout, f"Gravity is {strength:.3g} m/s²: the unit scale is {meters(scene):g}", "INFO")


class MPM_PT_heat(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_heat"
    help_page = "manual/heat"
    bl_label = "Heat"
    bl_parent_id = "MPM_PT_advanced"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        draw_parameters(layout.column(), context.scene.mpm.solver, Solver, _HEAT)


class MPM_PT_steps(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_steps"
    bl_label = "Substeps"
    bl_parent_id = "MPM_PT_advanced"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        solver = context.scene.mpm.solver
        idle = _STEPS[:2] if solver.use_time_step else ()
        draw_parameters(layout.column(), solver, Solver, _STEPS, idle=idle)


class MPM_PT_domain(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_domain"
    help_page = "manual/objects"
    bl_label = "Domain"
    bl_parent_id = "MPM_PT_advanced"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        domain = context.scene.mpm.domain
        layout.prop(domain, "kind")
        if domain.kind == "unbounded":
            return
        layout.prop(domain, "object")
        if domain.object is None:
            draw_parameters(layout.column(), domain, Domain, ("min", "max"))


class MPM_PT_sides(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_sides"
    bl_label = "Sides"
    bl_parent_id = "MPM_PT_domain"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None and context.scene.mpm.domain.kind == "box"

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        domain = context.scene.mpm.domain
        for name in SIDES:
            side = getattr(domain, name)
            column = layout.column(align=True)
            column.prop(side, "surface", text=domain.bl_rna.properties[name].name)
            draw_parameters(column, side, Side, ("friction",), idle=("friction",) if side.surface in _FRICTIONLESS else ())


ADVANCED = (MPM_PT_advanced, MPM_PT_gravity, MPM_PT_heat, MPM_PT_steps, MPM_PT_domain, MPM_PT_sides)
