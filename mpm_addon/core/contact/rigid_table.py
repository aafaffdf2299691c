"""The state and masses of all rigid bodies of a scene, as arrays. Plain numpy.

A body is a row (`rigid_body.RigidBody`), and a substep moves all rows at once: with a call per body, a pile would spend most of its time on
calls.
"""

from collections.abc import Sequence

import numpy as np

from ..geometry.rotation import Floats, rotation_matrices

# iterations for the angular velocity at the middle of a substep
MIDPOINT_SWEEPS = 4
# displacements below this share of the radius of gyration, and rotations below as many radians, are left out: they shrink with each
# substep until they only change how a pose is rounded, so that nothing would ever rest
LEAST_MOVE = 1e-7
# center, rotation, velocity and spin
STATE_SIZE = 18
CENTER, ROTATION, VELOCITY, SPIN = slice(0, 3), slice(3, 12), slice(12, 15), slice(15, 18)


class RigidTable:
    """Rigid bodies, n of them.

    Args:
        rows: the state and the masses of each body; the states become views of the table's.

    Attributes:
        state: shape (n, 18), a row as in `RigidBody.state`.
        mass: [kg], shape (n,); inverse_mass: along each axis [1/kg], shape (n, 3).
        gyration: radii of gyration [m], shape (n,).
    """

    def __init__(self, rows: Sequence["RigidRow"]) -> None:
        self.state = np.array([row.state for row in rows], np.float64).reshape(-1, STATE_SIZE)
        self.mass = np.array([row.mass for row in rows], np.float64)
        self.gyration = np.array([row.gyration for row in rows], np.float64)
        self.inverse_mass = np.array([row.inverse_mass for row in rows], np.float64).reshape(-1, 3)
        self._inertia = np.array([row.inertia for row in rows], np.float64).reshape(-1, 3, 3)
        self._inverse = np.array([row.inverse_inertia for row in rows], np.float64).reshape(-1, 3, 3)
        self._frames = np.array([row.frame for row in rows], np.float64).reshape(-1, 3, 3)
        self._pivots = np.array([row.pivot for row in rows], np.float64).reshape(-1, 3)
        self._heights = np.array([row.height for row in rows], np.float64)
        self._is_plane = bool(rows) and rows[0].is_plane
        for row, state in zip(rows, self.state, strict=True):
            row.state = state

    @property
    def centers(self) -> Floats:
        return self.state[:, CENTER]

    @property
    def rotations(self) -> Floats:
        return self.state[:, ROTATION].reshape(-1, 3, 3)

    @property
    def inverse_inertia(self) -> Floats:
        """In world axes [1/(kg m^2)], shape (n, 3, 3)."""
        return self._in_world(self._inverse)

    @property
    def velocities(self) -> Floats:
        """Velocity of the center of mass [m/s] and angular velocity [rad/s], shape (n, 6)."""
        return np.hstack([self.state[:, VELOCITY], np.einsum("nij,nj->ni", self.inverse_inertia, self.state[:, SPIN])])

    @property
    def poses(self) -> tuple[Floats, Floats]:
        """World from local: the linear parts (n, 3, 3) and the origins (n, 3)."""
        linear = self.rotations @ self._frames
        return linear, self.centers - np.einsum("nij,nj->ni", linear, self._pivots)

    @property
    def matrices(self) -> Floats:
        """World from local, shape (n, 4, 4)."""
        linear, origins = self.poses
        result = np.zeros((len(linear), 4, 4))
        result[:, :3, :3], result[:, :3, 3], result[:, 3, 3] = linear, origins, 1.0
        if self._is_plane:
            result[:, 1, 3] = self._heights
        return result

    def set_velocities(self, velocities: Floats, chosen: np.ndarray) -> None:
        """Set the velocities (n, 6), as in `velocities`, of the chosen bodies (n,)."""
        spin = np.einsum("nij,nj->ni", self._in_world(self._inertia), velocities[:, 3:])
        self.state[chosen, VELOCITY] = velocities[chosen, :3]
        self.state[chosen, SPIN] = spin[chosen]

    def advance(self, dt: float, means: Floats, moves: Floats, chosen: np.ndarray) -> None:
        """Move the chosen bodies (n,): centers on straight lines, rotations with the angular velocity at mid-substep.

        The implicit midpoint rule on SO(3): R <- exp(dt w) R, with w = I(R_m)^-1 L at R_m = exp(dt w / 2) R (Hairer, Lubich and
        Wanner 2006, section VII.5).

        Args:
            dt: [s].
            means: the velocities of the centers on the way [m/s], shape (n, 3).
            moves: further displacements [m] and rotations [rad] that change no velocity, shape (n, 6).
        """
        state, sizes = self.state[chosen], np.repeat([self.gyration[chosen], np.ones(chosen.sum())], 3, axis=0).T
        moves = np.where(np.abs(moves[chosen]) < LEAST_MOVE * sizes, 0.0, moves[chosen])
        rotations, spin, inverse = state[:, ROTATION].reshape(-1, 3, 3), state[:, SPIN], self._inverse[chosen]
        turning = np.einsum("nij,nj->ni", rotations @ inverse @ rotations.transpose(0, 2, 1), spin)
        for _ in range(0 if self._is_plane else MIDPOINT_SWEEPS):
            middle = rotation_matrices(0.5 * dt * turning) @ rotations
            turning = np.einsum("nij,nj->ni", middle @ inverse @ middle.transpose(0, 2, 1), spin)
        # a body that rests keeps its pose to the last bit
        way, turn = dt * means[chosen] + moves[:, :3], dt * turning
        turned = orthonormal(rotation_matrices(moves[:, 3:]) @ rotation_matrices(turn) @ rotations)
        is_turned = turn.any(axis=1) | moves[:, 3:].any(axis=1)
        # displacements m dX of bodies that are moved apart change their angular momentum by m dX × V
        state[:, SPIN] -= self.mass[chosen, None] * np.cross(moves[:, :3], state[:, VELOCITY])
        state[:, CENTER] += way
        state[:, ROTATION] = np.where(is_turned[:, None], turned.reshape(-1, 9), state[:, ROTATION])
        self.state[chosen] = state

    def _in_world(self, tensors: Floats) -> Floats:
        rotations = self.rotations
        return rotations @ tensors @ rotations.transpose(0, 2, 1)


class RigidRow:
    """What the table holds of one body.

    Attributes:
        state: see `RigidBody.state`.
        mass: [kg]; inverse_mass: along each axis [1/kg], shape (3,).
        inertia, inverse_inertia: in world axes at the start, shape (3, 3).
        gyration: radius of gyration [m].
        frame: the linear part of the pose at the start (3, 3); pivot: center of mass in local coordinates [m], shape (3,).
        is_plane: whether it is in 2D; height: the y of the origin of its shape there, which does not change [m].
    """

    def __init__(self, mass: float, inertia: Floats, frame: Floats, pivot: Floats, *, is_plane: bool, height: float) -> None:
        axes = np.array([1.0, 0.0, 1.0]) if is_plane else np.ones(3)
        self.state = np.zeros(STATE_SIZE)
        self.state[ROTATION] = np.eye(3).ravel()
        self.mass = mass
        self.inverse_mass = axes / mass
        self.inertia = inertia
        self.inverse_inertia = np.diag([0.0, 1.0 / inertia[1, 1], 0.0]) if is_plane else np.linalg.inv(inertia)
        self.gyration = float(np.sqrt(np.trace(inertia) / ((1.0 if is_plane else 3.0) * mass)))
        self.frame = frame
        self.pivot = pivot
        self.is_plane = is_plane
        self.height = height


def orthonormal(matrices: Floats) -> Floats:
    """The nearest rotations to matrices (..., 3, 3), to second order in their distance from one (Higham 1986)."""
    return matrices @ (1.5 * np.eye(3) - 0.5 * np.swapaxes(matrices, -1, -2) @ matrices)
