"""The preview of a scene: its coarseness, and that it moves like the bake."""

from __future__ import annotations

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.advice.preview import AIM, preview_of
from mpm_addon.core.forecast.estimate import particles_at_frames
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.painting import Painting
from tests.core.scenes import box, material, scene


def falling(size: tuple[float, float, float] = (1.0, 1.0, 1.0), frames: int = 4, **emitter: float) -> Scene:
    return scene(
        Emitter("block", box((0.0, 0.0, 0.5), size), "water", **emitter),  # type: ignore[arg-type]
        materials=(material("water"),),
        colliders=(Collider("floor", SHAPES["plane"](point=(0.0, 0.0, 0.0))),),
        frames=frames,
        grid_spacing=0.02,
    )


def test_a_preview_has_the_wanted_particles_and_as_many_per_cell() -> None:
    found = preview_of(falling(), 10_000)
    assert found.particles == pytest.approx(AIM * 10_000, rel=0.01)
    assert found.coarseness == pytest.approx((1_000_000 / found.particles) ** (1.0 / 3.0), rel=0.01)
    assert max(particles_at_frames(found.scene)) == pytest.approx(found.particles, rel=0.01)
    assert found.warnings == ()


def test_a_scene_with_fewer_particles_is_its_own_preview() -> None:
    found = preview_of(falling((0.1, 0.1, 0.1)), 10_000)
    assert (found.coarseness, found.scene.emitters) == (1.0, falling((0.1, 0.1, 0.1)).emitters)


def test_an_exact_number_of_particles_shrinks_with_the_grid() -> None:
    found = preview_of(falling(particle_count=1_000_000), 8_000)
    assert found.scene.emitters[0].particle_count == pytest.approx(AIM * 8_000, rel=0.01)
    assert found.coarseness == pytest.approx(5.0, rel=0.03)


def test_a_thin_emitter_is_named_and_costs_no_more_particles() -> None:
    found = preview_of(falling((2.0, 2.0, 0.08)), 4_000)
    assert found.particles <= 4_000
    (warning,) = found.warnings
    assert str(warning).startswith('Emitter "block" is ')
    assert "cells thick in the preview and moves more stiffly than in the bake" in warning.message.sentence()


def test_a_cell_is_never_larger_than_an_emitter_and_holds_fewer_particles() -> None:
    found = preview_of(falling((4.0, 4.0, 0.05)), 1_000)
    assert found.scene.solver.grid_spacing == pytest.approx(0.05)
    assert found.particles <= 1_000
    (warning,) = [warning for warning in found.warnings if warning.topic == "preview_particles"]
    assert "has 2% of the bake's particles per cell" in warning.message.sentence()


def test_a_cloud_keeps_some_of_its_points_with_all_that_belongs_to_them() -> None:
    position = np.random.default_rng(1).random((8_000, 3))
    points = SHAPES["points"](position=position, velocity=2.0 * position, volume=np.full(8_000, 1.0 / 8_000))
    emitter = Emitter("cloud", points, "water", painting=Painting({"heat": position[:, 0]}))
    final = scene(emitter, materials=(material("water"),), grid_spacing=0.1)
    found = preview_of(final, 1_000)
    (coarse,) = found.scene.emitters
    assert 900 < len(coarse.shape.position) <= 1_000
    assert found.coarseness == pytest.approx(2.0, rel=0.05)
    np.testing.assert_array_equal(coarse.shape.velocity, 2.0 * coarse.shape.position)
    np.testing.assert_array_equal(coarse.painting.values["heat"], coarse.shape.position[:, 0])
    assert coarse.shape.volume.sum() == pytest.approx(1.0)
    assert preview_of(final, 8_000).scene.emitters == final.emitters


def every_mode() -> dict[str, Emitter]:
    """One emitter of each kind, far from the others."""
    cloud = np.random.default_rng(1).random((30_000, 3)) + np.array([15.0, 0.0, 3.0])
    return {
        "once": Emitter("once", box((0.0, 0.0, 3.0), (1.0, 1.0, 0.6)), "water"),
        "surface": Emitter("surface", SHAPES["sphere"](center=(9.0, 0.0, 3.0), radius=0.4), "water", source="surface"),
        "count": Emitter("count", box((12.0, 0.0, 3.0), 0.4), "water", particle_count=20_000),
        "points": Emitter("points", SHAPES["points"](position=cloud), "water"),
        "repeat": Emitter("repeat", box((6.0, 0.0, 3.0), 0.4), "water", mode="repeat", interval=4),
        "stream": Emitter("stream", box((3.0, 0.0, 3.0), (0.5, 0.5, 0.15)), "water", mode="inflow", velocity=(0.0, 0.0, -2.0)),
        "inflow": Emitter(
            "inflow",
            box((-3.0, 0.0, 3.0), (0.5, 0.5, 0.3)),
            "water",
            mode="inflow",
            velocity=(0.0, 0.0, -2.0),
            angular_velocity=(90.0, 0.0, 0.0),
        ),
        "rate": Emitter("rate", box((-6.0, 0.0, 3.0), (0.5, 0.5, 0.3)), "water", mode="inflow", velocity=(0.0, 0.0, -2.0), flow_rate=0.3),
    }


@pytest.mark.parametrize("names", [*[(name,) for name in every_mode()], tuple(every_mode())], ids="+".join)
def test_no_frame_of_a_preview_has_more_particles_than_wanted(names: tuple[str, ...]) -> None:
    emitters = [every_mode()[name] for name in names]
    final = scene(*emitters, materials=(material("water", bulk_modulus=2e4),), frames=12, grid_spacing=0.01)
    assert max(particles_at_frames(final)) > 6_000
    found = preview_of(final, 2_000)
    counts = [len(frame.position) for frame in simulate(found.scene)]
    # matter that has no room, or falls back, comes in less
    assert 800 < max(counts) <= 2_000


@pytest.mark.parametrize("law", ["corotated", "sand"])
def test_a_preview_moves_as_the_bake_does(law: str) -> None:
    """A block falls on a floor: the center of mass and the extents stay within a twentieth and a fifteenth of its size."""
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
