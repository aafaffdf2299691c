"""A preview predicts the bake: with the same stiffness and friction, half the grid spacing gives nearly the same result."""

import numpy as np
import pytest

from .cases.beam import RESTED, sagging_beam
from .cases.column_collapse import column_collapse
from .cases.dam_break import dam_break
from .cases.impact import bouncing_ball

WITHIN = 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("aspect", "floor", "friction"),
    [
        pytest.param(1.0, "sticky", 0.0, marks=pytest.mark.long),
        (1.0, "separate", 0.577),
        pytest.param(2.0, "separate", 0.577, marks=pytest.mark.long),
    ],
)
def test_sand_runs_as_far_and_heaps_as_high_at_half_the_spacing(aspect: float, floor: str, friction: float) -> None:
    """Compared where the heap is two cells of the preview high: the floor's nodes hold a layer of nearly two cells, at any
    spacing, so that the thin edge beyond is shorter in the preview."""
    preview, final = (column_collapse(2, aspect, cells=cells, floor=floor, floor_friction=friction, seconds=0.8) for cells in (10, 20))
    assert preview.shoulder == pytest.approx(final.shoulder, rel=WITHIN)
    assert preview.height == pytest.approx(final.height, rel=WITHIN)


@pytest.mark.long
def test_a_beam_sags_as_far_at_half_the_spacing() -> None:
    assert sagging_beam(2, 4.0, cells=2, periods=RESTED).tip[1] == pytest.approx(
        sagging_beam(2, 4.0, cells=4, periods=RESTED).tip[1], rel=WITHIN
    )


@pytest.mark.parametrize(("dimension", "cells"), [(2, 20), (3, 15)])
def test_a_ball_rebounds_as_high_at_half_the_spacing(dimension: int, cells: int) -> None:
    assert bouncing_ball(dimension, cells=cells).rebound == pytest.approx(bouncing_ball(dimension, cells=2 * cells).rebound, rel=WITHIN)


@pytest.mark.slow
def test_water_runs_as_far_at_half_the_spacing() -> None:
    time = np.linspace(0.5, 2.9, 13)
    assert dam_break(2, cells=10).at(time) == pytest.approx(dam_break(2, cells=20).at(time), rel=WITHIN)
