"""Reference implementations of the laws in plain numpy, for any dimension.

Nothing here is shared with the project: rotations and logarithms come from eigenvectors of F F^T and F^T F, energies are
functions of tensors instead of stretches, and flow rules are solved by bisection.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def lame(young: float, poisson: float) -> tuple[float, float]:
    """mu and lambda [Pa]."""
    return young / (2.0 + 2.0 * poisson), young * poisson / (1.0 + poisson) / (1.0 - 2.0 * poisson)


def transposed(m: Floats) -> Floats:
    return m.swapaxes(-1, -2)


def function_of(symmetric: Floats, function: Callable[[Floats], Floats]) -> Floats:
    """An isotropic function of symmetric matrices, through their eigenvalues."""
    values, vectors = np.linalg.eigh(symmetric)
    return vectors @ (function(values)[..., None] * transposed(vectors))


def rotation_of(f: Floats) -> Floats:
    """The polar rotation F (F^T F)^(-1/2) of F with det F > 0."""
    return f @ function_of(transposed(f) @ f, lambda values: values**-0.5)


def hencky_of(f: Floats) -> Floats:
    """The Hencky strain ln(F F^T) / 2."""
    return function_of(f @ transposed(f), lambda values: 0.5 * np.log(values))


def trace(m: Floats) -> Floats:
    return np.trace(m, axis1=-2, axis2=-1)


def deviator(m: Floats) -> Floats:
    d = m.shape[-1]
    return m - trace(m)[..., None, None] / d * np.eye(d)


def norm(m: Floats) -> Floats:
    return np.sqrt((m * m).sum(axis=(-2, -1)))


def isotropic(scalar: Floats, f: Floats) -> Floats:
    """A scalar times the identity."""
    return scalar[..., None, None] * np.eye(f.shape[-1])


def corotated(f: Floats, mu: float, lam: float) -> tuple[Floats, Floats]:
    """Psi = mu |F - R|^2 + lam/2 (J - 1)^2 and tau = 2 mu (F - R) F^T + lam (J - 1) J I (Stomakhin et al. 2012)."""
    change = np.linalg.det(f) - 1.0
    stretch = f - rotation_of(f)
    return mu * norm(stretch) ** 2 + 0.5 * lam * change**2, 2.0 * mu * stretch @ transposed(f) + isotropic(lam * change * (change + 1.0), f)


def neo_hookean(f: Floats, mu: float, lam: float) -> tuple[Floats, Floats]:
    """Psi = mu/2 (tr F^T F - d) - mu ln J + lam/2 ln^2 J and tau = mu (F F^T - I) + lam ln J I (Bonet and Wood 1997)."""
    logarithm = np.log(np.linalg.det(f))
    energy = 0.5 * mu * (norm(f) ** 2 - f.shape[-1]) - mu * logarithm + 0.5 * lam * logarithm**2
    return energy, mu * (f @ transposed(f)) + isotropic(lam * logarithm - mu, f)


def hencky(f: Floats, mu: float, lam: float) -> tuple[Floats, Floats]:
    """Psi = mu |e|^2 + lam/2 tr(e)^2 and tau = 2 mu e + lam tr(e) I, e = ln(F F^T)/2 (Hencky 1928)."""
    e = hencky_of(f)
    return mu * norm(e) ** 2 + 0.5 * lam * trace(e) ** 2, 2.0 * mu * e + isotropic(lam * trace(e), f)


def tait(f: Floats, bulk_modulus: float, gamma: float) -> tuple[Floats, Floats]:
    """tau = -p J I, p = K/gamma (J^-gamma - 1) where J < 1, and its integral (Tampubolon et al. 2017)."""
    volume = np.minimum(np.linalg.det(f), 1.0)
    k = bulk_modulus / gamma
    energy = k * ((volume ** (1.0 - gamma) - 1.0) / (gamma - 1.0) + volume - 1.0)
    return energy, isotropic(-k * (volume**-gamma - 1.0) * np.linalg.det(f), f)


def of_principal_strain(f: Floats, strain: Floats) -> Floats:
    """F with its Hencky strain replaced by one with the same principal axes: exp(e_new - e) F."""
    return function_of(strain - hencky_of(f), np.exp) @ f


def bisected(function: Callable[[float], float], low: float, high: float) -> float:
    """The root of a rising function between two values."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) < 0.0 else (low, middle)
    return 0.5 * (low + high)


def random_deformations(count: int, dimension: int, size: float = 0.08, seed: int = 0) -> Floats:
    """Matrices near the identity."""
    return np.eye(dimension) + size * np.random.default_rng(seed).normal(size=(count, dimension, dimension))


def random_rotation(dimension: int, seed: int = 5) -> Floats:
    rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(dimension, dimension)))[0]
    rotation[:, 0] *= np.sign(np.linalg.det(rotation))
    return rotation
