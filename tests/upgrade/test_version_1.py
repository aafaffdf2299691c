"""What version 1 wrote can be read.

`version_1` has a scene, and the cache of its bake: a surface for each frame of the first take, and a second take from frame 2 on.
These files are never written again: a later version reads them as they are, or says in one line what to do.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mpm_addon.core.particles import Moment
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.storage.surface_file import surface_at
from mpm_addon.storage.takes import show_take

FOLDER = Path(__file__).parent / "version_1"
PARTICLES = 219


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A copy: showing a take writes into the folder."""
    return Path(shutil.copytree(FOLDER / "cache", tmp_path / "cache"))


def test_the_scene_is_read() -> None:
    scene = read_scene(FOLDER / "scene")
    assert (scene.emitters[0].name, scene.emitters[0].material, scene.colliders[0].name) == ("Drop", "water", "Floor")
    assert (scene.time.frame_end, scene.solver.grid_spacing) == (4, 0.1)


@pytest.mark.parametrize("take", [1, 2])
def test_every_frame_of_both_takes_is_read(cache: Path, take: int) -> None:
    show_take(cache, take)
    opened = open_cache(cache)
    assert (opened.take, opened.frames) == (take, [1, 2, 3, 4])
    heights = [float(opened.frame(number).position[:, 2].mean()) for number in (1, 2, 3)]
    # a free fall for 1/24 s a frame: g t^2 / 2, and g t dt / 2 more, with at least 30 substeps of dt in a frame
    fallen = [0.5 * 9.81 * (frames / 24.0) ** 2 for frames in range(3)]
    assert [heights[0] - height for height in heights] == pytest.approx(fallen, abs=1e-3)
    for number in opened.frames:
        assert len(opened.frame(number).id) == PARTICLES


def test_the_first_takes_surfaces_are_read(cache: Path) -> None:
    show_take(cache, 1)
    opened = open_cache(cache)
    for number in opened.frames:
        surface = surface_at(opened, Moment(number))
        assert sum(len(piece.triangles) for piece in surface.pieces) > 1000


def test_a_scene_that_a_take_contains_is_read() -> None:
    scene = read_scene(FOLDER / "cache" / "takes" / "0002" / "scene")
    assert scene.colliders[0].surface == "sticky"
