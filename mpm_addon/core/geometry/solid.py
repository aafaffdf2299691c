"""Volume, center of mass and inertia of shapes, in space and in the plane. Plain numpy."""

import math

import numpy as np

from ..errors import SceneError
from ..scene.shape import Floats, Shape
from .mass import MassProperties, mass_properties
from .outline import Outline
from .rotation import euler_matrix
from .section import Section, section_of
from .shapes import Box, Capsule, Cylinder, Mesh, Sphere
from .thickness import LARGEST_CAPPED_OPENING


def solid_properties(shape: Shape, subject: str, dimension: int = 3) -> MassProperties:
    """The mass and inertia of a shape with a density of 1 kg/m^3.

    Args:
        shape: any closed shape.
        subject: the owner's name in messages.
        dimension: 3, or 2 for its section, per meter of depth; then only the inertia about y is not zero.

    Raises:
        SceneError: with `subject`, if the shape has no inside.
    """
    if not shape.can_emit:
        raise SceneError(f"a {shape.kind} has no end and no mass, so it cannot be dynamic", "use a closed shape", subject=subject)
    shape.check_inside(subject)
    if dimension == 2:
        return _plane_properties(section_of(shape, subject), subject)
    if isinstance(shape, Mesh):
        _refuse_open(shape, "surface", subject)
        return mass_properties(shape.closed.vertices, shape.closed.triangles)
    axes, moments = _moments(shape)
    inertia = axes @ np.diag(moments) @ axes.T
    return MassProperties(shape.volume(), shape.bounds().mean(axis=0), 0.5 * (inertia + inertia.T))


def _refuse_open(shape: Mesh | Outline, noun: str, subject: str) -> None:
    if (opening := shape.opening()) > LARGEST_CAPPED_OPENING:
        shares = f"its openings are {opening:.0%} of its {noun}, and a dynamic collider may have {LARGEST_CAPPED_OPENING:.0%}"
        raise SceneError(f"{shape.words} is open: {shares}", "close it, or give it a thickness (Solidify modifier)", subject=subject)


def _moments(shape: Shape) -> tuple[Floats, Floats]:
    """The principal axes (columns) and the moments about them [m^5] of a shape with a closed form."""
    volume = shape.volume()
    if isinstance(shape, Box):
        squares = np.asarray(shape.size) ** 2
        return euler_matrix(shape.rotation), volume / 12.0 * (squares.sum() - squares)
    if isinstance(shape, Sphere):
        return np.eye(3), np.full(3, 0.4 * volume * shape.radius**2)
    if isinstance(shape, Cylinder):
        across = volume / 12.0 * (3.0 * shape.radius**2 + shape.height**2)
        return euler_matrix(shape.rotation), np.array([across, across, 0.5 * volume * shape.radius**2])
    if isinstance(shape, Capsule):
        return _capsule_moments(shape)
    raise TypeError(f"no mass for a shape of kind {shape.kind!r}")


def _capsule_moments(capsule: Capsule) -> tuple[Floats, Floats]:
    """A cylinder and two half balls, whose centers of mass are 3/8 r beyond its ends (parallel axes, Steiner 1840)."""
    r, length = capsule.radius, math.dist(capsule.start, capsule.end)
    cylinder, balls = math.pi * r**2 * length, 4.0 / 3.0 * math.pi * r**3
    along = 0.5 * cylinder * r**2 + 0.4 * balls * r**2
    across = cylinder / 12.0 * (3.0 * r**2 + length**2) + balls * (0.4 * r**2 + 0.25 * length**2 + 0.375 * r * length)
    axis = (np.asarray(capsule.end) - np.asarray(capsule.start)) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    # the moment about the capsule's axis is `along`, about an axis across it through the center `across`
    values = np.linalg.svd(axis[None])[2].T
    return values, np.array([along, across, across])


def _plane_properties(section: Shape, subject: str) -> MassProperties:
    """Of a section: area [m^2], center, and the polar moment about y through it [m^4]."""
    if isinstance(section, Outline):
        _refuse_open(section, "outline", subject)
        area, center, moment = _polygon_moments(section)
    elif isinstance(section, Section):
        area, center = section.area, section.bounds().mean(axis=0)
        moment = _section_moment(section)
    else:
        raise TypeError(f"no mass for a section of kind {section.kind!r}")
    center[1] = 0.0
    return MassProperties(area, center, np.diag([0.0, moment, 0.0]))


def _section_moment(section: Section) -> float:
    solid, area = section.solid, section.area
    if isinstance(solid, Sphere):
        return 0.5 * area * solid.radius**2
    if isinstance(solid, Box):
        return area / 12.0 * (solid.size[0] ** 2 + solid.size[2] ** 2)
    if isinstance(solid, Capsule):
        r, length = solid.radius, math.dist(solid.start, solid.end)
        middle, disk = 2.0 * r * length, math.pi * r**2
        # the half disks' centers of mass are 4 r / (3 pi) beyond the ends
        return middle / 12.0 * (length**2 + 4.0 * r**2) + disk * (0.5 * r**2 + 0.25 * length**2 + length * 4.0 * r / (3.0 * math.pi))
    raise TypeError(f"no mass for the section of a {solid.kind!r}")


def _polygon_moments(outline: Outline) -> tuple[float, Floats, float]:
    """Area, center and polar moment about it of the inside of closed loops, by Green's theorem (Steger 1996)."""
    middle = outline.bounds().mean(axis=0)
    a, b = outline.segments[:, :2] - middle[[0, 2]], outline.segments[:, 2:] - middle[[0, 2]]
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    area, first = 0.5 * float(cross.sum()), cross @ (a + b) / 6.0
    second = float((cross[:, None] * (a * a + a * b + b * b)).sum()) / 12.0
    of_one, of_x, of_square = outline.excess.moments(np.zeros(3))
    area, first, second = area - of_one, first - of_x[[0, 2]], second - of_square[0, 0] - of_square[2, 2]
    center = first / area
    return area, np.array([middle[0] + center[0], 0.0, middle[2] + center[1]]), second - area * float(center @ center)
