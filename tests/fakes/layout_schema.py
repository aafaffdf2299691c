"""What a recording layout knows about its host: `StubSchema` asks the stubs, `RnaSchema` asks Blender itself."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from typing import Any, Protocol


class Schema(Protocol):
    """What a recording layout needs to know about its host."""

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
        found = self._layout.functions.get(function)
        return None if found is None else _signature_of(found)

    def enum_of_parameter(self, function: str, parameter: str) -> tuple[str, ...] | None:
        return _items_of(self._layout.functions[function].parameters[parameter])

    def layout_property(self, name: str) -> tuple[bool, tuple[str, ...] | None]:
        found = self._layout.properties.get(name)
        if found is None or found.is_readonly:
            return False, None
        return True, _items_of(found)

    def has_property(self, data: Any, name: str) -> bool:
        return name in data.bl_rna.properties

    def _operator_rna(self, idname: str) -> Any:
        module, _, name = idname.partition(".")
        try:
            return getattr(getattr(self._bpy.ops, module), name).get_rna_type()
        except KeyError:
            return None

    def has_operator(self, idname: str) -> bool:
        return self._operator_rna(idname) is not None

    def operator_properties(self, idname: str) -> set[str] | None:
        return set(self._operator_rna(idname).properties.keys())

    def has_type(self, name: str, base: str) -> bool:
        found = getattr(self._bpy.types, name, None)
        return found is not None and issubclass(found, getattr(self._bpy.types, base))


@cache
def _signature_of(function: Any) -> inspect.Signature:
    """The signature of one of Blender's layout functions, which never changes."""
    parameters = [
        inspect.Parameter(
            parameter.identifier,
            inspect.Parameter.POSITIONAL_OR_KEYWORD if parameter.is_required else inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if parameter.is_required else None,
        )
        for parameter in function.parameters
        if not parameter.is_output
    ]
    return inspect.Signature(sorted(parameters, key=lambda parameter: parameter.kind))


@cache
def _items_of(found: Any) -> tuple[str, ...] | None:
    """The items of a layout function's parameter or of a layout's property, which never change; None if it is no enum.

    There are a thousand icons, and a panel names one in most calls.
    """
    return tuple(item.identifier for item in found.enum_items) if found.type == "ENUM" else None


def schema_for(bpy: Any) -> Schema:
    """The schema for a recording layout: the stubs for the fake, RNA for the real bpy."""
    from . import FakeModule

    return StubSchema() if isinstance(bpy, FakeModule) else RnaSchema(bpy)
