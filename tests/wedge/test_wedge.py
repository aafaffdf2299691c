"""Wedges on this computer: every variant is baked once, even after several stops, and a failing variant does not affect others."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.errors import CacheError, SceneError
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.wedge.cluster import local_cluster
from mpm_addon.wedge.process import Order, Outcome
from mpm_addon.wedge.wedge import plan
from tests.storage import stand_in
from tests.storage.stand_in import HALT_FRAME
from tests.wedge.conftest import bake, index, start, states
from tests.wedge.stand_in_wedge import UNLUCKY


def assert_whole(output: Path, name: str) -> None:
    """The cache has the frames of a simulation that was never stopped."""
    cache = open_cache(output / "caches" / name)
    for frame in stand_in.Simulation(read_scene(output / "scenes" / f"{name}.toml")).frames():
        # the least precision that a cache keeps by default
        np.testing.assert_allclose(cache.frame(frame.number).position, frame.position, atol=1e-4)


def test_a_grid_is_baked_and_a_second_run_has_nothing_to_do(scene: Path, tmp_path: Path) -> None:
    output = tmp_path / "wedge"
    arguments = (scene, "--vary", "solver.seed=1,2", "--vary", "materials.jelly.density=500:1000:2", "--output", output)
    status, events, complaints = bake(*arguments, "--jobs", 2)
    assert (status, complaints) == (0, "")
    assert events[0] == {"event": "start", "scene": str(scene), "output": str(output), "total": 4, "jobs": 2, "done": 0}
    assert events[-1] == {"event": "done", "variants": 4}
    assert [event["state"] for event in events if event["event"] == "variant"].count("done") == 4
    assert set(states(output).values()) == {"done"}
    assert index(output)["variants"][1]["values"] == {"solver.seed": 1, "materials.jelly.density": 1000.0}
    assert_whole(output, "seed_2__density_1000")
    _, again, _ = bake(*arguments)
    assert [event["event"] for event in again] == ["start", "sheet", "done"]
    assert again[0]["done"] == 4


def test_a_changed_grid_adds_and_deletes_nothing(scene: Path, tmp_path: Path) -> None:
    output = tmp_path / "wedge"
    bake(scene, "--vary", "solver.seed=1,2", "--output", output, "--frames", "1-2")
    status, events, _ = bake(scene, "--vary", "solver.seed=2,3", "--output", output)
    assert status == 0
    # more frames are wanted of seed 2 now
    assert [event["name"] for event in events if event.get("state") == "done"] == ["seed_2", "seed_3"]
    assert [len(open_cache(output / "caches" / name).frames) for name in ("seed_1", "seed_2", "seed_3")] == [2, 6, 6]


def test_one_that_fails_stops_no_other(scene: Path, tmp_path: Path) -> None:
    output = tmp_path / "wedge"
    status, events, complaints = bake(scene, "--vary", f"solver.seed=1,{UNLUCKY},3", "--output", output)
    assert status == 1
    first, last = complaints.splitlines()
    assert first.startswith(f'mpm: seed_{UNLUCKY}: Material "jelly": unstable at frame 3')
    assert last == "mpm: 1 of 3 variants failed; run it again to retry them."
    assert events[-1]["event"] == "error"
    assert states(output) == {"seed_1": "done", f"seed_{UNLUCKY}": "failed", "seed_3": "done"}
    assert open_cache(output / "caches" / f"seed_{UNLUCKY}").frames == [1, 2]


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ("materials.jely.density=1,2", 'did you mean "jelly"?'),
        ("materials.jelly.densty=1,2", 'did you mean "density"?'),
        ("materials.jelly.density=1,-2", '^Variant "seed_1__density_-2": Material "jelly": density -2'),
        ("time.frame_end=6,0", '^Variant "seed_1__frame_end_0"'),
        ("time.frame_end=6,9", '^Variant "seed_1__frame_end_6": frames 1-8'),
    ],
)
def test_whatever_is_wrong_is_refused_before_anything_is_baked(scene: Path, tmp_path: Path, vary: str, words: str) -> None:
    with pytest.raises(SceneError, match=re.escape(words).replace(re.escape("^"), "^")):
        plan(scene, ["solver.seed=1,2", vary], tmp_path / "wedge", (1, 8) if "9" in vary else None)
    assert not (tmp_path / "wedge").exists()


def test_another_scene_is_refused(scene: Path, tmp_path: Path) -> None:
    plan(scene, ["solver.seed=1"], tmp_path / "wedge", None).index.write()
    other = stand_in.write_small_scene(tmp_path / "other", seed=5)
    with pytest.raises(CacheError, match="belongs to another scene"):
        plan(other, ["solver.seed=1"], tmp_path / "wedge", None)


def running_bakes(process: "subprocess.Popen[str]", output: Path, count: int) -> list[int]:
    """Wait until so many bakes have a frame, and return their process ids."""
    assert process.stdout is not None
    begun: set[str] = set()
    for line in process.stdout:
        event: dict[str, Any] = json.loads(line)
        if event["event"] == "progress" and event["done"]:
            begun.add(event["name"])
        if len(begun) == count:
            break
    return [json.loads((output / "caches" / name / "status.json").read_text())["pid"] for name in begun]


def ends(pid: int) -> bool:
    """Whether a process ends, soon."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_it_leaves_no_process_and_goes_on_later(tmp_path: Path, number: signal.Signals) -> None:
    scene, output, halt = stand_in.write_small_scene(tmp_path / "scene", frame_end=20), tmp_path / "wedge", tmp_path / "halt"
    arguments = (scene, "--vary", "solver.seed=1,2,3", "--output", output, "--jobs", 2)
    halt.touch()
    with start(*arguments, halt=halt) as process:
        pids = running_bakes(process, output, 2)
        process.send_signal(number)
        _, complaints = process.communicate(timeout=120)
    assert all(ends(pid) for pid in pids)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert complaints == "mpm: canceled: 0 of 3 variants are baked; run it again to resume.\n"
        assert set(states(output).values()) == {"cancelled"}
        assert not (output / "cancel").exists()
    half_baked = open_cache(output / "caches" / "seed_1")
    assert 0 < len(half_baked.frames) <= HALT_FRAME
    halt.unlink()
    assert bake(*arguments)[0] == 0
    assert set(states(output).values()) == {"done"}
    for seed in (1, 2, 3):
        assert_whole(output, f"seed_{seed}")


def test_threads_are_shared_fairly(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = []
    all_run = threading.Barrier(3, timeout=60.0)

    def note(order: Order) -> Outcome:
        shares.append(order.threads)
        all_run.wait()
        return Outcome("done")

    monkeypatch.setattr("mpm_addon.wedge.cluster.run", note)
    with local_cluster(jobs=3, threads=8) as cluster:
        [future.result() for future in [cluster.submit(Order("", "", None, 1, "")) for _ in range(3)]]
    assert sorted(shares) == [2, 3, 3]
