"""The commands end to end with the real solver: what they print, and bytes that depend on the scene alone."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.stepping import self_test
from mpm_addon.storage import open_cache, read_scene
from tests.command_line.commands import command, run, run_here

TAKE = Path("takes/0001")

SCENE = """
schema = 1
name = "small"
[time]
fps = 48
frame_end = 5
[solver]
grid_spacing = 0.05
[cache]
precision = "exact"
stretch = true
density_ratio = true
[domain]
kind = "box"
min = [-0.5, -0.5, 0.0]
max = [0.5, 0.5, 1.0]
[materials.water]
preset = "water"
[materials.sand]
preset = "dry_sand"
[[emitters]]
name = "pool"
material = "water"
shape = { kind = "box", center = [-0.2, 0, 0.15], size = [0.4, 0.4, 0.2] }
[[emitters]]
name = "heap"
material = "sand"
shape = { kind = "sphere", center = [0.25, 0, 0.3], radius = 0.15 }
[variants.short]
leave_out = ["heap"]
[variants.short.time]
frame_end = 2
"""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scene")
    (folder / "scene.toml").write_text(SCENE)
    return folder


@pytest.fixture(scope="module")
def uninterrupted(scene: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The cache of an uninterrupted bake, and what the bake printed."""
    cache = tmp_path_factory.mktemp("whole")
    done = run("bake", scene, "--cache", cache)
    assert done.returncode == 0, done.stderr
    return cache, done.stdout


@pytest.fixture(scope="module")
def whole(uninterrupted: tuple[Path, str]) -> Path:
    """The cache alone."""
    return uninterrupted[0]


def frame_bytes(cache: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((cache / TAKE / "frames").glob("*.mpm"))}


def events(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_json_is_pure_and_complete(scene: Path, tmp_path: Path) -> None:
    done = run("bake", scene, "--cache", tmp_path / "cache", "--json", "--frames", "1-2")
    assert (done.returncode, done.stderr) == (0, "")
    told = events(done.stdout)
    assert told[0]["event"] == "start"
    assert told[-1]["event"] == "done"
    assert {"preparing", "progress", "frame"} <= {event["event"] for event in told}
    assert open_cache(tmp_path / "cache").frames == [1, 2]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_any_number_of_threads_gives_the_same_bytes(scene: Path, whole: Path, tmp_path: Path, threads: int) -> None:
    assert run("bake", scene, "--cache", tmp_path / "cache", "--threads", threads).returncode == 0
    assert frame_bytes(tmp_path / "cache") == frame_bytes(whole)


def test_compact_frames_are_the_same_on_other_threads_and_after_a_restart(scene: Path, tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_text((scene / "scene.toml").read_text().replace('precision = "exact"', 'precision = "compact"'))
    found = []
    for options in (("--threads", 1), ("--threads", 4, "--restart")):
        assert run("bake", tmp_path, "--cache", tmp_path / "cache", "--frames", "1-3", *options).returncode == 0
        take = open_cache(tmp_path / "cache").takes[-1].folder
        found.append({path.name: path.read_bytes() for folder in ("frames", "births") for path in (take / folder).iterdir()})
    assert found[0] == found[1]
    assert set(found[0]) > {"frame_000001.mpm", "frame_000003.mpm"}


def test_the_frames_are_those_of_simulate(whole: Path, scene: Path) -> None:
    from mpm_addon.core import simulate

    cache = open_cache(whole)
    for frame in simulate(read_scene(scene)):
        stored = cache.frame(frame.number)
        assert stored.attributes == frame.attributes
        for name in frame.attributes:
            np.testing.assert_array_equal(stored.attribute(name), frame.attribute(name))
        assert stored.statistics == frame.statistics


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_killed_and_resumed_it_gives_the_same_bytes(scene: Path, whole: Path, tmp_path: Path) -> None:
    cache, chance = tmp_path / "cache", random.Random(0)
    for _ in range(4):
        with subprocess.Popen(command("bake", scene, "--cache", cache, "--json"), stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if json.loads(line)["event"] in ("progress", "frame") and chance.random() < 0.2:
                    process.kill()
    assert run("bake", scene, "--cache", cache).returncode == 0
    assert frame_bytes(cache) == frame_bytes(whole)


@pytest.mark.skipif(os.name != "posix", reason="SIGTERM is POSIX")
@pytest.mark.parametrize("stage", ["preparing", "compiling", "frame"])
def test_a_signal_cancels_at_every_stage(scene: Path, whole: Path, tmp_path: Path, stage: str) -> None:
    cache = tmp_path / "cache"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")} if stage == "compiling" else None
    with subprocess.Popen(
        command("bake", scene, "--cache", cache, "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        told = []
        for line in process.stdout:
            told.append(json.loads(line)["event"])
            if told[-1] == stage and told.count(stage) == 1:
                process.send_signal(signal.SIGTERM)
        complaint = process.stderr.read()
        assert process.wait(120) == 130
    assert told[-1] == "cancelled"
    assert complaint.startswith("mpm: canceled: ")
    assert complaint.count("\n") == 1
    assert json.loads((cache / "status.json").read_text())["state"] == "cancelled"
    assert run("bake", scene, "--cache", cache).returncode == 0
    assert frame_bytes(cache) == frame_bytes(whole)


def test_a_finished_bake_does_nothing_more(scene: Path, whole: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (whole / TAKE / "frames").iterdir()}
    assert [event["event"] for event in events(run_here("bake", scene, "--cache", whole, "--json").stdout)] == ["start", "done"]
    assert {path: path.stat().st_mtime_ns for path in (whole / TAKE / "frames").iterdir()} == before


def test_info_of_a_cache_has_the_numbers_of_every_frame(whole: Path) -> None:
    done = run_here("info", whole, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    described = json.loads(done.stdout)
    assert [row["frame"] for row in described["frames"]] == [1, 2, 3, 4, 5]
    for row in described["frames"]:
        assert row["particles"] == described["frames"][0]["particles"] > 1000
        assert row["deleted"] == 0
        assert len(row["momentum"]) == 3
        assert row["kinetic_energy"] >= 0.0
        assert row["seconds"] >= row["step_seconds"] >= 0.0
    assert described["frames"][0]["substeps"] == 0
    assert described["frames"][1]["substeps"] > 0
    assert described["fps"] == 48.0


def test_info_of_a_scene_is_the_estimate(scene: Path, whole: Path) -> None:
    described = json.loads(run_here("info", scene, "--json").stdout)
    assert described["particles"] == pytest.approx(len(open_cache(whole).frame(1).id), rel=0.1)
    assert {"memory_bytes", "memory_available_bytes", "disk_bytes", "substeps", "cells"} <= set(described)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder in which not even an administrator can write")
def test_info_of_a_scene_says_why_its_cache_cannot_be_written(scene: Path) -> None:
    described = json.loads(run_here("info", scene, "--cache", "/proc/nowhere/cache", "--json").stdout)
    (warning,) = described["warnings"]
    assert (warning["topic"], warning["subject"]) == ("unwritable", "Cache /proc/nowhere/cache")
    assert warning["message"].startswith("it cannot be written: ")
    assert "/proc" in warning["message"]
    assert "choose another cache folder" in warning["message"]


def test_info_of_a_scene_warns_and_measures(scene: Path, tmp_path: Path) -> None:
    described = json.loads(run_here("info", scene, "--json").stdout)
    assert (described["warnings"], described["probe"]) == ([], None)
    assert described["disk_free_bytes"] > described["disk_bytes"]
    assert described["current_reasons"] == {}
    assert described["bulk_moduli"] == {"water": pytest.approx(8.9e5)}
    assert described["sizes"] == {"pool": pytest.approx([0.4, 0.4, 0.2]), "heap": pytest.approx([0.3, 0.3, 0.3])}
    text = (scene / "scene.toml").read_text()
    (tmp_path / "thin").mkdir()
    (tmp_path / "thin" / "scene.toml").write_text(text.replace("grid_spacing = 0.05", "grid_spacing = 0.2"))
    done = run_here("info", tmp_path / "thin", "--json", "--probe", "--cache", tmp_path / "not" / "there")
    assert (done.returncode, done.stderr) == (0, "")
    described = json.loads(done.stdout)
    assert [warning["topic"] for warning in described["warnings"]] == ["thin_emitter"] * len(described["emitters"])
    assert set(described["warnings"][0]) == {"topic", "subject", "message", "problem", "remedies"}
    assert described["probe"]["expected_substeps"] > 0 and described["probe"]["expected_seconds"] > 0.0
    told = run_here("info", tmp_path / "thin", "--probe").stdout
    assert "\nwarning: Emitter " in told and "\nmeasured: a bake takes about 0:0" in told
    assert '": it ' not in told
    assert "pool is 40 x 40 x 20 cm\n" in told
    refused = run_here("info", tmp_path / "none", "--probe")
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1


def test_a_cache_is_not_probed(whole: Path) -> None:
    done = run_here("info", whole, "--probe")
    assert done.returncode == 1 and "is a cache, which is already baked; omit --probe" in done.stderr


def test_the_text_output_has_the_same_numbers(whole: Path, scene: Path) -> None:
    particles = str(len(open_cache(whole).frame(1).id))
    assert f"particles {particles}" in run_here("info", whole).stdout
    assert "particles: " in run_here("info", scene).stdout


def test_progress_as_text_ends_at_all_frames(uninterrupted: tuple[Path, str]) -> None:
    lines = uninterrupted[1].splitlines()
    assert lines[-2].startswith("100% (5/5) frame 5")
    assert lines[-1].startswith("done: 5 frames")


@pytest.mark.parametrize("format_name", ["ply", "obj", "npz", "vtk", "vtu"])
def test_export_writes_every_frame(whole: Path, tmp_path: Path, format_name: str) -> None:
    done = run_here("export", whole, "--format", format_name, "--output", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    series = ["frames.pvd"] if format_name == "vtu" else []
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [*(f"frame_00000{n}.{format_name}" for n in range(1, 6)), *series]
    assert done.stdout == f"5 frames written to {tmp_path / 'out'}\n"


def test_export_splits_by_emitter(whole: Path, tmp_path: Path) -> None:
    done = run_here("export", whole, "--format", "npz", "--output", tmp_path / "out", "--split", "emitter", "--frames", "2-3")
    assert (done.returncode, done.stderr) == (0, "")
    names = open_cache(whole).manifest["emitters"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        f"frame_00000{n}_{name}.npz" for n in (2, 3) for name in names
    )


def test_export_of_a_range_and_of_a_frame_that_is_missing(whole: Path, tmp_path: Path) -> None:
    assert run_here("export", whole, "--format", "ply", "--output", tmp_path / "a.ply", "--frames", "3").returncode == 0
    assert (tmp_path / "a.ply").is_file()
    failed = run_here("export", whole, "--format", "ply", "--output", tmp_path / "out", "--frames", "4-9")
    assert failed.returncode == 1
    assert failed.stderr.count("\n") == 1
    assert "frame 6 was not baked; frames 1 to 5 are cached" in failed.stderr


def test_presets_are_listed_and_shown() -> None:
    listed = run_here("presets").stdout
    assert listed == run_here("presets", "list").stdout
    assert "powder_snow" in listed
    assert "dam_break" in listed
    assert "Stomakhin" in run_here("presets", "show", "powder_snow").stdout
    assert "grid_spacing" in run_here("presets", "show", "dam_break").stdout
    failed = run_here("presets", "show", "powder_sno")
    assert failed.returncode == 1
    assert 'did you mean "powder_snow"?' in failed.stderr


def test_a_variant_is_baked_and_estimated(scene: Path, whole: Path, tmp_path: Path) -> None:
    assert run_here("bake", scene, "--cache", tmp_path, "--variant", "short").returncode == 0
    short = open_cache(tmp_path)
    assert short.frames == [1, 2]
    assert set(short.frame(2).attribute("emitter_index")) == {0}
    estimated = json.loads(run_here("info", scene, "--variant", "short", "--json").stdout)
    assert estimated["particles"] < json.loads(run_here("info", scene, "--json").stdout)["particles"]
    assert estimated["variants"] == ["short"]
    for arguments, complaint in (
        (("bake", scene, "--cache", tmp_path, "--variant", "shrt"), 'variant "shrt" is unknown (did you mean "short"?)'),
        (("bake", scene, "--cache", tmp_path), "--restart"),
        (("info", tmp_path, "--variant", "short"), "is a cache"),
    ):
        failed = run_here(*arguments)
        assert failed.returncode == 1
        assert complaint in failed.stderr
        assert failed.stderr.count("\n") == 1


def test_doctor_describes_the_machine() -> None:
    report = json.loads(run_here("doctor", "--json").stdout)
    assert report["numpy"] == np.__version__
    assert report["threads"] >= 1
    assert report["memory_available_gb"] > 0.1
    assert report["kernel_test"] == "right"
    assert run("doctor").returncode == 0


@pytest.mark.parametrize("has_crashed", [False, True])
def test_doctor_fails_with_its_report_if_a_kernel_is_wrong(monkeypatch: pytest.MonkeyPatch, *, has_crashed: bool) -> None:
    def wrong() -> str:
        if has_crashed:
            raise TypeError("no\nmatching definition")
        return "stress [0.0] Pa"

    monkeypatch.setattr(self_test, "kernel_problem", wrong)
    done = run_here("doctor", "--json")
    told = "TypeError: no matching definition" if has_crashed else "stress [0.0] Pa"
    assert (done.returncode, json.loads(done.stdout)["kernel_test"]) == (1, told)
    assert f"a compiled kernel fails its test ({told})" in done.stderr
    assert done.stderr.count("\n") == 1
    assert told in run_here("doctor").stdout


@pytest.mark.parametrize("name", [[], ["bake"], ["wedge"], ["info"], ["export"], ["derive"], ["takes"], ["live"], ["presets"], ["doctor"]])
def test_every_command_has_help(name: list[str]) -> None:
    done = run_here(*name, "--help")
    assert done.returncode == 0
    assert "usage:" in done.stdout


def test_options_of_several_kinds_have_the_help_of_each() -> None:
    words = " ".join(run_here("derive", "--help").stdout.split())
    assert "--voxel-size M Surfaces: Size of the faces" in words and ". Volumes: Size of the voxels" in words


def test_nothing_of_blender_is_needed(scene: Path, tmp_path: Path, whole: Path) -> None:
    """Bakes with an importer that fails for every module of Blender."""
    (tmp_path / "bpy.py").write_text("raise ImportError('no Blender here')")
    (tmp_path / "mathutils.py").write_text("raise ImportError('no Blender here')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path.cwd())])}
    done = subprocess.run(
        command("bake", scene, "--cache", tmp_path / "cache"), env=environment, capture_output=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert frame_bytes(tmp_path / "cache") == frame_bytes(whole)


@pytest.mark.slow
def test_a_wedge_bakes_what_bakes_of_its_variants_would(scene: Path, tmp_path: Path) -> None:
    output = tmp_path / "wedge"
    done = run("wedge", scene, "--vary", "materials.water.density=900,1100", "--output", output, "--frames", "1-2", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert [event["event"] for event in events(done.stdout) if event["event"] != "progress"] == ["start", *["variant"] * 4, "sheet", "done"]
    assert run("bake", output / "scenes" / "density_1100.toml", "--cache", tmp_path / "cache", "--frames", "1-2").returncode == 0
    frame, same = (open_cache(cache).frame(2) for cache in (output / "caches" / "density_1100", tmp_path / "cache"))
    np.testing.assert_array_equal(frame.position, same.position)
    other = open_cache(output / "caches" / "density_900").frame(2)
    assert other.statistics.mass < frame.statistics.mass


@pytest.mark.skipif(os.name != "posix", reason="SIGTERM is POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_during_the_imports_cancels(tmp_path: Path, number: signal.Signals) -> None:
    """The signal comes when numpy is about to be imported."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == 'numpy': os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path.cwd())])}
    done = subprocess.run(command("doctor"), env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_second_bake_and_a_limit_fail_in_one_line(scene: Path, tmp_path: Path) -> None:
    from mpm_addon.storage.lock import WriterLock

    cache = tmp_path / "cache"
    with WriterLock(cache):
        refused = run("bake", scene, "--cache", cache, "--restart")
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1 and "another bake is writing into it" in refused.stderr
    stopped = run_here("bake", scene, "--cache", cache, "--size-limit", "1e-6", "--json")
    assert stopped.returncode == 1 and stopped.stderr.count("\n") == 1
    assert events(stopped.stdout)[-1]["event"] == "stopped"
    assert json.loads(run_here("info", cache, "--json").stdout)["status"]["state"] == "stopped"
    assert "\nstatus: Stopped before its size_limit" in run_here("info", cache).stdout
    assert run_here("bake", scene, "--cache", cache, "--time-limit", "-1").returncode == 1
