"""Numbers, strings and enums as Blender stores them; raises as Blender for invalid ones."""

from __future__ import annotations

import struct as binary
from typing import Any


def float32(value: float) -> float:
    """A number as Blender stores it: in single precision."""
    return binary.unpack("f", binary.pack("f", value))[0]


def coerce_plain(where: str, kind: str, value: Any) -> Any:
    """A number, boolean or string, checked as in Blender."""
    given = type(value).__name__
    if kind == "bool":
        if not (isinstance(value, int) and value in (0, 1)):
            raise TypeError(f"bpy_struct: item.attr = val: {where} expected True/False or 0/1, not {given}")
        return bool(value)
    if kind == "int":
        if not hasattr(value, "__index__"):
            raise TypeError(f"bpy_struct: item.attr = val: {where} expected an int type, not {given}")
        return int(value)
    if kind == "float":
        if isinstance(value, str) or (not hasattr(value, "__float__") and not hasattr(value, "__index__")):
            raise TypeError(f"bpy_struct: item.attr = val: {where} expected a float type, not {given}")
        return float32(float(value))
    if not isinstance(value, str):
        raise TypeError(f"bpy_struct: item.attr = val: {where} expected a string type, not {given}")
    return value


def coerce_enum(items: tuple[str, ...], value: Any, *, is_flag: bool) -> Any:
    """An enum's identifier, or a set of them."""
    if is_flag and not isinstance(value, set):
        raise TypeError(f"bpy_struct: item.attr = val: expected a set, not {type(value).__name__}")
    if not is_flag and not isinstance(value, str):
        raise TypeError(f"bpy_struct: item.attr = val: expected a string enum, not {type(value).__name__}")
    for identifier in value if is_flag else [value]:
        if identifier not in items:
            raise TypeError(f'bpy_struct: item.attr = val: enum "{identifier}" not found in {items}')
    return set(value) if is_flag else value
