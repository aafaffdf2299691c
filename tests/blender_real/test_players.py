"""Two Blenders play a cache repeatedly while a third one bakes it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from mpm_addon.storage import open_cache

from .conftest import EPILOGUE, PROLOGUE, ROOT

pytestmark = [pytest.mark.blender, pytest.mark.slow]

LAST = 12

BAKE = """
import time
from pathlib import Path
import mpm_addon
mpm_addon.register()
bpy.ops.wm.read_homefile(use_empty=True)
bpy.ops.mesh.primitive_cube_add(size=0.6, location=(0.0, 0.0, 0.5))
bpy.context.object.mpm.type = "emitter"
bpy.context.object.mpm.material.preset = "jelly"
bpy.ops.mesh.primitive_plane_add(size=4.0)
bpy.context.object.mpm.type = "collider"
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, int(sys.argv[2]) // 2
scene.mpm.solver.grid_spacing = 0.06
bpy.ops.wm.save_as_mainfile(filepath=os.path.join(sys.argv[1], "scene.blend"))
assert bpy.ops.mpm.bake() == {"FINISHED"}
# the second half comes when both look, however fast it is baked
end = time.monotonic() + 300
while len(list(Path(sys.argv[1]).glob("*.looks"))) < 2:
    assert time.monotonic() < end, "nobody looks"
    time.sleep(0.02)
scene.frame_end = int(sys.argv[2])
assert bpy.ops.mpm.bake() == {"FINISHED"}
"""

PLAY = """
import hashlib, json, time
import numpy as np
import mpm_addon
from mpm_addon.blender.playback import particle_objects
mpm_addon.register()
bpy.ops.wm.read_homefile(use_empty=True)
scene, last, end = bpy.context.scene, int(sys.argv[2]), time.monotonic() + 300
while not particle_objects.result_objects(scene):
    assert time.monotonic() < end, "there is no cache"
    try:
        bpy.ops.mpm.show(cache=os.path.join(sys.argv[1], "cache_mpm"))
    except RuntimeError as error:
        assert "contains no cache" in str(error) or "no frame is cached yet" in str(error), error
        time.sleep(0.02)
item, = particle_objects.result_objects(scene)
seen, complaints, missing, shown = {}, set(), 0, 0
while len(seen) < last and time.monotonic() < end:
    for number in range(1, last + 1):
        scene.frame_set(number)
        status = particle_objects.status(item).text()
        if status == f"Frame {number} is not baked":
            missing += 1
            assert not len(item.data.vertices)
            # as at 48fps, so that the bake has the cores
            time.sleep(0.02)
        elif status:
            complaints.add(status)
        else:
            positions = np.empty(3 * len(item.data.vertices), np.float32)
            item.data.attributes["position"].data.foreach_get("vector", positions)
            found = hashlib.sha256(positions.tobytes()).hexdigest()
            shown += 1
            if seen.setdefault(number, found) != found:
                complaints.add(f"frame {number} changed")
    if missing and shown:
        open(os.path.join(sys.argv[1], f"{os.getpid()}.looks"), "w").close()
print("ANSWER", json.dumps({"seen": seen, "complaints": sorted(complaints), "missing": missing, "shown": shown}))
"""


def blender(script: str, folder: Path) -> subprocess.Popen[str]:
    """A Blender that runs a script."""
    command = [sys.executable, "-c", PROLOGUE + script + EPILOGUE, str(folder), str(LAST)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def test_two_blenders_play_what_a_third_one_bakes(tmp_path: Path) -> None:
    processes = [blender(PLAY, tmp_path), blender(PLAY, tmp_path), blender(BAKE, tmp_path)]
    try:
        answers = [process.communicate(timeout=400) for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, (output, complaint) in zip(processes, answers, strict=True):
        assert process.returncode == 0, output + complaint
    cache = open_cache(tmp_path / "cache_mpm")
    assert cache.frames == list(range(1, LAST + 1))
    assert list(cache.damaged()) == []
    expected = {str(number): hashlib.sha256(cache.frame(number).position.tobytes()).hexdigest() for number in cache.frames}
    for output, _ in answers[:2]:
        found = json.loads(output.partition("ANSWER ")[2].splitlines()[0])
        assert found["complaints"] == []
        assert found["missing"] and found["shown"] > LAST, "the player did not look while frames came"
        assert found["seen"] == expected
