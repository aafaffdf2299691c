"""Arrays inside frozen dataclasses: canonical, read-only, and compared by value."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def frozen_array(values: ArrayLike, kinds: str, dtype: type) -> NDArray[Any]:
    """`values` as a read-only C-contiguous array of `dtype`, copied unless it already is one.

    An array whose kind (a letter of numpy's `dtype.kind`) is not in `kinds` is returned unchanged, so that `check` can report it.
    """
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(dtype)
    if array.dtype.kind not in kinds:
        return array
    if array.dtype != dtype or array.flags.writeable or not array.flags.c_contiguous:
        array = np.array(array, dtype=dtype, order="C")
        array.flags.writeable = False
    return array


class ArrayEquality:
    """Makes the equality of a dataclass compare its arrays by value."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, field.name), getattr(other, field.name))
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.compare
        )
