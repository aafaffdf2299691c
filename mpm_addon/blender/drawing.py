"""What the panels share: where they are, and how declared parameters are drawn. Reads and never writes."""

from typing import Any

from ..core.errors import MpmError
from ..core.parameters import parameters_of
from . import session
from .blender_types import Context, Layout
from .help import draw_help


def split_layout(panel: Any, *, has_keys: bool = False) -> Layout:
    """A panel's layout, with the names of properties in a column of their own.

    Args:
        has_keys: whether there are properties that take keyframes, and buttons for them.
    """
    panel.layout.use_property_split = True
    panel.layout.use_property_decorate = has_keys
    return panel.layout


def draw_parameters(layout: Layout, group: Any, owner: type, *, without: tuple[str, ...] = ()) -> None:
    """All declared parameters of a property group; an optional one has its check box in front."""
    for declared in parameters_of(owner):
        if declared.name in without:
            continue
        switch = f"use_{declared.name}"
        if not hasattr(group, switch):
            layout.prop(group, declared.name)
            continue
        row = layout.row(heading=group.bl_rna.properties[declared.name].name)
        row.prop(group, switch, text="")
        value = row.column() if declared.kind == "vector" else row.row()
        value.enabled = getattr(group, switch)
        value.prop(group, declared.name, text="")


def draw_missing_numba(layout: Layout) -> None:
    """One line where numba cannot be found: everything else works."""
    try:
        session.require_numba()
    except MpmError as error:
        layout.label(text=str(error), icon="ERROR")


def redraw(manager: Any) -> None:
    """Let every viewport and every properties editor draw itself again."""
    for window in manager.windows:
        for area in window.screen.areas:
            if area.type in {"VIEW_3D", "PROPERTIES"}:
                area.tag_redraw()


class HelpfulPanel:
    """A panel with a button that opens its page of the manual.

    Attributes:
        help_page: the page; none where the panel above it has one.
    """

    help_page = ""

    def draw_header_preset(self, context: Context) -> None:
        if self.help_page:
            draw_help(self.layout, self.help_page)  # type: ignore[attr-defined]


class PhysicsPanel(HelpfulPanel):
    """Where the panels of an object are."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"


class ObjectPanel(PhysicsPanel):
    """A sub-panel of the objects of one type."""

    bl_parent_id = "MPM_PT_object"
    mpm_type = ""

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and context.object.mpm.type == cls.mpm_type and not context.object.mpm.cache


class ScenePanel(HelpfulPanel):
    """Where the panels of a scene are."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "MPM"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None
