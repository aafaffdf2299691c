"""Laws as the solver runs them: lanes against scalars, water's bound, unknown names. Their results are verified elsewhere."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core import evaluate_law, return_map
from mpm_addon.core.arithmetic.vector import LANE_COUNT
from mpm_addon.core.errors import SceneError
from mpm_addon.core.laws import LAWS, FluidLaw, Law
from mpm_addon.core.laws.water import STRAIN_RATES, TOLERANCE
from mpm_addon.core.transfer.advance import advance_material
from mpm_addon.core.transfer.rows import DEFORMATION, ROW_COUNT, STATE, STRESS, VELOCITY_GRADIENT

EYE = np.eye(3)

# every law as it comes, and the forms that run other code
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in LAWS},
    "steady sand": ("sand", {"friction_angle": 35.0}),
    "wet sand": ("sand", {"cohesion": 2000.0}),
    "snow of neo_hookean": ("snow", {"elasticity": "neo_hookean"}),
    "linear cohesive water": ("water", {"equation_of_state": "linear", "cohesion": 1000.0}),
    "brittle": ("brittle", {"tensile_strength": 3e4}),
    "hardening metal": ("von_mises", {"hardening": 1e5, "yield_stress": 3000.0}),
    "thinning cream": ("viscoplastic", {"exponent": 0.4, "yield_stress": 30.0}),
    "thickening paste": ("viscoplastic", {"exponent": 1.7, "yield_stress": 0.0}),
}


def as_matrices(table: np.ndarray, row: int, order: list[int]) -> np.ndarray:
    return np.stack([table[row + place] for place in order], axis=1).reshape(-1, 3, 3).astype(np.float64)


def advanced_by_the_solver(
    law: Law, dimension: int, f: np.ndarray, gradient: np.ndarray, dt: float, dtype: Any, extremes: np.ndarray | None = None
) -> np.ndarray:
    """The particles' table after a step of the solver's kernel, which fills `extremes` (see `advance_material`)."""
    table = np.zeros((ROW_COUNT, len(f)), dtype)
    table[DEFORMATION : DEFORMATION + 9] = f.reshape(-1, 9).T
    table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9] = gradient.reshape(-1, 9).T
    for row, value in enumerate(law.virgin_state):
        table[STATE + row] = value
    extremes = np.zeros(3) if extremes is None else extremes
    # so full that J follows L alone: a little more room than it takes, by less than the noise
    space = np.repeat(np.array([[0.985], [0.04]], dtype), len(f), axis=1)
    advance_material(law.constants(dimension=dimension), dimension, table, dt, space, extremes)
    assert np.isfinite(extremes).all()
    assert extremes[1] == pytest.approx(np.sqrt((gradient**2).sum(axis=(1, 2)).max()), rel=1e-6)
    return table


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(("name", "parameters"), FORMS.values(), ids=list(FORMS))
def test_the_wave_speed_at_rest_is_that_of_the_solver_and_of_the_stress(name: str, parameters: dict[str, Any], dimension: int) -> None:
    """What a law tells estimates is what its kernel finds in undeformed matter, and the root of its stiffness in a bar over density."""
    law = LAWS[name](**parameters)
    rest = np.repeat(EYE[None], LANE_COUNT, axis=0)
    extremes = np.zeros(3)
    advanced_by_the_solver(law, dimension, rest, np.zeros_like(rest), 1e-3, np.float32, extremes)
    squeeze = 1e-6
    f = np.eye(dimension)
    f[0, 0] -= squeeze
    stiffness = -evaluate_law(law, f)[1][0, 0] / squeeze
    assert law.wave_speed(dimension=dimension) == pytest.approx(extremes[0], rel=0.01)
    assert law.wave_speed(dimension=dimension) == pytest.approx(np.sqrt(stiffness / law.density), rel=0.01)
    assert law.wave_speed(4.0, dimension) == pytest.approx(2.0 * law.wave_speed(1.0, dimension))


@pytest.mark.parametrize(("dtype", "strain_tolerance", "stress_tolerance"), [(np.float32, 2e-6, 1e-5), (np.float64, 1e-13, 1e-12)])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(("name", "parameters"), FORMS.values(), ids=list(FORMS))
def test_lanes_agree_with_scalars(
    name: str, parameters: dict[str, Any], dimension: int, dtype: Any, strain_tolerance: float, stress_tolerance: float
) -> None:
    """One step of the solver's kernel against return mapping and stress at points; in the plane y stays exactly as it was."""
    law = LAWS[name](**parameters)
    count, dt = 64, 1e-3
    rng = np.random.default_rng(11)
    f = 0.995 * (EYE + 0.02 * np.random.default_rng(8).normal(size=(count, 3, 3)))
    gradient = rng.normal(size=(count, 3, 3))
    axes = slice(None, None, 1 if dimension == 3 else 2)
    if dimension == 2:
        f[:, 1], f[:, :, 1] = EYE[1], EYE[1]
        gradient[:, 1], gradient[:, :, 1] = 0.0, 0.0
    if isinstance(law, FluidLaw):
        f[:] = EYE
    # what float32 makes of the input is no error of the law
    f, gradient = f.astype(dtype).astype(np.float64), gradient.astype(dtype).astype(np.float64)
    table = advanced_by_the_solver(law, dimension, f, gradient, dt, dtype)

    small, rate = f[:, axes, axes], gradient[:, axes, axes]
    if isinstance(law, FluidLaw):
        volume = 1.0 + dt * np.trace(rate, axis1=1, axis2=2)
        assert table[STATE] == pytest.approx(volume, abs=strain_tolerance)
        expected, state = volume[:, None, None] ** (1.0 / dimension) * np.eye(dimension), {}
    else:
        trial = (np.eye(dimension) + dt * rate) @ small
        expected, state = return_map(law, trial, time_step=dt)
        found = as_matrices(table, DEFORMATION, list(range(9)))
        assert np.abs(found[:, axes, axes] - expected).max() < strain_tolerance
        if dimension == 2:
            assert (found[:, 1] == EYE[1]).all() and (found[:, :, 1] == EYE[1]).all()
        for row, values in enumerate(state.values()):
            assert table[STATE + row] == pytest.approx(values, abs=10.0 * strain_tolerance)
    stress = evaluate_law(law, expected, state=state, velocity_gradient=rate)[1]
    modulus = getattr(law, "young_modulus", 0.0) or getattr(law, "bulk_modulus", 1.0)
    stress_found = as_matrices(table, STRESS, [0, 1, 2, 1, 3, 4, 2, 4, 5])[:, axes, axes]
    assert np.abs(stress_found - stress).max() < stress_tolerance * modulus * (5.0 if name == "snow" else 1.0)


@pytest.mark.parametrize("dimension", [2, 3])
def test_forms_of_this_test_do_flow(dimension: int) -> None:
    """Otherwise the test above would only compare elastic substeps."""
    trial = 0.995 * (np.eye(dimension) + 0.02 * np.random.default_rng(8).normal(size=(64, dimension, dimension)))
    for name, parameters in FORMS.values():
        f, _ = return_map(name, trial, None, parameters)
        if name in ("snow", "sand", "von_mises", "viscoplastic"):
            assert not np.array_equal(f, trial), name


NOISE = 0.02


def volume_ratio_of_water(before: float, fullness: float, dimension: int, *, shear: float, dt: float, steps: int = 1) -> float:
    """J of water after some steps of simple shear [1/s] in space of a given fullness."""
    table = np.zeros((ROW_COUNT, LANE_COUNT))
    table[STATE] = before
    table[VELOCITY_GRADIENT + 2] = shear
    space = np.repeat([[fullness], [NOISE]], LANE_COUNT, axis=1)
    for _ in range(steps):
        advance_material(LAWS["water"]().constants(dimension=dimension), dimension, table, dt, space, np.zeros(3))
    assert (table[STATE] == table[STATE, 0]).all()
    return float(table[STATE, 0])


@pytest.mark.parametrize(("fullness", "expected"), [(2.0, 1.0), (1.0, 1.0), (0.8, 1.25), (0.5, 1.5), (0.0, 1.5)])
@pytest.mark.parametrize("dimension", [2, 3])
def test_expanded_water_takes_no_more_volume_than_the_grid_shows(fullness: float, expected: float, dimension: int) -> None:
    """J 1.5 becomes 1 / fullness at most, and 1 in full space."""
    assert volume_ratio_of_water(1.5, fullness, dimension, shear=0.0, dt=1e-3) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("before", "fullness"), [(1.0, 0.8), (0.9, 0.8), (1.0, 1.1), (0.9, 1.0)])
@pytest.mark.parametrize("dimension", [2, 3])
def test_water_that_deforms_takes_the_volume_that_the_grid_shows(before: float, fullness: float, dimension: int) -> None:
    """From both sides, but for noise; all but 1/e of the rest while it is sheared by 1 / (2 sqrt(1/2)). At rest J stays."""
    reached = 1.0 / fullness + TOLERANCE * (NOISE if before > 1.0 / fullness else -NOISE)
    shear = 10.0
    seconds = 1.0 / (STRAIN_RATES * np.sqrt(0.5) * shear)
    expected = reached + (before - reached) * np.exp(-1.0)
    found = volume_ratio_of_water(before, fullness, dimension, shear=shear, dt=1e-3 * seconds, steps=1000)
    assert found == pytest.approx(expected, rel=1e-3)
    assert volume_ratio_of_water(before, fullness, dimension, shear=0.0, dt=1.0) == before


@pytest.mark.parametrize("dimension", [2, 3])
def test_spray_is_not_compressed(dimension: int) -> None:
    """Where space is not full, J is 1 at least."""
    assert volume_ratio_of_water(0.8, 0.5, dimension, shear=0.0, dt=1e-3) == 1.0
    assert volume_ratio_of_water(0.8, 1.0, dimension, shear=0.0, dt=1e-3) == 0.8


def test_what_is_not_a_number_is_seen() -> None:
    """A NaN in a particle's F, or in its L, reaches the check that stops the step, with every law that has a stress."""
    for name, row in ((name, row) for name in LAWS if name != "stress_free" for row in (DEFORMATION, VELOCITY_GRADIENT)):
        law = LAWS[name]()
        if isinstance(law, FluidLaw) and row == DEFORMATION:
            continue
        table = np.zeros((ROW_COUNT, LANE_COUNT), np.float32)
        table[[DEFORMATION, DEFORMATION + 4, DEFORMATION + 8]] = 1.0
        for place, value in enumerate(law.virgin_state):
            table[STATE + place] = value
        table[row, 3] = np.nan
        for dimension in (2, 3):
            extremes = np.zeros(3)
            advance_material(law.constants(dimension=dimension), dimension, table.copy(), 1e-3, np.zeros_like(table[:2]), extremes)
            assert np.isnan(extremes[2]), (name, row, dimension)


def test_viscosity_that_limits_the_step_is_named_by_the_law() -> None:
    assert LAWS["water"](viscosity=3.0).greatest_viscosity() == 3.0
    # t (lambda + 2 mu): nu = 0 makes it t E; stiffness scales it
    rubber = LAWS["damped_elastic"](young_modulus=1e4, poisson_ratio=0.0, damping_time=0.01)
    assert rubber.greatest_viscosity() == pytest.approx(100.0)
    assert rubber.greatest_viscosity(2.0) == pytest.approx(200.0)
    # its flow is implicit: no step is too long for it
    assert LAWS["viscoplastic"](viscosity=1e6).greatest_viscosity() == 0.0


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(SceneError, match='did you mean "sand"'):
        evaluate_law("sandd", EYE)
    with pytest.raises(SceneError, match='did you mean "young_modulus"'):
        evaluate_law("snow", EYE, {"youngs_modulus": 1.0})
    with pytest.raises(SceneError, match='did you mean "plastic_volume_ratio"'):
        evaluate_law("snow", EYE, state={"plastic_volume": 1.0})


def test_matrices_of_another_shape_are_refused() -> None:
    with pytest.raises(SceneError, match=r"F: shape \(4, 4\) does not end in \(3, 3\) or \(2, 2\)"):
        evaluate_law("sand", np.eye(4))
    with pytest.raises(SceneError, match=r"velocity_gradient: shape \(3, 3\) is not that of F \(2, 2\)"):
        evaluate_law("water", np.eye(2), velocity_gradient=EYE)
    with pytest.raises(SceneError, match="F_trial has values that are not finite"):
        return_map("sand", np.nan * EYE)


def test_values_without_effect_are_idle() -> None:
    assert LAWS["water"].idle(LAWS["water"]()) == frozenset()
    assert LAWS["water"].idle(LAWS["water"](stiffness="automatic", equation_of_state="linear")) == {"bulk_modulus", "exponent"}  # type: ignore[call-arg]
    assert LAWS["sand"].idle(LAWS["sand"]()) == frozenset()
