"""Laws against closed forms, finite differences and invariance (values worked out by hand from the papers' formulas)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpm_addon.core import evaluate_law, return_map
from mpm_addon.core.bodies import Body
from mpm_addon.core.errors import SceneError
from mpm_addon.core.kernels.rows import DEFORMATION, DENSITY, ROW_COUNT, STATE, STRESS, VELOCITY_GRADIENT
from mpm_addon.core.laws import LAWS, PrincipalLaw
from mpm_addon.core.laws.advance import advance_material

GOLDEN = np.array([[1.2, 0.1, 0.0], [0.05, 0.9, -0.1], [0.0, 0.2, 1.1]])
EYE = np.eye(3)
STRESSED = [name for name in LAWS if name != "stress_free"]


def near_identity(count: int, size: float, seed: int = 0) -> np.ndarray:
    return EYE + size * np.random.default_rng(seed).normal(size=(count, 3, 3))


def piola(name: str, f: np.ndarray, **parameters: float) -> np.ndarray:
    """P = tau F^-T."""
    return evaluate_law(name, f, parameters)[1] @ np.linalg.inv(f).swapaxes(-1, -2)


@pytest.mark.parametrize(
    ("name", "energy", "p00", "p01"),
    [("corotated", 4173.517094, 27439.188823, 5208.989489), ("neo_hookean", 3844.481082, 23022.769716, 5105.766920)],
)
def test_golden_values(name: str, energy: float, p00: float, p01: float) -> None:
    parameters = {"young_modulus": 1e5, "poisson_ratio": 0.3}
    assert evaluate_law(name, GOLDEN, parameters)[0] == pytest.approx(energy, rel=1e-9)
    stress = piola(name, GOLDEN, **parameters)
    assert stress[0, 0] == pytest.approx(p00, rel=1e-9)
    assert stress[0, 1] == pytest.approx(p01, rel=1e-9)


@pytest.mark.parametrize("name", STRESSED)
def test_stress_is_the_derivative_of_energy(name: str) -> None:
    f = near_identity(200, 0.08) * (0.9 if name == "water" else 1.0)
    numeric = np.empty_like(f)
    h = 1e-6
    for i, j in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[i, j] = h
        numeric[:, i, j] = (evaluate_law(name, f + step)[0] - evaluate_law(name, f - step)[0]) / (2 * h)
    exact = piola(name, f)
    assert np.abs(numeric - exact).max() < 1e-7 * np.abs(exact).max()


@pytest.mark.parametrize("name", STRESSED)
def test_laws_are_objective_symmetric_and_stress_free_at_rest(name: str) -> None:
    f = near_identity(100, 0.1, seed=2)
    rotation = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))
    energy, stress = evaluate_law(name, f)
    turned_energy, turned_stress = evaluate_law(name, rotation @ f)
    size = max(1.0, np.abs(stress).max())
    assert turned_energy == pytest.approx(energy, rel=1e-10, abs=1e-12 * size)
    assert np.abs(turned_stress - rotation @ stress @ rotation.T).max() < 1e-12 * size
    assert np.abs(stress - stress.swapaxes(1, 2)).max() < 1e-12 * size
    energy, stress = evaluate_law(name, EYE)
    assert abs(energy) < 1e-9 and np.abs(stress).max() < 1e-9
    assert np.trace(evaluate_law(name, 0.95 * EYE)[1]) < 0.0


@pytest.mark.parametrize("name", ["corotated", "neo_hookean"])
def test_small_strain_gives_linear_elasticity(name: str) -> None:
    f = EYE + np.diag([1e-3, 5e-4, 0.0])
    stress = evaluate_law(name, f, {"young_modulus": 1e7, "poisson_ratio": 0.3})[1]
    assert np.diag(stress) == pytest.approx([16346.15, 12500.0, 8653.85], rel=2.5e-3)


@pytest.mark.parametrize(
    ("stretch", "lateral", "stress"),
    [(0.7, 1.107935, -0.405230), (0.9, 1.031702, -0.108722), (1.1, 0.971493, 0.093077), (1.3, 0.922000, 0.248496)],
)
def test_neo_hookean_bar_under_uniaxial_stress(stretch: float, lateral: float, stress: float) -> None:
    p = piola("neo_hookean", np.diag([stretch, lateral, lateral]), young_modulus=1.0, poisson_ratio=0.3)
    assert p[0, 0] == pytest.approx(stress, abs=2e-6)
    assert abs(p[1, 1]) < 2e-6


def test_water_pushes_back_only_when_compressed() -> None:
    assert np.diag(evaluate_law("water", 0.99 * EYE)[1]).max() < 0.0
    assert np.abs(evaluate_law("water", 1.01 * EYE)[1]).max() == 0.0
    # p = K/gamma (J^-gamma - 1), K = 7, gamma = 7, J = 1/8
    tau = evaluate_law("water", 0.5 * EYE, {"bulk_modulus": 7.0, "exponent": 7.0})[1]
    assert tau[0, 0] == pytest.approx(-(8.0**7 - 1.0) / 8.0)


def test_water_is_viscous() -> None:
    shear = np.zeros((3, 3))
    shear[0, 2] = 2.0
    tau = evaluate_law("water", EYE, {"viscosity": 3.0}, velocity_gradient=shear)[1]
    assert tau == pytest.approx(np.array([[0.0, 0.0, 6.0], [0.0, 0.0, 0.0], [6.0, 0.0, 0.0]]))


@pytest.mark.parametrize(
    ("trial", "stretch", "volume_ratio", "factor"),
    [(0.9, 0.975, 0.786527, 8.454756), (1.05, 1.0075, 1.131964, 0.267231), (0.98, 0.98, 1.0, 1.0), (1.005, 1.005, 1.0, 1.0)],
)
def test_snow_yields_as_in_the_paper(trial: float, stretch: float, volume_ratio: float, factor: float) -> None:
    f, state = return_map("snow", trial * EYE)
    assert f == pytest.approx(stretch * EYE, abs=1e-14)
    assert state["plastic_volume_ratio"] == pytest.approx(volume_ratio, abs=1e-6)
    hard = np.trace(evaluate_law("snow", f, state=state)[1])
    soft = np.trace(evaluate_law("snow", f)[1])
    assert hard / soft == pytest.approx(factor, rel=1e-5)


def test_snow_keeps_total_volume_when_it_yields() -> None:
    trial = near_identity(500, 0.1, seed=4)
    f, state = return_map("snow", trial, parameters={"volume_ratio_min": 0.01, "volume_ratio_max": 100.0})
    assert np.linalg.det(f) * state["plastic_volume_ratio"] == pytest.approx(np.linalg.det(trial), rel=1e-12)


@pytest.mark.parametrize("name", [name for name, law in LAWS.items() if issubclass(law, PrincipalLaw)])
def test_elastic_trial_is_returned_bit_for_bit(name: str) -> None:
    trial = (1.0 - 1e-3) * near_identity(200, 1e-5)
    f, state = return_map(name, trial, parameters={"friction_angle": 40.0} if name == "sand" else None)
    assert np.array_equal(f, trial)
    for key, virgin in zip(LAWS[name].state_names, LAWS[name].virgin_state, strict=True):
        assert (state[key] == virgin).all()


def test_sand_flows_at_its_angle_of_friction() -> None:
    # simple shear at constant volume: tau/p = 3 alpha / sqrt 2, .69282 for 30 degrees
    f, state = np.exp(-0.005) * EYE, None
    step = EYE + 1e-4 * np.outer([1.0, 0.0, 0.0], [0.0, 0.0, 1.0])
    for _ in range(4000):
        f, state = return_map("sand", step @ f, state, {"friction_angle": 30.0})
    stress = evaluate_law("sand", f, {"friction_angle": 30.0})[1]
    assert stress[0, 2] / (-np.trace(stress) / 3.0) == pytest.approx(0.69282, rel=1e-3)
    assert np.linalg.det(f) == pytest.approx(np.exp(-0.015), rel=1e-12)


def test_sand_keeps_pressure_but_no_tension() -> None:
    f, _ = return_map("sand", 0.99 * EYE)
    assert np.array_equal(f, 0.99 * EYE)
    f, state = return_map("sand", 1.01 * EYE)
    assert f == pytest.approx(EYE, abs=1e-15)
    assert state["added_volume"] == pytest.approx(3.0 * np.log(1.01))
    # the volume that expansion added must be closed before pressure comes back
    f, state = return_map("sand", 0.995 * f, state)
    assert f == pytest.approx(EYE, abs=1e-15)


@pytest.mark.parametrize(("hardening", "angle"), [(0.0, 25.0), (0.1, 26.0802), (1.0, 34.1813), (10.0, 45.8268)])
def test_sand_hardens_as_in_the_paper(hardening: float, angle: float) -> None:
    # at the cone |e^| = -(3 lam + 2 mu) / (2 mu) tr(e) alpha: a uniaxial shear just inside stays, just outside flows
    sine = np.sin(np.radians(angle))
    alpha = np.sqrt(2.0 / 3.0) * 2.0 * sine / (3.0 - sine)
    poisson = 0.3
    factor = (3 * poisson / (1 - 2 * poisson) + 1.0) * alpha
    trace = -0.01
    for scale, is_elastic in ((0.9999, True), (1.0001, False)):
        deviator = scale * factor * -trace / np.sqrt(2.0) * np.array([1.0, -1.0, 0.0])
        trial = np.diag(np.exp(trace / 3.0 + deviator))
        f, state = return_map("sand", trial, {"hardening": hardening, "added_volume": 0.0})
        assert np.array_equal(f, trial) == is_elastic
        assert (state["hardening"] == hardening) == is_elastic


@pytest.mark.parametrize("name", STRESSED)
def test_lanes_of_float32_agree_with_scalars_of_float64(name: str) -> None:
    """One step of the solver's kernel against return mapping and stress at points."""
    law = LAWS[name](friction_angle=35.0) if name == "sand" else LAWS[name]()
    body = Body("body", law, law.constants(), 0, frozenset({0}), 3)
    count, dt = 64, 1e-3
    rng = np.random.default_rng(11)
    f = near_identity(count, 0.02, seed=8) * 0.995
    gradient = rng.normal(size=(count, 3, 3))
    table = np.zeros((ROW_COUNT, count), np.float32)
    table[DEFORMATION : DEFORMATION + 9] = f.reshape(count, 9).T
    table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9] = gradient.reshape(count, 9).T
    for row, value in enumerate(law.virgin_state):
        table[STATE + row] = value
    advance_material(body.constants, 3, table, np.array([0, count]), 0, 1, np.array([0, 1]), dt, np.zeros((1, 3)))

    if body.is_fluid:
        f = np.cbrt(1.0 + dt * np.trace(gradient, axis1=1, axis2=2))[:, None, None] * EYE
        expected, state = f, {}
    else:
        expected, state = return_map(law, (EYE + dt * gradient) @ f)
        assert np.abs(table[DEFORMATION : DEFORMATION + 9].T.reshape(-1, 3, 3) - expected).max() < 2e-6
    stress = evaluate_law(law, expected, state=state, velocity_gradient=gradient)[1]
    found = table[STRESS : STRESS + 6].T[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    modulus = getattr(law, "young_modulus", None) or law.bulk_modulus
    assert np.abs(found - stress).max() < 1e-5 * modulus


@given(st.sampled_from(sorted(LAWS)), st.floats(allow_nan=True))
def test_parameters_out_of_range_are_named(name: str, value: float) -> None:
    law = LAWS[name]
    subject = 'Material "test"'
    if 0.0 < value < float("inf"):
        law(density=value).check(subject)
        return
    with pytest.raises(SceneError, match=r'^Material "test": density .* kg/m\^3 is not allowed; use a finite number above 0 kg/m\^3\.$'):
        law(density=value).check(subject)


def test_contradicting_friction_is_refused() -> None:
    with pytest.raises(SceneError, match="friction_angle and friction_hardening are both given"):
        LAWS["sand"](friction_angle=30.0, friction_hardening=(35.0, 9.0, 0.2, 10.0)).check("sand")
    with pytest.raises(SceneError, match="h0 5 degrees is not above h3 10 degrees"):
        LAWS["sand"](friction_hardening=(5.0, 9.0, 0.2, 10.0)).check("sand")
    with pytest.raises(SceneError, match="must stay below 90 degrees"):
        LAWS["sand"](friction_hardening=(80.0, 90.0, 0.2, 10.0)).check("sand")


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(SceneError, match='did you mean "sand"'):
        evaluate_law("sandd", EYE)
    with pytest.raises(SceneError, match='did you mean "young_modulus"'):
        evaluate_law("snow", EYE, {"youngs_modulus": 1.0})
    with pytest.raises(SceneError, match='did you mean "plastic_volume_ratio"'):
        evaluate_law("snow", EYE, state={"plastic_volume": 1.0})


@pytest.mark.parametrize(("density", "expected"), [(2000.0, 1.0), (1000.0, 1.0), (800.0, 1.25), (500.0, 1.5), (0.0, 1.5)])
def test_expanded_water_takes_no_more_volume_than_the_grid_shows(density: float, expected: float) -> None:
    """J 1.2 grows by a quarter to 1.5, but to no more than rho0 / rho, and to 1 in dense matter."""
    law = LAWS["water"]()
    table = np.zeros((ROW_COUNT, 8))
    table[STATE] = 1.2
    table[DENSITY] = density
    table[[VELOCITY_GRADIENT, VELOCITY_GRADIENT + 4]] = 0.125
    advance_material(law.constants(), 3, table, np.array([0, 8]), 0, 1, np.array([0, 1]), 1.0, np.zeros((1, 3)))
    assert table[STATE] == pytest.approx(expected, rel=1e-12)
