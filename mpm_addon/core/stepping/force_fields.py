"""The force fields of a scene at a moment, for the kernels. `force` declares them and `forces` computes them."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..geometry.motion import pose_at
from ..scene.animation import value_at
from ..scene.description import Scene
from ..scene.force import FALLOFF_SHAPES, FORCE_KINDS, FORCE_SHAPES, FORCE_SIDES, Force
from ..transfer.layout import PIECE_COUNT
from ..transfer.particle_store import ParticleStore
from .forces import FIELD_SIZE, apply_forces, forces_at, greatest_force

Floats = NDArray[np.float64]
# the settings of a force in the row of a field, after its kind, its position and its direction
_NUMBERS = (
    *("strength", "falloff", "min_distance", "radius", "radial_falloff", "radial_min", "radial_max"),
    *("flow", "noise", "seed", "size", "linear_drag", "quadratic_drag", "rest_length", "damping"),
)


class ForceFields:
    """The force fields of a scene.

    Attributes:
        acceleration: a bound on their acceleration, without drag [m/s^2].
        frequency: the combined angular frequency of all harmonic fields [rad/s].
    """

    def __init__(self, scene: Scene) -> None:
        self.acceleration = 0.0
        self.frequency = 0.0
        self._forces = scene.forces
        self._spacing = scene.solver.grid_spacing
        self._is_plane = scene.solver.dimension == 2
        self._rows = np.zeros((0, FIELD_SIZE))
        self._frame = 0
        # rows of fields that neither move nor change are computed once
        self._is_known = False
        self._extremes = np.zeros(PIECE_COUNT)

    def move_to(self, frame: float) -> None:
        """Set poses and values for a moment, in frames."""
        self._frame = math.floor(frame)
        if self._is_known:
            return
        self._is_known = all(force.motion is None and force.animation is None for force in self._forces)
        acting = [force for force in self._forces if value_at(force, "enabled", frame)]
        self._rows = np.array([field_row(force, frame, is_plane=self._is_plane) for force in acting]).reshape(-1, FIELD_SIZE)
        stiffness = [abs(value_at(force, "strength", frame)) for force in acting if force.kind == "harmonic"]
        self.frequency = math.sqrt(sum(stiffness))

    def survey(self, store: ParticleStore) -> None:
        """Measure the strength of the fields around the particles, before the nodes have velocities."""
        self.acceleration = 0.0
        if len(self._rows):
            block_nodes = store.nodes.shape[1] // 4
            greatest_force(self._rows, store.layout.node_coordinates, block_nodes, self._spacing, self._frame, self._extremes)
            self.acceleration = float(self._extremes.max())

    def apply(self, store: ParticleStore, dt: float) -> None:
        """Apply the fields to the nodes for a substep [s]."""
        self.acceleration = 0.0
        if len(self._rows):
            apply_forces(self._rows, store.layout.node_coordinates, store.nodes, self._spacing, self._frame, dt, self._extremes)
            self.acceleration = float(self._extremes.max())

    def at(self, positions: Floats, velocities: Floats) -> Floats:
        """The accelerations [m/s^2], including drag, of particles at positions [m] with velocities [m/s]; all of shape (n, 3)."""
        result = np.empty((len(positions), 3))
        arrays = (np.ascontiguousarray(each, np.float64) for each in (positions, velocities))
        forces_at(self._rows, *arrays, self._frame, self._is_plane, result)
        return result


def field_row(force: Force, frame: float, *, is_plane: bool = False) -> Floats:
    """A field at a moment, in frames, as a row for the kernels, shape (FIELD_SIZE,)."""
    center, normal = np.array(force.center), np.array(force.direction)
    if force.motion is not None:
        pose = pose_at(force.motion, frame)
        center, normal = pose[:3, :3] @ center + pose[:3, 3], pose[:3, :3] @ normal
    normal = normal / np.linalg.norm(normal)
    if is_plane:
        center[1] = 0.0
        normal = _normal_in_plane(normal, force.kind == "vortex")

    def of(name: str) -> Any:
        value = value_at(force, name, frame)
        return math.inf if value is None else value

    kind, shape = FORCE_KINDS.index(force.kind), FORCE_SHAPES.index(force.shape)
    falloff_shape, side = FALLOFF_SHAPES.index(force.falloff_shape), FORCE_SIDES.index(force.side)
    return np.array([kind, shape, falloff_shape, side, *center, *normal, *(of(name) for name in _NUMBERS)], np.float64)


def _normal_in_plane(normal: Floats, is_axis: bool) -> Floats:
    """The normal's direction within the plane, or zero if it is perpendicular to the plane; a vortex turns about y."""
    if is_axis:
        return np.array([0.0, -1.0 if normal[1] < -1e-9 else 1.0, 0.0])
    flat = normal * [1.0, 0.0, 1.0]
    length = float(np.linalg.norm(flat))
    return flat / length if length > 1e-9 else 0.0 * flat
