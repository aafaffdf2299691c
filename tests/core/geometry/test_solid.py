"""Mass properties of shapes, against the average over many points, and of the same shape as a mesh."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.contact_points import contact_points
from mpm_addon.core.geometry.section import section_of
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.geometry.solid import solid_properties

CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
CUBE_TRIANGLES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)
TURN = (20.0, 30.0, 40.0)
SOLIDS = [
    SHAPES["box"](center=(1.0, 0.1, 3.0), size=(1.0, 2.0, 0.5), rotation=TURN),
    SHAPES["sphere"](center=(1.0, 0.1, 3.0), radius=0.7),
    SHAPES["cylinder"](center=(1.0, 0.1, 3.0), radius=0.5, height=2.0, rotation=TURN),
    SHAPES["capsule"](start=(0.0, 0.0, 0.0), end=(1.0, 1.0, 0.5), radius=0.3),
]
EACH = pytest.mark.parametrize("shape", SOLIDS, ids=lambda shape: shape.kind)


def sampled(shape: Any, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Center and inertia over the volume, by a lattice of points."""
    low, high = shape.bounds()
    axes = [
        np.linspace(a, b, 160) if dimension == 3 or axis != 1 else np.zeros(1) for axis, (a, b) in enumerate(zip(low, high, strict=True))
    ]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    points = points[shape.signed_distance(points) < 0.0]
    arms = points - points.mean(axis=0)
    return points.mean(axis=0), np.trace(arms.T @ arms) / len(arms) * np.eye(3) - arms.T @ arms / len(arms)


@EACH
def test_the_mass_of_a_solid_is_the_average_over_its_points(shape: Any) -> None:
    volume, center, inertia = solid_properties(shape, "it")
    middle, turning = sampled(shape, 3)
    assert volume == pytest.approx(shape.volume())
    assert center == pytest.approx(middle, abs=2e-3)
    assert np.abs(inertia / volume - turning).max() < 0.02 * np.abs(turning).max()


@EACH
def test_the_mass_of_a_section_is_the_average_over_its_points(shape: Any) -> None:
    area, center, inertia = solid_properties(shape, "it", 2)
    section = section_of(shape)
    middle, turning = sampled(section, 2)
    assert area == pytest.approx(section.volume())
    assert center == pytest.approx(middle, abs=5e-3)
    assert inertia[1, 1] / area == pytest.approx(turning[1, 1], rel=0.03)
    assert np.count_nonzero(inertia) == 1


def test_a_mesh_weighs_what_its_box_weighs() -> None:
    box, mesh = SHAPES["box"](size=(1.0, 2.0, 0.5)), SHAPES["mesh"](CUBE * [0.5, 1.0, 0.25], CUBE_TRIANGLES)
    for dimension in (2, 3):
        for mine, its in zip(solid_properties(mesh, "it", dimension), solid_properties(box, "it", dimension), strict=True):
            assert mine == pytest.approx(its, abs=1e-12)


def test_what_has_no_inside_has_no_mass() -> None:
    with pytest.raises(SceneError, match=r'^Collider "c": a plane has no end and no mass, so it cannot be dynamic; use a closed shape\.$'):
        solid_properties(SHAPES["plane"](), 'Collider "c"')
    bowl = SHAPES["mesh"](CUBE, CUBE_TRIANGLES[2:])
    with pytest.raises(
        SceneError, match=r'^Collider "c": the mesh is open: its openings are 20% of its surface, .* may have 10%; close it'
    ):
        solid_properties(bowl, 'Collider "c"')


@EACH
def test_contact_points_lie_on_the_surface_and_close_together(shape: Any) -> None:
    for seen in (shape, section_of(shape)):
        found = contact_points(seen, 0.1)
        assert np.abs(seen.signed_distance(found.points) + found.radius).max() < 1e-4
        # every point of the surface has one near
        low, high = seen.bounds()
        points = np.random.default_rng(0).uniform(low, high, (4000, 3)) * ([1.0, 0.0, 1.0] if seen is not shape else 1.0)
        points = points[np.abs(seen.signed_distance(points)) < 0.02]
        reach = np.linalg.norm(points[:, None] - found.points[None], axis=2).min(axis=1) - found.radius
        if len(found.rolls):
            reach = np.minimum(reach, np.linalg.norm(points[:, None] - found.rolls[None], axis=2).min(axis=1) - found.roll_radius)
        assert reach.max() < 0.1
