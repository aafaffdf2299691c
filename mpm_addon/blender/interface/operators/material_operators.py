"""Operators of materials: choose one, edit its values, save it as a user preset, delete a user preset."""

from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ....storage import user_presets
from ....storage.presets import LONGEST_LABEL, LONGEST_TEXT, material_preset, material_preset_names
from ...building import material_presets
from ...host.blender_types import BlenderEvent, Context
from ...host.operation import Operation
from ...host.registrar import Registrar
from ...host.translations import message, tip
from ...settings.roles import locked


class _OfMaterial(Operation):
    """An operator that needs an emitter with editable settings."""

    @classmethod
    def poll(cls, context: Context) -> bool:
        item = context.object
        if item is None or item.mpm.type != "emitter":
            cls.poll_message_set("Select an emitter")  # type: ignore[attr-defined]
            return False
        cls.poll_message_set(locked(item))  # type: ignore[attr-defined]
        return not locked(item)


class MPM_OT_material_choose(_OfMaterial, bpy.types.Operator):
    """Assign this material to the object"""

    bl_idname = "mpm.material_choose"
    bl_label = "Choose Material"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(name="Name", description="Name of the preset as used in scene files")
    is_own: BoolProperty(name="User Preset", description="A user preset; its values are copied to Custom")

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        if properties.is_own:
            return tip("Copy the values of this user preset to Custom")
        return tip(material_preset(properties.name).description) if properties.name in material_preset_names() else ""

    def execute(self, context: Context) -> Any:
        self._choose(context.object)
        return {"FINISHED"}

    def _choose(self, item: Any) -> None:
        if self.is_own:
            material_presets.load(item, self.name)
            return
        material_presets.choose(item, material_preset(self.name).name)


class MPM_OT_material_customize(_OfMaterial, bpy.types.Operator):
    """Copy the preset's values and color to Custom, where they can be edited and keyframed"""

    bl_idname = "mpm.material_customize"
    bl_label = "Edit Values"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not super().poll(context):
            return False
        cls.poll_message_set("The object's preset is unknown")
        return material_presets.chosen(context.object.mpm.material) is not None

    def execute(self, context: Context) -> Any:
        preset = material_presets.chosen(context.object.mpm.material)
        if preset is not None:
            material_presets.customize(context.object, preset)
        return {"FINISHED"}


class MPM_OT_material_preset_add(_OfMaterial, bpy.types.Operator):
    """Save the object's material as a preset for all files"""

    bl_idname = "mpm.material_preset_add"
    bl_label = "Save Material Preset"
    bl_options = {"REGISTER"}

    name: StringProperty(name="Name", description="Name of the preset", maxlen=LONGEST_LABEL, options={"SKIP_SAVE"})
    note: StringProperty(name="Description", description="Description of the preset (optional)", maxlen=LONGEST_TEXT, options={"SKIP_SAVE"})
    replace: BoolProperty(name="Replace", description="Replace the user preset with this name", options={"SKIP_SAVE"})

    def execute(self, context: Context) -> Any:
        path = material_presets.save(context.object, self.name, self.note, replace=self.replace)
        self.report({"INFO"}, message("Saved as {path}", path=path))
        return {"FINISHED"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Ask for the name."""
        self.name = self.name or context.object.mpm.material.origin
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: Context) -> None:
        layout: Any = self.layout
        layout.use_property_split = True
        # the name can be typed at once
        layout.activate_init = True
        layout.prop(self, "name")
        layout.prop(self, "note")
        if material_presets.is_taken(self.name):
            layout.label(text="A user preset with this name already exists", icon="ERROR")
            layout.prop(self, "replace")


class MPM_OT_material_preset_remove(Operation, bpy.types.Operator):
    """Delete this preset; objects that use it keep their values"""

    bl_idname = "mpm.material_preset_remove"
    bl_label = "Delete Material Preset"
    bl_options = {"REGISTER"}

    name: StringProperty(name="Name", description="File name of the preset without its extension", options={"SKIP_SAVE"})

    def execute(self, context: Context) -> Any:
        user_presets.remove_preset(material_presets.folder(), self.name)
        return {"FINISHED"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Confirm before deleting the file."""
        return context.window_manager.invoke_confirm(self, event)


CLASSES = (
    MPM_OT_material_choose,
    MPM_OT_material_customize,
    MPM_OT_material_preset_add,
    MPM_OT_material_preset_remove,
)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
