"""The base classes of panels, and the drawing of declared parameters. Reads and never writes."""

from collections.abc import Collection, Iterable
from typing import Any

from ....core.messages import Message
from ....core.parameters import parameters_of
from ...baking import cache_watch, health, session
from ...host import sidebar
from ...host.blender_types import BlenderScene, Context, Layout
from ...host.help import draw_help
from ...host.text_width import wrapped
from ...host.translations import text
from ...host.wording import in_blender
from ...settings import paths
from ...settings.roles import has_role
from .property_rows import draw_property, factor_for, has_own_line, label_of, labeled


def split_layout(panel: Any, *, has_keys: bool = False) -> Layout:
    """A panel's layout, with property names in a separate column.

    Args:
        has_keys: whether some of the properties can be keyframed, which reserves space for their buttons.
    """
    panel.layout.use_property_split = True
    panel.layout.use_property_decorate = has_keys
    return panel.layout


def draw_parameters(
    layout: Layout, group: Any, owner: type, names: Iterable[str] = (), *, without: Collection[str] = (), idle: Collection[str] = ()
) -> None:
    """Draw declared parameters of a property group; an optional one has its checkbox in front.

    Args:
        names: the parameters to draw, in this order; all if not given.
        without: parameters to leave out.
        idle: parameters without effect at present: grayed out, but editable.
    """
    declared = [each.name for each in parameters_of(owner)]
    shown = [name for name in names or declared if name not in without and hasattr(group, name)]
    factor = factor_for(label_of(group, name) for name in shown)
    for name in shown:
        place = layout
        if name in idle:
            place = layout.column(align=True)
            place.active = False
        draw_property(place, group, name, factor)


def draw_values(layout: Layout, rows: Iterable[tuple[str, str]]) -> None:
    """Draw values that cannot be edited here: names, and texts as they are."""
    shown = list(rows)
    factor = factor_for(text(name) for name, _ in shown)
    for name, value in shown:
        is_beside = not has_own_line(text(name))
        column = (labeled(layout, name, factor) if is_beside else layout).column(align=True)
        for line in wrapped(value, factor) if is_beside else wrapped(f"{text(name)}: {value}"):
            column.label(text=line, translate=False)


def draw_lines(layout: Layout, told: str | Message, icon: Any) -> None:
    """Draw a text or a message in lines that fit the sidebar; nothing if it is empty."""
    if not told:
        return
    words = in_blender(told) if isinstance(told, Message) else told
    column = layout.column(align=True)
    for number, line in enumerate(wrapped(words)):
        column.label(text=line, icon="BLANK1" if number else icon)


def draw_missing_numba(layout: Layout) -> None:
    """Draw a line for each problem with the installation; usually nothing. Everything else works."""
    for line in health.lines():
        draw_lines(layout, line, "ERROR")


class HelpfulPanel:
    """A panel with a button that opens its page of the manual.

    Attributes:
        help_page: the page; none if the parent panel has one.
    """

    help_page = ""

    def draw_header_preset(self, context: Context) -> None:
        if self.help_page:
            draw_help(self.layout, self.help_page)  # type: ignore[attr-defined]


class PhysicsPanel(HelpfulPanel):
    """The location of object panels."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"


class ObjectPanel(PhysicsPanel):
    """A subpanel for objects of one type."""

    bl_parent_id = "MPM_PT_object"
    mpm_type = ""

    @classmethod
    def poll(cls, context: Context) -> bool:
        item = context.object
        return item is not None and item.mpm.type == cls.mpm_type and has_role(item) and not item.mpm.cache


def is_in_use(scene: BlenderScene) -> bool:
    """Whether a scene has simulated objects, cached frames or a bake; if not, the sidebar only offers ways to begin."""
    if any(has_role(item) or item.mpm.cache for item in scene.objects):
        return True
    return session.current() is not None or cache_watch.overview(paths.absolute(paths.cache_path(scene))) is not None


class ScenePanel(HelpfulPanel):
    """The location of scene panels. None depends on the selection: panels that come and go would move others under the mouse."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = sidebar.TAB

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None and is_in_use(context.scene)
