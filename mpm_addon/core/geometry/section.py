"""Sections of shapes with the plane y = 0: the shapes of two dimensions (plane strain in x-z), one meter deep.

In 2D, y coordinates are ignored: a sphere is a disk, a capsule a stadium, a plane a line, and a box is cut through its middle. A cylinder
or a mesh is cut by the plane y = 0 wherever it lies. Plain numpy until a mesh's distance is needed.
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..errors import SceneError
from ..scene.shape import Floats, Shape
from .outline import Outline, cut_mesh
from .rotation import euler_matrix
from .shapes import Box, Capsule, ClosedForm, Cylinder, Mesh, Plane, Points, Sphere
from .shapes.box import CUBE_TRIANGLES

# an axis whose unit vector has a smaller component out of the plane lies in it
FLATNESS = 1e-12
# segments per half of an ellipse; its area is accurate to 2e-5
ELLIPSE_SEGMENTS = 256


@dataclass(frozen=True)
class Section(ClosedForm):
    """A section with a closed form.

    Attributes:
        solid: a solid with the same distance in the plane y = 0.
        area: [m^2].
    """

    kind: ClassVar[str] = "section"

    solid: ClosedForm
    area: float

    def bounds(self) -> Floats:
        bounds = self.solid.bounds()
        bounds[:, 1] = -0.5, 0.5
        return bounds

    def volume(self) -> float:
        """The area [m^2], which is the volume per meter of depth."""
        return self.area

    def distance_and_normal(self, points: Floats) -> tuple[Floats, Floats]:
        flat = np.array(points, dtype=np.float64)
        flat[:, 1] = 0.0
        return self.solid.distance_and_normal(flat)


def section_of(shape: Shape, subject: str = "") -> Shape:
    """The section of a shape with the plane y = 0.

    Args:
        shape: any shape; a section is returned unchanged.
        subject: the owner's name in messages.

    Returns:
        A shape whose distance ignores y and is exact in the plane, whose normals have y = 0, whose `volume()` is its area [m^2], and whose
        bounds extend from -0.5 m to 0.5 m along y. Points keep their volumes, with y = 0.

    Raises:
        SceneError: the plane does not cut the shape.
    """
    if isinstance(shape, Section | Outline):
        return shape
    if isinstance(shape, Sphere):
        return _disk(shape.center, shape.radius)
    if isinstance(shape, Capsule):
        flat = Capsule(start=_flat(shape.start), end=_flat(shape.end), radius=shape.radius)
        return Section(flat, shape.radius * (math.pi * shape.radius + 2.0 * math.dist(flat.start, flat.end)))
    if isinstance(shape, Box):
        return _section_of_box(shape)
    if isinstance(shape, Cylinder):
        return _section_of_cylinder(shape, subject)
    if isinstance(shape, Plane):
        return _section_of_plane(shape, subject)
    if isinstance(shape, Mesh):
        return _section_of_mesh(shape, subject)
    if isinstance(shape, Points):
        flat_axes = np.array([1.0, 0.0, 1.0])
        velocity = None if shape.velocity is None else shape.velocity * flat_axes
        return Points(shape.position * flat_axes, velocity, shape.volume, shape.source)
    raise TypeError(f"no section for a shape of kind {shape.kind!r}")


def _flat(point: tuple[float, float, float]) -> tuple[float, float, float]:
    return point[0], 0.0, point[2]


def _disk(center: tuple[float, float, float], radius: float) -> Section:
    return Section(Sphere(center=_flat(center), radius=radius), math.pi * radius**2)


def _rectangle(center: tuple[float, float, float], width: float, height: float, axis: Floats) -> Section:
    """A rectangle of a width along `axis` and a height across it."""
    turn = math.degrees(math.atan2(-axis[2], axis[0]))
    # deep enough that no point of the plane is nearer to an end face
    solid = Box(center=_flat(center), size=(width, 2.0 * (width + height), height), rotation=(0.0, turn, 0.0))
    return Section(solid, width * height)


def _section_of_box(box: Box) -> Shape:
    axes = euler_matrix(box.rotation)
    across = int(np.argmax(np.abs(axes[1])))
    if abs(axes[1, across]) > 1.0 - FLATNESS:
        first, second = (axis for axis in range(3) if axis != across)
        return _rectangle(box.center, box.size[first], box.size[second], axes[:, first])
    return Outline(cut_mesh(replace(box, center=_flat(box.center)).corners(), CUBE_TRIANGLES)[0], words="the box")


def _section_of_cylinder(cylinder: Cylinder, subject: str) -> Shape:
    axis, radius, offset = euler_matrix(cylinder.rotation)[:, 2], cylinder.radius, cylinder.center[1]
    reach = abs(axis[1]) * cylinder.height / 2 + radius * math.sqrt(max(1.0 - axis[1] ** 2, 0.0))
    if abs(offset) >= reach:
        raise _beyond("the cylinder", offset - reach, offset + reach, subject)
    if abs(axis[1]) > 1.0 - FLATNESS:
        return _disk(cylinder.center, radius)
    if abs(axis[1]) < FLATNESS:
        return _rectangle(cylinder.center, cylinder.height, 2.0 * math.sqrt(radius**2 - offset**2), axis)
    return Outline(_cut_cylinder(cylinder, axis), words="the cylinder")


def _cut_cylinder(cylinder: Cylinder, axis: Floats) -> Floats:
    """The section of an oblique cylinder, an ellipse cut off by the two ends, as segments (n, 4).

    With u along the axis' projection, w across it and the center at height y: |u a_y + y s|^2 + w^2 <= r^2, where s^2 = 1 -
    a_y^2, and |u s - y a_y| <= height / 2.
    """
    radius, offset = cylinder.radius, cylinder.center[1]
    slope = math.sqrt(1.0 - axis[1] ** 2)
    along = np.array([axis[0], axis[2]]) / slope
    middle, half = -offset * slope / axis[1], radius / abs(axis[1])
    ends = (offset * axis[1] + np.array([-0.5, 0.5]) * cylinder.height) / slope
    first, last = np.arcsin(np.clip((ends - middle) / half, -1.0, 1.0))
    angles = np.linspace(first, last, ELLIPSE_SEGMENTS + 1)
    u, w = middle + half * np.sin(angles), radius * np.cos(angles)
    loop = np.concatenate([np.column_stack([u, -w]), np.column_stack([u, w])[::-1]])
    axes, center = np.array([along, [-along[1], along[0]]]), np.array([cylinder.center[0], cylinder.center[2]])
    points = np.asarray(loop @ axes + center, dtype=np.float64)
    following = np.roll(points, -1, axis=0)
    is_new = np.any(points != following, axis=1)
    return np.hstack([points[is_new], following[is_new]])


def _section_of_plane(plane: Plane, subject: str) -> Section:
    normal = _flat(plane.normal)
    if math.hypot(*normal) <= FLATNESS * math.hypot(*plane.normal):
        problem = f"the plane's normal {plane.normal} has no component in the x-z plane"
        raise SceneError(problem, "in 2D use one such as (0, 0, 1)", subject=subject)
    return Section(Plane(point=_flat(plane.point), normal=normal), math.inf)


def _section_of_mesh(mesh: Mesh, subject: str) -> Outline:
    closed = mesh.closed
    segments, triangle = cut_mesh(closed.vertices, closed.triangles)
    cap_count = int(np.count_nonzero(triangle >= len(mesh.triangles)))
    if len(segments) == cap_count:
        low, high = mesh.bounds()[:, 1]
        raise _beyond(mesh.words, low, high, subject)
    return Outline(segments, cap_count, mesh.words)


def _beyond(words: str, low: float, high: float, subject: str) -> SceneError:
    problem = f"{words} reaches from y = {low:g} m to {high:g} m"
    return SceneError(problem, "in 2D it is cut by the plane y = 0, so move it there", subject=subject)
