"""From objects to points in an isolated Blender: bake, command line, playback, save and reload."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import ROOT, RunInBlender

TAKE = Path("takes/0001")

pytestmark = [pytest.mark.blender, pytest.mark.slow]

PRELUDE = """
import addon_utils, json
import numpy as np
MODULE = "bl_ext.user_default.mpm_addon"
addon_utils.enable(MODULE, default_set=True)
folder = sys.argv[1]

def particles():
    found = [item for item in bpy.context.scene.objects if item.mpm.cache]
    return found[0] if found else None

def points():
    depsgraph = bpy.context.evaluated_depsgraph_get()
    clouds = [each.object.data for each in depsgraph.object_instances if each.is_instance and each.object.type == "POINTCLOUD"]
    return sum(len(cloud.points) for cloud in clouds)

def answer(**values):
    print("ANSWER", json.dumps(values))
    addon_utils.disable(MODULE)
"""

BUILD_AND_BAKE = """
bpy.ops.wm.read_homefile(use_empty=True)
bpy.ops.mesh.primitive_cube_add(size=0.4, location=(0.0, 0.0, 0.35))
jelly = bpy.context.object
jelly.name = "Jelly"
jelly.mpm.type = "emitter"
jelly.mpm.material.preset = "jelly"
bpy.ops.mesh.primitive_uv_sphere_add(radius=0.2, location=(1.0, 0.0, 0.6))
ball = bpy.context.object
ball.name = "Ball"
ball.mpm.type = "emitter"
ball.mpm.material.preset = "snow"
bpy.ops.mesh.primitive_plane_add(size=4.0)
bpy.context.object.mpm.type = "collider"
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, 5
scene.mpm.solver.grid_spacing = 0.1
scene.mpm.skin.while_baking = False
bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "scene.blend"))
outcome = bpy.ops.mpm.bake()
counts = {}
for number in (5, 1, 9, 3):
    scene.frame_set(number)
    counts[number] = [len(particles().data.vertices), points()]
heights = np.empty(3 * len(particles().data.vertices), np.float32)
particles().data.attributes["position"].data.foreach_get("vector", heights)
bpy.ops.wm.save_mainfile()
answer(outcome=sorted(outcome), counts=counts, lowest=float(heights[2::3].min()), numba="numba" in sys.modules)
"""


@pytest.fixture(scope="module")
def baked(installed_extension: RunInBlender, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of a .blend file that was baked, and the results of its script."""
    folder = tmp_path_factory.mktemp("baked")
    return folder, answer_of(installed_extension(PRELUDE + BUILD_AND_BAKE, str(folder)))


def answer_of(output: str) -> dict[str, Any]:
    return json.loads(output.partition("ANSWER ")[2].splitlines()[0])


def frame_files(cache: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((cache / TAKE / "frames").glob("*.mpm"))}


def test_a_scene_bakes_and_plays(baked: tuple[Path, dict[str, Any]]) -> None:
    folder, found = baked
    assert found["outcome"] == ["FINISHED"]
    count = found["counts"]["1"][0]
    assert 700 < count < 1300  # (0.4 m)^3 and a ball of 0.2 m, 8 particles in (0.1 m)^3
    assert found["counts"] == {"1": [count, count], "3": [count, count], "5": [count, count], "9": [0, 0]}
    assert -0.05 < found["lowest"] < 0.2
    assert list(frame_files(folder / "cache_mpm")) == [f"frame_{number:06d}.mpm" for number in range(1, 6)]


def test_numba_stays_out_of_blenders_process(baked: tuple[Path, dict[str, Any]]) -> None:
    assert baked[1]["numba"] is False


def test_the_command_line_bakes_the_same_package_to_the_same_bytes(baked: tuple[Path, Any], tmp_path: Path) -> None:
    folder, _found = baked
    finished = subprocess.run(
        [sys.executable, "-m", "mpm_addon", "bake", folder / "cache_mpm" / TAKE / "scene", "--cache", tmp_path / "cache"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert frame_files(tmp_path / "cache") == frame_files(folder / "cache_mpm")


def test_a_reopened_file_shows_its_frame_and_bakes_nothing_anew(baked: tuple[Path, Any], installed_extension: RunInBlender) -> None:
    folder, before = baked
    times = {path: path.stat().st_mtime_ns for path in (folder / "cache_mpm" / TAKE / "frames").iterdir()}
    found = answer_of(
        installed_extension(
            PRELUDE
            + """
bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "scene.blend"))
shown = [bpy.context.scene.frame_current, len(particles().data.vertices), points()]
module = sys.modules[MODULE + ".blender.interface.operators.commands"]
answer(shown=shown, status=module.run(["bake"]), objects=sum(bool(item.mpm.cache) for item in bpy.data.objects))
""",
            str(folder),
        )
    )
    count = before["counts"]["1"][0]
    assert found == {"shown": [3, count, count], "status": 0, "objects": 1}
    assert {path: path.stat().st_mtime_ns for path in (folder / "cache_mpm" / TAKE / "frames").iterdir()} == times


def test_one_object_bakes_apart_from_the_scene(baked: tuple[Path, Any], installed_extension: RunInBlender) -> None:
    folder, before = baked
    found = answer_of(
        installed_extension(
            PRELUDE
            + """
bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "scene.blend"))
bpy.context.scene.frame_set(1)
try:
    bpy.ops.mpm.bake(object="Bal")
except RuntimeError as error:
    message = str(error).strip()
bpy.context.scene.frame_end = 2
outcome = bpy.ops.mpm.bake(object="Ball")
counts = sorted(len(item.data.vertices) for item in bpy.data.objects if item.mpm.cache)
answer(message=message, outcome=sorted(outcome), counts=counts)
""",
            str(folder),
        )
    )
    assert found["message"] == 'Error: Object "Bal" does not exist in scene "Scene" (did you mean "Ball"?); check its name.'
    assert found["outcome"] == ["FINISHED"]
    alone, together = found["counts"]
    assert 0 < alone < together == before["counts"]["1"][0]
    assert sorted(frame_files(folder / "cache_Ball")) == ["frame_000001.mpm", "frame_000002.mpm"]


def test_a_changed_scene_is_refused_until_it_restarts(baked: tuple[Path, Any], installed_extension: RunInBlender) -> None:
    folder, _found = baked
    found = answer_of(
        installed_extension(
            PRELUDE
            + """
bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "scene.blend"))
messages = []
for size in (0.2, 5.0):
    bpy.context.scene.mpm.solver.grid_spacing = size
    try:
        bpy.ops.mpm.bake()
    except RuntimeError as error:
        messages.append(str(error).strip())
answer(messages=messages)
""",
            str(folder),
        )
    )
    other_scene, too_coarse = found["messages"]
    assert "contains frames that were baked before this scene changed" in other_scene
    assert "Cell Size 5 m" in too_coarse
    assert len(frame_files(folder / "cache_mpm")) == 5
