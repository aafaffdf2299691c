"""Checks 5 and 6: the return mappings of snow and sand.

Snow: Stomakhin, Schroeder, Chai, Teran and Selle 2013. Sand: Klar, Gast, Pradhana, Fu, Schroeder, Jiang and Teran 2016, the
volume correction of Tampubolon et al. 2017.
"""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core import evaluate_law, return_map

from . import law_oracle as oracle

DIMENSIONS = pytest.mark.parametrize("dimension", [2, 3])
SAND = {"young_modulus": 3.537e5, "poisson_ratio": 0.3}
MU, LAM = oracle.lame(3.537e5, 0.3)


@pytest.mark.parametrize(
    ("trial", "stretch", "volume_ratio", "factor"),
    [(0.9, 0.975, 0.786527, 8.454756), (1.05, 1.0075, 1.131964, 0.267231), (0.98, 0.98, 1.0, 1.0), (1.005, 1.005, 1.0, 1.0)],
)
def test_snow_yields_and_hardens_as_in_the_paper(trial: float, stretch: float, volume_ratio: float, factor: float) -> None:
    f, state = return_map("snow", trial * np.eye(3))
    assert f == pytest.approx(stretch * np.eye(3), abs=1e-14)
    assert state["plastic_volume_ratio"] == pytest.approx(volume_ratio, abs=1e-6)
    hard = np.trace(evaluate_law("snow", f, state=state)[1])
    assert hard / np.trace(evaluate_law("snow", f)[1]) == pytest.approx(factor, rel=1e-5)
    # the same in the plane, with the square of the stretch
    f, state = return_map("snow", trial * np.eye(2))
    assert f == pytest.approx(stretch * np.eye(2), abs=1e-14)
    assert state["plastic_volume_ratio"] == pytest.approx((trial / stretch) ** 2, abs=1e-12)


@DIMENSIONS
@pytest.mark.parametrize("elasticity", ["corotated", "neo_hookean"])
def test_snow_clamps_stretches_and_keeps_total_volume(elasticity: str, dimension: int) -> None:
    trial = oracle.random_deformations(500, dimension, 0.1, seed=4)
    wide = {"volume_ratio_min": 0.01, "volume_ratio_max": 100.0, "elasticity": elasticity}
    f, state = return_map("snow", trial, parameters=wide)
    plastic = state["plastic_volume_ratio"]
    assert np.linalg.det(f) * plastic == pytest.approx(np.linalg.det(trial), rel=1e-12)
    # negative control: J_P inverted, as one source prints it
    assert np.abs(np.linalg.det(f) / plastic - np.linalg.det(trial)).max() > 0.1
    left, stretches, right = np.linalg.svd(trial)
    clamped = left @ (np.clip(stretches, 0.975, 1.0075)[:, :, None] * right)
    assert np.abs(f - clamped).max() < 1e-13
    # on the surface or in it, also a second time
    again, state = return_map("snow", f, {"plastic_volume_ratio": plastic}, wide)
    assert np.abs(again - f).max() < 1e-14 and state["plastic_volume_ratio"] == pytest.approx(plastic, rel=1e-13)


@DIMENSIONS
@pytest.mark.parametrize(("elasticity", "formula"), [("corotated", oracle.corotated), ("neo_hookean", oracle.neo_hookean)])
def test_snow_is_harder_by_the_exponential_of_its_packing(elasticity: str, formula: Any, dimension: int) -> None:
    f = oracle.random_deformations(200, dimension, 0.05, seed=1)
    packing = np.random.default_rng(2).uniform(0.6, 3.0, 200)
    parameters = {"young_modulus": 1.4e5, "poisson_ratio": 0.2, "hardening": 7.0, "elasticity": elasticity}
    energy, tau = evaluate_law("snow", f, parameters, {"plastic_volume_ratio": packing})
    factor = np.exp(7.0 * (1.0 - packing))
    expected_energy, expected_tau = formula(f, *oracle.lame(1.4e5, 0.2))
    assert energy == pytest.approx(factor * expected_energy, rel=1e-11)
    assert np.abs(tau - factor[:, None, None] * expected_tau).max() < 1e-9 * np.abs(tau).max()


def cone_slope(angle: float, dimension: int) -> float:
    """alpha of a friction angle [degrees] (Klar 2016, eq. 31; in the plane sin phi / sqrt 2)."""
    sine = np.sin(np.radians(angle))
    return float(np.sqrt(2.0 / 3.0) * 2.0 * sine / (3.0 - sine) if dimension == 3 else sine / np.sqrt(2.0))


def sand_by_tensors(
    trial: np.ndarray, alpha: float, *, cohesion: float = 0.0, added_volume: float = 0.0, is_misprinted: bool = False
) -> np.ndarray:
    """Klar's return mapping on strain tensors; with `is_misprinted` the case of expansion has the sign of one source, tr(e) < 0."""
    d = trial.shape[-1]
    strain = oracle.hencky_of(trial) + added_volume / d * np.eye(d)
    tip = d * cohesion / (d * LAM + 2.0 * MU)
    trace = oracle.trace(strain) - tip
    deviator = oracle.deviator(strain)
    size = oracle.norm(deviator)
    flow = size + (d * LAM + 2.0 * MU) / (2.0 * MU) * trace * alpha
    is_expanded = trace < 0.0 if is_misprinted else trace > 0.0
    at_tip = np.broadcast_to(tip / d * np.eye(d), strain.shape)
    on_cone = strain - (flow / size)[..., None, None] * deviator
    result = oracle.of_principal_strain(trial, np.where(is_expanded[..., None, None], at_tip, on_cone))
    return np.where(((flow <= 0.0) & ~is_expanded)[..., None, None], trial, result)


def sheared(dimension: int, angle: float, alpha: float | None = None, **choice: Any) -> tuple[float, float]:
    """tau/p and det F after simple shear in x-z from an isotropic compression of 0.5 %: 4,000 steps of 1e-4.

    With `alpha` by the tensors above instead of the project's law.
    """
    f = np.exp(-0.005) * np.eye(dimension)
    state: dict[str, np.ndarray] | None = None
    step = np.eye(dimension)
    step[0, -1] = 1e-4
    parameters = {**SAND, "friction_angle": angle}
    for _ in range(4000):
        if alpha is None:
            f, state = return_map("sand", step @ f, state, parameters)
        else:
            f = sand_by_tensors((step @ f)[None], alpha, **choice)[0]
    stress = evaluate_law("sand", f, parameters)[1]
    pressure = -np.trace(stress) / dimension
    return float(stress[0, -1] / pressure), float(np.linalg.det(f))


@pytest.mark.parametrize("angle", [5.0, 15.0, 30.0, 40.0, 55.0])
@DIMENSIONS
def test_sheared_sand_flows_at_its_angle_of_friction(dimension: int, angle: float) -> None:
    """tau/p = 3 alpha / sqrt 2 in space (.69282 for 30 degrees), sin phi in the plane; the cone keeps the volume."""
    ratio, volume = sheared(dimension, angle)
    expected = 3.0 * cone_slope(angle, 3) / np.sqrt(2.0) if dimension == 3 else np.sin(np.radians(angle))
    if angle == 30.0:
        assert expected == pytest.approx({2: 0.5, 3: 0.69282}[dimension], abs=1e-5)
    assert ratio == pytest.approx(expected, rel=1e-3)
    assert volume == pytest.approx(np.exp(-0.005 * dimension), rel=1e-12)


def test_the_cone_of_space_is_wrong_in_the_plane() -> None:
    """Negative control: Klar's alpha in a plane code shears at another angle, by more than the test above allows."""
    right, _ = sheared(2, 30.0, cone_slope(30.0, 2))
    assert right == pytest.approx(0.5, rel=1e-3)
    wrong, _ = sheared(2, 30.0, cone_slope(30.0, 3))
    assert abs(wrong - 0.5) > 0.03


def test_sand_of_the_misprinted_sign_holds_no_pressure() -> None:
    """Negative control: with expansion at tr(e) < 0 compressed sand loses all of its stress, and with it all shear."""
    right, volume = sheared(3, 30.0, cone_slope(30.0, 3))
    assert right == pytest.approx(0.69282, rel=1e-3) and volume == pytest.approx(np.exp(-0.015), rel=1e-12)
    _, volume = sheared(3, 30.0, cone_slope(30.0, 3), is_misprinted=True)
    assert volume == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("cohesion", [0.0, 3000.0])
@DIMENSIONS
def test_returned_sand_is_on_the_cone_or_in_it(dimension: int, cohesion: float) -> None:
    trial = oracle.random_deformations(1000, dimension, 0.03, seed=6) * np.random.default_rng(1).uniform(0.96, 1.02, (1000, 1, 1))
    parameters = {**SAND, "friction_angle": 35.0, "cohesion": cohesion}
    alpha = cone_slope(35.0, dimension)
    f, state = return_map("sand", trial, parameters=parameters)
    assert np.abs(f - sand_by_tensors(trial, alpha, cohesion=cohesion)).max() < 1e-12
    tau = evaluate_law("sand", f, parameters)[1]
    # in stresses: |dev tau| <= alpha (d p + ...), which is (d p + d cohesion) alpha
    pressure = -oracle.trace(tau) / dimension
    excess = oracle.norm(oracle.deviator(tau)) - dimension * alpha * (pressure + cohesion)
    assert excess.max() < 1e-6 and (pressure > -cohesion - 1e-6).all()
    is_elastic = (f == trial).all(axis=(1, 2))
    is_at_tip = np.abs(pressure + cohesion) < 1e-6
    assert is_elastic.sum() > 20 and is_at_tip.sum() > 20 and (~is_elastic & ~is_at_tip).sum() > 20
    assert np.abs(excess[~is_elastic]).max() < 1e-6
    # the volume that expansion added; none where the cone was met
    added = np.log(np.linalg.det(trial)) - np.log(np.linalg.det(f))
    assert state["added_volume"] == pytest.approx(added, abs=1e-13)
    assert (state["hardening"] == 0.0).tolist() == is_elastic.tolist()


@DIMENSIONS
def test_dry_sand_keeps_pressure_but_no_tension(dimension: int) -> None:
    eye = np.eye(dimension)
    f, _ = return_map("sand", 0.99 * eye)
    assert np.array_equal(f, 0.99 * eye)
    f, state = return_map("sand", 1.01 * eye)
    assert f == pytest.approx(eye, abs=1e-15)
    assert state["added_volume"] == pytest.approx(dimension * np.log(1.01))
    assert state["hardening"] == pytest.approx(np.sqrt(dimension) * np.log(1.01))
    # the volume that expansion added must be closed before pressure comes back
    f, state = return_map("sand", 0.995 * f, state)
    assert f == pytest.approx(eye, abs=1e-15)
    assert state["added_volume"] == pytest.approx(dimension * np.log(1.01 * 0.995))


@DIMENSIONS
def test_wet_sand_is_elastic_until_its_tension_reaches_the_cohesion(dimension: int) -> None:
    parameters = {**SAND, "friction_angle": 30.0, "cohesion": 1000.0}
    tip = np.exp(1000.0 / (dimension * LAM + 2.0 * MU))
    eye = np.eye(dimension)
    inside = (1.0 + 0.999 * (tip - 1.0)) * eye
    f, state = return_map("sand", inside, None, parameters)
    assert np.array_equal(f, inside) and state["added_volume"] == 0.0
    f, state = return_map("sand", 1.05 * eye, None, parameters)
    assert f == pytest.approx(tip * eye, rel=1e-14)
    assert state["added_volume"] == pytest.approx(dimension * np.log(1.05 / tip))
    assert np.trace(evaluate_law("sand", f, parameters)[1]) / dimension == pytest.approx(1000.0, rel=1e-9)
    # without pressure it holds the shear that dry sand holds under a pressure of the cohesion
    shear = np.eye(dimension)
    shear[0, -1] = 0.1
    f, _ = return_map("sand", shear, None, parameters)
    assert oracle.norm(oracle.deviator(evaluate_law("sand", f, parameters)[1])) == pytest.approx(
        dimension * cone_slope(30.0, dimension) * 1000.0, rel=1e-9
    )


@pytest.mark.parametrize(("hardening", "angle"), [(0.0, 25.0), (0.1, 26.0802), (1.0, 34.1813), (10.0, 45.8268)])
@DIMENSIONS
def test_sand_hardens_as_in_the_paper(hardening: float, angle: float, dimension: int) -> None:
    # at the cone |e^| = -(d lam + 2 mu) / (2 mu) tr(e) alpha: a shear just inside stays, just outside flows
    factor = (dimension * LAM + 2.0 * MU) / (2.0 * MU) * cone_slope(angle, dimension)
    trace = -0.01
    for scale, is_elastic in ((0.9999, True), (1.0001, False)):
        deviator = np.zeros(dimension)
        deviator[[0, -1]] = np.array([1.0, -1.0]) * scale * factor * -trace / np.sqrt(2.0)
        trial = np.diag(np.exp(trace / dimension + deviator))
        f, state = return_map("sand", trial, {"hardening": hardening, "added_volume": 0.0}, SAND)
        assert np.array_equal(f, trial) == is_elastic
        assert (state["hardening"] == hardening) == is_elastic
