"""Check 2: singular values and polar rotations of difficult matrices, in space and in the plane, as lanes of both precisions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

from mpm_addon.core.arithmetic import linalg
from mpm_addon.core.arithmetic.vector import LANE_COUNT
from mpm_addon.core.compilation.kernel import register_generic_functions
from mpm_addon.core.transfer.table import load_matrix, store_matrix, store_vector

register_generic_functions()

PRECISIONS = pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 1e-5)])


@njit
def decompose_in_space(matrices, left, values, right, rotations):
    for slot in range(0, matrices.shape[1], LANE_COUNT):
        m = load_matrix(matrices, 0, slot)
        u, s, v = linalg.principal_values(m, 3)
        store_matrix(left, 0, slot, u)
        store_vector(values, 0, slot, s)
        store_matrix(right, 0, slot, v)
        store_matrix(rotations, 0, slot, linalg.polar_rotation(m))


@njit
def decompose_in_plane(matrices, left, values, right, rotations):
    for slot in range(0, matrices.shape[1], LANE_COUNT):
        m = load_matrix(matrices, 0, slot)
        u, s, v = linalg.principal_values(m, 2)
        store_matrix(left, 0, slot, u)
        store_vector(values, 0, slot, s)
        store_matrix(right, 0, slot, v)
        store_matrix(rotations, 0, slot, linalg.plane_polar_rotation(m))


def difficult_matrices(dimension: int, count: int = 20_000) -> np.ndarray:
    """Random ones (half of them inverted), tiny ones, near the identity, singular, of rank one, zero, with repeated values."""
    rng = np.random.default_rng(7)
    m = rng.normal(size=(count, dimension, dimension))
    part = count // 10
    m[:part] *= 1e-3
    for index, size in enumerate((1e-6, 1e-8, 1e-25, 0.0)):
        chosen = slice(part * (index + 1), part * (index + 2))
        m[chosen] = np.eye(dimension) + size * m[chosen]
    m[5 * part : 6 * part, -1] = m[5 * part : 6 * part, 0]
    m[6 * part : 7 * part, 1:] = 0.0
    m[7 * part : 7 * part + 8] = 0.0
    m[7 * part + 8 : 7 * part + 16] = -np.eye(dimension)
    mirror = np.eye(dimension)
    mirror[-1, -1] = -1.0
    m[7 * part + 16 : 7 * part + 24] = mirror
    m[7 * part + 24 : 7 * part + 32] = 1e-8 * mirror
    if dimension == 2:
        whole = np.zeros((count, 3, 3))
        whole[:, ::2, ::2], whole[:, 1, 1] = m, 1.0
        return whole
    return m


def decomposed(dimension: int, dtype: Any) -> tuple[np.ndarray, ...]:
    """The matrices, U, s (3, n), V and the rotations in float64, found in `dtype`."""
    matrices = np.ascontiguousarray(difficult_matrices(dimension).reshape(-1, 9).T, dtype=dtype)
    left, right, rotations = (np.zeros_like(matrices) for _ in range(3))
    values = np.zeros_like(matrices[:3])
    (decompose_in_space if dimension == 3 else decompose_in_plane)(matrices, left, values, right, rotations)
    m, u, v, r = (array.T.reshape(-1, 3, 3).astype(np.float64) for array in (matrices, left, right, rotations))
    return m, u, values.astype(np.float64), v, r


def worst_reconstruction(m: np.ndarray, u: np.ndarray, s: np.ndarray, v: np.ndarray) -> float:
    """The greatest entry of U S V^T - F, relative to the greatest of F where that is above 1."""
    error = np.abs(np.einsum("nij,jn,nkj->nik", u, s, v) - m).max(axis=(1, 2))
    return float((error / np.maximum(1.0, np.abs(m).max(axis=(1, 2)))).max())


@pytest.mark.parametrize("dimension", [2, 3])
@PRECISIONS
def test_every_matrix_is_reconstructed(dtype: Any, tolerance: float, dimension: int) -> None:
    m, u, s, v, r = decomposed(dimension, dtype)
    assert worst_reconstruction(m, u, s, v) < tolerance
    for rotation in (u, v, r):
        assert np.abs(rotation @ rotation.transpose(0, 2, 1) - np.eye(3)).max() < tolerance
        assert np.abs(np.linalg.det(rotation) - 1.0).max() < tolerance
    plane = m if dimension == 3 else m[:, ::2, ::2]
    expected = np.linalg.svd(plane, compute_uv=False).T
    size = np.maximum(1.0, expected[0])
    assert (np.abs(np.abs(s[:dimension]) - expected) / size).max() < tolerance
    # ordered, and the sign of det F sits in the smallest
    assert (s[: dimension - 1] >= np.abs(s[1:dimension]) - tolerance * size).all()
    assert (s[: dimension - 1] >= 0.0).all()
    determinant = np.linalg.det(plane)
    is_regular = np.abs(determinant) > 100 * tolerance
    assert (np.sign(s[dimension - 1]) == np.sign(determinant))[is_regular].all()


@PRECISIONS
def test_the_plane_leaves_y_exactly_alone(dtype: Any, tolerance: float) -> None:
    _, u, s, v, r = decomposed(2, dtype)
    assert (s[2] == 1.0).all()
    for rotation in (u, v):
        assert (rotation[:, 1] == [0.0, 0.0, -1.0]).all() and (rotation[:, ::2, 2] == 0.0).all()
    assert (r[:, 1] == [0.0, 1.0, 0.0]).all() and (r[:, :, 1] == [0.0, 1.0, 0.0]).all()


@pytest.mark.parametrize("dimension", [2, 3])
def test_wrong_decompositions_do_not_reconstruct(dimension: int) -> None:
    """Negative control: signs put right in U alone, values without the sign, V and V^T confused. All give proper-looking parts."""
    m, u, s, v, _ = decomposed(dimension, np.float64)
    mirror = np.ones(3)
    mirror[dimension - 1] = -1.0
    wrong: list[Callable[[], float]] = [
        lambda: worst_reconstruction(m, u * mirror, s, v),
        lambda: worst_reconstruction(m, u, np.abs(s), v),
        lambda: worst_reconstruction(m, u, s, v.transpose(0, 2, 1)),
    ]
    assert min(each() for each in wrong) > 0.1


def test_plain_python_agrees_with_lanes() -> None:
    m = (1.2, 0.1, 0.0, 0.05, 0.9, -0.1, 0.0, 0.2, 1.1)
    left, values, right = linalg.principal_values(m, 3)
    assert np.allclose(linalg.recomposed(left, values, right), m, atol=1e-15)
    assert np.allclose(values, np.linalg.svd(np.reshape(m, (3, 3)), compute_uv=False), atol=1e-14)
    m = (1.2, 0.0, -0.4, 0.0, 1.0, 0.0, 0.2, 0.0, -1.1)
    left, values, right = linalg.principal_values(m, 2)
    assert np.allclose(linalg.recomposed(left, values, right), m, atol=1e-15)
    assert values[2] == 1.0 and values[1] < 0.0
