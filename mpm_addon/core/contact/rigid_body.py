"""A rigid body: its mass, pose and motion. Plain numpy.

Its state holds the spin, the angular momentum about its center of mass, in world axes; the angular velocity follows from it. So the spin
is exactly constant without torque, and gyroscopic motion needs no extra term.
"""

import numpy as np

from ..errors import SceneError
from ..geometry.mass import MassProperties
from ..geometry.motion import pose_at
from ..geometry.rotation import Floats, rotation_matrix
from ..geometry.solid import solid_properties
from ..scene.description import Collider, Scene
from .obstacle import Obstacle
from .rigid_table import CENTER, ROTATION, SPIN, VELOCITY, RigidRow, orthonormal


class RigidBody:
    """A rigid body.

    In 2D its mass is per meter of depth, and it rotates only about y.

    Args:
        is_piece: whether it is a piece of a broken body, whose shape is taken as it is, however thin.
        properties: volume, center of mass and inertia, if they are not those of the shape.

    Attributes:
        obstacle: its collider.
        start_scale: lengths in the world over those of the shape.
        mass: [kg].
        row: its state and masses, in a table of all bodies once it is part of a simulation.
        center: center of mass [m]; rotation: since the start (3, 3); velocity [m/s]; spin [kg m^2/s]. These are the body's state.

    Raises:
        SceneError: the collider has no mass.
    """

    def __init__(self, collider: Collider, scene: Scene, *, is_piece: bool = False, properties: MassProperties | None = None) -> None:
        dimension = scene.solver.dimension
        subject = f'Collider "{collider.name}"'
        volume, pivot, inertia = properties or solid_properties(collider.shape, subject, dimension)
        start = np.eye(4) if collider.motion is None else pose_at(collider.motion, scene.time.frame_start)
        scale = float(np.cbrt(abs(np.linalg.det(start[:3, :3]))))
        volume, inertia = volume * scale**dimension, inertia * scale ** (dimension + 2)
        self.mass = collider.density * volume if collider.mass is None else collider.mass
        if not 0.0 < self.mass < np.inf:
            raise SceneError(f"its mass is {self.mass:g} kg", "use a higher density, or set its mass", subject=subject)
        self.obstacle = Obstacle(collider, scene, pivot, is_piece=is_piece)
        self.start_scale = scale
        turn = start[:3, :3] / scale
        inertia = self.mass / volume * (turn @ inertia @ turn.T)
        self.row = RigidRow(self.mass, inertia, start[:3, :3], pivot, is_plane=dimension == 2, height=float(start[1, 3]))
        axes = np.array([1.0, 0.0, 1.0]) if dimension == 2 else np.ones(3)
        self.center = (start[:3, :3] @ pivot + start[:3, 3]) * axes
        self.velocity = np.asarray(collider.velocity, np.float64) * axes
        turning = np.radians(np.asarray(collider.angular_velocity, np.float64))
        self.spin = inertia @ (turning * [0.0, 1.0, 0.0] if dimension == 2 else turning)

    @property
    def name(self) -> str:
        return self.obstacle.name

    @property
    def center(self) -> Floats:
        return self.row.state[CENTER].copy()

    @center.setter
    def center(self, center: Floats) -> None:
        self.row.state[CENTER] = center

    @property
    def rotation(self) -> Floats:
        return self.row.state[ROTATION].reshape(3, 3).copy()

    @rotation.setter
    def rotation(self, rotation: Floats) -> None:
        self.row.state[ROTATION] = rotation.ravel()

    @property
    def velocity(self) -> Floats:
        return self.row.state[VELOCITY].copy()

    @velocity.setter
    def velocity(self, velocity: Floats) -> None:
        self.row.state[VELOCITY] = velocity

    @property
    def spin(self) -> Floats:
        return self.row.state[SPIN].copy()

    @spin.setter
    def spin(self, spin: Floats) -> None:
        self.row.state[SPIN] = spin

    @property
    def inverse_mass(self) -> Floats:
        """Along each axis [1/kg], shape (3,)."""
        return self.row.inverse_mass

    @property
    def gyration(self) -> float:
        """The radius of gyration [m]."""
        return self.row.gyration

    @property
    def inverse_inertia(self) -> Floats:
        """In world axes [1/(kg m^2)], shape (3, 3)."""
        return self.rotation @ self.row.inverse_inertia @ self.rotation.T

    @property
    def velocities(self) -> Floats:
        """Velocity of the center of mass [m/s] and angular velocity [rad/s], shape (6,)."""
        return np.concatenate([self.velocity, self.inverse_inertia @ self.spin])

    def set_velocities(self, velocities: Floats) -> None:
        """Set the velocities, as in `velocities`."""
        self.velocity = velocities[:3]
        self.spin = self.rotation @ self.row.inertia @ self.rotation.T @ velocities[3:]

    @property
    def pose(self) -> Floats:
        """World from local, shape (4, 4)."""
        pose = np.eye(4)
        pose[:3, :3] = self.rotation @ self.row.frame
        pose[:3, 3] = self.center - pose[:3, :3] @ self.row.pivot
        if self.row.is_plane:
            pose[1, 3] = self.row.height
        return pose

    @property
    def kinetic_energy(self) -> float:
        """The kinetic energy [J]."""
        return 0.5 * self.mass * float(self.velocity @ self.velocity) + 0.5 * float(self.spin @ self.inverse_inertia @ self.spin)

    def state(self) -> Floats:
        """Its state as an array, shape (18,): center, rotation, velocity and spin."""
        return self.row.state.copy()

    def set_state(self, state: Floats) -> None:
        self.row.state[:] = state

    def place(self) -> None:
        """Move the collider to the pose of the body."""
        velocities = self.velocities
        self.obstacle.place(self.pose, velocities[:3], velocities[3:])

    def push(self, impulse: Floats) -> None:
        """Apply an impulse [kg m/s] and an angular impulse about its center of mass [kg m^2/s], shape (6,)."""
        if self.row.is_plane:
            impulse = impulse * [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
        self.velocity = self.velocity + self.inverse_mass * impulse[:3]
        self.spin = self.spin + impulse[3:]

    def move(self, shift: Floats, turn: Floats) -> None:
        """Move its center of mass [m] and rotate it about that [rad], without changing its velocity and spin."""
        self.center = self.center + shift
        self.rotation = orthonormal(rotation_matrix(turn) @ self.rotation)
