"""A rigid body: its mass, pose and motion. Plain numpy.

Its state holds the spin, the angular momentum about its center of mass, in world axes; the angular velocity follows from it. So the spin
is exactly constant without torque, and gyroscopic motion needs no extra term.
"""

import numpy as np

from ..errors import SceneError
from ..geometry.motion import pose_at
from ..geometry.rotation import Floats, rotation_matrix
from ..geometry.solid import solid_properties
from ..scene.description import Collider, Scene
from .obstacle import Obstacle

# iterations for the angular velocity at the middle of a substep
MIDPOINT_SWEEPS = 4
STATE_SIZE = 18


class RigidBody:
    """A rigid body.

    In 2D its mass is per meter of depth, and it rotates only about y.

    Args:
        is_piece: whether it is a piece of a broken body, whose shape is taken as it is, however thin.

    Attributes:
        obstacle: its collider.
        start_scale: lengths in the world over those of the shape.
        mass: [kg].
        inverse_mass: along each axis [1/kg], shape (3,).
        center: center of mass [m]; rotation: since the start (3, 3); velocity [m/s]; spin [kg m^2/s]. These are the body's state.

    Raises:
        SceneError: the collider has no mass.
    """

    def __init__(self, collider: Collider, scene: Scene, *, is_piece: bool = False) -> None:
        dimension = scene.solver.dimension
        subject = f'Collider "{collider.name}"'
        volume, pivot, inertia = solid_properties(collider.shape, subject, dimension)
        start = np.eye(4) if collider.motion is None else pose_at(collider.motion, scene.time.frame_start)
        scale = float(np.cbrt(abs(np.linalg.det(start[:3, :3]))))
        volume, inertia = volume * scale**dimension, inertia * scale ** (dimension + 2)
        self.mass = collider.density * volume if collider.mass is None else collider.mass
        if not 0.0 < self.mass < np.inf:
            raise SceneError(f"its mass is {self.mass:g} kg", "use a higher density, or set its mass", subject=subject)
        self.obstacle = Obstacle(collider, scene, pivot, is_piece=is_piece)
        axes = np.array([1.0, 0.0, 1.0]) if dimension == 2 else np.ones(3)
        self.inverse_mass = axes / self.mass
        self._is_plane = dimension == 2
        self._frame = start[:3, :3]
        self.start_scale = scale
        turn = self._frame / scale
        self._inertia = self.mass / volume * (turn @ inertia @ turn.T)
        self._inverse = np.diag([0.0, 1.0 / self._inertia[1, 1], 0.0]) if dimension == 2 else np.linalg.inv(self._inertia)
        self.gyration = float(np.sqrt(np.trace(self._inertia) / ((1.0 if dimension == 2 else 3.0) * self.mass)))
        self.center = self._frame @ pivot + start[:3, 3]
        if dimension == 2:
            self.center[1] = 0.0
        self._pivot = pivot
        self._height = start[1, 3] if dimension == 2 else 0.0
        self.rotation = np.eye(3)
        self.velocity = np.asarray(collider.velocity, np.float64) * axes
        turning = np.radians(np.asarray(collider.angular_velocity, np.float64))
        self.spin = self._inertia @ (turning * [0.0, 1.0, 0.0] if dimension == 2 else turning)

    @property
    def name(self) -> str:
        return self.obstacle.name

    @property
    def inverse_inertia(self) -> Floats:
        """In world axes [1/(kg m^2)], shape (3, 3)."""
        return self.rotation @ self._inverse @ self.rotation.T

    @property
    def velocities(self) -> Floats:
        """Velocity of the center of mass [m/s] and angular velocity [rad/s], shape (6,)."""
        return np.concatenate([self.velocity, self.inverse_inertia @ self.spin])

    @property
    def pose(self) -> Floats:
        """World from local, shape (4, 4)."""
        pose = np.eye(4)
        pose[:3, :3] = self.rotation @ self._frame
        pose[:3, 3] = self.center - pose[:3, :3] @ self._pivot
        if self._is_plane:
            pose[1, 3] = self._height
        return pose

    @property
    def kinetic_energy(self) -> float:
        """The kinetic energy [J]."""
        return 0.5 * self.mass * float(self.velocity @ self.velocity) + 0.5 * float(self.spin @ self.inverse_inertia @ self.spin)

    def state(self) -> Floats:
        """Its state as an array, shape (18,): center, rotation, velocity and spin."""
        return np.concatenate([self.center, self.rotation.ravel(), self.velocity, self.spin])

    def set_state(self, state: Floats) -> None:
        self.center, self.rotation = state[:3].copy(), state[3:12].reshape(3, 3).copy()
        self.velocity, self.spin = state[12:15].copy(), state[15:].copy()

    def place(self) -> None:
        """Move the collider to the pose of the body."""
        velocities = self.velocities
        self.obstacle.place(self.pose, velocities[:3], velocities[3:])

    def push(self, impulse: Floats) -> None:
        """Apply an impulse [kg m/s] and an angular impulse about its center of mass [kg m^2/s], shape (6,)."""
        if self._is_plane:
            impulse = impulse * [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
        self.velocity = self.velocity + self.inverse_mass * impulse[:3]
        self.spin = self.spin + impulse[3:]

    def set_velocities(self, velocities: Floats) -> None:
        """Set the velocity of the center of mass [m/s] and the angular velocity [rad/s], shape (6,)."""
        self.velocity = velocities[:3].copy()
        self.spin = self.rotation @ self._inertia @ self.rotation.T @ velocities[3:]

    def move(self, shift: Floats, turn: Floats) -> None:
        """Move its center of mass [m] and rotate it about that [rad], without changing its velocity and spin."""
        self.center = self.center + shift
        self.rotation = _orthonormal(rotation_matrix(turn) @ self.rotation)

    def advance(self, dt: float) -> None:
        """Move with its velocity and spin: the center on a straight line, the rotation with the angular velocity at mid-substep.

        The implicit midpoint rule on SO(3): R <- exp(dt w) R, with w = I(R_m)^-1 L at R_m = exp(dt w / 2) R (Hairer, Lubich and
        Wanner 2006, section VII.5).
        """
        turning = self.inverse_inertia @ self.spin
        for _ in range(0 if self._is_plane else MIDPOINT_SWEEPS):
            middle = rotation_matrix(0.5 * dt * turning) @ self.rotation
            turning = middle @ self._inverse @ middle.T @ self.spin
        self.move(dt * self.velocity, dt * turning)


def _orthonormal(matrix: Floats) -> Floats:
    """The nearest rotation, to second order in the matrix's distance from one (Higham 1986)."""
    return matrix @ (1.5 * np.eye(3) - 0.5 * matrix.T @ matrix)
