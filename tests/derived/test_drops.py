"""Loose drops keep their volume in a surface, however much it is smoothed."""

from __future__ import annotations

import numpy as np
import pytest

from mpm_addon.core.geometry import mesh_topology
from mpm_addon.derived import drops
from mpm_addon.derived.particles import Cloud
from mpm_addon.derived.reconstruction import reconstruct
from mpm_addon.derived.settings import RECIPES
from mpm_addon.storage.surface_file import SurfacePiece

SPACING = 0.01


def cube(edge: int, corner: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """A cube of edge^3 particles that do not lie on a lattice."""
    axis = np.arange(edge)
    lattice = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    return SPACING * (np.array(corner) + lattice + np.random.default_rng(edge).uniform(-0.25, 0.25, lattice.shape))


def cloud(position: np.ndarray) -> Cloud:
    place = position.astype(np.float32)
    return Cloud("all", SPACING, place, {"velocity": place}, {"emitter_index": (place[:, 2] > 0.3).astype(np.int32)})


def within(piece: SurfacePiece, triangles: np.ndarray) -> float:
    """The volume within some triangles [m^3]."""
    return mesh_topology.volume(piece.position.astype(np.float64), triangles)


def volume(position: np.ndarray, quality: str) -> float:
    """The volume of a surface relative to that of its particles."""
    piece, _ = reconstruct(cloud(position), RECIPES[quality], None)
    return within(piece, piece.triangles) / (len(position) * SPACING**3)


@pytest.mark.parametrize("quality", ["draft", "good", "film"])
@pytest.mark.parametrize("edge", [1, 2, 3, 5, 9])
def test_a_drop_has_the_volume_of_its_particles(edge: int, quality: str) -> None:
    """Of 27 particles, smoothing left 2 %."""
    assert volume(cube(edge), quality) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("quality", ["good", "film"])
def test_a_drop_around_a_bubble_has_the_volume_of_its_particles(quality: str) -> None:
    """The surface of the bubble belongs to the drop. As two drops, its inner particles were lost, and a quarter of the volume with them."""
    solid = cube(9)
    hollow = solid[np.linalg.norm(solid - solid.mean(axis=0), axis=1) > 2.8 * SPACING]
    piece, _ = reconstruct(cloud(hollow), RECIPES[quality], None)
    parts = np.unique(mesh_topology.loose_parts(piece.position.astype(np.float64), piece.triangles))
    assert len(parts) == 2
    assert volume(hollow, quality) == pytest.approx(1.0, abs=0.02)


def test_drops_beside_a_body_change_nothing_of_it() -> None:
    body, loose = cube(12), [cube(2, (3.0 * each, 0.0, 40.0)) for each in range(3)]
    alone, _ = reconstruct(cloud(body), RECIPES["good"], None)
    piece, _ = reconstruct(cloud(np.concatenate([loose[0], body, *loose[1:]])), RECIPES["good"], None)
    count = len(alone.position)
    own = piece.triangles[: len(alone.triangles)]
    assert own.max() == count - 1 and piece.triangles[len(own) :].min() == count
    # splashsurf numbers vertices in another order each time
    assert within(piece, own) == pytest.approx(within(alone, alone.triangles), rel=1e-5)
    np.testing.assert_allclose(np.sort(piece.position[:count], axis=0), np.sort(alone.position, axis=0), atol=1e-3 * SPACING)
    assert set(piece.arrays) == set(alone.arrays)
    # what belongs to a drop has its values
    np.testing.assert_allclose(piece.arrays["velocity"][count:], piece.position[count:], atol=SPACING)
    assert (piece.arrays["emitter_index"][count:] == 1).all() and (piece.arrays["emitter_index"][:count] == 0).all()


def test_only_what_is_small_round_and_apart_is_a_drop() -> None:
    body, near, far = cube(12), cube(3, (0.0, 0.0, 13.0)), cube(3, (0.0, 0.0, 24.0))
    thread = SPACING * np.column_stack([np.zeros(40), np.zeros(40), 60.0 + np.arange(40)])
    found = drops.are_loose(np.concatenate([body, near, far, thread]), SPACING)
    counts = [int(each.sum()) for each in np.split(found, np.cumsum([len(body), len(near), len(far)]))]
    assert counts == [0, 0, 27, 0]
