"""Material tears where it is stretched beyond `tear_stretch`, and nowhere else."""

import math

import pytest

from .cases.setting import OFFSETS
from .cases.tearing import pulled

SLOW = pytest.mark.slow


@pytest.mark.parametrize("offset", [0.25, *(pytest.param(offset, marks=SLOW) for offset in OFFSETS if offset != 0.25)])
def test_a_band_that_is_pulled_too_far_tears(offset: float) -> None:
    band = pulled(1.25, 1.6, offset=offset)
    assert band.is_apart
    assert band.gap > 0.05


@pytest.mark.parametrize("offset", [0.25, *(pytest.param(offset, marks=SLOW) for offset in OFFSETS if offset != 0.25)])
def test_a_band_that_is_pulled_less_stays_whole(offset: float) -> None:
    """Negative control. The corners at its grips are stretched most."""
    band = pulled(1.4, 1.15, offset=offset)
    assert not band.is_apart
    assert math.isnan(band.place)


def test_a_band_with_a_waist_tears_there() -> None:
    """Into two pieces with few crumbs between them, at half the stretch of the even one."""
    band = pulled(1.25, 1.3, spacing=0.025, waist=0.5)
    assert band.is_apart
    assert band.place < 0.06
    assert band.two_largest > 0.9


@pytest.mark.long
def test_an_even_band_tears_at_its_grips() -> None:
    """Negative control."""
    band = pulled(1.25, 1.6, spacing=0.025)
    assert band.is_apart
    assert band.place > 0.2


def test_a_band_with_a_rest_state_tears_cleanly_at_a_great_stretch() -> None:
    """Negative control: one that is pulled less stays whole."""
    band = pulled(2.0, 2.6, "rest")
    assert band.is_apart
    assert band.gap > 0.15
    whole = pulled(3.0, 2.0, "rest")
    assert not whole.is_apart
    assert math.isnan(whole.place)


@SLOW
def test_a_band_tears_in_three_dimensions() -> None:
    assert pulled(1.25, 1.6, dimension=3).is_apart
    assert not pulled(1.4, 1.15, dimension=3).is_apart
