"""The panels of emitters, colliders and outflows in the Physics tab."""

from typing import Any

import bpy

from ....core.laws import LAWS
from ....core.scene.description import Collider, Emitter, Outflow
from ....core.scene.fracture import Fracture
from ....core.scene.painting import ACTING
from ....core.scene.randomness import RANDOM_FACTORS, Randomness
from ...building.material_presets import chosen
from ...host.actions import animated_paths
from ...host.blender_types import Context, Layout
from ...host.wording import title
from ...settings.painted_control import at_zero_name, attribute_name
from .drawing import ObjectPanel, draw_parameters, draw_values, split_layout
from .property_rows import draw_property, factor_for, label_of

_EMISSION = ("enabled", "mode", "frame_start", "frame_end", "interval", "flow_rate", "source")
# Parameters that an emitter does not use in a mode.
_HIDDEN = {"once": ("frame_end", "interval", "flow_rate"), "repeat": ("flow_rate",), "inflow": ("interval",)}
_SPRING = ("goal_frequency", "goal_damping")


class MPM_PT_emission(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_emission"
    bl_label = "Emission"
    mpm_type = "emitter"

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        emitter = context.object.mpm.emitter
        draw_parameters(layout.column(), emitter, Emitter, _EMISSION, without=_HIDDEN.get(emitter.mode, ()))


class _SomeParameters(ObjectPanel):
    """A closed panel with the named parameters of an emitter."""

    bl_options = {"DEFAULT_CLOSED"}
    mpm_type = "emitter"
    names: tuple[str, ...]

    @classmethod
    def idle(cls, emitter: Any) -> tuple[str, ...]:
        """The parameters without effect at present."""
        return ()

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        emitter = context.object.mpm.emitter
        draw_parameters(layout.column(), emitter, Emitter, self.names, idle=self.idle(emitter))


class MPM_PT_start_velocity(_SomeParameters, bpy.types.Panel):
    bl_idname = "MPM_PT_start_velocity"
    bl_label = "Initial Velocity"
    names = ("velocity", "normal_velocity", "inherit_velocity", "angular_velocity", "velocity_spread")


class MPM_PT_particles(_SomeParameters, bpy.types.Panel):
    bl_idname = "MPM_PT_particles"
    bl_label = "Particles"
    names = ("particles_per_cell", "particle_count", "sampling", "mass_scale", "stiffness_scale", "body", "color")

    @classmethod
    def idle(cls, emitter: Any) -> tuple[str, ...]:
        return ("particles_per_cell",) if emitter.use_particle_count else ()


class MPM_PT_emitter_heat(_SomeParameters, bpy.types.Panel):
    bl_idname = "MPM_PT_emitter_heat"
    help_page = "manual/heat"
    bl_label = "Heat"
    names = ("temperature",)


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
        names = [*map(attribute_name, ACTING), *map(at_zero_name, ACTING), "carried_attributes"]
        factor = factor_for(label_of(emitter, name) for name in names)
        for name in ACTING:
            column = layout.column(align=True)
            draw_property(column, emitter, attribute_name(name), factor)
            if getattr(emitter, attribute_name(name)) in item.vertex_groups:
                draw_property(column, emitter, at_zero_name(name), factor)
        draw_property(layout, emitter, "carried_attributes", factor)


class MPM_PT_randomness(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_randomness"
    help_page = "manual/objects"
    bl_label = "Randomness"
    bl_options = {"DEFAULT_CLOSED"}
    mpm_type = "emitter"

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        emitter, material = context.object.mpm.emitter, context.object.mpm.material
        preset = chosen(material)
        layout.prop(emitter, "use_randomness", text="Randomness" if preset is None else "Override Preset")
        if preset is not None and not emitter.use_randomness:
            draw_values(layout, [(title(name), f"{amount:g}") for name, amount in preset.randomness.amounts.items()])
            return
        law = LAWS.get(material.law) if preset is None else preset.law
        column = layout.column()
        column.active = emitter.use_randomness
        hidden = [name for name in RANDOM_FACTORS if law is not None and name not in law.scalable]
        draw_parameters(column, emitter.randomness, Randomness, without=hidden)


class MPM_PT_goal(_SomeParameters, bpy.types.Panel):
    bl_idname = "MPM_PT_goal"
    bl_label = "Pinning"
    names = ("goal", *_SPRING)

    @classmethod
    def idle(cls, emitter: Any) -> tuple[str, ...]:
        is_keyed = any(path.startswith("mpm.emitter.goal") for path in animated_paths(emitter.id_data))
        return () if emitter.goal > 0.0 or is_keyed else _SPRING


class MPM_PT_collision(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_collision"
    bl_label = "Surface"
    mpm_type = "collider"

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        collider = context.object.mpm.collider
        idle = ("friction",) if collider.surface == "sticky" else ()
        draw_parameters(layout.column(), collider, Collider, ("enabled", "surface", "friction", "restitution"), idle=idle)


class MPM_PT_collider_heat(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_collider_heat"
    help_page = "manual/heat"
    bl_label = "Heat"
    bl_options = {"DEFAULT_CLOSED"}
    mpm_type = "collider"

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        collider = context.object.mpm.collider
        idle = () if collider.use_temperature else ("heat_transfer",)
        draw_parameters(layout.column(), collider, Collider, ("temperature", "heat_transfer"), idle=idle)


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
        idle = ("density",) if collider.use_mass else ()
        draw_parameters(column, collider, Collider, ("density", "mass", "velocity", "angular_velocity"), idle=idle)


class MPM_PT_fracture(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_fracture"
    help_page = "manual/fracture"
    bl_label = "Fracture"
    bl_options = {"DEFAULT_CLOSED"}
    mpm_type = "collider"

    def draw_header(self, context: Context) -> None:
        layout: Layout = self.layout
        layout.active = context.object.mpm.collider.dynamic
        layout.prop(context.object.mpm.collider, "use_fracture", text="")

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        collider = context.object.mpm.collider
        column = layout.column()
        column.active = collider.dynamic and collider.use_fracture
        draw_parameters(column, collider.fracture, Fracture)
        column.prop(collider, "inside")


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
    MPM_PT_particles,
    MPM_PT_goal,
    MPM_PT_emitter_heat,
    MPM_PT_painted_control,
    MPM_PT_randomness,
    MPM_PT_collision,
    MPM_PT_collider_heat,
    MPM_PT_dynamic,
    MPM_PT_fracture,
    MPM_PT_outflow,
)
