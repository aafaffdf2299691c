"""Every scene preset bakes, and its frames satisfy what must hold in any simulation.

On a coarser grid and for the first part of its frames, so that all of them are affordable; `make demo` and the benchmarks take
scenes as they are.
"""

from pathlib import Path

import numpy as np
import pytest

from mpm_addon.bake import bake
from mpm_addon.core.errors import UnstableError
from mpm_addon.core.geometry.section import section_of
from mpm_addon.core.geometry.shapes import Plane
from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage import open_cache, read_scene, write_scene
from mpm_addon.storage.presets import scene_preset_folders
from mpm_addon.storage.scene_file import read_scene_words

from .coarse import coarser

pytestmark = pytest.mark.slow

# Refused on purpose.
EXPLODES = "garcia_explode"
# Of the long scenes, and of their variants.
FRAMES, FIRST = 16, 4
FAMILIES = [name for name, folder in scene_preset_folders().items() if read_scene_words(folder).variants and name != "material_drop"]


def content(scene: Scene, emitter: Emitter) -> float:
    """Volume [m^3], or in two dimensions the area of the section [m^2]."""
    return (emitter.shape if scene.solver.dimension == 3 else section_of(emitter.shape)).volume()


def check(scene: Scene, frame: Frame, first: Frame) -> None:
    """What must hold in every frame."""
    assert np.isfinite(frame.position).all(), frame.number
    assert np.isfinite(frame.velocity).all(), frame.number
    assert len(np.unique(frame.id)) == len(frame.id)
    there = frame.statistics.particles + frame.statistics.deleted
    if all(emitter.mode == "once" for emitter in scene.emitters):
        assert there == len(first.id)
        if not frame.statistics.deleted:
            assert frame.statistics.mass == pytest.approx(first.statistics.mass, rel=1e-6)
    else:
        assert there >= len(first.id)
    floors = [collider.shape.point[2] for collider in scene.colliders if isinstance(collider.shape, Plane)]
    floors += [scene.domain.min[2]] if scene.domain.min is not None else []
    for floor in floors:
        assert frame.position[:, 2].min(initial=np.inf) >= floor - 0.5 * scene.solver.grid_spacing


@pytest.mark.parametrize(
    "name",
    # its bricks are those of chen_bricks
    [pytest.param(name, marks=pytest.mark.long) if name == "chen_wall" else name for name in scene_preset_folders() if name != EXPLODES],
)
def test_a_scene_preset_bakes_without_losing_anything(name: str, tmp_path: Path) -> None:
    scene = read_scene(scene_preset_folders()[name])
    scene = coarser(scene, 2.0, frames=min(0.5, FRAMES / len(scene.time.frames)))
    bake(write_scene(scene, tmp_path / "scene"), tmp_path / "cache")
    cache = open_cache(tmp_path / "cache")
    assert cache.frames == list(scene.time.frames)
    first = cache.frame(cache.frames[0])
    if all(emitter.mode == "once" for emitter in scene.emitters):
        densities = [scene.materials[emitter.material].law.density * emitter.mass_scale for emitter in scene.emitters]
        mass = sum(density * content(scene, emitter) for density, emitter in zip(densities, scene.emitters, strict=True))
        assert first.statistics.mass == pytest.approx(mass, rel=1e-6)
    for number in cache.frames:
        frame = cache.frame(number)
        check(scene, frame, first)
        for attribute in frame.attributes:
            assert np.isfinite(frame.attribute(attribute)).all(), (number, attribute)


def bodies_moved(frames: list[Frame]) -> bool:
    """Whether a rigid body that did not break has moved."""
    first, last = frames[0].poses, frames[-1].poses
    return any(not np.array_equal(pose, last[name]) for name, pose in first.items() if name in last)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_variant_begins_to_move(name: str) -> None:
    folder = scene_preset_folders()[name]
    for variant in read_scene_words(folder).variants:
        scene = read_scene(folder, variant)
        # what is published is computed at the preset's own resolution
        factor = 2.0 if variant != "published" else 2.0 * read_scene(folder).solver.grid_spacing / scene.solver.grid_spacing
        scene = coarser(scene, factor, frames=min(0.1, FIRST / len(scene.time.frames)))
        frames = list(Simulation(scene).frames())
        for frame in frames:
            check(scene, frame, frames[0])
        assert frames[-1].statistics.kinetic_energy > 0.0 if scene.emitters else bodies_moved(frames), variant


def test_what_would_explode_is_refused() -> None:
    """The printed step is 19 times as long as the stable one."""
    scene = read_scene(scene_preset_folders()[EXPLODES])
    frames = Simulation(scene).frames()
    next(frames)
    with pytest.raises(UnstableError, match=r"time_step 3e-05 s is longer than the stable substep of 1\.\d+e-06 s"):
        next(frames)
