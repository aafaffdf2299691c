"""An emitter's shape at a moment: where it is, how it moves, and its surface normals.

The shape of a rigid emitter stays in local coordinates, so that results for it are valid at every moment; a pose converts points
between local and world coordinates.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..geometry.inside import inside_test
from ..geometry.layer import Layer, is_sheet, outward_normals
from ..geometry.motion import velocity_at, vertices_at
from ..geometry.rotation import cross_matrix
from ..geometry.section import section_of
from ..geometry.shapes.mesh import Mesh
from ..geometry.shapes.points import Points
from ..scene.animation import value_at
from ..scene.description import Emitter, Scene
from ..scene.shape import Shape
from .schedule import in_plane

Floats = NDArray[np.float64]


def subject_of(emitter: Emitter) -> str:
    """The name of an emitter in messages."""
    return f'Emitter "{emitter.name}"'


def prepared(scene: Scene, index: int, name: str, make: Callable[[], Any]) -> Any:
    """The result of `make`, computed once per emitter and shared by all moments; freed with the scene."""
    if (index, name) not in scene.prepared:
        scene.prepared[index, name] = make()
    return scene.prepared[index, name]


class EmitterShape:
    """An emitter's shape at a moment.

    Args:
        scene: the scene.
        index: number of the emitter.
        frame: the moment, in (fractional) frames.

    Attributes:
        scene, index, emitter, frame: see above.
        own: the shape that values are painted on, in local coordinates; a deforming mesh in its pose at the moment.
        solid: the shape to fill, in local coordinates: closed, as a section in 2D, or only its surface layer; for points, `own`.
        matrix: world from local (4, 4).
        scale: factor on lengths, world over local.
    """

    def __init__(self, scene: Scene, index: int, frame: float) -> None:
        emitter, motion = scene.emitters[index], scene.emitters[index].motion
        self.scene, self.emitter, self.frame = scene, emitter, frame
        self.index = index
        self.matrix = np.eye(4)
        self._rigid = np.zeros((2, 3))
        self._vertex_velocities: Floats | None = None
        if motion is None:
            self.own = emitter.shape
        elif motion.vertices is not None:
            vertices, self._vertex_velocities = vertices_at(motion, frame, 1.0 / scene.time.frame_seconds)
            self.own = Mesh(vertices, emitter.shape.triangles, emitter.shape.source)  # type: ignore[attr-defined]
        else:
            self.own = emitter.shape
            self.matrix, *self._rigid = velocity_at(motion, frame, 1.0 / scene.time.frame_seconds)
        self.scale = float(np.cbrt(abs(np.linalg.det(self.matrix[:3, :3]))))
        self.is_rigid = self._vertex_velocities is None
        self.solid: Shape = prepared(scene, index, "solid", self._make_solid) if self.is_rigid else self._make_solid()

    def _make_solid(self) -> Shape:
        scene, emitter = self.scene, self.emitter
        if isinstance(self.own, Points):
            return self.own
        is_layer = emitter.source == "surface"
        body = self.own
        if scene.solver.dimension == 2:
            body = section_of(body, subject_of(emitter))
        elif isinstance(body, Mesh) and not (is_layer and is_sheet(body)):
            body = body.closed
        if is_layer:
            return Layer(body, scene.solver.grid_spacing / self.scale, scene.solver.dimension)
        body.check_inside(subject_of(emitter))
        return body

    @property
    def is_moved(self) -> bool:
        """Whether local and world coordinates differ."""
        return self.is_rigid and self.emitter.motion is not None

    def volume(self) -> float:
        """The volume of the solid [m^3], in 2D the area [m^2]."""
        return self.solid.volume() * self.scale**self.scene.solver.dimension

    def world(self, points: Floats) -> Floats:
        """World positions of local points (n, 3)."""
        return in_plane(points @ self.matrix[:3, :3].T + self.matrix[:3, 3], self.scene) if self.is_moved else points

    def local(self, points: Floats) -> Floats:
        """Local positions of world points (n, 3)."""
        if not self.is_moved:
            return points
        return in_plane((points - self.matrix[:3, 3]) @ np.linalg.inv(self.matrix[:3, :3]).T, self.scene)

    def bounds(self) -> Floats:
        """The bounds of the solid in the world [m], shape (2, 3)."""
        bounds = self.solid.bounds()
        if not self.is_moved:
            return bounds
        corners = np.stack(np.meshgrid(*bounds.T, indexing="ij"), axis=-1).reshape(-1, 3)
        corners = corners @ self.matrix[:3, :3].T + self.matrix[:3, 3]
        return np.array([corners.min(axis=0), corners.max(axis=0)])

    def are_inside(self, points: Floats) -> NDArray[np.bool_]:
        """Whether world points (n, 3) lie inside the solid."""
        if not self.is_rigid:
            return inside_test(self.solid)(points)
        return prepared(self.scene, self.index, "inside", lambda: inside_test(self.solid))(self.local(points))

    def normals(self, points: Floats) -> Floats:
        """The outward unit normals of the nearest surface points of world points (n, 3); shape (n, 3), in 2D with y = 0."""
        local = np.ascontiguousarray(self.local(points))
        is_flat = self.scene.solver.dimension == 2
        body = self.solid.body if isinstance(self.solid, Layer) else self.solid
        # the section of a sheet does not distinguish its two sides
        normals = outward_normals(self.own if is_flat and is_sheet(body) else body, local)
        normals = in_plane(normals @ self.matrix[:3, :3].T, self.scene)
        return normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]

    def own_motion(self, points: Floats) -> tuple[Floats, Floats]:
        """The velocity of the emitter's object at world points (n, 3).

        A rigid object: v + w x r. A deforming mesh: the affine field that best fits the vertices' velocities, evaluated at the point
        itself, so that the inside of a rotating mesh rotates too, plus the residual, interpolated at the nearest surface point.

        Returns:
            velocity [m/s] (n, 3) and the gradient of its affine part [1/s] (3, 3).
        """
        if self._vertex_velocities is None:
            linear, angular = self._rigid
            if self.scene.solver.dimension == 2:
                linear, angular = linear * [1.0, 0.0, 1.0], angular * [0.0, 1.0, 0.0]
            return linear + np.cross(angular, points - self.matrix[:3, 3]), cross_matrix(angular)
        velocities = self._vertex_velocities
        gradient, rest = _affine_fit(in_plane(self.own.vertices, self.scene), in_plane(velocities, self.scene))  # type: ignore[attr-defined]
        middle = in_plane(self.own.vertices.mean(axis=0), self.scene)  # type: ignore[attr-defined]
        mean = in_plane(velocities.mean(axis=0), self.scene)
        return mean + (points - middle) @ gradient.T + self.on_surface(rest, self.nearest(points)), gradient

    def nearest(self, points: Floats) -> tuple[NDArray[np.int64], Floats]:
        """The triangles (n,) of the object's mesh nearest to world points (n, 3), and barycentric weights (n, 3)."""
        assert isinstance(self.own, Mesh), "only meshes have triangles"
        return self.own.surface.closest(self.local(points))

    def on_surface(self, values: Floats, nearest: tuple[NDArray[np.int64], Floats]) -> Floats:
        """Values of the mesh's vertices (v, c), or of its corners (m, 3, c), at surface points from `nearest`.

        Returns:
            shape (n, c): interpolated in the nearest triangle alone, so that the two sides of a seam stay separate.
        """
        assert isinstance(self.own, Mesh), "only meshes have values on a surface"
        triangles, weights = nearest
        corners = values[triangles] if values.ndim == 3 else values[self.own.triangles[triangles]]
        return np.einsum("nk,nkc->nc", weights, corners)


def start_motion(placed: EmitterShape, points: Floats) -> tuple[Floats, Floats]:
    """The initial velocity of emitted particles, and its gradient.

    Args:
        placed: the emitter's shape at the moment.
        points: world positions [m], shape (n, 3); for an emitter of points all of them, in order.

    Returns:
        velocity [m/s] (n, 3), and its gradient [1/s] (n, 9): a read-only view of one gradient if it is the same for all.
    """
    scene, emitter, frame = placed.scene, placed.emitter, placed.frame
    gradient = np.zeros((3, 3))
    velocity = np.tile(in_plane(value_at(emitter, "velocity", frame), scene), (len(points), 1))
    turn = np.radians(np.asarray(value_at(emitter, "angular_velocity", frame)))
    if scene.solver.dimension == 2:
        turn = turn * [0.0, 1.0, 0.0]
    if turn.any():
        center = placed.bounds().mean(axis=0)
        velocity += np.cross(turn, in_plane(points - center, scene))
        gradient += cross_matrix(turn)
    if isinstance(placed.own, Points) and placed.own.velocity is not None:
        velocity += in_plane(placed.own.velocity @ placed.matrix[:3, :3].T, scene)
    if emitter.motion is not None:
        share = float(value_at(emitter, "inherit_velocity", frame))
        own, own_gradient = placed.own_motion(points)
        velocity += share * own
        gradient += share * own_gradient
    gradients = np.broadcast_to(gradient.reshape(9), (len(points), 9))
    along_normal = float(value_at(emitter, "normal_velocity", frame))
    if along_normal != 0.0 and len(points):
        velocity += along_normal * placed.normals(points)
        gradients = gradients + along_normal * _normal_gradients(placed, points)
    return velocity, gradients


def _normal_gradients(placed: EmitterShape, points: Floats) -> Floats:
    """The gradient of the normals [1/m], shape (n, 9), by central differences over one cell, the finest detail that the grid resolves."""
    spacing = placed.scene.solver.grid_spacing
    columns = []
    for axis in range(3):
        step = np.zeros(3)
        step[axis] = 0.5 * spacing
        if axis == 1 and placed.scene.solver.dimension == 2:
            columns.append(np.zeros((len(points), 3)))
            continue
        columns.append((placed.normals(points + step) - placed.normals(points - step)) / spacing)
    return np.stack(columns, axis=2).reshape(len(points), 9)


def _affine_fit(vertices: Floats, velocities: Floats) -> tuple[Floats, Floats]:
    """The gradient (3, 3) of the least-squares affine fit to velocities (n, 3), and the residual (n, 3)."""
    arms, change = vertices - vertices.mean(axis=0), velocities - velocities.mean(axis=0)
    gradient = np.linalg.lstsq(arms, change, rcond=1e-9)[0].T
    return gradient, change - arms @ gradient.T
