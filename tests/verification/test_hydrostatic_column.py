"""Water at rest supports its own weight and keeps its volume."""

import pytest

from .cases.setting import GRAVITY
from .cases.water_column import CENTER, DENSITY, HEIGHT, water_column

SETTINGS = [
    pytest.param(2, 40, "lattice", marks=pytest.mark.long),
    (2, 40, "poisson"),
    pytest.param(3, 20, "lattice", marks=pytest.mark.long),
    pytest.param(3, 20, "poisson", marks=pytest.mark.long),
]


@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "cells", "sampling"), SETTINGS)
def test_a_column_of_water_at_rest_has_the_pressure_of_its_weight(dimension: int, cells: int, sampling: str) -> None:
    """dp/dz = -rho g and p(0) = rho g H; the center of mass is that of the compressed column, .49836 H."""
    column = water_column(dimension, cells=cells, sampling=sampling)
    assert column.gradient == pytest.approx(-DENSITY * GRAVITY, rel=0.05)
    assert column.base_pressure == pytest.approx(DENSITY * GRAVITY * HEIGHT, rel=0.05)
    # a Poisson-disk sample's own center is not exactly in the middle
    sampled = column.centers[0] - HEIGHT / 2.0
    assert column.center == pytest.approx(CENTER + sampled, rel=0.003)
    assert abs(sampled) < 0.002 * HEIGHT
    assert column.kinetic_energy <= 4e-4
    assert column.volume_ratio == pytest.approx(1.0, abs=0.01)
    assert column.top == pytest.approx(HEIGHT, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("offset", [pytest.param(0.25, marks=pytest.mark.long), 0.5, pytest.param(0.75, marks=pytest.mark.long)])
def test_water_does_not_sink_into_walls_that_lie_between_nodes(offset: float) -> None:
    """All walls of the tank lie a part of a cell off the nodes of the grid."""
    column = water_column(2, cells=20, offset=offset)
    assert column.center == pytest.approx(CENTER, rel=0.003)
    assert column.gradient == pytest.approx(-DENSITY * GRAVITY, rel=0.05)
    assert column.volume_ratio == pytest.approx(1.0, abs=0.01)


@pytest.mark.long
def test_water_on_the_moon_weighs_less() -> None:
    """Negative control: a sixth of the gravity gives a sixth of the pressure."""
    column = water_column(2, gravity=GRAVITY / 6.0, cells=20, seconds=1.0)
    assert column.base_pressure == pytest.approx(DENSITY * GRAVITY * HEIGHT / 6.0, rel=0.1)
