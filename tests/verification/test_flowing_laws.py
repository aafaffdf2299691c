"""Check 3 for materials with a yield stress: von Mises (Simo and Hughes 1998, box 3.1) and Herschel-Bulkley (Yue et al. 2015)."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core import evaluate_law, return_map

from . import law_oracle as oracle

DIMENSIONS = pytest.mark.parametrize("dimension", [2, 3])
YIELD = 1e4
CLAY = {"young_modulus": 1e6, "poisson_ratio": 0.3, "yield_stress": YIELD}
MU, LAM = oracle.lame(1e6, 0.3)


def sheared(name: str, parameters: dict[str, Any], dimension: int, *, step: float, count: int, rate: float = 1.0) -> np.ndarray:
    """Kirchhoff stress after simple shear in x-z at a rate [1/s], `count` steps of a strain `step`."""
    f, state = np.eye(dimension), None
    advance = np.eye(dimension)
    advance[0, -1] = step
    for _ in range(count):
        f, state = return_map(name, advance @ f, state, parameters, time_step=step / rate)
    return evaluate_law(name, f, parameters, state)[1]


def radially_returned(trial: np.ndarray, radius: np.ndarray, *, axes: int | None = None) -> np.ndarray:
    """|dev tau| cut to a radius [Pa], on strain tensors; `axes` takes the mean over another number of axes than F has."""
    d = axes or trial.shape[-1]
    strain = oracle.hencky_of(trial)
    mean = oracle.isotropic(oracle.trace(strain) / d, trial)
    deviator = strain - mean
    size = 2.0 * MU * oracle.norm(deviator)
    flowed = oracle.of_principal_strain(trial, mean + (radius / size)[..., None, None] * deviator)
    return np.where((size <= radius)[..., None, None], trial, flowed)


@DIMENSIONS
def test_clay_in_simple_shear_saturates_at_its_yield_stress_over_sqrt_3(dimension: int) -> None:
    tau = sheared("von_mises", CLAY, dimension, step=1e-4, count=1000)
    # the axes of stress lag those of a pure shear by the elastic strain, 0.0075
    assert tau[0, -1] == pytest.approx(YIELD / np.sqrt(3.0), rel=3e-4)
    # negative control: below the yield strain it is not saturated
    tau = sheared("von_mises", CLAY, dimension, step=1e-5, count=500)
    assert tau[0, -1] == pytest.approx(MU * 0.005, rel=1e-4) and tau[0, -1] < 0.4 * YIELD


def test_a_pulled_bar_of_clay_yields_at_its_yield_stress() -> None:
    """Volume is kept beyond the yield point: the sides give way until they are free of stress."""
    f, state = np.eye(3), None
    for _ in range(60):
        low, high, side = 0.999, 1.0, 1.0
        for _ in range(25):
            side = 0.5 * (low + high)
            trial, _ = return_map("von_mises", np.diag([1.0005, side, side]) @ f, state, CLAY)
            low, high = (low, side) if evaluate_law("von_mises", trial, CLAY)[1][1, 1] > 0.0 else (side, high)
        f, state = return_map("von_mises", np.diag([1.0005, side, side]) @ f, state, CLAY)
    stress = evaluate_law("von_mises", f, CLAY)[1]
    assert stress[0, 0] == pytest.approx(YIELD, rel=1e-6) and abs(stress[1, 1]) < 1e-3 * YIELD


@DIMENSIONS
@pytest.mark.parametrize("hardening", [0.0, 2e5])
def test_returned_clay_is_on_the_yield_surface_or_in_it(dimension: int, hardening: float) -> None:
    trial = oracle.random_deformations(500, dimension, 0.008, seed=3)
    parameters = {**CLAY, "hardening": hardening}
    strain_before = np.random.default_rng(4).uniform(0.0, 0.02, 500)
    f, state = return_map("von_mises", trial, {"plastic_strain": strain_before}, parameters)
    tau = evaluate_law("von_mises", f, parameters, state)[1]
    radius = np.sqrt(2.0 / 3.0) * (YIELD + hardening * state["plastic_strain"])
    size = oracle.norm(oracle.deviator(tau))
    is_elastic = (f == trial).all(axis=(1, 2))
    assert 20 < is_elastic.sum() < 480
    assert (size <= radius * (1.0 + 1e-10)).all()
    assert size[~is_elastic] == pytest.approx(radius[~is_elastic], rel=1e-10)
    assert np.array_equal(state["plastic_strain"] == strain_before, is_elastic)
    assert np.linalg.det(f) == pytest.approx(np.linalg.det(trial), rel=1e-12)
    assert np.abs(f - radially_returned(trial, radius)).max() < 1e-12
    # what was lost of the elastic strain is what the state has gained
    lost = oracle.norm(oracle.hencky_of(trial) - oracle.hencky_of(f))
    assert np.sqrt(2.0 / 3.0) * lost == pytest.approx(state["plastic_strain"] - strain_before, abs=1e-12)


def test_the_mean_over_three_axes_is_wrong_in_the_plane() -> None:
    """Negative control: with tr(e)/3 in the plane the flow would change the volume."""
    trial = oracle.random_deformations(100, 2, 0.05, seed=3)
    wrong = radially_returned(trial, np.full(100, np.sqrt(2.0 / 3.0) * YIELD), axes=3)
    assert np.abs(np.linalg.det(wrong) - np.linalg.det(trial)).max() > 1e-3


@pytest.mark.parametrize("exponent", [0.3, 0.5, 1.0, 1.6])
@pytest.mark.parametrize("yield_stress", [0.0, 100.0])
@DIMENSIONS
def test_steady_shear_follows_herschel_and_bulkley(dimension: int, yield_stress: float, exponent: float) -> None:
    """tau = yield + eta rate^n (Herschel and Bulkley 1926), at rates over two decades."""
    parameters = {"young_modulus": 1e7, "yield_stress": yield_stress, "viscosity": 20.0, "exponent": exponent}
    for rate in (0.5, 5.0, 50.0):
        expected = yield_stress + 20.0 * rate**exponent
        shear_modulus, _ = oracle.lame(1e7, 0.4)
        strain = 2.0 * expected / shear_modulus
        tau = sheared("viscoplastic", parameters, dimension, step=strain / 20.0, count=1200, rate=rate)
        assert tau[0, -1] == pytest.approx(expected, rel=1e-3)
        assert abs(np.trace(tau)) < 1e-2 * expected


def test_bingham_is_not_herschel_and_bulkley() -> None:
    """Negative control: another exponent gives another stress."""
    parameters = {"young_modulus": 1e7, "yield_stress": 100.0, "viscosity": 20.0, "exponent": 1.0}
    tau = sheared("viscoplastic", parameters, 3, step=1e-5, count=1000, rate=50.0)
    assert abs(tau[0, -1] - (100.0 + 20.0 * 50.0**0.5)) > 100.0


def relaxed_by_bisection(stress: float, parameters: dict[str, float], mu: float, dt: float) -> float:
    """x + mu dt (x / eta)^(1/n) = X for x = T - yield, X = T_trial - yield."""
    excess = stress - parameters["yield_stress"]
    power = 1.0 / parameters["exponent"]
    x = oracle.bisected(lambda x: x + mu * dt * (x / parameters["viscosity"]) ** power - excess, 0.0, excess)
    return parameters["yield_stress"] + x


@DIMENSIONS
@pytest.mark.parametrize("exponent", [0.1, 0.2, 0.5, 0.99, 1.0, 1.01, 2.0, 3.0])
@pytest.mark.parametrize("viscosity", [1e-3, 10.0, 1e4])
def test_flow_of_any_exponent_and_any_step_solves_its_equation(dimension: int, exponent: float, viscosity: float) -> None:
    parameters = {"young_modulus": 1e5, "poisson_ratio": 0.3, "yield_stress": 50.0, "viscosity": viscosity, "exponent": exponent}
    mu, _ = oracle.lame(1e5, 0.3)
    trial = oracle.random_deformations(10, dimension, 0.05, seed=8)
    strain = oracle.hencky_of(trial)
    for dt in (1e-9, 1e-5, 1e-2, 1.0, 1e6):
        f, _ = return_map("viscoplastic", trial, None, parameters, time_step=dt)
        found = oracle.hencky_of(f)
        before, after = (np.sqrt(2.0) * mu * oracle.norm(oracle.deviator(each)) for each in (strain, found))
        expected = [relaxed_by_bisection(stress, parameters, mu, dt) for stress in before]
        assert after == pytest.approx(np.array(expected), rel=1e-9)
        assert oracle.trace(found) == pytest.approx(oracle.trace(strain), abs=1e-13)
        # along the trial's own deviator
        assert oracle.deviator(found) * before[:, None, None] == pytest.approx(
            oracle.deviator(strain) * after[:, None, None], abs=1e-9 * mu
        )
        # only ever down to the yield stress, whatever the step
        assert (after >= 50.0 * (1.0 - 1e-12)).all() and (after <= before * (1.0 + 1e-12)).all()


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_stress_relaxes_in_time_as_its_flow_law_says(exponent: float) -> None:
    """dx/dt = -mu (x / eta)^m has closed forms; the error halves with the step (backward Euler)."""
    mu, _ = oracle.lame(1e5, 0.3)
    eta, m, duration = 200.0, 1.0 / exponent, 2e-3
    parameters = {"young_modulus": 1e5, "poisson_ratio": 0.3, "yield_stress": 100.0, "viscosity": eta, "exponent": exponent}
    start = np.diag(np.exp([0.01, 0.0, -0.01]))
    x = np.sqrt(2.0) * mu * np.sqrt(2.0) * 0.01 - 100.0
    rate = mu * duration / eta**m
    exact = x * np.exp(-rate) if m == 1.0 else (x ** (1.0 - m) + (m - 1.0) * rate) ** (1.0 / (1.0 - m))
    assert exact < 0.9 * x
    errors = []
    for count in (20, 40):
        f = start
        for _ in range(count):
            f, _ = return_map("viscoplastic", f, None, parameters, time_step=duration / count)
        stress = np.sqrt(2.0) * mu * oracle.norm(oracle.hencky_of(f))
        errors.append(abs(stress - 100.0 - exact))
    assert errors[0] < 0.05 * x
    assert 0.4 < errors[1] / errors[0] < 0.6


@DIMENSIONS
def test_a_herschel_bulkley_fluid_is_elastic_below_its_yield_stress(dimension: int) -> None:
    """|dev tau| / sqrt 2 just below and just above the yield stress in shear."""
    mu, _ = oracle.lame(1e5, 0.3)
    parameters = {"young_modulus": 1e5, "poisson_ratio": 0.3, "yield_stress": 500.0}
    for scale, is_elastic in ((0.999, True), (1.001, False)):
        strain = np.zeros(dimension)
        strain[[0, -1]] = np.array([0.5, -0.5]) * scale * 500.0 / mu
        trial = np.diag(np.exp(strain))
        f, _ = return_map("viscoplastic", trial, None, parameters)
        assert np.array_equal(f, trial) == is_elastic
