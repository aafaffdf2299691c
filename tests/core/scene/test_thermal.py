"""Enthalpy and temperature, and the levels of parameters that follow from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.material import Material
from mpm_addon.core.scene.thermal import MOST_LEVELS, Thermal, law_at_temperature, levels_of_temperature

ICE = Thermal(heat_capacity=2100.0, melting_temperature=0.0, latent_heat=3.34e5, liquid_heat_capacity=4190.0)
WAX = Thermal(heat_capacity=2000.0, melting_temperature=50.0, melting_range=10.0, latent_heat=2e5)


@given(st.floats(-200.0, 2000.0))
def test_temperature_follows_from_enthalpy_and_back(temperature: float) -> None:
    for thermal in (WAX, Thermal()):
        assert thermal.temperature(np.array([thermal.enthalpy(temperature)]))[0] == pytest.approx(temperature, abs=1e-9)


def test_ice_stays_at_its_melting_point_until_it_has_taken_up_its_latent_heat() -> None:
    # c 10 K, then L, then c' 10 K
    heats = np.array([-21e3, 0.0, 1.67e5, 3.34e5, 3.34e5 + 41.9e3])
    assert ICE.temperature(heats) == pytest.approx([-10.0, 0.0, 0.0, 0.0, 10.0])
    assert ICE.melted(heats) == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.0])
    # negative control
    assert Thermal(heat_capacity=2100.0).temperature(heats)[-1] > 100.0


def test_parameters_change_by_ratio_between_positive_values_and_not_beyond_the_ends() -> None:
    curves = {"viscosity": ((20.0, 1e4), (60.0, 1.0)), "yield_stress": ((20.0, 100.0), (40.0, 0.0))}
    law = LAWS["viscoplastic"]()
    assert law_at_temperature(law, curves, 40.0).viscosity == pytest.approx(100.0)
    assert law_at_temperature(law, curves, 30.0).yield_stress == pytest.approx(50.0)
    assert law_at_temperature(law, curves, -300.0).viscosity == 1e4
    assert law_at_temperature(law, curves, 900.0).viscosity == 1.0


def test_a_curve_of_surface_tension_needs_the_kernels_of_both_kinds_of_water() -> None:
    water = Material("water", LAWS["water"](), thermal=WAX, curves={"surface_tension": ((0.0, 0.07), (100.0, 0.0))})
    assert water.kernel_names == {"water", "water_with_surface_tension"}
    assert Material("water", LAWS["water"]()).kernel_names == {"water"}


def test_levels_are_dense_where_parameters_change_and_few_where_there_are_many_factors() -> None:
    curves = {"viscosity": ((0.0, 1e4), (100.0, 1e4), (110.0, 1.0), (200.0, 1.0))}
    levels = np.array(levels_of_temperature(curves, 1, 64))
    assert len(levels) == MOST_LEVELS and (np.diff(levels) > 0.0).all()
    assert ((levels >= 99.9) & (levels <= 110.1)).sum() >= MOST_LEVELS - 2
    assert len(levels_of_temperature(curves, 16, 64)) == 4
    assert levels_of_temperature({}, 1, 64) == ()
