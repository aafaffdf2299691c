"""bpy.props: property declarations, and the properties that they become once a class is registered.

As in Blender, the functions only record; a wrong declaration fails when its class is registered.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import structs
from .structs import STUBS, BoundProperty, bpy_prop_collection_idprop, bpy_struct, create
from .values import coerce_enum, coerce_plain

PLAIN_KINDS = {"BoolProperty": "bool", "IntProperty": "int", "FloatProperty": "float", "StringProperty": "str"}
VECTOR_KINDS = {"BoolVectorProperty": "bool", "IntVectorProperty": "int", "FloatVectorProperty": "float"}
ZEROS: dict[str, Any] = {"bool": False, "int": 0, "float": 0.0, "str": ""}


@dataclass(frozen=True)
class PropertyDeferred:
    """The result of a function of bpy.props: its name and its keywords, unchecked."""

    function: str
    keywords: dict[str, Any]


def make_function(kind: str) -> Callable[..., PropertyDeferred]:
    """The function of bpy.props with this name."""

    def declare(**keywords: Any) -> PropertyDeferred:
        return PropertyDeferred(kind, keywords)

    declare.__name__ = kind
    return declare


class Property(BoundProperty):
    """A declared property of a class: holds a default and checks assigned values."""

    def __init__(self, kind: str, identifier: str, owner: type, arguments: dict[str, Any]) -> None:
        self.kind = kind
        self.identifier = identifier
        self.where = f"{owner.__name__}.{identifier}"
        self.arguments = arguments
        self.name = arguments["name"] or identifier
        self.description = arguments["description"]

    @property
    def type(self) -> str:
        """The kind of its values, as RNA names it: "FLOAT" for numbers and vectors."""
        return self.kind.removesuffix("Property").removesuffix("Vector").upper().replace("BOOL", "BOOLEAN")

    @property
    def is_array(self) -> bool:
        """Whether it has several values."""
        return self.kind in VECTOR_KINDS

    @property
    def is_animatable(self) -> bool:
        """Whether it can have keyframes."""
        return "ANIMATABLE" in self.arguments["options"]

    @property
    def subtype(self) -> str:
        """What its values mean."""
        return self.arguments["subtype"]

    @property
    def default(self) -> Any:
        """The value before anything sets it."""
        given = self.arguments["default"]
        return self.checked(ZEROS[PLAIN_KINDS[self.kind]] if given is None else given)

    def checked(self, value: Any) -> Any:
        """The value as it is stored; numbers are clamped and strings cut, as in Blender."""
        kind = PLAIN_KINDS[self.kind]
        value = coerce_plain(self.where, kind, value)
        if kind in ("int", "float"):
            return self.clamped(value)
        if kind == "str" and self.arguments["maxlen"]:
            return value[: self.arguments["maxlen"]]
        return value

    def clamped(self, value: Any) -> Any:
        """A number clamped to the declared range."""
        low, high = self.arguments["min"], self.arguments["max"]
        return min(max(value, value if low is None else low), value if high is None else high)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if self.arguments.get("get") is not None:
            return self.arguments["get"](instance)
        values = instance.__dict__["_values"]
        if self.identifier not in values:
            values[self.identifier] = self.default
        return values[self.identifier]

    def __set__(self, instance: Any, value: Any) -> None:
        value = self.checked(value)
        if self.arguments.get("set") is not None:
            self.arguments["set"](instance, value)
        elif self.arguments.get("get") is not None:
            raise AttributeError(f'bpy_struct: attribute "{self.identifier}" is read-only')
        else:
            instance.__dict__["_values"][self.identifier] = value
            instance.__dict__.setdefault("_assigned", set()).add(self.identifier)
        if self.arguments.get("update") is not None:
            self.arguments["update"](instance, CONTEXT())


class VectorProperty(Property):
    """A fixed number of numbers or booleans."""

    @property
    def default(self) -> Any:
        given = self.arguments["default"]
        size = self.arguments["size"]
        return self.checked(given if given else (ZEROS[VECTOR_KINDS[self.kind]],) * size)

    def checked(self, value: Any) -> Any:
        size = self.arguments["size"]
        if isinstance(value, str) or not hasattr(value, "__len__"):
            raise ValueError(f"bpy_struct: item.attr = val: sequence expected at dimension 1, not '{type(value).__name__}'")
        if len(value) != size:
            raise ValueError(f"bpy_struct: item.attr = val: sequences of dimension 0 should contain {size} items, not {len(value)}")
        kind = VECTOR_KINDS[self.kind]
        numbers = [coerce_plain(self.where, kind, number) for number in value]
        if kind == "bool":
            return numbers
        return [self.clamped(number) for number in numbers]


class EnumProperty(Property):
    """One identifier of a list, or a set of them."""

    @property
    def is_flag(self) -> bool:
        return "ENUM_FLAG" in self.arguments["options"]

    def enum_items(self, instance: Any = None) -> tuple[str, ...]:
        """The identifiers that are currently valid."""
        items = self.arguments["items"]
        rows: Any = items(instance, CONTEXT()) if callable(items) else items
        return tuple(row[0] for row in rows if row is not None and row[0])

    @property
    def default(self) -> Any:
        given = self.arguments["default"]
        if self.is_flag:
            return set(given or ())
        if isinstance(given, str):
            return given
        identifiers = self.enum_items()
        return identifiers[given or 0] if identifiers else ""

    def checked(self, value: Any) -> Any:
        return coerce_enum(self.enum_items(), value, is_flag=self.is_flag)

    def __set__(self, instance: Any, value: Any) -> None:
        # The list may depend on the instance, so it is checked here and not in `checked`.
        coerce_enum(self.enum_items(instance), value, is_flag=self.is_flag)
        instance.__dict__["_values"][self.identifier] = value
        instance.__dict__.setdefault("_assigned", set()).add(self.identifier)
        if self.arguments.get("update") is not None:
            self.arguments["update"](instance, CONTEXT())


class PointerProperty(Property):
    """Another data-block, or a PropertyGroup that lives inside its owner."""

    @property
    def is_group(self) -> bool:
        return issubclass(self.arguments["type"], structs.struct_class("PropertyGroup"))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        values = instance.__dict__["_values"]
        if self.identifier not in values:
            target = self.arguments["type"]
            values[self.identifier] = create(target, id_data=instance.id_data) if self.is_group else None
        if self.is_group:
            # Blender makes a group on first access
            instance.__dict__.setdefault("_assigned", set()).add(self.identifier)
        return values[self.identifier]

    def __set__(self, instance: Any, value: Any) -> None:
        if self.is_group:
            raise AttributeError(f'bpy_struct: attribute "{self.identifier}" from "{type(instance).__name__}" is read-only')
        super().__set__(instance, value)

    def checked(self, value: Any) -> Any:
        target = self.arguments["type"]
        if value is not None and not isinstance(value, target):
            raise TypeError(f"bpy_struct: item.attr = val: {self.where} expected a {target.__name__} type, not {type(value).__name__}")
        return value


class CollectionProperty(Property):
    """A list of PropertyGroups."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        values = instance.__dict__["_values"]
        if self.identifier not in values:
            values[self.identifier] = create(bpy_prop_collection_idprop, item_class=self.arguments["type"], id_data=instance.id_data)
        return values[self.identifier]

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError(f'bpy_struct: attribute "{self.identifier}" from "{type(instance).__name__}" is read-only')


CLASSES = {
    **dict.fromkeys(PLAIN_KINDS, Property),
    **dict.fromkeys(VECTOR_KINDS, VectorProperty),
    "EnumProperty": EnumProperty,
    "PointerProperty": PointerProperty,
    "CollectionProperty": CollectionProperty,
}

# The context for update callbacks; set by the package when a fake is installed.
CONTEXT: Callable[[], Any] = lambda: None  # noqa: E731


def bind(declared: Any, owner: type, identifier: str) -> Property | None:
    """The property that a declaration becomes on a class; None for other values.

    Raises:
        ValueError: the declaration is wrong; Blender raises it at the same time.
    """
    if not isinstance(declared, PropertyDeferred):
        return None
    try:
        arguments = _check_arguments(declared)
        bound = CLASSES[declared.function](declared.function, identifier, owner, arguments)
        _check_default(bound)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"bpy_struct \"{owner.__name__}\" registration error: '{identifier}' {declared.function} could not register ({error})"
        ) from None
    return bound


def _check_arguments(declared: PropertyDeferred) -> dict[str, Any]:
    signature = STUBS.signature("bpy.props", declared.function)
    bound = signature.bind(**declared.keywords)
    bound.apply_defaults()
    for name, parameter in signature.parameters.items():
        value = bound.arguments[name]
        annotation = parameter.annotation
        items = STUBS.enum_items(annotation) if isinstance(annotation, ast.expr) else None
        given = value if isinstance(value, set) else {value} if isinstance(value, str) else set()
        if items is not None and not given <= set(items):
            raise ValueError(f"enum identifier: {sorted(given - set(items))} not found in {items}")
    arguments = dict(bound.arguments)
    for callback in ("update", "get", "set", "poll"):
        if arguments.get(callback) is not None and not inspect.isroutine(arguments[callback]):
            raise TypeError(f"{callback} expected a function")
    return arguments


def _check_default(bound: Property) -> None:
    if isinstance(bound, (PointerProperty, CollectionProperty)):
        target = bound.arguments["type"]
        if not (isinstance(target, type) and issubclass(target, bpy_struct)):
            raise TypeError(f"expected an RNA type, got {target!r}")
        group = structs.struct_class("PropertyGroup")
        if issubclass(target, group) and not target.__dict__.get("is_registered", False):
            raise TypeError(f"expected an RNA type, {target.__name__} is not registered")
        if isinstance(bound, CollectionProperty) and not issubclass(target, group):
            raise TypeError(f"a CollectionProperty holds PropertyGroups, not {target.__name__}")
        return
    if isinstance(bound, EnumProperty):
        _check_enum(bound)
        return
    given = bound.arguments["default"]
    kept = bound.default
    if bound.kind in ("IntProperty", "FloatProperty") and given is not None and abs(kept - given) > 1e-6 * abs(given):
        raise ValueError(f"default {given} lies outside {bound.arguments['min']}..{bound.arguments['max']}")


def _check_enum(bound: EnumProperty) -> None:
    items = bound.arguments["items"]
    given = bound.arguments["default"]
    if callable(items):
        if isinstance(given, str):
            raise TypeError("a default has to be a number when items is a function")
        return
    for row in items:
        if row is not None and not (len(row) in (3, 4, 5) and all(isinstance(text, str) for text in row[:3])):
            raise TypeError(f"expected a tuple of 3 to 5 items whose first three are texts, got {row!r}")
    known = bound.enum_items()
    if len(set(known)) != len(known):
        raise ValueError(f"an identifier appears twice in {known}")
    if isinstance(given, str) and given not in known:
        raise TypeError(f"default='{given}': not found in enum members {known}")
    if isinstance(given, set) and not given <= set(known):
        raise TypeError(f"default={given}: not found in enum members {known}")


structs.StructMeta.bind_property = staticmethod(bind)
