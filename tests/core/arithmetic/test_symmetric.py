"""Functions of symmetric matrices by series, and their axes, as lanes of both precisions, against eigenvalues by numpy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

from mpm_addon.core.arithmetic import operations as arithmetic
from mpm_addon.core.arithmetic import symmetric
from mpm_addon.core.arithmetic.vector import LANE_COUNT, load, store
from mpm_addon.core.compilation.kernel import register_generic_functions
from mpm_addon.core.transfer.table import load_symmetric, store_matrix, store_vector

register_generic_functions()

COUNT = 4000
# that of numpy's eigenvectors in float64
ROUNDING = {np.float32: 1.5e-7, np.float64: 1e-15}
PRECISIONS = pytest.mark.parametrize("dtype", list(ROUNDING))
SERIES: dict[str, tuple[tuple[float, ...], Callable[[np.ndarray], np.ndarray]]] = {
    "logarithm": (symmetric.LOGARITHM, np.log1p),
    "square root": (symmetric.SQUARE_ROOT, lambda values: np.sqrt(1.0 + values)),
    "exponential": (symmetric.EXPONENTIAL_LESS_ONE, np.expm1),
}


@njit(error_model="numpy")
def sum_series(matrices, coefficients, results, is_beyond):
    for slot in range(0, matrices.shape[1], LANE_COUNT):
        x = load_symmetric(matrices, 0, slot)
        m, n = symmetric.invariants(x)
        p, q, r = symmetric.series(coefficients, m, n)
        a, b, c, d, e, f = symmetric.summed(p, q, r, x)
        store_vector(results, 0, slot, (a, b, c))
        store_vector(results, 3, slot, (d, e, f))
        zero = arithmetic.constant(0.0, m)
        store(is_beyond, slot, arithmetic.select(symmetric.is_beyond_series(m), zero + 1.0, zero))


@njit(error_model="numpy")
def decompose(matrices, axes, values):
    for slot in range(0, matrices.shape[1], LANE_COUNT):
        u, e = symmetric.eigenvalues(load_symmetric(matrices, 0, slot))
        store_matrix(axes, 0, slot, u)
        store_vector(values, 0, slot, e)


@njit(error_model="numpy")
def radius_of(values):
    return arithmetic.series_radius(load(values, 0, LANE_COUNT))


def traceless(size: float, dtype: Any) -> np.ndarray:
    """Symmetric matrices whose largest eigenvalue has this size at most: any, of two equal ones, diagonal and zero, 6 rows."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(COUNT, 3))
    part = COUNT // 4
    values[:part, 1] = values[:part, 0]
    values[part : 2 * part, 1] = values[part : 2 * part, 2] * (1.0 + 1e-5)
    values -= values.mean(axis=1)[:, None]
    values *= size / np.abs(values).max(axis=1)[:, None] * rng.uniform(0.5, 1.0, (COUNT, 1)) ** 8
    axes = np.linalg.qr(rng.normal(size=(COUNT, 3, 3)))[0]
    axes[:100] = np.eye(3)
    values[:8] = 0.0
    matrices = axes @ (values[:, :, None] * axes.swapaxes(1, 2))
    return np.ascontiguousarray(matrices[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]].T, dtype=dtype)


def whole(rows: np.ndarray) -> np.ndarray:
    return rows[[0, 1, 2, 1, 3, 4, 2, 4, 5]].T.reshape(-1, 3, 3).astype(np.float64)


def worst_error(name: str, size: float, dtype: Any) -> float:
    """The greatest error of a series beside its matrix, and what the series' own limit says of the matrices."""
    coefficients, function = SERIES[name]
    x = traceless(size, dtype)
    found, is_beyond = np.zeros_like(x), np.zeros(COUNT, dtype)
    sum_series(x, coefficients, found, is_beyond)
    values, vectors = np.linalg.eigh(whole(x))
    expected = vectors @ (function(values)[:, :, None] * vectors.swapaxes(1, 2))
    # float32 keeps the series' first term to its rounding, however small the matrix is
    scale = np.abs(values).max(axis=1) if coefficients[0] == 0.0 else 1.0
    error = np.abs(whole(found) - expected).max(axis=(1, 2)) / np.maximum(scale, np.finfo(dtype).tiny)
    assert (is_beyond == 0.0).all() == (size < 0.9 * float(radius_of(x[0])))
    return float(error.max())


@pytest.mark.parametrize("share", [0.86, 1e-2, 1e-5])
@PRECISIONS
@pytest.mark.parametrize("name", SERIES)
def test_series_are_right_within_their_radius(name: str, dtype: Any, share: float) -> None:
    # of a logarithm / 2 the exponential is taken
    size = share * float(radius_of(np.zeros(8, dtype))) * (0.5 if name == "exponential" else 1.0)
    assert worst_error(name, size, dtype) < 4.0 * ROUNDING[dtype]


@PRECISIONS
@pytest.mark.parametrize("name", ["logarithm", "square root"])
def test_series_are_wrong_beyond_it(name: str, dtype: Any) -> None:
    """Negative control: the limit is one."""
    assert worst_error(name, 2.5 * float(radius_of(np.zeros(8, dtype))), dtype) > 50.0 * ROUNDING[dtype]


@pytest.mark.parametrize("size", [1.0, 0.1, 1e-3, 1e-6])
@PRECISIONS
def test_axes_and_eigenvalues_make_the_matrix(dtype: Any, size: float) -> None:
    x = traceless(size, dtype)
    axes, values = np.zeros((9, COUNT), dtype), np.zeros((3, COUNT), dtype)
    decompose(x, axes, values)
    u, e = axes.T.reshape(-1, 3, 3).astype(np.float64), values.T.astype(np.float64)
    tolerance = 10.0 * ROUNDING[dtype]
    assert np.abs(u @ (e[:, :, None] * u.swapaxes(1, 2)) - whole(x)).max() < tolerance * size + 1.5e-15
    assert np.abs(u @ u.swapaxes(1, 2) - np.eye(3)).max() < tolerance
    assert np.abs(np.linalg.det(u) - 1.0).max() < tolerance
    assert np.abs(e - np.linalg.eigvalsh(whole(x))[:, ::-1]).max() < tolerance * size + 1.5e-15
    assert (np.diff(e, axis=1) <= 0.0).all()


def test_what_is_not_a_number_makes_nothing_else() -> None:
    x = traceless(0.1, np.float32)
    found, is_beyond = np.zeros_like(x), np.zeros(COUNT, np.float32)
    x[1, 3] = np.nan
    sum_series(x, symmetric.LOGARITHM, found, is_beyond)
    assert np.isnan(found[:, 3]).all() and np.isfinite(np.delete(found, 3, axis=1)).all()


def test_plain_python_agrees_with_lanes() -> None:
    x = (0.02, 0.03, -0.01, -0.05, 0.01, 0.03)
    p, q, r = symmetric.series(symmetric.LOGARITHM, *symmetric.invariants(x))
    values, vectors = np.linalg.eigh(whole(np.array(x)[:, None])[0])
    expected = vectors @ np.diag(np.log1p(values)) @ vectors.T
    assert np.abs(whole(np.array(symmetric.summed(p, q, r, x))[:, None])[0] - expected).max() < 1e-16
    u, e = symmetric.eigenvalues(x)
    assert np.allclose(np.reshape(u, (3, 3)) @ np.diag(e) @ np.reshape(u, (3, 3)).T, whole(np.array(x)[:, None])[0], atol=1e-16)
