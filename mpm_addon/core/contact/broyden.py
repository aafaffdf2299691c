"""Broyden's method for the velocities of a rigid body in material, and its first derivative. Plain numpy."""

import numpy as np

from .obstacle import Floats

# the tolerated mismatch, relative to the first one
TOLERANCE = 0.02


class Broyden:
    """Broyden's method for a root of a mismatch of six velocities.

    Args:
        inverse: the inverse of minus the first derivative, (6, 6).
        mismatch: the mismatch of the first trial.

    Attributes:
        inverse: the current estimate.
    """

    def __init__(self, inverse: Floats, mismatch: Floats) -> None:
        self.inverse = inverse
        self._first = float(np.linalg.norm(mismatch))
        self._last = mismatch
        self._step = np.zeros(6)

    def is_done(self, mismatch: Floats, negligible: float) -> bool:
        return float(np.linalg.norm(mismatch)) <= max(TOLERANCE * self._first, negligible)

    def change(self, mismatch: Floats) -> Floats:
        """The next change of the velocities, after the derivative is corrected by the effect of the last change."""
        fallen = self._last - mismatch
        reached = self.inverse @ fallen
        along = float(self._step @ reached)
        if abs(along) > 1e-12 * float(self._step @ self._step):
            self.inverse = self.inverse + np.outer(self._step - reached, self._step @ self.inverse) / along
        self._last = mismatch
        self._step = self.inverse @ mismatch
        return self._step


def inertia_matrix(moments: Floats) -> Floats:
    """The momentum that material fixed to a body gains per unit velocity, (6, 6), from the moments of its mass (10,)."""
    mass, x, y, z, xx, yy, zz, xy, yz, zx = moments
    first = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
    inertia = np.array([[yy + zz, -xy, -zx], [-xy, xx + zz, -yz], [-zx, -yz, xx + yy]])
    return np.block([[mass * np.eye(3), first], [first.T, inertia]])
