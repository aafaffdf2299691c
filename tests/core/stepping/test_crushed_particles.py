"""Crushed particles are found by their density, regardless of their deformation."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.bake import bake
from mpm_addon.core import simulate
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.painting import Painting
from mpm_addon.core.stepping.crushed_particles import crushing_of, find_crushed
from mpm_addon.storage import open_cache, write_scene
from tests.core.scenes import LATTICE, box, material, scene

FLAT = {"dimension": 2, "grid_spacing": 0.05}


def press(gap: float, surface: str = "sticky", frames: int = 12) -> Scene:
    """Jelly of eight cells on a plane, and a box that sinks to a gap above the plane [m], or into it if that is negative."""
    matrices = np.tile(np.eye(4), (frames, 1, 1))
    matrices[:, 2, 3] = (gap - 0.4) * np.minimum(np.arange(frames) / (frames - 3), 1.0)
    motion = Motion(np.arange(1.0, frames + 1.0), matrices=matrices)
    colliders = (
        Collider("floor", SHAPES["plane"](), surface=surface),
        Collider("press", box((0.0, 0.0, 0.6), (0.8, 0.8, 0.4)), surface=surface, motion=motion),
    )
    jelly = Emitter("jelly", box((0.0, 0.0, 0.2), 0.4), "corotated", **LATTICE)
    return scene(jelly, materials=(material("corotated"),), colliders=colliders, frames=frames, **FLAT)


@pytest.mark.parametrize("surface", ["sticky", "separate"])
def test_jelly_between_a_plane_and_a_box_that_passes_through_it_is_crushed(surface: str) -> None:
    described = press(-0.15, surface)
    frame = list(simulate(described))[-1]
    assert frame.statistics.crushed > 0.9 * frame.statistics.particles
    warning = crushing_of(frame, described)
    assert warning is not None
    assert (warning.topic, warning.message.subject) == ("crushed", 'Emitter "jelly"')
    assert "of its particles are crushed at frame 12: packed more than 2 times as densely as at rest" in warning.message.sentence()


def test_jelly_pressed_to_two_thirds_of_its_height_is_not() -> None:
    described = press(0.27)
    frame = list(simulate(described))[-1]
    assert frame.position[:, 2].max() < 0.28
    assert frame.statistics.crushed == 0
    assert crushing_of(frame, described) is None


def test_the_densest_material_decides_and_dust_never_counts() -> None:
    """Light snow gathers the mass of heavy sand beside it."""
    emitters = [Emitter(law, box((0.0, 0.0, 0.0), 0.4), law, **LATTICE) for law in ("snow", "sand", "stress_free")]
    described = scene(*emitters, materials=(material("snow", density=400.0), material("sand", density=1600.0), material("stress_free")))
    kind = np.array([0, 0, 1, 1, 2])
    assert find_crushed(described, np.array([7.9, 8.1, 1.9, 2.1, 99.0]), kind).tolist() == [False, True, False, True, False]


def test_heavy_parts_beside_light_ones_of_one_emitter_are_not_crushed() -> None:
    """Particles that are painted light gather the mass of their heavy neighbors."""
    points = np.array([(x, 0.0, z) for x in np.arange(-0.2875, 0.3, 0.025) for z in np.arange(-0.1375, 0.15, 0.025)])
    painted = Painting({"density": np.where(points[:, 0] < 0.0, 1.0, 0.1)})
    jelly = Emitter("jelly", SHAPES["points"](position=points), "corotated", painting=painted)
    described = scene(jelly, materials=(material("corotated"),), frames=1, gravity=(0.0, 0.0, 0.0), **FLAT)
    (frame,) = simulate(described)
    assert frame.attribute("density_ratio").max() > 3.0
    assert frame.statistics.crushed == 0


def test_a_bake_warns_once_and_its_cache_keeps_the_count(tmp_path: Path) -> None:
    write_scene(press(-0.15), tmp_path / "scene.toml")
    events: list[dict[str, Any]] = []
    bake(tmp_path / "scene.toml", tmp_path / "cache", on_event=lambda event: events.append(event.fields()))
    warnings = [event["topic"] for event in events if event["event"] == "warning"]
    assert warnings.count("crushed") == 1
    assert "closing_collider" in warnings
    cache = open_cache(tmp_path / "cache")
    last = cache.frame(12)
    assert last.statistics.crushed > 0.9 * last.statistics.particles
    assert cache.frame(1).statistics.crushed == 0
