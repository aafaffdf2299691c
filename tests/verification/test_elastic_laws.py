"""Checks 3 and 4: the elastic laws against their own derivatives, invariance, and formulas in plain numpy, in space and in the plane.

Formulas: Bonet and Wood 1997 (Neo-Hookean), Stomakhin et al. 2012 (corotated), Hencky 1928 as in Klar et al. 2016, Tampubolon et
al. 2017 (water).
"""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core import evaluate_law, return_map
from mpm_addon.core.laws import LAWS

from . import law_oracle as oracle

GOLDEN = np.array([[1.2, 0.1, 0.0], [0.05, 0.9, -0.1], [0.0, 0.2, 1.1]])
MODULI = {"young_modulus": 1e5, "poisson_ratio": 0.3}
MU, LAM = oracle.lame(young=1e5, poisson=0.3)

# every law and each of its forms that has a stress of its own
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in LAWS if name != "stress_free"},
    "snow of neo_hookean": ("snow", {"elasticity": "neo_hookean"}),
    "linear water": ("water", {"equation_of_state": "linear"}),
    "cohesive water": ("water", {"cohesion": 1e4}),
    "linear cohesive water": ("water", {"equation_of_state": "linear", "cohesion": 1e4}),
    "wet sand": ("sand", {"cohesion": 500.0}),
}
DIMENSIONS = pytest.mark.parametrize("dimension", [2, 3])
EVERY_FORM = pytest.mark.parametrize(("name", "parameters"), FORMS.values(), ids=list(FORMS))


def derivative(name: str, f: np.ndarray, parameters: dict[str, Any], h: float = 1e-6) -> np.ndarray:
    """dPsi/dF by central differences."""
    result = np.empty_like(f)
    for i, j in np.ndindex(f.shape[-2:]):
        step = np.zeros(f.shape[-2:])
        step[i, j] = h
        result[..., i, j] = (evaluate_law(name, f + step, parameters)[0] - evaluate_law(name, f - step, parameters)[0]) / (2.0 * h)
    return result


def piola(f: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """P = tau F^-T."""
    return tau @ oracle.transposed(np.linalg.inv(f))


def deformations_of(name: str, dimension: int) -> np.ndarray:
    """Water is compressed, where it pushes, or stretched well, where it may pull: its pressure has a kink at J = 1 and at the cohesion."""
    f = oracle.random_deformations(200, dimension)
    return np.concatenate((0.8 * f, 1.3 * f)) if name == "water" else f


@DIMENSIONS
@EVERY_FORM
def test_stress_is_the_derivative_of_energy(name: str, parameters: dict[str, Any], dimension: int) -> None:
    f = deformations_of(name, dimension)
    exact = piola(f, evaluate_law(name, f, parameters)[1])
    assert np.abs(derivative(name, f, parameters) - exact).max() < 1e-7 * np.abs(exact).max()


@DIMENSIONS
def test_a_misprinted_stress_is_found_by_the_derivative(dimension: int) -> None:
    """Negative control: mu (F - F^T) + ... of one source, and the corotated stress without its J, are no derivatives of any energy."""
    f = oracle.random_deformations(50, dimension)
    inverse = oracle.transposed(np.linalg.inv(f))
    change = np.linalg.det(f)[:, None, None] - 1.0
    neo_hookean = MU * (f - oracle.transposed(f)) + LAM * np.log(1.0 + change) * inverse
    corotated = 2.0 * MU * (f - oracle.rotation_of(f)) + LAM * change * inverse
    for name, misprint in (("neo_hookean", neo_hookean), ("corotated", corotated)):
        exact = derivative(name, f, MODULI)
        assert np.abs(misprint - exact).max() > 1e-3 * np.abs(exact).max()


@DIMENSIONS
@EVERY_FORM
def test_energy_and_stress_do_not_depend_on_the_observer(name: str, parameters: dict[str, Any], dimension: int) -> None:
    f = deformations_of(name, dimension)
    rotation = oracle.random_rotation(dimension)
    energy, tau = evaluate_law(name, f, parameters)
    turned_energy, turned_tau = evaluate_law(name, rotation @ f, parameters)
    size = np.abs(tau).max()
    assert np.abs(turned_energy - energy).max() < 1e-12 * size
    assert np.abs(piola(rotation @ f, turned_tau) - rotation @ piola(f, tau)).max() < 1e-12 * size
    assert np.abs(tau - oracle.transposed(tau)).max() <= 1e-12 * size
    # isotropy: a rotation before the deformation changes nothing
    assert np.abs(evaluate_law(name, f @ rotation, parameters)[1] - tau).max() < 1e-12 * size


@DIMENSIONS
@EVERY_FORM
def test_undeformed_matter_is_at_rest_and_compression_is_resisted(name: str, parameters: dict[str, Any], dimension: int) -> None:
    eye = np.eye(dimension)
    energy, tau = evaluate_law(name, eye, parameters)
    assert abs(energy) < 1e-9 and np.abs(tau).max() < 1e-9
    energy, tau = evaluate_law(name, 0.95 * eye, parameters)
    assert energy > 0.0 and np.trace(tau) < 0.0
    # squeezed along one axis, too
    squeezed = np.diag([0.95] + [1.0] * (dimension - 1))
    energy, tau = evaluate_law(name, squeezed, parameters)
    assert energy > 0.0 and np.trace(tau) < 0.0


@DIMENSIONS
@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("corotated", oracle.corotated),
        ("neo_hookean", oracle.neo_hookean),
        ("damped_elastic", oracle.neo_hookean),
        ("sand", oracle.hencky),
        ("von_mises", oracle.hencky),
        ("viscoplastic", oracle.hencky),
        ("snow", oracle.corotated),
    ],
)
@pytest.mark.parametrize(("young", "poisson"), [(1e5, 0.3), (3e6, 0.0), (400.0, 0.45)])
def test_laws_agree_with_plain_numpy(name: str, formula: Any, young: float, poisson: float, dimension: int) -> None:
    f = oracle.random_deformations(300, dimension, 0.15, seed=3)
    f = f[np.linalg.det(f) > 0.2]
    energy, tau = evaluate_law(name, f, {"young_modulus": young, "poisson_ratio": poisson})
    expected_energy, expected_tau = formula(f, *oracle.lame(young, poisson))
    assert np.abs(energy - expected_energy).max() < 1e-12 * young
    assert np.abs(tau - expected_tau).max() < 1e-11 * young


@DIMENSIONS
@pytest.mark.parametrize("exponent", [1.5, 4.0, 7.0])
def test_water_agrees_with_plain_numpy(exponent: float, dimension: int) -> None:
    f = oracle.random_deformations(300, dimension, 0.1, seed=4)
    energy, tau = evaluate_law("water", f, {"bulk_modulus": 50.0, "exponent": exponent})
    expected_energy, expected_tau = oracle.tait(f, 50.0, exponent)
    assert np.abs(energy - expected_energy).max() < 1e-11 and np.abs(tau - expected_tau).max() < 1e-10


@pytest.mark.parametrize(
    ("name", "energy", "p00", "p01"),
    [("corotated", 4173.517094, 27439.188823, 5208.989489), ("neo_hookean", 3844.481082, 23022.769716, 5105.766920)],
)
def test_golden_values(name: str, energy: float, p00: float, p01: float) -> None:
    found, tau = evaluate_law(name, GOLDEN, MODULI)
    assert found == pytest.approx(energy, rel=1e-9)
    assert piola(GOLDEN, tau)[0, :2] == pytest.approx([p00, p01], rel=1e-9)


@pytest.mark.parametrize("name", ["corotated", "neo_hookean", "damped_elastic", "sand", "von_mises", "viscoplastic"])
def test_small_strain_gives_linear_elasticity(name: str) -> None:
    """sigma = 2 mu e + lambda tr(e) I; in the plane without the row of y."""
    parameters = {"young_modulus": 1e7, "poisson_ratio": 0.3}
    strain = np.array([1e-3, 5e-4, 0.0])
    stress = np.array([16346.15, 12500.0, 8653.85])
    tau = evaluate_law(name, np.diag(1.0 + strain), parameters)[1]
    assert np.diag(tau) == pytest.approx(stress, rel=2.5e-3)
    tau = evaluate_law(name, np.diag(1.0 + strain[:2]), parameters)[1]
    assert np.diag(tau) == pytest.approx(stress[:2], rel=2.5e-3)
    # the error is of second order: a tenth of the strain, a tenth of the relative error
    errors = [
        np.abs(np.diag(evaluate_law(name, np.diag(1.0 + share * strain), parameters)[1]) / share - stress).max() for share in (1.0, 0.1)
    ]
    assert errors[1] < 0.15 * errors[0]


@pytest.mark.parametrize(
    ("stretch", "lateral", "stress"),
    [(0.7, 1.107935, -0.405230), (0.9, 1.031702, -0.108722), (1.1, 0.971493, 0.093077), (1.3, 0.922000, 0.248496)],
)
def test_neo_hookean_bar_under_uniaxial_stress(stretch: float, lateral: float, stress: float) -> None:
    """Check 4: the lateral stretch is where P22 vanishes; the corotated law (negative control) is not stress-free there."""
    parameters = {"young_modulus": 1.0, "poisson_ratio": 0.3}
    f = np.diag([stretch, lateral, lateral])
    p = piola(f, evaluate_law("neo_hookean", f, parameters)[1])
    assert p[0, 0] == pytest.approx(stress, abs=2e-6) and abs(p[1, 1]) < 2e-6
    p = piola(f, evaluate_law("corotated", f, parameters)[1])
    assert abs(p[1, 1]) > 1e-3


@pytest.mark.parametrize("name", ["corotated", "neo_hookean", "damped_elastic"])
def test_the_plane_is_a_slice_of_space(name: str) -> None:
    """Plane strain: the same stress as in space with F_yy = 1, also where matter is turned inside out."""
    f = oracle.random_deformations(200, 2, 0.3, seed=9)
    f = f if name == "corotated" else f[np.linalg.det(f) > 0.01]
    whole = np.zeros((len(f), 3, 3))
    whole[:, ::2, ::2], whole[:, 1, 1] = f, 1.0
    is_upright = np.linalg.det(f) > 0.0
    plane = evaluate_law(name, f, MODULI)[1]
    space = evaluate_law(name, whole, MODULI)[1][:, ::2, ::2]
    assert np.abs(plane - space)[is_upright].max() < 1e-12 * np.abs(plane).max()
    # of an inverted plane the nearest rotation lies in the plane: cos = (xx + zz) / l, sin = (zx - xz) / l
    angle = np.arctan2(f[:, 1, 0] - f[:, 0, 1], f[:, 0, 0] + f[:, 1, 1])
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]).transpose(2, 0, 1)
    if name == "corotated":
        assert not is_upright.all()
        expected = MU * oracle.norm(f - rotation) ** 2 + 0.5 * LAM * (np.linalg.det(f) - 1.0) ** 2
        assert np.abs(evaluate_law(name, f, MODULI)[0] - expected).max() < 1e-11 * MU


@DIMENSIONS
@EVERY_FORM
def test_an_elastic_trial_is_returned_bit_for_bit(name: str, parameters: dict[str, Any], dimension: int) -> None:
    trial = (1.0 - 1e-3) * oracle.random_deformations(200, dimension, 1e-5)
    f, state = return_map(name, trial, parameters={**parameters, **({"friction_angle": 40.0} if name == "sand" else {})})
    assert np.array_equal(f, trial)
    if name != "water":
        for key, virgin in zip(LAWS[name].state_names, LAWS[name].virgin_state, strict=True):
            assert (state[key] == virgin).all()


def test_dust_has_no_stress() -> None:
    f = oracle.random_deformations(20, 3)
    energy, tau = evaluate_law("stress_free", f, velocity_gradient=f)
    assert not energy.any() and not tau.any()


@DIMENSIONS
def test_damping_follows_stiffness(dimension: int) -> None:
    """tau = J t (2 mu D + lambda tr(D) I) beside elasticity: the power it takes is never negative, and a rotation costs nothing."""
    f = oracle.random_deformations(50, dimension)
    gradient = np.random.default_rng(2).normal(size=(50, dimension, dimension))
    parameters = {**MODULI, "damping_time": 0.01}
    rest = evaluate_law("damped_elastic", f, parameters)[1]
    viscous = evaluate_law("damped_elastic", f, parameters, velocity_gradient=gradient)[1] - rest
    rate = 0.5 * (gradient + oracle.transposed(gradient))
    expected = 2.0 * MU * rate + oracle.isotropic(LAM * oracle.trace(rate), f)
    assert viscous == pytest.approx(0.01 * np.linalg.det(f)[:, None, None] * expected, rel=1e-9, abs=1e-6)
    assert (oracle.trace(viscous @ gradient) > 0.0).all()
    spin = gradient - oracle.transposed(gradient)
    assert np.abs(evaluate_law("damped_elastic", f, parameters, velocity_gradient=spin)[1] - rest).max() < 1e-9


@DIMENSIONS
def test_water_is_viscous_in_shear_alone(dimension: int) -> None:
    """tau = J eta (L + L^T - 2/d tr(L) I): without the 2/d of its dimension the plane would have a viscous pressure."""
    gradient = np.random.default_rng(2).normal(size=(50, dimension, dimension))
    tau = evaluate_law("water", np.broadcast_to(np.eye(dimension), gradient.shape), {"viscosity": 3.0}, velocity_gradient=gradient)[1]
    assert np.abs(oracle.trace(tau)).max() < 1e-12
    assert tau == pytest.approx(3.0 * 2.0 * oracle.deviator(0.5 * (gradient + oracle.transposed(gradient))))


@pytest.mark.parametrize(("equation", "pressure"), [("tait", 1e4 / 7.0 * (0.9**-7.0 - 1.0)), ("linear", 1e3)])
def test_water_pushes_and_pulls_only_as_far_as_it_coheres(equation: str, pressure: float) -> None:
    def mean(volume_ratio: float, cohesion: float) -> float:
        parameters = {"bulk_modulus": 1e4, "equation_of_state": equation, "cohesion": cohesion}
        return float(evaluate_law("water", np.cbrt(volume_ratio) * np.eye(3), parameters)[1][0, 0] / volume_ratio)

    assert mean(0.9, 0.0) == pytest.approx(-pressure) == mean(0.9, 200.0)
    assert mean(1.1, 0.0) == 0.0
    assert 0.0 < mean(1.001, 200.0) < 200.0
    assert mean(1.1, 200.0) == pytest.approx(200.0) == mean(2.0, 200.0)
