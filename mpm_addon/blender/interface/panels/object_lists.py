"""The lists of a scene's objects: simulated objects and force fields."""

from typing import Any

import bpy
from bpy.props import BoolProperty

from ....core.laws import LAWS
from ...host.blender_types import BlenderObject, BlenderScene, Context, Layout
from ...reading.forces import KINDS, field_objects
from ...settings.properties import PRESET_LABELS
from ...settings.roles import NO_ROLE, ROLES, has_role


def summary(item: BlenderObject) -> str:
    """The text beside an object's icon: "Powder Snow", "Dynamic"; empty for a plain collider or an outflow."""
    if item.mpm.type == "collider" and item.mpm.collider.dynamic:
        return "Dynamic"
    if item.mpm.type != "emitter":
        return ""
    material = item.mpm.material
    if material.source == "preset":
        return PRESET_LABELS.get(material.preset, "Missing Preset")
    return LAWS[material.law].label if material.law in LAWS else "Missing Law"


class _ObjectList:
    """A list of some of a scene's objects, sorted by name or in a custom order."""

    @staticmethod
    def listed(scene: BlenderScene) -> list[BlenderObject]:
        """The objects in the list."""
        raise NotImplementedError

    def filter_items(self: Any, context: Context, data: Any, property: str) -> Any:
        """Filter flags and order of the list, for Blender; without a custom order, as in the scene."""
        items = getattr(data, property)
        shown = self.bitflag_filter_item
        # Blender inverts all flags
        hidden = shown if self.use_filter_invert else 0
        named = bpy.types.UI_UL_list.filter_items_by_name(self.filter_name, shown, items, "name") or [shown] * len(items)
        listed = {item.session_uid for item in self.listed(data)}
        return [flag if item.session_uid in listed else hidden for flag, item in zip(named, items, strict=True)], self.ordered(items)

    def ordered(self: Any, items: Any) -> list[int]:
        """The position of each object in the list; None for the scene's order."""
        return _by_name(items) if self.use_filter_sort_alpha else []

    def draw_item(
        self,
        context: Context,
        layout: Layout,
        data: Any,
        item: Any,
        icon: Any,
        active_data: Any,
        active_property: Any,
        index: Any = 0,
        flt_flag: Any = 0,
    ) -> None:
        """Called by Blender for each row; lists differ in the contents of a row."""
        self.draw_row(layout, item)

    def draw_row(self, layout: Layout, item: Any) -> None:
        raise NotImplementedError


def _by_name(items: Any) -> Any:
    return bpy.types.UI_UL_list.sort_items_by_name(items, "name")


class MPM_UL_objects(_ObjectList, bpy.types.UIList):
    """The simulated objects."""

    use_sort_role: BoolProperty(name="Sort by Type", description="List emitters first, then colliders, then outflows, each by name")

    @staticmethod
    def listed(scene: BlenderScene) -> list[BlenderObject]:
        return [item for item in scene.objects if has_role(item)]

    def ordered(self: Any, items: Any) -> list[int]:
        if not self.use_sort_role:
            return _by_name(items) if self.use_filter_sort_alpha else []
        roles = list(ROLES)
        keys = [(roles.index(item.mpm.type) if item.mpm.type in ROLES else len(roles), item.name) for item in items]
        places = [0] * len(keys)
        for place, row in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
            places[row] = place
        return places

    def draw_filter(self, context: Context, layout: Layout) -> None:
        row = layout.row(align=True)
        row.prop(self, "filter_name", text="")
        row.prop(self, "use_filter_invert", text="", icon="ARROW_LEFTRIGHT")
        row = row.row(align=True)
        row.prop(self, "use_sort_role", text="", icon="PHYSICS")
        row.prop(self, "use_filter_sort_alpha", text="", icon="SORTALPHA")
        row.prop(self, "use_filter_sort_reverse", text="", icon="SORT_DESC" if self.use_filter_sort_reverse else "SORT_ASC")

    def draw_row(self, layout: Layout, item: Any) -> None:
        role = ROLES.get(item.mpm.type, NO_ROLE)
        settings = getattr(item.mpm, item.mpm.type, None)
        is_on = settings is not None and settings.enabled
        words = summary(item)
        place = layout.split(factor=0.6) if words else layout.row()
        place.active = is_on and not item.hide_viewport
        place.prop(item, "name", text="", emboss=False, icon=role.icon)
        if words:
            place.label(text=words)
        row = layout.row(align=True)
        if item.library is not None or item.override_library is not None:
            row.label(text="", icon="LIBRARY_DATA_DIRECT" if item.library is not None else "LIBRARY_DATA_OVERRIDE")
        if settings is not None:
            row.prop(settings, "enabled", text="", emboss=False, icon="CHECKBOX_HLT" if is_on else "CHECKBOX_DEHLT")
        if item.hide_viewport:  # a disabled object is not simulated
            row.prop(item, "hide_viewport", text="", emboss=False)


class MPM_UL_forces(_ObjectList, bpy.types.UIList):
    """The objects with active force fields."""

    @staticmethod
    def listed(scene: BlenderScene) -> list[BlenderObject]:
        return field_objects(scene)

    def draw_row(self, layout: Layout, item: Any) -> None:
        if item.field is None:
            return
        is_known = item.field.type in KINDS
        word = item.field.type.replace("_", " ").title()
        split = layout.split(factor=0.5)
        split.active = not item.hide_viewport
        split.prop(item, "name", text="", emboss=False, icon="FORCE_FORCE" if is_known else "ERROR")
        split.label(text=word if is_known else f"{word}: not supported")
        row = layout.row(align=True)
        row.prop(item, "hide_viewport", text="", emboss=False)


def draw_list(layout: Layout, list_type: type[_ObjectList], scene: BlenderScene) -> None:
    """Draw a list of a scene's objects, as tall as its contents, within limits."""
    rows = min(max(len(list_type.listed(scene)), 4), 8)
    layout.template_list(list_type.__name__, "", scene, "objects", scene.mpm, "active_row", rows=rows)


CLASSES = (MPM_UL_objects, MPM_UL_forces)
