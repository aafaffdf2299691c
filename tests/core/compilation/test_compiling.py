"""Preparing kernels: without other processes, they are compiled in this one."""

import numba
import pytest

from mpm_addon.core.arithmetic import operations
from mpm_addon.core.stepping import compiling
from mpm_addon.core.stepping.kernel_list import Unit, Variant

UNITS = [Unit("step", f"transfer.sorting.{name}", Variant()) for name in ("count_arrivals", "place_arrivals", "find_origins")]


def test_without_processes_kernels_are_compiled_here_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    missing, compiled, told = list(UNITS), [], []

    def compile_here(unit: Unit) -> None:
        compiled.append(unit)
        if unit in missing:
            missing.remove(unit)

    monkeypatch.setattr(compiling, "missing_of", lambda units: [unit for unit in units if unit in missing])
    monkeypatch.setattr(compiling, "compile_unit", compile_here)
    monkeypatch.setattr(compiling.sys, "executable", "/no/such/python")
    compiling.kernel_problems()
    compiling.make_ready(UNITS, 2, lambda done, total: told.append((done, total)))
    assert compiled[:3] == UNITS
    assert told[0] == (0, 3)
    assert told[-1] == (3, 3)
    (line,) = compiling.kernel_problems()
    assert str(line).startswith("/no/such/python cannot be started (No such file or directory)")


def test_functions_marked_after_the_last_kernel_can_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    @operations.generic
    def late(a: float) -> float:
        return a + 1.0

    @numba.njit
    def calling(a: float) -> float:
        return late(a)

    monkeypatch.setattr(compiling, "dispatcher_of", lambda _unit: calling)
    monkeypatch.setattr(compiling, "argument_types", lambda _unit: (numba.types.float64,))
    compiling.compile_unit(Unit("rest", "calling", Variant("float32", "Quadratic3")))
    assert calling(1.0) == 2.0
