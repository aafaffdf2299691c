"""Particles deep inside are left out of the making of a surface, which stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from mpm_addon.core.geometry import mesh_topology
from mpm_addon.derived import reconstruction
from mpm_addon.derived.interior import Interior
from mpm_addon.derived.neighbors import nearest
from mpm_addon.derived.reconstruction import reconstruct
from mpm_addon.derived.settings import RECIPES, Recipe
from mpm_addon.storage.surface_file import SurfacePiece
from tests.derived.test_drops import SPACING, cloud, cube, within

EDGE = 46
GRAINS = RECIPES["good"].of_grains


class Whole(Interior):
    """No inside: every particle is kept."""

    def __init__(self, position: np.ndarray, spacing: float, reach: float) -> None:
        super().__init__(position[:1], spacing, reach)
        self.is_deep = np.zeros(len(position), np.bool_)


def with_bubble(radius: float) -> np.ndarray:
    """A cube with a wavy top and, near a corner, a bubble of so many spacings."""
    solid = cube(EDGE)
    top = SPACING * (EDGE - 2 + np.sin(solid[:, 0] / (3.0 * SPACING)))
    middle = SPACING * np.array([10.0, 12.0, 11.0])
    return solid[(solid[:, 2] < top) & (np.linalg.norm(solid - middle, axis=1) > radius * SPACING)]


def made(position: np.ndarray, recipe: Recipe) -> SurfacePiece:
    return reconstruct(cloud(position), recipe, None)[0]


@pytest.mark.parametrize("radius", [0.0, 1.6, 3.0])
@pytest.mark.parametrize("recipe", [*RECIPES.values(), GRAINS], ids=[*RECIPES, "grains"])
def test_a_surface_is_the_same_without_what_is_deep(monkeypatch: pytest.MonkeyPatch, recipe: Recipe, radius: float) -> None:
    position = with_bubble(radius)
    assert Interior(cloud(position).position, SPACING, recipe.depth + 1.0).is_deep.any()
    fast = made(position, recipe)
    monkeypatch.setattr(reconstruction, "Interior", Whole)
    slow = made(position, recipe)
    assert len(fast.position) == len(slow.position)
    assert len(fast.triangles) == len(slow.triangles)
    near = nearest(slow.position.astype(np.float64), fast.position.astype(np.float64), 1, SPACING)
    assert np.sqrt(near.squared.max()) < 1e-4 * SPACING
    other = near.number[:, 0]
    np.testing.assert_allclose(fast.arrays["velocity"], slow.arrays["velocity"][other], atol=1e-4 * EDGE * SPACING)
    volume = within(slow, slow.triangles)
    assert within(fast, fast.triangles) == pytest.approx(volume, rel=1e-5)


def test_the_cavity_is_no_part_of_the_surface() -> None:
    piece = made(cube(EDGE), RECIPES["draft"])
    assert len(np.unique(mesh_topology.loose_parts(piece.position.astype(np.float64), piece.triangles))) == 1
    assert within(piece, piece.triangles) == pytest.approx((EDGE * SPACING) ** 3, rel=0.02)


def test_all_are_kept_where_particles_fly_far() -> None:
    position = np.concatenate([cube(EDGE), [[900.0 * SPACING] * 3]])
    assert not Interior(position, SPACING, RECIPES["good"].depth + 1.0).is_deep.any()


@pytest.mark.parametrize(("reach", "is_worth_it"), [(4.0, True), (6.0, True), (7.0, True), (8.5, False), (12.0, False), (30.0, False)])
def test_a_deeper_reach_keeps_more(reach: float, is_worth_it: bool) -> None:
    interior = Interior(cube(EDGE), SPACING, reach)
    # a cell is filled from half a spacing below the surface on
    share = ((EDGE - 2.0 * (reach + 0.5)) / EDGE) ** 3 if is_worth_it else 0.0
    assert interior.is_deep.mean() == pytest.approx(share, abs=0.03)
    assert interior.contains(np.full((1, 3), 0.5 * EDGE * SPACING)).all() == is_worth_it
