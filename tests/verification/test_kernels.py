"""Check 1: the B-splines of the grid, in space and in the plane (Steffen, Kirby and Berzins 2008; Jiang et al. 2016, section 5.3)."""

import itertools

import numpy as np
import pytest

from mpm_addon.core.scene.settings import Solver
from mpm_addon.core.transfer.scheme import cubic_weights, quadratic_weights, scheme_of

# the offset from the center node, its range, and the nodes around it
SPLINES = {"quadratic": (quadratic_weights, (-0.5, 0.5), (-1, 0, 1)), "cubic": (cubic_weights, (0.0, 1.0), (-1, 0, 1, 2))}


def spline(kernel: str, x: np.ndarray) -> np.ndarray:
    """The printed piecewise polynomials N(x)."""
    x = np.abs(x)
    if kernel == "quadratic":
        return np.where(x < 0.5, 0.75 - x**2, np.where(x < 1.5, 0.5 * (1.5 - x) ** 2, 0.0))
    return np.where(x < 1.0, 0.5 * x**3 - x**2 + 2.0 / 3.0, np.where(x < 2.0, (2.0 - x) ** 3 / 6.0, 0.0))


def moments(weights: list[np.ndarray], arms: list[np.ndarray]) -> tuple[float, np.ndarray, np.ndarray]:
    """sum w, sum w (x_i - x_p) and sum w (x_i - x_p)(x_i - x_p)^T over all nodes [cells]."""
    total, first, second = 0.0, np.zeros(len(arms)), np.zeros((len(arms), len(arms)))
    for node in itertools.product(*(range(len(axis)) for axis in weights)):
        w = np.prod([axis[i] for axis, i in zip(weights, node, strict=True)])
        arm = np.array([axis[i] for axis, i in zip(arms, node, strict=True)])
        total, first, second = total + w, first + w * arm, second + w * np.outer(arm, arm)
    return float(total), first, second


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("kernel", SPLINES)
def test_weights_sum_to_one_are_centered_and_have_the_printed_inertia(kernel: str, dimension: int) -> None:
    function, (low, high), nodes = SPLINES[kernel]
    inertia = 1.0 / scheme_of(Solver(grid_spacing=1.0, kernel=kernel, dimension=dimension)).inverse_inertia
    assert inertia == {"quadratic": 1.0 / 4.0, "cubic": 1.0 / 3.0}[kernel]
    for offsets in np.random.default_rng(1).uniform(low, high, size=(200, dimension)):
        weights = [np.array(function(offset)) for offset in offsets]
        arms = [np.array(nodes) - offset for offset in offsets]
        total, first, second = moments(weights, arms)
        assert abs(total - 1.0) < 1e-14
        assert np.abs(first).max() < 1e-14
        assert np.abs(second - inertia * np.eye(dimension)).max() < 1e-14
        assert np.abs(np.concatenate(weights) - spline(kernel, np.concatenate(arms))).max() < 1e-15


def test_a_linear_spline_would_not_pass() -> None:
    """Negative control: hat functions sum to one and are centered, but their inertia depends on where the particle is."""
    inertia = [moments([np.array([1.0 - d, d])], [np.array([-d, 1.0 - d])])[2][0, 0] for d in (0.1, 0.5)]
    assert abs(inertia[0] - inertia[1]) > 0.1
