"""The solver's return mappings and stresses, in lanes, for any F: every variant agrees with the results for single points."""

import math
from typing import Any

import numpy as np
import pytest

from mpm_addon.core import evaluate_law, return_map
from mpm_addon.core.arithmetic.linalg import determinant, times_transpose
from mpm_addon.core.arithmetic.symmetric import distortion
from mpm_addon.core.arithmetic.vector import LANE_COUNT
from mpm_addon.core.laws import LAWS, FluidLaw, Law
from mpm_addon.core.laws.dispatch import LEAST_PRODUCT, LEAST_REGULAR_RATIO
from mpm_addon.core.laws.hencky import HenckyLaw, flowed
from mpm_addon.core.transfer.advance import advance_material
from mpm_addon.core.transfer.rows import DEFORMATION, ROW_COUNT, STATE, STRESS, VELOCITY_GRADIENT
from tests.core.laws.test_laws import FORMS, advanced_by_the_solver, as_matrices

SOLIDS = {label: form for label, form in FORMS.items() if not issubclass(LAWS[form[0]], FluidLaw)}
FLOWING = [label for label, (name, _) in SOLIDS.items() if LAWS[name].state_names or issubclass(LAWS[name], HenckyLaw)]
DIMENSIONS = pytest.mark.parametrize("dimension", [2, 3])
PRECISIONS = pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-6), (np.float64, 1e-13)])
COUNT = 1024
DT = 1e-3
SYMMETRIC = [0, 1, 2, 1, 3, 4, 2, 4, 5]


def rotations(dimension: int, rng: np.random.Generator) -> np.ndarray:
    rotation = np.linalg.qr(rng.normal(size=(COUNT, dimension, dimension)))[0]
    rotation[:, :, 0] *= np.sign(np.linalg.det(rotation))[:, None]
    return rotation


def deformations(dimension: int, least: float, greatest: float, *, turned: float = 1.0, has_equal: bool = False) -> np.ndarray:
    """U S V^T with stretches between two limits; in the plane y is left alone."""
    rng = np.random.default_rng(17)
    stretches = np.exp(rng.uniform(math.log(least), math.log(greatest), size=(COUNT, dimension)))
    if has_equal:
        stretches[: COUNT // 2, 1] = stretches[: COUNT // 2, 0]
        stretches[: COUNT // 8] = stretches[: COUNT // 8, :1]
    # where it is negative, clearly the smallest: of two alike it is not determined which was turned
    stretches[::3, 0] *= turned
    f = rotations(dimension, rng) @ (stretches[:, :, None] * rotations(dimension, rng))
    if dimension == 3:
        return f
    whole = np.zeros((COUNT, 3, 3))
    whole[:, ::2, ::2], whole[:, 1, 1] = f, 1.0
    return whole


REGIMES: dict[str, dict[str, Any]] = {
    "undeformed": {"least": 1.0, "greatest": 1.0},
    "elastic": {"least": 0.9995, "greatest": 1.0001},
    "plastic": {"least": 0.95, "greatest": 1.02},
    "equal stretches": {"least": 0.93, "greatest": 1.05, "has_equal": True},
    "expanded": {"least": 1.0, "greatest": 1.1},
    "about the series' limit": {"least": 0.84, "greatest": 1.2},
    "beyond it": {"least": 0.4, "greatest": 1.6},
    "ten times": {"least": 0.1, "greatest": 10.0},
    "inverted": {"least": 0.8, "greatest": 1.2, "turned": -0.5},
    "mirrored": {"least": 0.97, "greatest": 1.03, "turned": -0.8},
}


def stepped(law: Law, dimension: int, f: np.ndarray, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """F, the table's rows of the state and tau after a step in which nothing moves."""
    table = advanced_by_the_solver(law, dimension, f, np.zeros_like(f), DT, dtype)
    return (
        as_matrices(table, DEFORMATION, list(range(9))),
        table[STATE : STATE + 2].astype(np.float64),
        as_matrices(table, STRESS, SYMMETRIC),
    )


@pytest.mark.parametrize("regime", REGIMES)
@DIMENSIONS
@PRECISIONS
@pytest.mark.parametrize("label", SOLIDS)
def test_lanes_are_right_at_any_deformation(label: str, dtype: Any, tolerance: float, dimension: int, regime: str) -> None:
    name, parameters = SOLIDS[label]
    law = LAWS[name](**parameters)
    trial = deformations(dimension, **REGIMES[regime]).astype(dtype).astype(np.float64)
    f, state, stress = stepped(law, dimension, trial, dtype)

    axes = slice(None, None, 1 if dimension == 3 else 2)
    expected, expected_state = return_map(law, trial[:, axes, axes], time_step=DT)
    expected_stress = evaluate_law(law, expected, state=expected_state)[1]
    f, stress = f[:, axes, axes], stress[:, axes, axes]
    size = np.abs(trial).max(axis=(1, 2))
    assert (np.abs(f - expected).max(axis=(1, 2)) / size).max() < tolerance
    for row, values in enumerate(expected_state.values()):
        assert (np.abs(state[row] - values) / np.maximum(1.0, np.abs(values))).max() < 10.0 * tolerance
    # packed snow is harder, and a stretch of 10 has a stress of some hundred times the modulus
    packing = expected_state["plastic_volume_ratio"] if name == "snow" else np.ones(COUNT)
    modulus = law.young_modulus * np.maximum(1.0, np.exp(10.0 * (1.0 - packing)))
    scale = np.maximum(modulus, np.abs(expected_stress).max(axis=(1, 2)))
    assert (np.abs(stress - expected_stress).max(axis=(1, 2)) / scale).max() < (2e-5 if dtype == np.float32 else 1e-11)


def test_deformations_of_this_test_take_every_way() -> None:
    """By series, by the axes of F F^T and by singular values: vectors of eight that take one, and regimes where they differ."""
    shares = {}
    for regime, choice in REGIMES.items():
        f = deformations(3, **choice)
        entries = tuple(f.reshape(-1, 9).T)
        _, _, m, n = distortion(times_transpose(entries, entries))
        is_singular = (1.0 - m + n < LEAST_PRODUCT) | (np.linalg.det(f) <= LEAST_REGULAR_RATIO)
        ways = {0.4: m > 0.75 * 0.4**2, 0.1: m > 0.75 * 0.1**2, 0.0: is_singular}
        shares[regime] = [float(way.reshape(-1, LANE_COUNT).any(axis=1).mean()) for way in ways.values()]
    assert shares["plastic"] == [0.0, 0.0, 0.0] and shares["ten times"][2] == 1.0 and shares["inverted"][2] == 1.0
    assert 0.1 < shares["about the series' limit"][0] < 0.9 and shares["about the series' limit"][2] == 0.0
    assert 0.1 < shares["expanded"][1] < 0.9 and 0.1 < shares["beyond it"][2] < 0.9


@PRECISIONS
@pytest.mark.parametrize("label", FLOWING)
def test_elastic_steps_keep_every_bit_and_flow_turns_no_axis(label: str, dtype: Any, tolerance: float) -> None:
    """Of what flows F_new F_trial^-1 is symmetric and has the axes of F F^T."""
    name, parameters = SOLIDS[label]
    law = LAWS[name](**parameters)
    trial = np.concatenate([deformations(3, **REGIMES[regime]) for regime in ("elastic", "plastic")]).astype(dtype).astype(np.float64)
    f, _, _ = stepped(law, 3, trial, dtype)
    is_kept = (return_map(law, trial, time_step=DT)[0] == trial).all(axis=(1, 2))
    assert (f[is_kept] == trial[is_kept]).all()
    assert is_kept.any() or parameters.get("yield_stress") == 0.0
    f, trial = f[~is_kept], trial[~is_kept]
    assert len(f) > 100 and np.abs(f - trial).max() > 1e-3
    change = f @ np.linalg.inv(trial)
    squared = trial @ trial.transpose(0, 2, 1)
    assert np.abs(change - change.transpose(0, 2, 1)).max() < 2.0 * tolerance
    assert np.abs(change @ squared - squared @ change).max() < 2.0 * tolerance


@pytest.mark.parametrize("label", ["sand", "von_mises", "viscoplastic"])
def test_stress_of_the_series_is_the_derivative_of_the_energy(label: str) -> None:
    """tau = dPsi/dF F^T by central differences, at what the flow has left of F."""
    law = LAWS[label]()
    constants = law.constants()
    assert isinstance(law, HenckyLaw)
    for trial in deformations(3, **REGIMES["plastic"])[:20]:
        entries = tuple(float(entry) for entry in trial.ravel())
        squared = distortion(times_transpose(entries, entries))
        f, state, stress, volume_ratio = flowed(law.flow, constants, entries, determinant(entries), squared, law.virgin_state, DT)
        f = np.reshape(f, (3, 3))
        step = 1e-5 * np.eye(9).reshape(9, 3, 3)
        high, low = (evaluate_law(law, f + sign * step, state=dict(zip(law.state_names, state, strict=True)))[0] for sign in (1.0, -1.0))
        derivative = ((high - low) / 2e-5).reshape(3, 3)
        assert np.abs(derivative @ f.T - np.array(stress)[SYMMETRIC].reshape(3, 3)).max() < 1e-7 * law.young_modulus
        assert volume_ratio == pytest.approx(np.linalg.det(f), rel=1e-12)


@pytest.mark.parametrize("label", ["von_mises", "viscoplastic"])
def test_volume_is_kept_by_flow_to_no_side(label: str) -> None:
    """Of many particles in float32 the mean change is far below rounding."""
    trial = deformations(3, **REGIMES["plastic"]).astype(np.float32).astype(np.float64)
    f, _, _ = stepped(LAWS[label](), 3, trial, np.float32)
    change = np.linalg.det(f) / np.linalg.det(trial) - 1.0
    assert np.abs(change).max() < 5e-7 and abs(change.mean()) < 1.2e-8


@pytest.mark.parametrize("label", FLOWING)
@pytest.mark.parametrize("regime", ["plastic", "beyond it"])
def test_what_is_not_a_number_stays_in_its_lane(label: str, regime: str) -> None:
    name, parameters = SOLIDS[label]
    law = LAWS[name](**parameters)
    f = deformations(3, **REGIMES[regime])
    table = advanced_by_the_solver(law, 3, f, np.zeros_like(f), DT, np.float32)
    spoilt = np.zeros((ROW_COUNT, COUNT), np.float32)
    spoilt[DEFORMATION : DEFORMATION + 9] = f.reshape(-1, 9).T
    spoilt[STATE : STATE + len(law.virgin_state)] = np.array(law.virgin_state)[:, None]
    spoilt[DEFORMATION + 1, 5] = np.nan
    extremes = np.zeros(3)
    advance_material(law.constants(), 3, spoilt, DT, np.zeros_like(spoilt[:2]), extremes)
    assert np.isnan(extremes[2])
    others = np.arange(COUNT) != 5
    assert np.isnan(spoilt[STRESS : STRESS + 6, 5]).all()
    assert np.array_equal(spoilt[STRESS:, others], table[STRESS:, others])


@pytest.mark.parametrize("label", ["sand", "von_mises", "viscoplastic"])
def test_matter_that_flows_for_long_keeps_its_volume(label: str) -> None:
    """20,000 steps of shear in float32, under pressure so that sand is on its cone: rounding must not add up to one side."""
    law = LAWS[label]()
    constants = law.constants()
    table = np.zeros((ROW_COUNT, 64), np.float32)
    table[DEFORMATION : DEFORMATION + 9] = (0.99 * rotations(3, np.random.default_rng(3))[:64]).reshape(-1, 9).T
    table[VELOCITY_GRADIENT + 1] = 1.0
    start = np.linalg.det(as_matrices(table, DEFORMATION, list(range(9))))
    for _ in range(20_000):
        advance_material(constants, 3, table, DT, np.zeros_like(table[:2]), np.zeros(3))
    change = np.linalg.det(as_matrices(table, DEFORMATION, list(range(9)))) / start - 1.0
    assert np.abs(change).max() < 1e-5
