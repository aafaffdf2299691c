"""Singular values and polar rotations: right for inverted, singular, repeated and nearly diagonal matrices, as scalars and as lanes."""

import numpy as np
import pytest
from numba import njit

from mpm_addon.core.kernels import arithmetic, linalg
from mpm_addon.core.kernels.compilation import teach_generic_functions
from mpm_addon.core.kernels.table import load_matrix, store_matrix, store_vector
from mpm_addon.core.kernels.vector import load, store

teach_generic_functions()


@njit
def decompose_lanes(matrices, left, values, right, rotations):
    for slot in range(0, matrices.shape[1], 8):
        m = load_matrix(matrices, 0, slot)
        u, s, v = linalg.singular_values(m)
        store_matrix(left, 0, slot, u)
        store_vector(values, 0, slot, s)
        store_matrix(right, 0, slot, v)
        store_matrix(rotations, 0, slot, linalg.polar_rotation(m))


@njit
def logarithm_and_exponential(values, logarithms, exponentials):
    for slot in range(0, values.size, 8):
        store(logarithms, slot, arithmetic.log(load(values, slot, 8)))
        store(exponentials, slot, arithmetic.exp(load(values, slot, 8)))


@njit
def clamped(values, results):
    for slot in range(0, values.size, 8):
        store(results, slot, arithmetic.clamp(load(values, slot, 8), -1.0, 1.0))


def difficult_matrices(count: int = 20_000) -> np.ndarray:
    """Random matrices: general (half of them inverted), tiny, near the identity, singular, of rank one, zero, repeated values."""
    rng = np.random.default_rng(7)
    m = rng.normal(size=(count, 3, 3))
    part = count // 10
    m[:part] *= 1e-3
    for index, size in enumerate((1e-6, 1e-8, 1e-25, 0.0)):
        chosen = slice(part * (index + 1), part * (index + 2))
        m[chosen] = np.eye(3) + size * m[chosen]
    m[5 * part : 6 * part, 2] = m[5 * part : 6 * part, 0]
    m[6 * part : 7 * part, 1:] = 0.0
    m[7 * part : 7 * part + 8] = 0.0
    m[7 * part + 8 : 7 * part + 16] = -np.eye(3)
    m[7 * part + 16 : 7 * part + 24] = np.diag([1.0, 1.0, -1.0])
    return m


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 1e-5)])
def test_singular_values_reconstruct_every_matrix(dtype: type, tolerance: float) -> None:
    matrices = np.ascontiguousarray(difficult_matrices().reshape(-1, 9).T, dtype=dtype)
    left, right, rotations = (np.zeros_like(matrices) for _ in range(3))
    values = np.zeros_like(matrices[:3])
    decompose_lanes(matrices, left, values, right, rotations)

    m, u, v, r = (array.T.reshape(-1, 3, 3).astype(np.float64) for array in (matrices, left, right, rotations))
    size = np.maximum(1.0, np.abs(m).max(axis=(1, 2)))
    assert np.abs(np.einsum("nij,jn,nkj->nik", u, values, v) - m).max(axis=(1, 2)) == pytest.approx(0.0, abs=tolerance * size.max())
    for rotation in (u, v, r):
        assert np.abs(rotation @ rotation.transpose(0, 2, 1) - np.eye(3)).max() < tolerance
        assert np.abs(np.linalg.det(rotation) - 1.0).max() < tolerance
    expected = np.linalg.svd(m, compute_uv=False)
    assert np.abs(np.abs(values.T) - expected).max() < tolerance * size.max()
    assert (values[0] >= values[1] - tolerance).all() and (values[1] >= np.abs(values[2]) - tolerance).all()
    is_regular = np.abs(np.linalg.det(m)) > 100 * tolerance
    assert (np.sign(values[2]) == np.sign(np.linalg.det(m)))[is_regular].all()


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
    left, right, found = (np.zeros_like(matrices) for _ in range(3))
    decompose_lanes(matrices, left, np.zeros_like(matrices[:3]), right, found)
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
    values = np.array([np.nan, -5.0, 0.5, 5.0, np.inf, -np.inf, 0.0, np.nan], dtype)
    results = np.zeros_like(values)
    clamped(values, results)
    assert np.array_equal(results, np.array([np.nan, -1.0, 0.5, 1.0, 1.0, -1.0, 0.0, np.nan], dtype), equal_nan=True)


def test_sine_is_right_up_to_a_quarter_turn() -> None:
    angles = np.linspace(-np.pi / 2, np.pi / 2, 101)
    assert np.abs([arithmetic.sin(angle) - np.sin(angle) for angle in angles]).max() < 1e-10
