"""The panels of emitters, colliders and outflows in the Physics tab: what each does to matter."""

import bpy

from ..core.description import Collider, Emitter, Outflow
from ..core.painting import ACTING
from .blender_types import Context, Layout
from .drawing import ObjectPanel, draw_parameters, split_layout
from .painted_control import at_zero_name, attribute_name

_VELOCITIES = ("velocity", "normal_velocity", "inherit_velocity", "angular_velocity", "velocity_spread")
_GOALS = ("goal", "goal_frequency", "goal_damping")
_DYNAMIC = ("dynamic", "density", "mass", "velocity", "angular_velocity")
# What an emitter does not ask for in a mode.
_HIDDEN = {"once": ("frame_end", "interval", "flow_rate"), "repeat": ("flow_rate",), "inflow": ("interval",)}


def _names(owner: type, group: object, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The parameters of a dataclass other than the wanted ones."""
    return tuple(name for name in owner.__dataclass_fields__ if name not in wanted and hasattr(group, name))


class MPM_PT_emission(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_emission"
    bl_label = "Emission"
    mpm_type = "emitter"

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        emitter = context.object.mpm.emitter
        hidden = [*_VELOCITIES, *_GOALS, *_HIDDEN.get(emitter.mode, ())]
        if emitter.use_particle_count:
            hidden.append("particles_per_cell")
        draw_parameters(layout.column(), emitter, Emitter, without=tuple(hidden))


class _SomeParameters(ObjectPanel):
    """A closed panel with those parameters of an emitter that it names."""

    bl_options = {"DEFAULT_CLOSED"}
    mpm_type = "emitter"
    names: tuple[str, ...]

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        emitter = context.object.mpm.emitter
        draw_parameters(layout.column(), emitter, Emitter, without=_names(Emitter, emitter, self.names))


class MPM_PT_start_velocity(_SomeParameters, bpy.types.Panel):
    bl_idname = "MPM_PT_start_velocity"
    bl_label = "Start Velocity"
    names = _VELOCITIES


class MPM_PT_painted_control(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_painted_control"
    help_page = "manual/objects"
    bl_label = "Painted Control"
    bl_options = {"DEFAULT_CLOSED"}
    mpm_type = "emitter"

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        item = context.object
        emitter = item.mpm.emitter
        for name in ACTING:
            column = layout.column(align=True)
            column.prop(emitter, attribute_name(name))
            if getattr(emitter, attribute_name(name)) in item.vertex_groups:
                column.prop(emitter, at_zero_name(name))
        layout.prop(emitter, "carried_attributes")


class MPM_PT_goal(_SomeParameters, bpy.types.Panel):
    bl_idname = "MPM_PT_goal"
    bl_label = "Goal"
    names = _GOALS


class MPM_PT_collision(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_collision"
    bl_label = "Surface"
    mpm_type = "collider"

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        draw_parameters(layout.column(), context.object.mpm.collider, Collider, without=_DYNAMIC)


class MPM_PT_dynamic(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_dynamic"
    help_page = "manual/forces"
    bl_label = "Dynamic"
    bl_options = {"DEFAULT_CLOSED"}
    mpm_type = "collider"

    def draw_header(self, context: Context) -> None:
        layout: Layout = self.layout
        layout.prop(context.object.mpm.collider, "dynamic", text="")

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        collider = context.object.mpm.collider
        column = layout.column()
        column.active = collider.dynamic
        hidden = ("dynamic", "density") if collider.use_mass else ("dynamic",)
        draw_parameters(column, collider, Collider, without=(*_names(Collider, collider, _DYNAMIC), *hidden))


class MPM_PT_outflow(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_outflow"
    bl_label = "Outflow"
    mpm_type = "outflow"

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        draw_parameters(layout.column(), context.object.mpm.outflow, Outflow)


CLASSES = (
    MPM_PT_emission,
    MPM_PT_start_velocity,
    MPM_PT_goal,
    MPM_PT_painted_control,
    MPM_PT_collision,
    MPM_PT_dynamic,
    MPM_PT_outflow,
)
