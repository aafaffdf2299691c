"""A layout that records what a panel draws and checks each call, because Blender without a window draws no panels.

It works on the fake or on the real bpy, see `layout_schema`.

    layout = draw(bpy, panel_class)          # calls poll, draw_header and draw, as Blender does
    layout.texts()                           # every label, button and property text, in order
    layout.find("operator", "mpm.bake")      # the recorded calls
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

from .layout_schema import Schema, schema_for

INHERITED = ("use_property_split", "use_property_decorate", "operator_context")
LAYOUT_FUNCTIONS = ("row", "column", "box", "split", "grid_flow", "column_flow", "menu_pie")


class LayoutError(AssertionError):
    """A panel drew something that Blender would refuse, or show as an error in the panel."""


@dataclass
class Call:
    """One call that a panel made on its layout."""

    function: str
    arguments: dict[str, Any]
    children: list[RecordingLayout] = field(default_factory=list)


class OperatorSettings:
    """The result of UILayout.operator(): accepts only the properties of that operator."""

    _idname: str
    _allowed: set[str] | None
    values: dict[str, Any]

    def __init__(self, idname: str, allowed: set[str] | None) -> None:
        object.__setattr__(self, "_idname", idname)
        object.__setattr__(self, "_allowed", allowed)
        object.__setattr__(self, "values", {})

    def __setattr__(self, name: str, value: Any) -> None:
        if self._allowed is not None and name not in self._allowed:
            raise LayoutError(f"operator {self._idname} has no property {name!r}")
        self.values[name] = value


class RecordingLayout:
    """Replaces bpy.types.UILayout."""

    schema: Schema
    calls: list[Call]
    settings: dict[str, Any]

    def __init__(self, schema: Schema) -> None:
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "calls", [])
        object.__setattr__(self, "settings", {})

    def __setattr__(self, name: str, value: Any) -> None:
        exists, items = self.schema.layout_property(name)
        if not exists:
            raise LayoutError(f"UILayout has no property {name!r} that can be set")
        if items is not None and value not in items:
            raise LayoutError(f"UILayout.{name}: {value!r} not found in {items}")
        self.settings[name] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self.settings:
            return self.settings[name]
        signature = self.schema.signature(name)
        if signature is None:
            if self.schema.layout_property(name)[0]:
                return None
            raise LayoutError(f"UILayout has no function {name!r}")

        def call(*arguments: Any, **keywords: Any) -> Any:
            return self._record(name, signature, arguments, keywords)

        return call

    def _record(self, name: str, signature: inspect.Signature, positional: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        try:
            arguments = dict(signature.bind(*positional, **keywords).arguments)
        except TypeError as error:
            raise LayoutError(f"UILayout.{name}(): {error}") from None
        call = Call(name, arguments)
        for parameter, value in arguments.items():
            items = self.schema.enum_of_parameter(name, parameter)
            if items and isinstance(value, str) and value not in items:
                raise LayoutError(f"UILayout.{name}({parameter}={value!r}): Blender has no such {parameter}")
            if parameter in ("text", "heading", "text_ctxt") and not isinstance(value, str):
                raise LayoutError(f"UILayout.{name}({parameter}={value!r}): expected a string")
        self._check_meaning(name, arguments)
        self.calls.append(call)
        return self._result(call)

    def _check_meaning(self, name: str, arguments: dict[str, Any]) -> None:
        for data_name, property_name in (
            ("data", "property"),
            ("search_data", "search_property"),
            ("dataptr", "propname"),
            ("active_dataptr", "active_propname"),
        ):
            if data_name in arguments and property_name in arguments:
                self._check_property(name, arguments[data_name], arguments[property_name])
        if name == "operator" or (name.startswith("operator_") and "operator" in arguments):
            idname = arguments["operator"]
            if not self.schema.has_operator(idname):
                raise LayoutError(f"UILayout.{name}(): there is no operator {idname!r}")
        if name == "template_list" and not self.schema.has_type(arguments["listtype_name"], "UIList"):
            raise LayoutError(f"UILayout.template_list(): there is no list {arguments['listtype_name']!r}")
        if name in ("menu", "menu_contents") and not self.schema.has_type(arguments["menu"], "Menu"):
            raise LayoutError(f"UILayout.{name}(): there is no menu {arguments['menu']!r}")
        if name == "popover" and not self.schema.has_type(arguments["panel"], "Panel"):
            raise LayoutError(f"UILayout.popover(): there is no panel {arguments['panel']!r}")

    def _check_property(self, function: str, data: Any, name: str) -> None:
        if data is None:
            raise LayoutError(f"UILayout.{function}(): the data that holds {name!r} is None")
        if name.startswith('["'):
            if name[2:-2] not in data.keys():  # noqa: SIM118 - Blender's data is no dictionary
                raise LayoutError(f"UILayout.{function}(): {data!r} has no custom property {name}")
        elif not self.schema.has_property(data, name):
            raise LayoutError(f"UILayout.{function}(): {type(data).__name__} has no property {name!r}")

    def _result(self, call: Call) -> Any:
        if call.function in LAYOUT_FUNCTIONS:
            call.children.append(self._inside())
            return call.children[0]
        if call.function in ("panel", "panel_prop"):
            call.children += [self._inside(), self._inside()]
            return tuple(call.children)
        if call.function == "operator":
            settings = OperatorSettings(call.arguments["operator"], self.schema.operator_properties(call.arguments["operator"]))
            call.arguments["settings"] = settings.values
            return settings
        return None

    def _inside(self) -> RecordingLayout:
        """A layout inside this one, which inherits the same settings as in Blender."""
        inside = RecordingLayout(self.schema)
        inside.settings.update({name: self.settings[name] for name in INHERITED if name in self.settings})
        return inside

    def all_calls(self) -> list[Call]:
        """Every call, including those on nested layouts, in drawing order."""
        found: list[Call] = []
        for call in self.calls:
            found.append(call)
            for child in call.children:
                found += child.all_calls()
        return found

    def find(self, function: str, subject: str | None = None) -> list[Call]:
        """The calls of a function, optionally only those about one operator, property or list."""
        subjects = ("operator", "property", "listtype_name", "menu", "panel", "idname")
        return [
            call
            for call in self.all_calls()
            if call.function == function and (subject is None or subject in [call.arguments.get(key) for key in subjects])
        ]

    def texts(self) -> list[str]:
        """Every text, in drawing order."""
        calls = self.all_calls()
        return [call.arguments[key] for call in calls for key in ("text", "heading") if call.arguments.get(key)]


class PanelStandIn:
    """The `self` of a panel's functions: only Blender can make a real one."""

    def __init__(self, panel: type, layout: RecordingLayout) -> None:
        self._panel = panel
        self.layout = layout
        self.is_popover = False
        self.layout_type = "DEFAULT"

    def __getattr__(self, name: str) -> Any:
        found = inspect.getattr_static(self._panel, name)
        if isinstance(found, (staticmethod, classmethod)):
            return getattr(self._panel, name)
        return found.__get__(self) if inspect.isfunction(found) else found


def draw(bpy: Any, panel: type, context: Any = None) -> RecordingLayout | None:
    """Draw a panel or menu as Blender would; None if its poll hides it."""
    context = bpy.context if context is None else context
    poll = getattr(panel, "poll", None)
    if poll is not None and not poll(context):
        return None
    layout = RecordingLayout(schema_for(bpy))
    stand_in = PanelStandIn(panel, layout)
    for name in ("draw_header", "draw_header_preset", "draw"):
        if any(name in vars(ancestor) for ancestor in panel.__mro__ if ancestor.__module__ != "bpy_types"):
            getattr(stand_in, name)(context)
    return layout


class ListStandIn(PanelStandIn):
    """The `self` of a list's functions, with the user's filter and sort settings."""

    FLAG = 1 << 30

    def __init__(self, ui_list: type, layout: RecordingLayout, **chosen: Any) -> None:
        super().__init__(ui_list, layout)
        declared = {name: False for ancestor in ui_list.__mro__ for name in vars(ancestor).get("__annotations__", {})}
        filters = {"filter_name": "", "use_filter_invert": False, "use_filter_sort_alpha": False, "use_filter_sort_reverse": False}
        vars(self).update({**declared, **filters, "bitflag_filter_item": self.FLAG, **chosen})

    @property
    def bl_rna(self) -> Any:
        """Blender's description of the list."""
        return self._panel.bl_rna


def is_ours(module: str) -> bool:
    """Whether a module belongs to the add-on: in the source tree, or as Blender names an installed extension."""
    parts = module.split(".")
    return parts[2 if parts[0] == "bl_ext" and len(parts) > 2 else 0] == "mpm_addon"


def registered_classes(bpy: Any, base: str) -> list[type]:
    """The add-on's registered classes of a kind, such as "Panel", by name: found, not listed."""
    found: dict[str, type] = {}
    waiting = [getattr(bpy.types, base)]
    while waiting:
        for cls in waiting.pop().__subclasses__():
            waiting.append(cls)
            if getattr(cls, "is_registered", False) and is_ours(cls.__module__):
                found[cls.__name__] = cls
    return [found[name] for name in sorted(found)]


def appended_functions(bpy: Any) -> dict[str, list[Any]]:
    """What the add-on appended to Blender's own menus and panels: name -> draw functions."""
    found: dict[str, list[Any]] = {}
    from . import FakeModule, menus

    names = menus.used() if isinstance(bpy, FakeModule) else dir(bpy.types)
    for name in (name for name in names if any(infix in name for infix in ("_MT_", "_PT_", "_HT_"))):
        draw = getattr(getattr(bpy.types, name), "draw", None)
        functions = [each for each in getattr(draw, "_draw_funcs", ()) if is_ours(each.__module__)]
        if functions:
            found[name] = functions
    return found


def draw_appended(bpy: Any, name: str, function: Any, context: Any = None) -> RecordingLayout:
    """Draw what the add-on appended to one of Blender's menus or panels."""
    layout = RecordingLayout(schema_for(bpy))
    function(PanelStandIn(getattr(bpy.types, name), layout), bpy.context if context is None else context)
    return layout


def draw_list(bpy: Any, call: Call, context: Any = None, **chosen: Any) -> dict[str, RecordingLayout]:
    """Draw a recorded `template_list`: the name of each item -> its row, in order, as in Blender.

    Args:
        chosen: the user's settings of the list, such as filter_name="Cube".
    """
    given = call.arguments
    context = bpy.context if context is None else context
    ui_list = next(cls for cls in registered_classes(bpy, "UIList") if cls.__name__ == given["listtype_name"])
    stand_in = ListStandIn(ui_list, RecordingLayout(schema_for(bpy)), **chosen)
    items = list(getattr(given["dataptr"], given["propname"]))
    flags, places = stand_in.filter_items(context, given["dataptr"], given["propname"])
    for name, numbers in (("flags", flags), ("places", places)):
        if numbers and len(numbers) != len(items):
            raise LayoutError(f"{ui_list.__name__}.filter_items(): {len(numbers)} {name} for {len(items)} items")
    order = sorted(range(len(items)), key=places.__getitem__) if places else range(len(items))
    shown = [items[n] for n in order if not flags or bool(flags[n] & stand_in.FLAG) != stand_in.use_filter_invert]
    rows: dict[str, RecordingLayout] = {}
    for item in shown:
        rows[item.name] = RecordingLayout(schema_for(bpy))
        arguments = (context, rows[item.name], given["dataptr"], item, 0, given["active_dataptr"], given["active_propname"], 0, 0)
        parameters = list(inspect.signature(ui_list.draw_item).parameters)[1:]
        stand_in.draw_item(*arguments[: len(parameters)])
    if any("draw_filter" in vars(ancestor) for ancestor in ui_list.__mro__ if ancestor.__module__ != "bpy_types"):
        stand_in.draw_filter(context, stand_in.layout)
    return rows
