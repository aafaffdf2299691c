"""The preview of a scene: how coarse it is, and that it moves as the final does."""

from __future__ import annotations

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.description import Collider, Emitter, Scene
from mpm_addon.core.estimate import particles_at_frames
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.preview import LARGEST_EXCESS, preview_of

from .scenes import box, material, scene


def falling(size: tuple[float, float, float] = (1.0, 1.0, 1.0), frames: int = 4, **emitter: float) -> Scene:
    return scene(
        Emitter("block", box((0.0, 0.0, 0.5), size), "water", **emitter),  # type: ignore[arg-type]
        materials=(material("water"),),
        colliders=(Collider("floor", SHAPES["plane"](point=(0.0, 0.0, 0.0))),),
        frames=frames,
        grid_spacing=0.02,
    )


def test_a_preview_has_the_particles_that_are_wanted_and_as_many_in_a_cell() -> None:
    found = preview_of(falling(), 10_000)
    assert found.particles == pytest.approx(10_000, rel=0.02)
    assert found.coarseness == pytest.approx((1_000_000 / 10_000) ** (1.0 / 3.0), rel=0.01)
    assert max(particles_at_frames(found.scene)) == pytest.approx(found.particles, rel=0.01)
    assert found.warnings == ()


def test_a_final_with_fewer_particles_is_its_own_preview() -> None:
    found = preview_of(falling((0.1, 0.1, 0.1)), 10_000)
    assert (found.coarseness, found.scene.emitters) == (1.0, falling((0.1, 0.1, 0.1)).emitters)


def test_an_exact_number_of_particles_shrinks_with_the_grid() -> None:
    found = preview_of(falling(particle_count=1_000_000), 8_000)
    assert found.scene.emitters[0].particle_count == pytest.approx(8_000, rel=0.02)
    assert found.coarseness == pytest.approx(5.0, rel=0.02)


def test_a_thin_emitter_keeps_four_cells_where_that_is_not_too_dear() -> None:
    found = preview_of(falling((1.0, 1.0, 0.2)), 8_000)
    assert 0.2 / found.scene.solver.grid_spacing == pytest.approx(4.0, rel=0.01)
    assert found.warnings == ()


def test_one_that_is_too_thin_is_named() -> None:
    found = preview_of(falling((2.0, 2.0, 0.08)), 4_000)
    assert found.particles == pytest.approx(LARGEST_EXCESS * 4_000, rel=0.02)
    (warning,) = found.warnings
    assert str(warning).startswith('Emitter "block": it is ')
    assert "cells thin in the preview and moves stiffer than in the final" in warning.message


def test_a_cell_is_never_larger_than_an_emitter() -> None:
    found = preview_of(falling((4.0, 4.0, 0.05)), 1_000)
    assert found.scene.solver.grid_spacing == pytest.approx(0.05)
    assert "preview_particles" in [warning.topic for warning in found.warnings]


@pytest.mark.parametrize("law", ["corotated", "sand"])
def test_a_preview_moves_as_the_final_does(law: str) -> None:
    """A block falls on a floor: the centre of mass and the extents stay within a twentieth and a fifteenth of its size."""
    settings = {"young_modulus": 2e4} if law == "corotated" else {}
    final = scene(
        Emitter("block", box((0.0, 0.0, 0.3), 0.4), law, velocity=(0.5, 0.0, -1.0)),
        materials=(material(law, **settings),),
        colliders=(Collider("floor", SHAPES["plane"](point=(0.0, 0.0, 0.0)), surface="separate", friction=0.4),),
        frames=14,
        grid_spacing=0.03,
    )
    preview = preview_of(final, 5_000)
    assert preview.coarseness > 1.5
    for expected, found in zip(simulate(final), simulate(preview.scene), strict=True):
        assert _center(found) == pytest.approx(_center(expected), abs=0.4 / 20)
        assert _extents(found) == pytest.approx(_extents(expected), abs=0.4 / 15)


def _center(frame: object) -> np.ndarray:
    return frame.position.astype(np.float64).mean(axis=0)  # type: ignore[attr-defined]


def _extents(frame: object) -> np.ndarray:
    return np.quantile(frame.position.astype(np.float64), [0.02, 0.98], axis=0).ravel()  # type: ignore[attr-defined]
