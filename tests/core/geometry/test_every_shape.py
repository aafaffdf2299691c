"""All that is computed of shapes knows every one of them: a new shape fails here until it does."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core.geometry.contact_points import contact_points
from mpm_addon.core.geometry.distance import distance_query
from mpm_addon.core.geometry.inside import inside_test
from mpm_addon.core.geometry.section import section_of
from mpm_addon.core.geometry.shadow import shadow
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.geometry.solid import solid_properties

MIDDLE, ABOVE = np.zeros((1, 3)), np.array([[0.0, 0.0, 9.0]])
# all have the origin inside; the mesh is a tetrahedron
EXAMPLES = {
    "plane": SHAPES["plane"](point=(0.0, 0.0, 1.0)),
    "sphere": SHAPES["sphere"](radius=1.0),
    "box": SHAPES["box"](size=(2.0, 2.0, 2.0)),
    "capsule": SHAPES["capsule"](start=(0.0, 0.0, -0.5), end=(0.0, 0.0, 0.5), radius=0.5),
    "cylinder": SHAPES["cylinder"](radius=0.5, height=2.0),
    "mesh": SHAPES["mesh"]([[0, 0, 1.0], [1, 0, -1], [-1, 1, -1], [-1, -1, -1]], [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]),
}
COLLIDING = pytest.mark.parametrize("kind", [kind for kind, shape in SHAPES.items() if shape.can_collide])
SOLID = pytest.mark.parametrize("kind", [kind for kind, shape in SHAPES.items() if shape.can_collide and shape.can_emit])


@COLLIDING
def test_its_distance_and_its_section_have_the_same_sign(kind: str) -> None:
    shape: Any = EXAMPLES[kind]
    for each in (shape, section_of(shape)):
        distance = distance_query(each, 0.1)
        assert distance(MIDDLE)[0][0] < 0.0 < distance(ABOVE)[0][0]


@COLLIDING
def test_no_point_of_contact_is_outside(kind: str) -> None:
    shape: Any = EXAMPLES[kind]
    points = contact_points(shape, 0.2).points
    assert (shape.signed_distance(points) < 1e-12).all()
    assert len(points) > 0 or kind == "plane", "only what is infinite has none"


@SOLID
def test_its_inside_is_where_its_distance_is_negative(kind: str) -> None:
    is_inside = inside_test(EXAMPLES[kind])
    assert is_inside(MIDDLE)[0] and not is_inside(ABOVE)[0]


@SOLID
def test_its_shadow_is_not_smaller_than_its_section(kind: str) -> None:
    shape: Any = EXAMPLES[kind]
    assert shadow(shape, np.array([0.0, 1.0, 0.0])) >= section_of(shape).volume() - 1e-9


@SOLID
def test_it_weighs_its_volume_in_space_and_its_area_in_the_plane(kind: str) -> None:
    shape: Any = EXAMPLES[kind]
    assert solid_properties(shape, "it").volume == pytest.approx(shape.volume())
    assert solid_properties(shape, "it", 2).volume == pytest.approx(section_of(shape).volume())
