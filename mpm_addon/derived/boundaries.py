"""Where colliders and the walls of the domain are at a frame, as signed distances."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.contact.sides import walls_of
from ..core.geometry.deforming import DeformingMesh
from ..core.geometry.distance import distance_query
from ..core.geometry.motion import pose_at, velocity_at, vertices_at
from ..core.geometry.shapes import Mesh
from ..core.geometry.shapes.plane import Plane
from ..core.particles import Moment
from ..core.scene.animation import Motion, value_at
from ..core.scene.description import Collider, Scene

Floats = NDArray[np.float64]
Poses = Mapping[str, NDArray[np.float64]]


class Earlier(NamedTuple):
    """An earlier frame: its number, the time since then [s], and the poses of dynamic colliders, world from local (4, 4), by name."""

    frame: float
    seconds: float
    poses: Poses


class Boundary:
    """One collider or wall, in its pose at a frame.

    Attributes:
        is_enabled: whether it is enabled at the frame.
        is_passable: whether a straight path can lead through it and out again, unlike a plane; always False if it deforms.
        has_moved: whether it has moved since the earlier frame of `move_to`; always False if it deforms.
    """

    def __init__(self, collider: Collider, scene: Scene) -> None:
        self._collider = collider
        self._spacing = scene.solver.grid_spacing
        self._pose(np.eye(4))
        self._linear = self._angular = np.zeros(3)
        self._mesh: DeformingMesh | None = None
        self._still: DeformingMesh | None = None
        if collider.motion is not None and collider.motion.vertices is not None:
            poses, triangles = np.asarray(collider.motion.vertices, np.float64), np.asarray(collider.shape.triangles)  # type: ignore[attr-defined]
            self._mesh = DeformingMesh(poses, triangles, self._spacing)
        elif isinstance(collider.shape, Mesh):
            self._still = DeformingMesh(collider.shape.vertices[None], collider.shape.triangles, self._spacing)
        self.is_passable = self._mesh is None and not isinstance(collider.shape, Plane)
        self.is_enabled, self.has_moved = True, False
        self._since = np.eye(4)

    def move_to(self, frame: float, poses: Poses, earlier: Earlier | None = None) -> None:
        """Take the pose at a (fractional) frame.

        Args:
            frame: its number.
            poses: those of dynamic colliders, world from local (4, 4), by name.
            earlier: the frame from which it has moved here; without one, it counts as still.
        """
        motion = self._collider.motion
        self.is_enabled = bool(value_at(self._collider, "enabled", frame))
        if self._mesh is not None:
            assert motion is not None
            end = vertices_at(motion, frame, 1.0)[0]
            way = np.zeros_like(end) if earlier is None else (end - vertices_at(motion, earlier.frame, 1.0)[0]) / earlier.seconds
            self._mesh.move_to(end, way)
            return
        start = None
        if self._collider.dynamic:
            self.is_enabled &= self._collider.name in poses
            self._pose(poses.get(self._collider.name, self._matrix))
            start = None if earlier is None else earlier.poses.get(self._collider.name)
        elif motion is not None:
            self._pose(pose_at(motion, frame))
            start = None if earlier is None else pose_at(motion, earlier.frame)
        self._linear = self._angular = np.zeros(3)
        self.has_moved = start is not None and not np.array_equal(start, self._matrix)
        # most colliders are still
        self._since = self._matrix @ np.linalg.inv(start) if start is not None and self.has_moved else np.eye(4)
        if earlier is not None and start is not None and self.has_moved:
            between = Motion(np.array([0.0, 1.0]), np.array([start, self._matrix]))
            _pose, self._linear, self._angular = velocity_at(between, 0.0, 1.0 / earlier.seconds)

    def _pose(self, matrix: NDArray[np.float64]) -> None:
        self._matrix = matrix
        self._inverse = np.linalg.inv(matrix[:3, :3])
        if isinstance(self._collider.shape, Plane):
            normal = self._inverse.T @ np.asarray(self._collider.shape.normal, np.float64)
            self._normal = normal / np.linalg.norm(normal)
            self._height = float((matrix[:3, :3] @ self._collider.shape.point + matrix[:3, 3]) @ self._normal)

    @property
    def plane(self) -> Floats | None:
        """The normal of a plane and its height along it [m], (4,); None for other shapes."""
        return np.append(self._normal, self._height) if isinstance(self._collider.shape, Plane) else None

    def box(self) -> Floats:
        """The corners of a box around all that is inside [m], (2, 3); not of a plane."""
        if self._mesh is not None:
            return self._mesh.bounds() + np.array([[-1.0], [1.0]]) * self._mesh.offset
        low, high = self._world_bounds()
        # meshes may be thickened
        margin = 2.0 * self._spacing * max(self._scale, 1.0) if self._still is not None else 0.0
        return np.array([low - margin, high + margin])

    @property
    def _scale(self) -> float:
        return float(np.cbrt(abs(np.linalg.det(self._matrix[:3, :3]))))

    def goal(self, depth: float) -> float:
        """How far below what blocks a mesh ends that is to end so far below the artist's own surface [m], or just above a sheet."""
        mesh, scale = (self._mesh, 1.0) if self._still is None else (self._still, self._scale)
        if mesh is None:
            return depth
        offset = mesh.offset * scale
        if not mesh.is_solid:
            return offset - depth
        thickness = self._spacing * scale - 2.0 * offset if offset > 0.0 else math.inf
        return offset + min(depth, 0.25 * thickness)

    def velocity(self, points: Floats) -> Floats:
        """The velocity of the surface at points (n, 3) on it since the earlier frame of `move_to` [m/s], (n, 3)."""
        if self._mesh is not None:
            return self._mesh(points).velocity
        return self._linear + np.cross(self._angular, points - self._matrix[:3, 3])

    def carried(self, points: Floats) -> Floats:
        """Where points (n, 3) that moved with it since the earlier frame of `move_to` are now [m], (n, 3)."""
        return _turned(points, self._since[:3, :3]) + self._since[:3, 3]

    def near(self, points: Floats, reach: float) -> tuple[NDArray[np.intp], Floats, Floats]:
        """The points (n, 3) nearer to the surface, or deeper inside, than `reach` [m]; beyond a cell from a mesh, some may be missing.

        Returns:
            Their indices, signed distances [m], positive outside, and its unit gradients (k, 3).
        """
        if self._mesh is not None:
            # what blocks may lie outside the mesh
            beyond = reach + self._mesh.offset
            low, high = self._mesh.bounds() + np.array([[-beyond], [beyond]])
            found = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
            distance, normal, _velocity = self._mesh(points[found])
        elif isinstance(self._collider.shape, Plane):
            return self._near_plane(points, reach)
        else:
            scale = self._scale
            # samples are fast, but not exact
            found = self._in_bounds(points, reach) if self._still is None else self.roughly_near(points, reach)
            local = np.ascontiguousarray(_turned(points[found] - self._matrix[:3, 3], self._inverse))
            distance, normal = distance_query(self._collider.shape, self._spacing)(local) if self._still is None else self._still(local)[:2]
            distance, normal = distance * scale, _turned(normal, self._matrix[:3, :3]) / scale
        chosen = distance < reach
        return found[chosen], distance[chosen], normal[chosen]

    def roughly_near(self, points: Floats, reach: float) -> NDArray[np.intp]:
        """The indices of points as in `near`, and of some that are farther away by less than half a cell; quicker for a mesh."""
        if self._still is None:
            return self.near(points, reach)[0]
        found = self._in_bounds(points, reach + 2.0 * self._spacing * max(self._scale, 1.0))
        return found[self._rough(points[found]) < reach + 0.25 * self._spacing]

    def _rough(self, points: Floats) -> Floats:
        """The sampled distance from a mesh [m], (n,), accurate to a fifth of a cell."""
        local = _turned(points - self._matrix[:3, 3], self._inverse)
        return distance_query(self._collider.shape, self._spacing)(local)[0] * self._scale

    def _near_plane(self, points: Floats, reach: float) -> tuple[NDArray[np.intp], Floats, Floats]:
        """As `near`. The sums are spelled out as in `_turned`, and those of zeros left out."""
        normal = self._normal
        distance = np.full(len(points), -self._height)
        for axis in np.flatnonzero(normal):
            distance += points[:, axis] * normal[axis]
        found = np.flatnonzero(distance < reach)
        return found, distance[found], np.tile(normal, (len(found), 1))

    def _in_bounds(self, points: Floats, margin: float) -> NDArray[np.intp]:
        """The points in the box around the shape, enlarged by a margin [m]."""
        low, high = self._world_bounds()
        found = np.arange(len(points))
        for axis in range(3):
            values = points[found, axis]
            found = found[(values >= low[axis] - margin) & (values <= high[axis] + margin)]
        return found

    def _world_bounds(self) -> tuple[Floats, Floats]:
        """The corners of the box around the shape in its pose [m]."""
        low, high = self._collider.shape.bounds()
        corners = np.stack(np.meshgrid(*np.column_stack([low, high]), indexing="ij"), axis=-1).reshape(-1, 3)
        world = corners @ self._matrix[:3, :3].T + self._matrix[:3, 3]
        return world.min(axis=0), world.max(axis=0)


class Boundaries:
    """What bounds the particles of a scene.

    Args:
        scene: the scene of the cache; None if nothing is to bound them.
    """

    def __init__(self, scene: Scene | None) -> None:
        colliders = () if scene is None else (*walls_of(scene.domain, scene.solver.dimension), *scene.colliders)
        self._all = [Boundary(collider, scene) for collider in colliders if scene is not None and collider.is_ever_enabled]

    def at(self, moment: Moment, poses: Poses, earlier: Earlier | None = None) -> list[Boundary]:
        """Those that are enabled at a moment, in their poses, until this is called again; for the others see `Boundary.move_to`."""
        for boundary in self._all:
            boundary.move_to(moment.number + moment.part / moment.parts, poses, earlier)
        return [boundary for boundary in self._all if boundary.is_enabled]


def _turned(vectors: Floats, block: Floats) -> Floats:
    """The products of a matrix (3, 3) with vectors (n, 3). Spelled out: a matrix product rounds differently at the end of an array."""
    return np.ascontiguousarray(vectors[:, :1] * block[:, 0] + vectors[:, 1:2] * block[:, 1] + vectors[:, 2:] * block[:, 2])
