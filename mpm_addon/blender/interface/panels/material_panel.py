"""The Material panel of an emitter: presets with pictures, the values of a preset, and the values of *Custom*."""

import functools
from typing import Any

import bpy

from ....core.laws import LAWS
from ....core.parameters import Parameter, parameters_of
from ....core.scene.thermal import Thermal
from ....storage.presets import MaterialPreset, material_presets
from ...building import material_presets as presets
from ...host.blender_types import Context, Layout
from ...host.help import draw_help
from ...host.translations import text
from ...host.wording import title
from ...settings import thumbnails
from ...settings.heat import base_of, own_thermal
from .drawing import ObjectPanel, draw_lines, draw_parameters, draw_values, split_layout

# Heights in buttons: of the picture in the panel, and of the pictures in the menu.
_PICTURE, _CHOICE = 6.0, 6.0


class _OfEmitter:
    """A panel for emitters only."""

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and context.object.mpm.type == "emitter"


class MPM_MT_materials(_OfEmitter, bpy.types.Menu):
    """All materials, grouped by family, and the user's own presets."""

    bl_idname = "MPM_MT_materials"
    bl_label = "Materials"

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        row = layout.row()
        for family, members in _families().items():
            column = row.column()
            column.label(text=family)
            column.separator()
            for preset in members:
                _choice(column, preset.name, preset.label, icon_value=thumbnails.icon(preset.name))
        own = [(name, preset) for name, preset in presets.own_presets() if preset is not None]
        if own:
            column = row.column()
            column.label(text="Your Presets")
            column.separator()
            for name, preset in own:
                _choice(column, name, preset.label, is_own=True, icon="USER")


def _families() -> dict[str, list[MaterialPreset]]:
    families: dict[str, list[MaterialPreset]] = {}
    for preset in _built_in():
        families.setdefault(preset.family, []).append(preset)
    return families


@functools.cache
def _built_in() -> tuple[MaterialPreset, ...]:
    """The built-in presets, read once."""
    return tuple(material_presets())


def _choice(layout: Layout, name: str, label: str, *, is_own: bool = False, **icon: Any) -> None:
    """A menu entry that chooses a preset. Names of user presets are not translated."""
    chosen = layout.operator("mpm.material_choose", text=label, translate=not is_own, **icon)
    chosen.name, chosen.is_own = name, is_own


class MPM_PT_material_presets(_OfEmitter, bpy.types.Panel):
    """The user's presets, in the header of the panel, where Blender shows presets."""

    bl_idname = "MPM_PT_material_presets"
    bl_label = "Your Material Presets"
    bl_space_type = "PROPERTIES"
    bl_region_type = "HEADER"

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        column = layout.column(align=True)
        for name, preset in presets.own_presets():
            row = column.row(align=True)
            if preset is None:
                row.label(text=text("{name} cannot be read", name=name), icon="ERROR")
            else:
                _choice(row, name, preset.label, is_own=True)
            row.operator("mpm.material_preset_remove", text="", icon="REMOVE").name = name
        layout.operator("mpm.material_preset_add", text="Save Material", icon="ADD")


class MPM_PT_material(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_material"
    help_page = "manual/choosing_materials"
    bl_label = "Material"
    mpm_type = "emitter"

    def draw_header_preset(self, context: Context) -> None:
        layout: Layout = self.layout
        row = layout.row(align=True)
        row.emboss = "NONE"
        row.popover(panel="MPM_PT_material_presets", text="", icon="PRESET")
        draw_help(row, self.help_page)

    def draw(self, context: Context) -> None:
        layout = split_layout(self, has_keys=True)
        material = context.object.mpm.material
        layout.row().prop(material, "source", expand=True)
        if material.source == "preset":
            _draw_preset(layout, material)
            return
        layout.menu("MPM_MT_materials", text="Load from Preset", icon="PRESET")
        if material.origin:
            layout.label(text=text("Based on {name}", name=material.origin), translate=False)
        layout.prop(material, "law")
        if material.law in LAWS:
            law, values = LAWS[material.law], getattr(material, material.law)
            draw_parameters(layout.column(), values, law, idle=law.idle(values))
        else:
            draw_lines(layout, "The law of this material is not available in this version; choose another one", "ERROR")


def _draw_preset(layout: Layout, material: Any) -> None:
    preset = presets.chosen(material)
    if thumbnails.has_icons():
        layout.template_icon_view(material, "preset", show_labels=True, scale=_PICTURE, scale_popup=_CHOICE)
    row = layout.row(align=True)
    shown = {"icon_value": thumbnails.icon(preset.name)} if preset is not None and thumbnails.icon(preset.name) else {}
    row.menu("MPM_MT_materials", text="Choose" if preset is None else preset.label, **shown)
    row.operator("mpm.material_customize", text="", icon="GREASEPENCIL")
    if preset is None:
        draw_lines(layout, "The preset of this material is not available in this version; choose another one", "ERROR")
        return
    draw_lines(layout.column(), text(preset.description), "INFO")


class MPM_PT_material_values(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_material_values"
    bl_parent_id = "MPM_PT_material"
    bl_label = "Values"
    bl_options = {"DEFAULT_CLOSED"}
    mpm_type = "emitter"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return super().poll(context) and presets.chosen(context.object.mpm.material) is not None

    def draw(self, context: Context) -> None:
        layout: Layout = self.layout
        preset = presets.chosen(context.object.mpm.material)
        if preset is None:
            return
        rows = [("Law", text(preset.law.label))]
        idle = preset.law.idle(preset.law)
        for declared in parameters_of(type(preset.law)):
            value = getattr(preset.law, declared.name)
            if value is not None and declared.name not in idle:
                rows.append((title(declared.name), shown(declared, value)))
        draw_values(layout.column(align=True), rows)
        draw_lines(layout.column(), preset.source, "BOOKMARKS")
        layout.operator("mpm.material_customize", icon="GREASEPENCIL")


class MPM_PT_thermal(ObjectPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_thermal"
    help_page = "manual/heat"
    bl_parent_id = "MPM_PT_material"
    bl_label = "Melting and Heat"
    bl_options = {"DEFAULT_CLOSED"}
    mpm_type = "emitter"

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        material = context.object.mpm.material
        base = base_of(material)
        if material.source == "custom":
            layout.prop(material, "use_thermal", text="Takes Up Heat" if base is None else "Override Preset")
        if own_thermal(material) is not None or (material.source == "custom" and base is None):
            column = layout.column()
            column.active = material.use_thermal
            draw_parameters(column, material.thermal, Thermal)
            return
        given = None if base is None else base.thermal
        if given is None:
            draw_lines(layout, "This material keeps its temperature", "INFO")
            return
        values = [(declared, getattr(given, declared.name)) for declared in parameters_of(Thermal)]
        draw_values(
            layout.column(align=True), [(title(declared.name), shown(declared, value)) for declared, value in values if value is not None]
        )


def shown(declared: Parameter, value: Any) -> str:
    """A formatted value with its unit: "1.2 MPa", "1420 kg/m³", "35, 9, 0.2, 10 degrees"."""
    unit = declared.unit_words
    if isinstance(value, str):
        return text(title(value))
    if isinstance(value, tuple):
        return f"{', '.join(f'{each:g}' for each in value)} {unit}".rstrip()
    for prefix, factor in (("M", 1e6), ("k", 1e3)):
        if unit == "Pa" and abs(value) >= factor:
            return f"{value / factor:g} {prefix}{unit}"
    return f"{value:g} {unit}".rstrip()


CLASSES = (MPM_MT_materials, MPM_PT_material_presets, MPM_PT_material, MPM_PT_material_values, MPM_PT_thermal)
