"""The Display panel of an object that shows particles, in the Physics tab and in the sidebar. Reads and never writes."""

import bpy

from ... import display
from ...display import assets, grains, looks, tree
from ...display.modifier import draw_input, input_value
from ...host.blender_types import BlenderObject, Context, Layout
from ...host.translations import text
from ...host.wording import title
from ...playback import particle_objects
from ...settings.display_settings import AUTOMATIC, CARRIED, MATERIALS, has_range, shows_mesh
from .drawing import PhysicsPanel, ScenePanel, draw_lines, draw_values, split_layout

# Labels of inputs whose names are cut at the usual width of the sidebar.
_SHORT = {grains.COUNT: "Grains Each"}


def shown_object(context: Context) -> BlenderObject | None:
    """The active object if it shows particles, else the only one in the scene that does."""
    if context.object is not None and context.object.mpm.display.parts:
        return context.object
    shown = [item for item in particle_objects.result_objects(context.scene) if item.mpm.display.parts] if context.scene else []
    return shown[0] if len(shown) == 1 else None


def draw_display(layout: Layout, item: BlenderObject) -> None:
    """Draw the display settings of an object."""
    settings = item.mpm.display
    if not looks.can_build(item):
        layout.label(text="Linked from another file: make it local to edit it", icon="LIBRARY_DATA_DIRECT")
    for part in settings.parts:
        column = layout.column(heading=part.name, align=True)
        column.prop(part, "viewport", icon="RESTRICT_VIEW_OFF")
        column.prop(part, "render", icon="RESTRICT_RENDER_OFF")
        if AUTOMATIC in (part.viewport, part.render):
            modes = (looks.mode_of(part, is_render=False), looks.mode_of(part, is_render=True))
            draw_values(column, [("Automatic", " / ".join(text(title(mode)) for mode in modes))])
        column.prop(part, "material")
    if len(settings.parts) > 1:
        layout.operator("mpm.display_same", icon="DUPLICATE")
    _draw_inputs(layout, item)
    _draw_edited(layout, item)


def _draw_inputs(layout: Layout, item: BlenderObject) -> None:
    """Draw the modifier inputs that the chosen modes use."""
    modifier = display.modifier_of(item)
    if modifier is None or modifier.node_group is None:
        return
    parts = item.mpm.display.parts
    modes = {looks.mode_of(part, is_render=is_render) for part in parts for is_render in (False, True)}
    used = {name for mode in modes for name in tree.USED[mode]} | set(tree.CLOSED if looks.closes_grains(item) else ())
    column = layout.column(align=True)
    for socket in tree.INPUTS:
        if socket.name in used:
            draw_input(column, modifier, socket.name, _SHORT.get(socket.name, ""))
    zeros = [name for name in tree.AUTOMATIC if name in used and input_value(modifier, name) == 0]
    if zeros:
        draw_values(column, [("Automatic", ", ".join(text(_SHORT.get(name, name)) for name in zeros))])


def _draw_edited(layout: Layout, item: BlenderObject) -> None:
    modifier = display.modifier_of(item)
    group = None if modifier is None else modifier.node_group
    names = assets.edited()
    if group is not None and assets.is_edited(group):
        names = [group.name, *names]
    if names:
        layout.label(text=f"Edited, not updated: {', '.join(names)}", icon="INFO")
        layout.operator("mpm.display_restore", icon="LOOP_BACK")


def draw_colors(layout: Layout, item: BlenderObject) -> None:
    """Draw the meaning of an object's particle colors."""
    settings = item.mpm.display
    layout.prop(settings, "color_by")
    if settings.color_by == CARRIED:
        layout.prop(settings, "attribute")
    if settings.color_by != MATERIALS and has_range(settings.color_by):
        layout.prop(settings, "use_fitted_range")
        column = layout.column(align=True)
        column.enabled = not settings.use_fitted_range
        column.prop(settings, "range_min")
        column.prop(settings, "range_max")
        layout.operator("mpm.display_fit", icon="FULLSCREEN_EXIT")
    if settings.color_by != MATERIALS and any(shows_mesh(part, is_render=side) for part in settings.parts for side in (False, True)):
        draw_lines(layout, "Meshes keep their own materials: choose Automatic or Points to see colors", "INFO")
    draw_lines(layout, looks.problem(item), "ERROR")


class MPM_PT_display(PhysicsPanel, bpy.types.Panel):
    bl_idname = "MPM_PT_display"
    bl_label = "Display"
    bl_parent_id = "MPM_PT_object"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and len(context.object.mpm.display.parts) > 0

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        draw_display(layout, context.object)
        draw_colors(layout.column(heading="Colors"), context.object)


class MPM_PT_scene_display(ScenePanel, bpy.types.Panel):
    bl_idname = "MPM_PT_scene_display"
    help_page = "manual/display"
    bl_label = "Display"

    def draw(self, context: Context) -> None:
        layout = split_layout(self)
        item = shown_object(context)
        if item is None:
            has_results = any(each.mpm.display.parts for each in particle_objects.result_objects(context.scene))
            words = "Select an object that shows particles" if has_results else "Bake first; then choose here how particles look"
            draw_lines(layout, words, "INFO")
            return
        layout.label(text=item.name, icon="OBJECT_DATA")
        draw_display(layout, item)
        draw_colors(layout.column(heading="Colors"), item)


CLASSES = (MPM_PT_display, MPM_PT_scene_display)
