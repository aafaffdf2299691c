"""The remaining time of a bake: recorded times of its frames, replayed with a clock of the test.

The recordings are processor seconds of one thread for each frame of real bakes, from frame 2 on.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.bake.pace import Pace, course_by_frame
from mpm_addon.core.advice.preview import preview_of
from mpm_addon.core.scene.description import Scene
from mpm_addon.storage.scene_file import read_scene
from tools.environments import ROOT

# A cubic meter falls one meter, in a basin of 6 x 6 m.
DROP = """
schema = 1
name = "drop"
time = { frame_end = 60 }
solver = { grid_spacing = 0.05 }
domain = { kind = "box", min = [-3.0, -3.0, 0.0], max = [3.0, 3.0, 4.0] }
materials = { block = { preset = "MATERIAL" } }
[[emitters]]
name = "block"
material = "block"
shape = { kind = "box", center = [0.0, 0.0, 1.5], size = [1.0, 1.0, 1.0] }
"""
# 64,000 particles: as they spread in a thin layer, they occupy more and more blocks of the grid.
WATER = """
0.305 0.321 0.302 0.317 0.342 0.339 0.321 0.324 0.324 0.304 0.384 0.478 0.531 0.652 0.749 0.929 1.097 1.259 1.463 1.548
1.631 1.930 2.041 2.189 2.194 2.214 2.303 2.280 2.086 2.182 2.134 1.999 2.134 2.097 1.984 1.799 1.897 1.879 1.749 1.852
1.675 1.539 1.498 1.477 1.541 1.523 1.446 1.446 1.477 1.456 1.397 1.457 1.429 1.462 1.464 1.468 1.536 1.530 1.533"""
# 30,000 particles: harder snow takes twice as many substeps.
SNOW = """
0.102 0.112 0.105 0.103 0.101 0.112 0.111 0.109 0.117 0.116 0.156 0.187 0.188 0.183 0.186 0.194 0.207 0.200 0.208 0.199
0.192 0.194 0.203 0.197 0.186 0.186 0.214 0.230 0.215 0.200 0.198 0.204 0.195 0.198 0.188 0.194 0.184 0.187 0.183 0.192
0.189 0.192 0.196 0.193 0.193 0.191 0.191 0.190 0.195 0.196 0.193 0.195 0.196 0.191 0.189 0.192 0.190 0.198 0.193"""
# 40,000 particles: a snowball bursts at a wall.
WALL = """
0.157 0.225 0.321 0.344 0.363 0.440 0.524 0.597 0.655 0.749 0.834 0.865 0.953 1.007 1.024 1.109 1.131 1.225 1.276 1.281
1.316 1.335 1.397 1.425 1.528 1.531 1.530 1.543 1.570 1.609 1.660 1.659 1.681 1.634 1.656 1.707 1.676 1.630 1.690 1.748
1.654 1.734 1.708 1.693 1.742 1.841 1.721 1.758 1.791 1.693 1.722 1.754 1.694 1.677 1.592 1.677 1.756 1.836 1.814"""
# Sand slumps, and no frame takes longer than another.
SAND = """
0.027 0.029 0.030 0.034 0.033 0.031 0.031 0.028 0.028 0.027 0.026 0.026 0.026 0.026 0.025 0.026 0.026 0.027 0.026 0.026
0.027 0.026 0.027 0.026 0.026 0.026 0.026 0.026 0.027 0.026 0.026 0.026 0.026 0.026 0.027 0.027 0.026 0.026 0.026 0.026
0.026 0.026 0.026 0.026 0.026 0.026 0.026 0.026 0.026 0.026 0.025 0.026 0.027 0.028 0.027 0.028 0.028 0.026 0.028"""

# A bowl of 40,000 particles breaks within eight frames, and its pieces fly as rigid bodies.
BOWL = """
1.73 1.74 1.79 2.63 2.93 3.28 3.50 0.83 0.19 0.22 0.25 0.34 0.16 0.17 0.16 0.15 0.24 0.21 0.29 0.14 0.09 0.12 0.11 0.10
0.19 0.15 0.15 0.15 0.09 0.13 0.10 0.11 0.12 0.11 0.09 0.12 0.09 0.15 0.09 0.13 0.11 0.27 0.12 0.12 0.14 0.14 0.25"""


def of_preset(name: str) -> Scene:
    found = read_scene(ROOT / "presets" / "scenes" / name / "scene.toml")
    return replace(found, time=replace(found.time, frame_end=60))


def dropped(folder: Path, material: str) -> Scene:
    (folder / "scene.toml").write_text(DROP.replace("MATERIAL", material))
    return read_scene(folder / "scene.toml")


def seconds_of(recording: str) -> list[float]:
    return [float(word) for word in recording.split()]


def forecasts(course: dict[int, float], seconds: list[float]) -> Iterator[tuple[float, float]]:
    """After each tenth and later frame up to nine tenths: the forecast, and how long the others took [s]."""
    clock: Any = SimpleNamespace(seconds=7.0)
    pace = Pace(clock, course, len(seconds) + 1)
    first, last = -(-len(seconds) // 10), int(0.9 * len(seconds))
    for index, each in enumerate(seconds[:last]):
        pace.substep()
        clock.seconds += each
        pace.frame_done(SimpleNamespace(number=index + 2, statistics=SimpleNamespace(substeps=1)))  # type: ignore[arg-type]
        if index + 1 >= first:
            yield pace.forecast(index + 2, 0.0)["eta_seconds"], sum(seconds[index + 1 :])


def errors(course: dict[int, float], seconds: list[float]) -> list[float]:
    return [abs(expected / needed - 1.0) for expected, needed in forecasts(course, seconds)]


@pytest.mark.parametrize(("material", "recording", "particles"), [("water", WATER, None), ("snow", SNOW, 30_000)])
def test_what_falls_and_lands_is_forecast_from_a_tenth_on(tmp_path: Path, material: str, recording: str, particles: int | None) -> None:
    scene = dropped(tmp_path, material)
    scene = scene if particles is None else preview_of(scene, particles).scene
    seconds = seconds_of(recording)
    assert max(errors(course_by_frame(scene), seconds)) < 0.3
    # the same work in every frame does not know what comes
    assert errors({}, seconds)[0] > 0.4


def test_what_bursts_is_forecast_before_it_has_spread() -> None:
    course, seconds = course_by_frame(preview_of(of_preset("snowball_wall"), 40_000).scene), seconds_of(WALL)
    found = errors(course, seconds)
    assert max(found) < 0.4
    assert errors({}, seconds)[0] > 0.7


def test_a_bake_of_equal_frames_is_forecast_as_well_as_by_their_mean() -> None:
    course, seconds = course_by_frame(preview_of(of_preset("sand_column"), 8_000).scene), seconds_of(SAND)
    assert list(course.values()) == pytest.approx([1.0] * 59)
    assert max(errors(course, seconds)) < 0.3


def test_later_frames_count_more_than_the_first_ones() -> None:
    # a course that knows nothing: the pace follows within a few frames
    found = errors({}, [1.0] * 20 + [4.0] * 40)
    assert found[-1] < 0.05
    assert found[24] < 0.3


def test_after_something_broke_the_frames_before_are_forgotten_within_a_few() -> None:
    # the forecasts begin with frame 6, the fifth; the twelfth is the fourth of rigid pieces
    found = errors({}, seconds_of(BOWL))
    assert found[0] > 3.0
    assert max(found[7:]) < 1.0


def test_the_pace_within_the_first_frame_follows_from_its_fraction() -> None:
    clock: Any = SimpleNamespace(seconds=0.0)
    pace = Pace(clock, {2: 1.0, 3: 3.0}, 3)
    assert pace.forecast(1, 0.0) == {"seconds_per_frame": None, "eta_seconds": None}
    pace.substep()
    clock.seconds = 2.0
    # half of frame 2 took 2 s: 2 s more, and 12 s for frame 3
    assert pace.forecast(1, 0.5) == {"seconds_per_frame": 4.0, "eta_seconds": pytest.approx(14.0)}
    clock.seconds = 4.0
    pace.frame_done(SimpleNamespace(number=2, statistics=SimpleNamespace(substeps=1)))  # type: ignore[arg-type]
    assert pace.forecast(2, 0.5)["eta_seconds"] == pytest.approx(6.0)
