"""The test of a kernel that users run: right here, and it sees kernels that are wrong."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.stepping import self_test
from mpm_addon.core.transfer.rows import STRESS


def test_the_kernel_is_right() -> None:
    assert self_test.kernel_problem() == ""


@pytest.mark.parametrize("spoil", [lambda row: 1.001 * row, lambda row: np.full_like(row, np.nan), lambda row: -row])
@pytest.mark.parametrize("lane", [0, -1])
def test_a_wrong_kernel_is_seen(spoil: Callable[[Any], Any], lane: int, monkeypatch: pytest.MonkeyPatch) -> None:
    right = self_test.advance_material

    def wrong(constants: Any, dimension: int, table: Any, *more: Any) -> None:
        right(constants, dimension, table, *more)
        table[STRESS, lane] = spoil(table[STRESS, lane])

    monkeypatch.setattr(self_test, "advance_material", wrong)
    assert self_test.kernel_problem().startswith("stress [")


def test_a_kernel_that_does_nothing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_test, "advance_material", lambda *_arguments: None)
    assert self_test.kernel_problem() == "stress [0.0, 0.0, 0.0, 0.0, 0.0, 0.0] Pa instead of [1320.0, 0.0, 0.0, 440.0, 0.0, 440.0] Pa"
