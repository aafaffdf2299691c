"""Builds the classes of bpy.types from the stubs: exactly the names that Blender has.

Three kinds of names. Unknown to Blender: AttributeError. Known and simulated: a value, or a working method.
Known and not simulated: reading works as in Blender, calling raises FakeLimitation, and the test belongs on the real
bpy. The simulation is in data.py and meshes.py, which fill `BEHAVIORS`, `COMPUTED`, `DEFAULTS` and `NAMESPACES`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from . import vectors
from .stubs import PropertyStub, Stubs, signature_of
from .values import coerce_enum, coerce_plain

STUBS = Stubs()

BEHAVIORS: dict[tuple[str, str], Callable[..., Any]] = {}  # (struct, method) -> implementation, self first
COMPUTED: dict[tuple[str, str], Callable[[Any], Any]] = {}  # (struct, property) -> its value, computed on each read
DEFAULTS: dict[tuple[str, str], Any] = {}  # (struct, property) -> its initial value, if not the type's zero
NAMESPACES: dict[str, dict[str, Any]] = {}  # struct -> attributes of the Python class
ON_CHANGE: dict[tuple[str, str], Callable[[Any, Any], Any]] = {}  # (struct, property) -> maps a new value to the stored one

_classes: dict[str, type] = {}


class FakeLimitation(NotImplementedError):
    """Blender has this name, but the fake does not simulate it: mark the test with `blender`."""


class BoundProperty:
    """A property that was declared with bpy.props and now belongs to a class."""

    identifier: str

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        raise NotImplementedError

    def __set__(self, instance: Any, value: Any) -> None:
        raise NotImplementedError


class StructMeta(type):
    """The class behavior of Blender's types: they accept property declarations, and cannot be called."""

    bind_property: ClassVar[Callable[[Any, type, str], BoundProperty | None]]

    def __setattr__(cls, name: str, value: Any) -> None:
        super().__setattr__(name, StructMeta.bind_property(value, cls, name) or value)

    def __call__(cls, *_arguments: Any, **_keywords: Any) -> Any:
        raise TypeError(f"bpy_struct.__new__({cls.__name__}): only Blender makes instances of its classes")

    @property
    def bl_rna(cls) -> RnaDescription:
        return RnaDescription(cls)


def create(cls: type, **values: Any) -> Any:
    """Make an instance as Blender does: never by calling the class."""
    instance: Any = object.__new__(cls)
    instance.__dict__["_values"] = dict(values)
    instance.__dict__["_custom"] = {}
    if isinstance(instance, bpy_prop_collection):
        vars(instance)["_items"] = []
    return instance


class bpy_struct(metaclass=StructMeta):
    """The base of Blender's data: names come from the stubs, values are made on first access."""

    STRUCT: ClassVar[str] = "bpy_struct"

    def __getattr__(self, name: str) -> Any:
        struct = type(self).STRUCT
        for ancestor in STUBS.lineage(struct):
            if (ancestor.name, name) in COMPUTED:
                return COMPUTED[ancestor.name, name](self)
        found = STUBS.find_property(struct, name)
        if found is not None:
            values = self.__dict__["_values"]
            if name not in values:
                values[name] = default_value(struct, found, self)
            return values[name]
        method = STUBS.find_method(struct, name)
        if method is not None and not name.startswith("__"):
            return _bind_method(self, struct, method)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        struct = type(self).STRUCT
        declared = getattr(type(self), name, None)
        if isinstance(declared, BoundProperty):
            declared.__set__(self, value)
            return
        found = STUBS.find_property(struct, name)
        if found is None:
            if type(self) is not struct_class(struct) and struct != "PropertyGroup":
                object.__setattr__(self, name, value)
                return
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        if found.is_readonly:
            raise AttributeError(f'bpy_struct: attribute "{name}" from "{struct}" is read-only')
        value = coerce(f"{struct}.{name}", found.annotation, value, getattr(self, name))
        for ancestor in STUBS.lineage(struct):
            if (ancestor.name, name) in ON_CHANGE:
                value = ON_CHANGE[ancestor.name, name](self, value)
        self.__dict__["_values"][name] = value

    @property
    def bl_rna(self) -> RnaDescription:
        return RnaDescription(type(self))

    @property
    def id_data(self) -> Any:
        owner = self.__dict__["_values"].get("id_data")
        return owner if owner is not None else self

    def as_pointer(self) -> int:
        return id(self)

    def __getitem__(self, key: str) -> Any:
        if key not in self.__dict__["_custom"]:
            raise KeyError(f'bpy_struct[key]: key "{key}" not found')
        return self.__dict__["_custom"][key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.__dict__["_custom"][key] = value

    def __delitem__(self, key: str) -> None:
        del self.__dict__["_custom"][key]

    def __contains__(self, key: str) -> bool:
        return key in self.__dict__["_custom"]

    def get(self, key: str, default: Any = None) -> Any:
        return self.__dict__["_custom"].get(key, default)

    def keys(self) -> list[str]:
        return list(self.__dict__["_custom"])

    def is_property_set(self, name: str) -> bool:
        getattr(self, name)
        return name in self.__dict__.get("_assigned", ())

    def property_unset(self, name: str) -> None:
        getattr(self, name)
        self.__dict__["_values"].pop(name, None)
        self.__dict__.get("_assigned", set()).discard(name)

    def __repr__(self) -> str:
        name = self.__dict__["_values"].get("name")
        return f"<fake {type(self).__name__}{f' {name!r}' if name else ''}>"


class bpy_prop_collection(metaclass=StructMeta):
    """An ordered collection with access by index and by name."""

    STRUCT: ClassVar[str] = "bpy_prop_collection"

    @property
    def _list(self) -> list[Any]:
        return self.__dict__["_items"]

    def __len__(self) -> int:
        return len(self._list)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._list))

    def __contains__(self, key: Any) -> bool:
        return key in self.keys() if isinstance(key, str) else any(item is key for item in self._list)

    def __getitem__(self, key: int | str | slice) -> Any:
        if isinstance(key, str):
            found = self.get(key)
            if found is None:
                raise KeyError(f'bpy_prop_collection[key]: key "{key}" not found')
            return found
        if isinstance(key, int) and not -len(self) <= key < len(self):
            raise IndexError(f"bpy_prop_collection[index]: index {key} out of range, size {len(self)}")
        return self._list[key]

    def get(self, key: str, default: Any = None) -> Any:
        return next((item for item in self._list if item.name == key), default)

    def keys(self) -> list[str]:
        return [item.name for item in self._list]

    def values(self) -> list[Any]:
        return list(self._list)

    def items(self) -> list[tuple[str, Any]]:
        return [(item.name, item) for item in self._list]

    def find(self, key: str) -> int:
        return next((index for index, item in enumerate(self._list) if item.name == key), -1)

    def foreach_get(self, attr: str, seq: Any) -> None:
        flat: list[Any] = []
        for item in self._list:
            value = getattr(item, attr)
            flat.extend(value if isinstance(value, (list, tuple)) else [value])
        _check_length(flat, seq)
        seq[:] = flat

    def foreach_set(self, attr: str, seq: Any) -> None:
        if getattr(seq, "ndim", 1) != 1:
            raise TypeError("foreach_set(attr, sequence): the sequence has to be one-dimensional")
        if not self._list:
            _check_length([], seq)
            return
        first = getattr(self._list[0], attr)
        width = len(first) if isinstance(first, (list, tuple)) else 0
        _check_length([None] * (len(self) * max(width, 1)), seq)
        for index, item in enumerate(self._list):
            chunk = [number.item() if hasattr(number, "item") else number for number in seq[index * width :][:width]]
            setattr(item, attr, chunk if width else _plain(seq[index]))


class bpy_prop_collection_idprop(bpy_prop_collection):
    """A CollectionProperty: items of one PropertyGroup."""

    STRUCT: ClassVar[str] = "bpy_prop_collection_idprop"

    def add(self) -> Any:
        item = create(self.__dict__["_values"]["item_class"], id_data=self.__dict__["_values"]["id_data"])
        self._list.append(item)
        return item

    def remove(self, index: int) -> None:
        if 0 <= index < len(self):
            del self._list[index]

    def clear(self) -> None:
        self._list.clear()

    def move(self, src_index: int, dst_index: int) -> None:
        if 0 <= src_index < len(self) and 0 <= dst_index < len(self):
            self._list.insert(dst_index, self._list.pop(src_index))


class RnaDescription:
    """The `bl_rna` of a class: its properties and functions."""

    def __init__(self, cls: type) -> None:
        self._class = cls
        self.identifier = cls.__name__

    @property
    def properties(self) -> dict[str, Any]:
        names: dict[str, Any] = {}
        for stub in STUBS.lineage(self._class.STRUCT):
            names.update(stub.properties)
        for ancestor in self._class.__mro__:
            names.update({name: value for name, value in vars(ancestor).items() if isinstance(value, BoundProperty)})
        # an attribute of Python's, which the stubs list
        names.pop("bl_rna", None)
        return names

    @property
    def functions(self) -> dict[str, ast.FunctionDef]:
        lineage = STUBS.lineage(self._class.STRUCT)
        return {name: method for stub in lineage for name, method in stub.methods.items()}


def struct_class(name: str) -> type:
    """The fake class of a Blender struct, made on first use; KeyError if Blender has none."""
    if name not in _classes:
        bases = tuple(struct_class(base) for base in STUBS.struct(name).bases) or (object,)
        namespace = {"STRUCT": name, "__module__": "bpy.types", **NAMESPACES.get(name, {})}
        _classes[name] = StructMeta(name, bases, namespace)
    return _classes[name]


_classes.update(
    bpy_struct=bpy_struct,
    bpy_prop_collection=bpy_prop_collection,
    bpy_prop_collection_idprop=bpy_prop_collection_idprop,
)


def forget_declared_properties() -> None:
    """Remove properties that were declared on Blender's own classes."""
    for cls in _classes.values():
        for name in [name for name, value in vars(cls).items() if isinstance(value, BoundProperty)]:
            delattr(cls, name)


def default_value(struct: str, stub: PropertyStub, owner: Any) -> Any:
    """The value of a property before anything sets it."""
    for ancestor in STUBS.lineage(struct):
        if (ancestor.name, stub.name) in DEFAULTS:
            default = DEFAULTS[ancestor.name, stub.name]
            return default() if callable(default) else default
    return _zero(stub.annotation, owner)


@functools.cache
def _text(annotation: ast.expr | None) -> str:
    return ast.unparse(annotation) if annotation is not None else "typing.Any"


def _zero(annotation: ast.expr | None, owner: Any) -> Any:
    items = STUBS.enum_items(annotation)
    text = _text(annotation)
    if items is not None:
        return set() if text.startswith("set[") else items[0]
    first = text.partition(" | ")[0]
    if first in ("str", "int", "float", "bool"):
        return {"str": "", "int": 0, "float": 0.0, "bool": False}[first]
    for name in ("Vector", "Matrix", "Euler", "Quaternion", "Color"):
        if f"mathutils.{name}" in text:
            return vectors.zero(name)
    if first.startswith("bpy_prop_collection["):
        return create(bpy_prop_collection)
    if text.endswith("| None") or first in ("typing.Any", "None"):
        return None
    if first.startswith(("list", "bpy_prop_array", "tuple", "(")):
        return []
    # A nested struct belongs to the same data-block, as Scene.render belongs to its scene.
    return create(struct_class(first), id_data=owner.id_data, owner=owner)


def coerce(where: str, annotation: ast.expr | None, value: Any, current: Any) -> Any:
    """A value as a property of Blender stores it; raises as Blender for invalid values."""
    items = STUBS.enum_items(annotation)
    text = _text(annotation)
    if items is not None:
        return coerce_enum(items, value, is_flag=text.startswith("set["))
    if isinstance(current, (vectors.Vector, vectors.Matrix)):
        return vectors.like(current, value)
    first = text.partition(" | ")[0]
    if first in ("str", "int", "float", "bool"):
        return coerce_plain(where, first, value)
    if first.isidentifier() and first in STUBS.names("bpy.types"):
        if value is None and text.endswith("| None"):
            return None
        if not isinstance(value, struct_class(first)):
            raise TypeError(f"bpy_struct: item.attr = val: {where} expected a {first} type, not {type(value).__name__}")
    return value


def _bind_method(instance: Any, struct: str, node: ast.FunctionDef) -> Callable[..., Any]:
    signature = signature_of(node)
    behavior = next(
        (BEHAVIORS[stub.name, node.name] for stub in STUBS.lineage(struct) if (stub.name, node.name) in BEHAVIORS),
        None,
    )

    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            bound = signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise TypeError(f"{struct}.{node.name}(): {error}") from None
        if behavior is None:
            raise FakeLimitation(f"the fake does not simulate {struct}.{node.name}(); test it on the real bpy")
        required: list[Any] = []
        optional: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            parameter = signature.parameters[name]
            items = STUBS.enum_items(parameter.annotation) if isinstance(parameter.annotation, ast.expr) else None
            if items is not None and isinstance(value, str) and value not in items:
                raise TypeError(f'{struct}.{node.name}(): enum "{value}" not found in {items}')
            if parameter.default is parameter.empty:
                required.append(value)
            else:
                optional[name] = value
        return behavior(instance, *required, **optional)

    call.__name__ = node.name
    return call


def _check_length(flat: list[Any], seq: Any) -> None:
    if len(seq) != len(flat):
        raise RuntimeError(f"internal error setting the array: expected {len(flat)} values, got {len(seq)}")


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
