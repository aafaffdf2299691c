"""Bending: a clamped beam's first natural frequency, and its deflection under its weight."""

import csv
from pathlib import Path

import numpy as np
import pytest

from .cases.beam import RESTED, beam_vibration, elastica, sagging_beam
from .cases.convergence import observed_order

# in half as many substeps, bodies with a rest state come to the same rest to 1e-4 of their length
LONG_STEPS = 0.8
# three zero crossings; nothing damps the beam
PERIODS = 1.5
CANTILEVER = Path(__file__).parents[1] / "reference" / "bisshopp_drucker_1945.csv"


def test_the_elastica_that_beams_are_compared_with_is_that_of_bisshopp_and_drucker() -> None:
    lines = [line for line in CANTILEVER.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    for row in csv.DictReader(lines):
        x, z = elastica(0.0, float(row["load"]), count=200)[-1]
        assert -z == pytest.approx(float(row["down"]), abs=2e-5)
        assert 1.0 - x == pytest.approx(float(row["back"]), abs=2e-5)


@pytest.mark.long
def test_a_clamped_beam_swings_with_the_frequency_of_euler_and_bernoulli() -> None:
    """Twenty times as long as thick. The clamp begins at a node and holds half a cell less: the error falls with h."""
    cells = np.array([2, 4])
    swings = [beam_vibration(2, cells=int(count), periods=PERIODS) for count in cells]
    ratios = np.array([swing.frequency / swing.expected for swing in swings])
    assert ratios[0] == pytest.approx(1.0, abs=0.05)
    assert ratios[1] == pytest.approx(1.0, abs=0.02)
    assert observed_order(1.0 / cells, ratios - 1.0) > 0.9


@pytest.mark.long
def test_a_beam_in_space_swings_like_one_in_the_plane() -> None:
    """With nu = 0 the depth does not matter."""
    plane, space = (beam_vibration(dimension, cells=2, periods=PERIODS).frequency for dimension in (2, 3))
    assert space == pytest.approx(plane, rel=1e-6)


@pytest.mark.long
def test_a_beam_sags_under_its_own_weight_as_the_elastica_does() -> None:
    """w L^3 / (E I) = 1 and 4, down to .43 L. Too far by what the clamp holds less, shear (.8 %) and strain that the grid does not
    see: measured 8.5 and 5.8 % at 4 and 8 cells over the thickness for the smaller load, 10.7 and 7.4 % for the greater."""
    sags = {(load, cells): sagging_beam(2, load, cells=cells, periods=RESTED) for load in (1.0, 4.0) for cells in (2, 4, 8)}
    errors = {of: sag.tip[1] / sag.expected[1] - 1.0 for of, sag in sags.items()}
    for load in (1.0, 4.0):
        assert 0.0 < errors[load, 8] < 0.08
        assert errors[load, 8] < 0.75 * errors[load, 4]
        assert errors[load, 4] < 0.75 * errors[load, 2]
    # negative control: a beam that is stiffer by half
    stiff = sagging_beam(2, 1.0, cells=4, stiffness_scale=1.5, periods=RESTED)
    assert stiff.tip[1] < 0.8 * stiff.expected[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("load", "cells", "within"),
    [
        pytest.param(1.0, 4, 0.035, marks=pytest.mark.long),
        (4.0, 4, 0.03),
        *(pytest.param(load, 8, 0.02, marks=pytest.mark.long) for load in (1.0, 4.0)),
    ],
)
def test_forces_from_the_rest_state_see_strain_that_the_grid_of_the_world_does_not(load: float, cells: int, within: float) -> None:
    """Measured 2.9, 1.7, 2.6 and 1.6 % too far, of which shear is .8 %."""
    sag = sagging_beam(2, load, cells=cells, reference="rest", periods=RESTED, cfl=LONG_STEPS)
    assert 0.0 < sag.tip[1] / sag.expected[1] - 1.0 < within


@pytest.mark.long
@pytest.mark.parametrize(("clamp", "offset"), [("pins", 0.0), ("collider", 0.25)])
def test_a_beam_is_held_where_it_is_clamped_by_pins_and_wherever_the_clamp_lies(clamp: str, offset: float) -> None:
    """Measured 3.7 and 3.2 % too far, instead of 2.9. With forces from the current state and pins, 10.8 %."""
    sag = sagging_beam(2, 1.0, cells=4, reference="rest", clamp=clamp, offset=offset, periods=RESTED)
    assert 0.0 < sag.tip[1] / sag.expected[1] - 1.0 < 0.04
    control = sagging_beam(2, 1.0, cells=4, clamp="pins", periods=RESTED)
    assert control.tip[1] / control.expected[1] - 1.0 > 0.08
