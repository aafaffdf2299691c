"""A layout that records what a panel draws and checks each call, because Blender without a window draws no panels.

It stands on the fake or on the real bpy: `StubSchema` asks the stubs, `RnaSchema` asks Blender itself.

    layout = draw(bpy, panel_class)          # calls poll, draw_header and draw, as Blender does
    layout.texts()                           # every label, button and property text, in order
    layout.find("operator", "mpm.bake")      # the recorded calls
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field
from typing import Any, Protocol

LAYOUT_FUNCTIONS = ("row", "column", "box", "split", "grid_flow", "column_flow", "menu_pie")


class LayoutError(AssertionError):
    """A panel drew something that Blender would refuse, or show as an error in the panel."""


class Schema(Protocol):
    """What a recording layout has to know of its host."""

    def signature(self, function: str) -> inspect.Signature | None: ...
    def enum_of_parameter(self, function: str, parameter: str) -> tuple[str, ...] | None: ...
    def layout_property(self, name: str) -> tuple[bool, tuple[str, ...] | None]: ...
    def has_property(self, data: Any, name: str) -> bool: ...
    def operator_properties(self, idname: str) -> set[str] | None: ...
    def has_operator(self, idname: str) -> bool: ...
    def has_type(self, name: str, base: str) -> bool: ...


class StubSchema:
    """Knows UILayout from the stubs, and the rest from the fake's registrations."""

    def __init__(self) -> None:
        from . import registration, structs

        self._registration = registration
        self._structs = structs

    def signature(self, function: str) -> inspect.Signature | None:
        from .stubs import signature_of

        node = self._structs.STUBS.find_method("UILayout", function)
        return None if node is None or function.startswith("bl_rna") else signature_of(node)

    def enum_of_parameter(self, function: str, parameter: str) -> tuple[str, ...] | None:
        signature = self.signature(function)
        annotation = signature.parameters[parameter].annotation if signature else None
        return self._structs.STUBS.enum_items(annotation) if isinstance(annotation, ast.expr) else None

    def layout_property(self, name: str) -> tuple[bool, tuple[str, ...] | None]:
        found = self._structs.STUBS.find_property("UILayout", name)
        if found is None or found.is_readonly:
            return False, None
        return True, self._structs.STUBS.enum_items(found.annotation)

    def has_property(self, data: Any, name: str) -> bool:
        return name in data.bl_rna.properties

    def has_operator(self, idname: str) -> bool:
        return self._registration.operator_exists(idname)

    def operator_properties(self, idname: str) -> set[str] | None:
        return self._registration.operator_properties(idname)

    def has_type(self, name: str, base: str) -> bool:
        found = self._registration.registered.get(name)
        if found is not None:
            return issubclass(found, self._structs.struct_class(base))
        return name in self._structs.STUBS.names("bpy.types")


class RnaSchema:
    """Knows everything from the real bpy."""

    def __init__(self, bpy: Any) -> None:
        self._bpy = bpy
        self._layout = bpy.types.UILayout.bl_rna

    def signature(self, function: str) -> inspect.Signature | None:
        if function not in self._layout.functions:
            return None
        parameters = [
            inspect.Parameter(
                parameter.identifier,
                inspect.Parameter.POSITIONAL_OR_KEYWORD if parameter.is_required else inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if parameter.is_required else None,
            )
            for parameter in self._layout.functions[function].parameters
            if not parameter.is_output
        ]
        return inspect.Signature(sorted(parameters, key=lambda parameter: parameter.kind))

    def enum_of_parameter(self, function: str, parameter: str) -> tuple[str, ...] | None:
        found = self._layout.functions[function].parameters[parameter]
        return tuple(item.identifier for item in found.enum_items) if found.type == "ENUM" else None

    def layout_property(self, name: str) -> tuple[bool, tuple[str, ...] | None]:
        found = self._layout.properties.get(name)
        if found is None or found.is_readonly:
            return False, None
        return True, tuple(item.identifier for item in found.enum_items) if found.type == "ENUM" else None

    def has_property(self, data: Any, name: str) -> bool:
        return name in data.bl_rna.properties

    def _operator_rna(self, idname: str) -> Any:
        module, _, name = idname.partition(".")
        if name not in dir(getattr(self._bpy.ops, module)):
            return None
        return getattr(getattr(self._bpy.ops, module), name).get_rna_type()

    def has_operator(self, idname: str) -> bool:
        return self._operator_rna(idname) is not None

    def operator_properties(self, idname: str) -> set[str] | None:
        return set(self._operator_rna(idname).properties.keys())

    def has_type(self, name: str, base: str) -> bool:
        found = getattr(self._bpy.types, name, None)
        return found is not None and issubclass(found, getattr(self._bpy.types, base))


@dataclass
class Call:
    """One call that a panel made on its layout."""

    function: str
    arguments: dict[str, Any]
    children: list[RecordingLayout] = field(default_factory=list)


class OperatorSettings:
    """What UILayout.operator() returns: it takes the properties of that operator and no other."""

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
    """Stands in for bpy.types.UILayout."""

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
            call.children.append(RecordingLayout(self.schema))
            return call.children[0]
        if call.function in ("panel", "panel_prop"):
            call.children += [RecordingLayout(self.schema), RecordingLayout(self.schema)]
            return tuple(call.children)
        if call.function == "operator":
            settings = OperatorSettings(call.arguments["operator"], self.schema.operator_properties(call.arguments["operator"]))
            call.arguments["settings"] = settings.values
            return settings
        return None

    def all_calls(self) -> list[Call]:
        """Returns every call, those on the layouts inside included, in the order of drawing."""
        found: list[Call] = []
        for call in self.calls:
            found.append(call)
            for child in call.children:
                found += child.all_calls()
        return found

    def find(self, function: str, subject: str | None = None) -> list[Call]:
        """Returns the calls of a function, those about one operator, property or list only if it is named."""
        subjects = ("operator", "property", "listtype_name", "menu", "panel", "idname")
        return [
            call
            for call in self.all_calls()
            if call.function == function and (subject is None or subject in [call.arguments.get(key) for key in subjects])
        ]

    def texts(self) -> list[str]:
        """Returns every text that was given, in the order of drawing."""
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


def schema_for(bpy: Any) -> Schema:
    """Returns what a recording layout asks: the stubs under the fake, Blender's own data under the real bpy."""
    from . import FakeModule

    return StubSchema() if isinstance(bpy, FakeModule) else RnaSchema(bpy)


def draw(bpy: Any, panel: type, context: Any = None) -> RecordingLayout | None:
    """Draws a panel or menu as Blender would; None when its poll says that it is not shown."""
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


def draw_list_item(bpy: Any, ui_list: type, data: Any, item: Any, active_data: Any, active_property: str) -> Any:
    """Draws one row of a UIList."""
    layout = RecordingLayout(schema_for(bpy))
    stand_in = PanelStandIn(ui_list, layout)
    arguments = (bpy.context, layout, data, item, 0, active_data, active_property, 0, 0)
    parameters = list(inspect.signature(ui_list.draw_item).parameters)[1:]
    stand_in.draw_item(*arguments[: len(parameters)])
    return layout
