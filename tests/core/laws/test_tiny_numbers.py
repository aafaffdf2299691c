"""Denormal numbers, which take Intel's processors a hundred times as long, count as zero in laws."""

from __future__ import annotations

import numpy as np
import pytest

from mpm_addon.core.arithmetic.vector import HAS_CONTROL_WORD, LANE_COUNT, flush_tiny, load, restore_tiny, store
from mpm_addon.core.compilation.kernel import kernel


@kernel
def multiply(a, b, inside, outside):
    before = flush_tiny()
    store(inside, 0, load(a, 0, LANE_COUNT) * load(b, 0, LANE_COUNT))
    restore_tiny(before)
    store(outside, 0, load(a, 0, LANE_COUNT) * load(b, 0, LANE_COUNT))


@pytest.mark.skipif(not HAS_CONTROL_WORD, reason="for processors of the x86-64 family")
@pytest.mark.parametrize(("value", "expected"), [(1e-20, 0.0), (1e-15, 1e-30), (np.nan, np.nan), (np.inf, np.inf)])
def test_a_tiny_product_counts_as_zero_and_nothing_else_changes(value: float, expected: float) -> None:
    factors = np.full(LANE_COUNT, value, np.float32)
    inside, outside = np.ones((2, LANE_COUNT), np.float32)
    multiply(factors, factors, inside, outside)
    assert inside == pytest.approx(expected, rel=1e-6, abs=0.0, nan_ok=True)
    # what comes after is computed as it was before
    assert outside == pytest.approx(factors * factors, rel=1e-6, abs=0.0, nan_ok=True)
