"""A collider that deforms: its pose, and its distance and velocity at the nodes of the blocks near it.

These are measured again only if what is near has moved by part of a cell, if the blocks change, or if the velocities of its vertices
change. Until then, the distance at a node decreases by the motion of the surface toward it.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..geometry.deforming import DeformingMesh
from ..geometry.deforming_section import DeformingSection
from ..geometry.motion import interval, vertices_at
from ..scene.description import Collider, Scene
from ..transfer.blocks import BLOCK
from .animated_obstacle import AnimatedObstacle
from .obstacle import CORNERS, EXACT_ERROR, MOST_LAG, Field, Floats, Ints, empty_field, field_of

# distance that a vertex may move before the collider is measured again [cells]
MOST_WAY = 0.1
# blocks with a node nearer than this are near [cells]: a cell, and what the surface may move until it is measured and found again
NEAR = 1.0 + MOST_WAY + MOST_LAG


class DeformingObstacle(AnimatedObstacle):
    """One collider whose vertices move.

    Attributes:
        rigid: (9,) zeros: its velocity is in its field.
        is_moving, is_deforming: true.
    """

    is_moving = True
    is_deforming = True

    def __init__(self, collider: Collider, scene: Scene) -> None:
        assert collider.motion is not None and collider.motion.vertices is not None
        super().__init__(collider)
        self.rigid = np.zeros(9)
        self._motion = collider.motion
        self._frame_rate = 1.0 / scene.time.frame_seconds
        self._spacing = scene.solver.grid_spacing
        self._is_plane = scene.solver.dimension == 2
        self._corners = CORNERS[scene.solver.dimension]
        self._mesh: DeformingMesh | DeformingSection
        poses, triangles = np.asarray(collider.motion.vertices, np.float64), np.asarray(collider.shape.triangles)  # type: ignore[attr-defined]
        if self._is_plane:
            self._mesh = DeformingSection(poses, triangles, self._spacing, f'Collider "{collider.name}"')
        else:
            self._mesh = DeformingMesh(poses, triangles, self._spacing)
        self._places, self._placed_at = poses[0], float(scene.time.frame_start)
        self._velocities, self._speeds = np.zeros_like(poses[0]), np.zeros(len(poses[0]))
        self._frame = self._measured_at = self._noted_at = float(scene.time.frame_start)
        self._interval: tuple[int, int] | None = None
        self._is_posed = False
        self._bounds: Floats | None = None
        self._keys: Ints | None = None
        self._field: Field | None = None
        self._box = np.zeros((2, 3))
        self._known_near_speed: float | None = None

    def move_to(self, frame: float) -> None:
        """Update the pose and velocities for a time, in frames."""
        self._frame = frame
        between = interval(self._motion, frame)[:2]
        if between != self._interval or between[0] != between[1]:
            self._is_posed, self._bounds = False, None
        if between != self._interval:
            self._places, velocities = vertices_at(self._motion, frame, self._frame_rate)
            self._interval, self._velocities, self._placed_at = between, velocities, frame
            self._speeds = np.linalg.norm(velocities[:, [0, 2]] if self._is_plane else velocities, axis=1)
            self._field, self._known_near_speed = None, None

    def note_pose(self) -> None:
        super().note_pose()
        self._noted_at = self._frame

    def _way(self) -> float:
        # without a field, its velocities have changed
        return math.inf if self._field is None else abs(self._frame - self._noted_at) / self._frame_rate * self._near_speed()

    @property
    def _vertices(self) -> Floats:
        """The vertices in the current pose [m], found when they are needed: not in each substep."""
        if self._placed_at != self._frame:
            self._places, self._placed_at = vertices_at(self._motion, self._frame, self._frame_rate)[0], self._frame
        return self._places

    def begin_frame(self) -> None:
        """Measure again at the next moment, so that nothing depends on when this was last done."""
        self._field = None

    def contains(self, points: Floats, *, is_whole_shape: bool) -> NDArray[np.bool_]:
        """Which points (n, 3) [m] are inside in the current pose; see `Obstacle.contains`."""
        mesh = self._posed()
        allowance = EXACT_ERROR * self._spacing + mesh.offset
        return mesh(points)[0] < (-allowance if is_whole_shape else 0.0)

    @property
    def fastest(self) -> float:
        """The greatest speed of its vertices [m/s]."""
        return float(self._speeds.max()) if self.is_present else 0.0

    def bounds(self) -> Floats:
        """A bounding box of the space that it blocks [m], shape (2, 3); in 2D infinite along y."""
        if self._bounds is None:
            # no collider is thickened by more than half a cell on either side
            reach = 0.5 * self._spacing
            self._bounds = np.stack([self._vertices.min(axis=0) - reach, self._vertices.max(axis=0) + reach])
            if self._is_plane:
                self._bounds[:, 1] = -np.inf, np.inf
        return self._bounds

    def distance(self, points: Floats) -> tuple[Floats, Floats]:
        """The signed distance [m] of points (n, 3), shape (n,), positive outside, and its gradient (n, 3)."""
        return self._posed()(points)[:2]

    def velocity_at(self, points: Floats) -> Floats:
        """The velocity [m/s] of the points of its surface that are nearest to points (n, 3)."""
        return self._posed()(points)[2]

    def corners(self) -> tuple[Floats, float]:
        """Its vertices, or those of its section, (n, 3) [m], and the distance of the blocking surface outside of them [m]."""
        mesh = self._posed()
        return mesh.corners(), mesh.offset

    def _posed(self) -> DeformingMesh | DeformingSection:
        """The mesh in the current pose."""
        if not self._is_posed:
            self._mesh.move_to(self._vertices, self._velocities)
            self._is_posed = True
        return self._mesh

    def speed(self, near: Ints) -> float:
        """The greatest speed [m/s] of the vertices that may come near particles within a frame; `near` is not used."""
        return self._near_speed() if self.is_present else 0.0

    def _near_speed(self) -> float:
        """The speed of the last measurement, which finds the blocks anew."""
        if self._known_near_speed is None:
            self._known_near_speed = self._greatest_near_speed()
        return self._known_near_speed

    def _greatest_near_speed(self) -> float:
        reach = self._speeds / self._frame_rate + BLOCK * self._spacing
        is_near = np.ones(len(reach), np.bool_)
        for axis in (0, 2) if self._is_plane else range(3):
            place = self._vertices[:, axis]
            is_near &= (place > self._box[0, axis] - reach) & (place < self._box[1, axis] + reach)
        return float(self._speeds[is_near].max(initial=0.0))

    def measure(self, number: int, keys: Ints, coordinates: Ints) -> Field:
        """The distance and velocity at the nodes of the blocks that are near, for the collider with this number."""
        if not self.is_present:
            return empty_field(2 if self._is_plane else 3)
        passed = (self._frame - self._measured_at) / self._frame_rate
        if self._field is None or self._keys is not keys or abs(passed) * self._near_speed() > MOST_WAY * self._spacing:
            self._field = self._measured(number, keys, coordinates)
            self._keys, self._measured_at = keys, self._frame
            return self._field
        approach = np.einsum("rnd,rnd->rn", self._field.velocity, self._field.normal)
        return self._field._replace(distance=self._field.distance - passed * approach)

    def _measured(self, number: int, keys: Ints, coordinates: Ints) -> Field:
        mesh = self._posed()
        edge = BLOCK * self._spacing
        self._known_near_speed = None
        self._box = np.array([coordinates.min(axis=0), coordinates.max(axis=0) + 1]) * edge if len(keys) else np.zeros((2, 3))
        reach = NEAR * self._spacing
        low, high = mesh.bounds() + np.array([[-reach], [reach]])
        is_near = ((coordinates + 1) * edge >= low) & (coordinates * edge <= high)
        near = np.flatnonzero(is_near[:, [0, 2]].all(axis=1) if self._is_plane else is_near.all(axis=1))
        distance, normal, velocity = self._at_nodes(coordinates[near], reach)
        found = distance.min(axis=1, initial=np.inf) < 0.99 * reach
        return field_of(number, keys[near[found]], distance[found], normal[found], velocity[found])

    def _at_nodes(self, coordinates: Ints, reach: float) -> tuple[Floats, Floats, Floats]:
        if isinstance(self._mesh, DeformingMesh):
            return self._mesh.at_lattices(coordinates * (BLOCK * self._spacing), BLOCK, self._spacing, reach)
        nodes = (BLOCK * coordinates[:, None, :] + self._corners) * self._spacing
        distance, normal, velocity = self._mesh(nodes.reshape(-1, 3))
        shape = nodes.shape[:2]
        return distance.reshape(shape), normal.reshape(*shape, 3), velocity.reshape(*shape, 3)
