"""The scripts of the tutorials do what their steps say, and what comes out is what the page promises."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.core.advice.preflight import warnings_of
from mpm_addon.core.forecast.estimate import estimate

PAGE = Path(__file__).resolve().parents[2] / "docs" / "manual" / "tutorials.md"
TITLES = ("Snow", "Water", "Sand", "Jelly", "Breaking")
# `make tutorials` sets it; otherwise only the two that bake in seconds are baked
BAKES_ALL = bool(os.environ.get("MPM_ALL_TUTORIALS"))
PARTICLES = 1500
# Of a picture: they are in the repository and in the extension's zip.
MOST_BYTES = 60_000


def section(title: str) -> str:
    page = re.split(r"(?m)^## ", PAGE.read_text(encoding="utf-8"))
    return next(each for each in page if each.startswith(f"{title}:"))


def script_of(title: str) -> str:
    return section(title).partition("```python\n")[2].partition("```")[0]


@pytest.mark.parametrize("title", TITLES)
def test_each_step_is_in_the_script(title: str) -> None:
    """All but rendering, which is the last step, or the end of the bake's."""
    steps = re.findall(r"(?m)^(\d+)\. (.+)$", section(title))
    wanted = [number for number, text in steps if not text.startswith("Press F12")]
    assert re.findall(r"# (\d+)", script_of(title)) == wanted
    written = re.findall(r"particle_count=([\d_]+)", script_of(title))
    told = re.findall(r"set \*Particles\* to ([\d,]+)", section(title))
    assert [each.replace("_", ",") for each in written] == told


@pytest.mark.parametrize("title", TITLES)
def test_each_step_has_a_small_picture(title: str) -> None:
    """`make tutorial-pictures` takes them."""
    shown = re.findall(r"\]\(tutorials/(\w+)\.jpg\)", section(title))
    steps = re.findall(r"(?m)^(\d+)\. (.+)$", section(title))
    wanted = [f"{title.lower()}_{'render' if text.startswith('Press F12') else number}" for number, text in steps]
    assert [name for name in shown if name in wanted] == wanted
    assert all((PAGE.parent / "tutorials" / f"{name}.jpg").stat().st_size < MOST_BYTES for name in shown)


@pytest.fixture
def startup(bpy: Any, tmp_path: Path) -> Iterator[Any]:
    """Blender's startup file, saved."""
    bpy.ops.wm.read_homefile(app_template="")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    yield bpy
    bpy.ops.wm.read_homefile(use_empty=True)


def perform(title: str, bake: Callable[[], Any]) -> None:
    """Run the script of a tutorial with fewer particles, and with another function in place of its bakes."""
    script = re.sub(r"particle_count=[\d_]+", f"particle_count={PARTICLES}", script_of(title))
    script = re.sub(r"bpy\.ops\.mpm\.(bake|bake_again)\(", r'bake("\1"', script)
    exec(compile(script, str(PAGE), "exec"), {"bake": bake})


@pytest.mark.blender
@pytest.mark.parametrize(
    ("title", "material", "last", "collided"),
    [
        ("Snow", ["powder_snow"], 40, 2),
        ("Water", ["water"], 48, 1),
        ("Sand", ["wet_sand", "dry_sand"], 30, 1),
        ("Jelly", ["Suzanne (custom)"], 48, 1),
        ("Breaking", ["ceramic"], 32, 1),
    ],
)
def test_the_steps_make_a_scene_that_can_be_baked(startup: Any, title: str, material: list[str], last: int, collided: int) -> None:
    scenes = []
    perform(title, lambda _name: scenes.append(extract_scene(startup.context)))
    assert [each.emitters[0].material for each in scenes] == material
    for scene in scenes:
        assert warnings_of(scene, estimate(scene)) == []
        assert (scene.time.frame_end, len(scene.emitters), len(scene.colliders)) == (last, 1, collided)


def particles(bpy: Any, frame: int) -> np.ndarray:
    """Positions of the particles at a frame, shape (n, 3) [m]."""
    item = next(each for each in bpy.context.scene.objects if each.mpm.cache)
    item.mpm.surface.is_shown = False
    for part in item.mpm.display.parts:
        part.viewport = "points"
    bpy.context.scene.frame_set(frame)
    flat = np.empty(3 * len(item.data.vertices), np.float32)
    item.data.attributes["position"].data.foreach_get("vector", flat)
    return flat.reshape(-1, 3)


def baked(bpy: Any, title: str, frames: tuple[int, ...]) -> list[list[np.ndarray]]:
    """The particles at these frames after each bake of a tutorial."""
    found = []

    def bake(name: str) -> None:
        assert getattr(bpy.ops.mpm, name)() == {"FINISHED"}
        found.append([particles(bpy, frame) for frame in frames])

    perform(title, bake)
    return found


@pytest.mark.blender
@pytest.mark.slow
def test_damp_sand_stands_and_dry_sand_slumps(startup: Any) -> None:
    (damp_first, damp), (_, dry) = baked(startup, "Sand", (1, 30))
    height = np.ptp(damp_first[:, 2])
    assert np.ptp(damp[:, 2]) > 0.75 * height
    assert np.ptp(dry[:, 2]) < 0.5 * height
    assert np.ptp(dry[:, 0]) > 1.5 * np.ptp(damp[:, 0])


@pytest.mark.blender
@pytest.mark.slow
def test_jelly_lands_and_keeps_its_shape(startup: Any) -> None:
    ((first, last),) = baked(startup, "Jelly", (1, 48))
    assert last[:, 2].min() > -0.05
    assert last[:, 2].mean() < first[:, 2].mean() - 0.5
    # how far the particles are from their middle, which neither a rotation nor a fall changes
    spread = [np.linalg.norm(each - each.mean(axis=0), axis=1).mean() for each in (first, last)]
    assert 0.8 < spread[1] / spread[0] < 1.2


all_tutorials = pytest.mark.skipif(not BAKES_ALL, reason="`make tutorials` bakes them all")


@pytest.mark.blender
@pytest.mark.slow
@all_tutorials
def test_the_snowball_bursts(startup: Any) -> None:
    ((first, last),) = baked(startup, "Snow", (1, 40))
    assert np.ptp(last[:, 0]) > 4.0 * np.ptp(first[:, 0])


@pytest.mark.blender
@pytest.mark.slow
@all_tutorials
def test_the_tank_holds_its_water(startup: Any) -> None:
    """The walls are 0.1 m thick, inside of a cube of 1 m."""
    ((first, last),) = baked(startup, "Water", (1, 48))
    assert len(last) > 10 * len(first)
    assert np.abs(last).max() < 0.5
    assert last[:, 2].max() < 0.0


@pytest.mark.blender
@pytest.mark.slow
@all_tutorials
def test_the_ring_breaks(startup: Any) -> None:
    baked(startup, "Breaking", (1, 32))
    item = next(each for each in startup.context.scene.objects if each.mpm.cache)
    damage = np.empty(len(item.data.vertices), np.float32)
    item.data.attributes["damage"].data.foreach_get("value", damage)
    assert damage.mean() > 0.05
