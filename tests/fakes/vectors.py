"""A small stand-in for mathutils: values can be read, set, iterated and converted to arrays, with little arithmetic.

Rows and numbers are stored as Python floats in single precision, like Blender's.
"""

from __future__ import annotations

import struct as binary
from collections.abc import Iterable
from typing import Any


def _float32(value: Any) -> float:
    return binary.unpack("f", binary.pack("f", float(value)))[0]


def _dot(left: Iterable[float], right: Iterable[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


class Vector(list[float]):
    """A fixed number of floats."""

    def __init__(self, values: Iterable[float] = (0.0, 0.0, 0.0)) -> None:
        super().__init__(_float32(value) for value in values)

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            super().__setitem__(index, [_float32(number) for number in like(Vector(self[index]), value)])
        else:
            super().__setitem__(index, _float32(value))

    x = property(lambda self: self[0], lambda self, value: self.__setitem__(0, value))
    y = property(lambda self: self[1], lambda self, value: self.__setitem__(1, value))
    z = property(lambda self: self[2], lambda self, value: self.__setitem__(2, value))

    def __add__(self, other: Iterable[float]) -> Vector:  # type: ignore[override]
        return type(self)(a + b for a, b in zip(self, other, strict=True))

    def __sub__(self, other: Iterable[float]) -> Vector:
        return type(self)(a - b for a, b in zip(self, other, strict=True))

    def __mul__(self, factor: Any) -> Vector:
        return type(self)(a * factor for a in self)

    def __rmul__(self, factor: Any) -> Vector:
        return self * factor

    def __neg__(self) -> Vector:
        return self * -1.0

    def __hash__(self) -> int:  # type: ignore[override]
        raise TypeError(f"unhashable type: '{type(self).__name__}'")

    @property
    def length(self) -> float:
        return sum(value * value for value in self) ** 0.5

    def copy(self) -> Vector:
        return type(self)(self)

    def to_tuple(self) -> tuple[float, ...]:
        return tuple(self)


class Euler(Vector):
    """Three angles [rad] and their order."""

    def __init__(self, values: Iterable[float] = (0.0, 0.0, 0.0), order: str = "XYZ") -> None:
        super().__init__(values)
        self.order = order


class Quaternion(Vector):
    """A rotation: w, x, y, z."""

    def __init__(self, values: Iterable[float] = (1.0, 0.0, 0.0, 0.0)) -> None:
        super().__init__(values)

    w = property(lambda self: self[0], lambda self, value: self.__setitem__(0, value))
    x = property(lambda self: self[1], lambda self, value: self.__setitem__(1, value))
    y = property(lambda self: self[2], lambda self, value: self.__setitem__(2, value))
    z = property(lambda self: self[3], lambda self, value: self.__setitem__(3, value))


class Color(Vector):
    """Red, green and blue."""

    r = property(lambda self: self[0], lambda self, value: self.__setitem__(0, value))
    g = property(lambda self: self[1], lambda self, value: self.__setitem__(1, value))
    b = property(lambda self: self[2], lambda self, value: self.__setitem__(2, value))


class Matrix(list[Vector]):
    """Rows of a square matrix; the 4x4 identity by default."""

    def __init__(self, rows: Iterable[Iterable[float]] | None = None) -> None:
        if rows is None:
            rows = [[float(row == column) for column in range(4)] for row in range(4)]
        super().__init__(Vector(row) for row in rows)

    @classmethod
    def Identity(cls, size: int) -> Matrix:
        return cls([[float(row == column) for column in range(size)] for row in range(size)])

    @classmethod
    def Translation(cls, vector: Iterable[float]) -> Matrix:
        matrix = cls.Identity(4)
        matrix.translation = vector
        return matrix

    @property
    def translation(self) -> Vector:
        return Vector(row[3] for row in self[:3])

    @translation.setter
    def translation(self, values: Iterable[float]) -> None:
        for row, value in zip(self[:3], values, strict=True):
            row[3] = value

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Matrix):
            columns = [Vector(column) for column in zip(*other, strict=True)]
            return Matrix([[_dot(row, column) for column in columns] for row in self])
        padded = [*other, 1.0] if len(other) + 1 == len(self) else list(other)
        product = [_dot(row, padded) for row in self]
        return Vector(product[: len(other)])

    def __hash__(self) -> int:  # type: ignore[override]
        raise TypeError("unhashable type: 'Matrix'")

    def copy(self) -> Matrix:
        return Matrix(self)

    def to_3x3(self) -> Matrix:
        return Matrix([row[:3] for row in self[:3]])

    def to_translation(self) -> Vector:
        return self.translation

    def transposed(self) -> Matrix:
        return Matrix(zip(*self, strict=True))


def zero(name: str) -> Any:
    """The initial value of a property of the type mathutils.NAME."""
    return {"Vector": Vector, "Matrix": Matrix, "Euler": Euler, "Quaternion": Quaternion, "Color": Color}[name]()


def like(current: Any, value: Any) -> Any:
    """The value as the same type and size as the current one; ValueError if its size differs."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        raise ValueError(f"bpy_struct: item.attr = val: sequence expected at dimension 1, not '{type(value).__name__}'")
    if len(value) != len(current):
        raise ValueError(f"bpy_struct: item.attr = val: sequences of dimension 0 should contain {len(current)} items, not {len(value)}")
    return type(current)(value)
