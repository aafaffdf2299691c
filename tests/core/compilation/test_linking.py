"""Functions called only by kernels are linked into them; functions called from Python or C stay callable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cfunc, njit
from numba.core.registry import cpu_target
from numba.extending import overload

from mpm_addon.core.compilation.kernel import kernel


def inner(a: float) -> float:
    """Twice a number that is not negative, for compiled functions."""
    raise TypeError("inner is for kernels")


@overload(inner)
def _overload_inner(a):
    def doubled(a):
        if a < 0.0:
            raise ValueError("negative")
        return 2.0 * a

    return doubled


@kernel
def middle(a):
    return inner(a) + 1.0


@kernel
def outer(a):
    return middle(a) + inner(a)


@njit
def told(a):
    if a[0] > 1.0:
        raise ValueError("more than", a.size)
    return inner(a[0])


def test_a_kernel_that_another_called_first_can_be_called_from_python() -> None:
    assert outer(1.0) == 5.0
    assert middle(1.0) == 3.0


def test_what_is_linked_raises_as_everything_compiled_does() -> None:
    with pytest.raises(ValueError, match="negative"):
        outer(-1.0)
    with pytest.raises(ValueError) as raised:
        told(np.array([1.5]))
    assert raised.value.args == ("more than", 1)


def test_a_function_for_c_can_be_called() -> None:
    @cfunc("float64(float64)")
    def called(a: Any) -> Any:
        return inner(a) + 0.5

    assert called.ctypes(1.0) == 2.5


def test_what_kernels_alone_call_has_no_machine_code() -> None:
    outer(1.0)
    engine: Any = cpu_target.target_context.codegen()._engine
    symbols = {name for name in engine._defined_symbols if not name.startswith("_ZN08NumbaEnv")}
    assert any("middle" in name for name in symbols)
    assert not any("doubled" in name for name in symbols)
