"""Elements of surfaces: closed, with the right area, and a hydrostatic pressure on them carries what it displaces."""

import numpy as np
import pytest

from mpm_addon.core.geometry.distance import exact_query
from mpm_addon.core.geometry.section import section_of
from mpm_addon.core.geometry.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from mpm_addon.core.geometry.shapes.box import CUBE_TRIANGLES
from mpm_addon.core.geometry.surface_elements import SurfaceElements, surface_elements
from mpm_addon.core.scene.shape import Shape


def hollow(wall: float) -> Mesh:
    """A box of .4 m with a hollow in it, walls this thick [m]."""
    outside, inside = (Box(size=(0.4 - less,) * 3).corners() for less in (0.0, 2.0 * wall))
    return Mesh(np.concatenate([outside, inside]), np.concatenate([CUBE_TRIANGLES, CUBE_TRIANGLES[:, ::-1] + 8]))


BOX = Box(center=(0.3, -0.1, 2.0), size=(0.4, 0.6, 0.5))
SHAPES = {
    "box": BOX,
    "plate": Box(size=(1.0, 0.8, 0.02)),
    "turned box": Box(size=(0.4, 0.6, 0.5), rotation=(20.0, 30.0, 40.0)),
    "sphere": Sphere(center=(1.0, 0.0, 0.5), radius=0.3),
    "capsule": Capsule(start=(0.0, 0.0, 0.0), end=(0.3, 0.1, 0.6), radius=0.2),
    "cylinder": Cylinder(radius=0.3, height=0.7, rotation=(0.0, 25.0, 0.0)),
    "mesh": Mesh(BOX.corners(), CUBE_TRIANGLES),
    "turned plate": Mesh(Box(size=(1.0, 0.8, 0.02), rotation=(30.0, 20.0, 10.0)).corners(), CUBE_TRIANGLES),
    "thin walls": hollow(0.01),
}


def elements_of(shape: Shape, *, is_section: bool = False) -> SurfaceElements:
    shape = section_of(shape) if is_section else shape
    return surface_elements(shape, exact_query(shape, 0.0), 0.03, is_section=is_section)


@pytest.mark.parametrize("is_section", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_hydrostatic_pressure_carries_what_is_displaced(name: str, *, is_section: bool) -> None:
    """And an even pressure pushes nowhere. Round shapes are right to 3 %, faces along the lattice to a thousandth."""
    shape = SHAPES[name]
    elements = elements_of(shape, is_section=is_section)
    np.testing.assert_allclose(elements.areas.sum(axis=0), 0.0, atol=1e-12)
    volume = (section_of(shape) if is_section else shape).volume()
    force = (elements.points[:, 2, None] * elements.areas).sum(axis=0)
    tolerance = 1e-3 if name in ("box", "plate", "mesh", "turned plate", "thin walls") else 0.03
    np.testing.assert_allclose(force, [0.0, 0.0, volume], atol=tolerance * volume)


def test_normals_are_those_of_the_faces() -> None:
    elements = elements_of(BOX)
    lengths = np.linalg.norm(elements.areas, axis=1)
    np.testing.assert_allclose(elements.normals, elements.areas / lengths[:, None], atol=1e-9)
    assert lengths.sum() == pytest.approx(2.0 * (0.4 * 0.6 + 0.6 * 0.5 + 0.5 * 0.4))


def test_a_large_shape_has_a_coarser_lattice() -> None:
    elements = elements_of(Box(size=(30.0, 30.0, 3.0)))
    assert elements.spacing == pytest.approx(30.0 / 64)
    assert len(elements.points) == 2 * 64 * 64 + 4 * 64 * 64
