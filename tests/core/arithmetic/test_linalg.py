"""Polar rotations and the arithmetic of lanes; singular values are verified in tests/verification."""

import numpy as np
import pytest
from numba import njit

from mpm_addon.core.arithmetic import linalg
from mpm_addon.core.arithmetic import operations as arithmetic
from mpm_addon.core.arithmetic.vector import LANE_COUNT, load, store
from mpm_addon.core.compilation.kernel import register_generic_functions
from mpm_addon.core.transfer.table import load_matrix, store_matrix

register_generic_functions()


@njit
def rotate_lanes(matrices, rotations):
    for slot in range(0, matrices.shape[1], LANE_COUNT):
        store_matrix(rotations, 0, slot, linalg.polar_rotation(load_matrix(matrices, 0, slot)))


@njit
def logarithm_and_exponential(values, logarithms, exponentials):
    for slot in range(0, values.size, LANE_COUNT):
        store(logarithms, slot, arithmetic.log(load(values, slot, LANE_COUNT)))
        store(exponentials, slot, arithmetic.exp(load(values, slot, LANE_COUNT)))


@njit
def clamped(values, results):
    for slot in range(0, values.size, LANE_COUNT):
        store(results, slot, arithmetic.clamp(load(values, slot, LANE_COUNT), -1.0, 1.0))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 3e-5)])
@pytest.mark.parametrize("stretch", [1.0, 10.0])
def test_polar_rotation_is_right_at_large_stretch(dtype: type, tolerance: float, stretch: float) -> None:
    rng = np.random.default_rng(3)
    count = 2000
    rotation = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))[:, None, None]
    axes = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    scale = stretch ** rng.uniform(-1.0, 1.0, size=(count, 3))
    f = rotation @ np.einsum("nij,nj,nkj->nik", axes, scale, axes)
    matrices = np.ascontiguousarray(f.reshape(-1, 9).T, dtype=dtype)
    found = np.zeros_like(matrices)
    rotate_lanes(matrices, found)
    assert np.abs(found.T.reshape(-1, 3, 3) - rotation).max() < tolerance


def test_plain_python_agrees_with_lanes() -> None:
    m = (1.2, 0.1, 0.0, 0.05, 0.9, -0.1, 0.0, 0.2, 1.1)
    left, values, right = linalg.singular_values(m)
    assert np.allclose(linalg.recomposed(left, values, right), m, atol=1e-15)
    assert np.allclose(values, np.linalg.svd(np.reshape(m, (3, 3)), compute_uv=False), atol=1e-14)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-14), (np.float32, 2e-7)])
def test_logarithm_and_exponential_of_lanes(dtype: type, tolerance: float) -> None:
    values = np.random.default_rng(1).uniform(1e-6, 80.0, 8000).astype(dtype)
    logarithms, exponentials = np.zeros_like(values), np.zeros_like(values)
    logarithm_and_exponential(values, logarithms, exponentials)
    exact = values.astype(np.float64)
    assert np.abs(logarithms - np.log(exact)).max() < tolerance * 20
    assert np.abs(exponentials / np.exp(exact) - 1.0).max() < tolerance


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_clamp_keeps_what_is_not_a_number_visible(dtype: type) -> None:
    values = np.tile(np.array([np.nan, -5.0, 0.5, 5.0, np.inf, -np.inf, 0.0, np.nan], dtype), LANE_COUNT)
    results = np.zeros_like(values)
    clamped(values, results)
    expected = np.tile(np.array([np.nan, -1.0, 0.5, 1.0, 1.0, -1.0, 0.0, np.nan], dtype), LANE_COUNT)
    assert np.array_equal(results, expected, equal_nan=True)


def test_sine_is_right_up_to_a_quarter_turn() -> None:
    angles = np.linspace(-np.pi / 2, np.pi / 2, 101)
    assert np.abs([arithmetic.sin(angle) - np.sin(angle) for angle in angles]).max() < 1e-10
