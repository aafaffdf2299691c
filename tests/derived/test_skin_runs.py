"""Runs that make skins: resumed, killed, following a bake, estimated, refused."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.particles import Moment
from mpm_addon.derived.settings import SkinSettings
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import State, derived_path, state_of
from mpm_addon.storage.take import SKIN, SURFACE
from tests.derived.caches import ROOT, add_frame, arrays, derived, description, killed_run, write_cache
from tests.derived.skins import SIDE, cube, particles, piece, same, scene_of, twisted, write_moves


def derive(capsys: pytest.CaptureFixture[str], cache: Path, *more: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit status, events and stderr."""
    return derived(capsys, cache, "skin", *more)


def test_a_run_resumes_and_a_damaged_frame_is_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = write_moves(tmp_path, scene_of(cube(0.4)), particles(8), same, same, same)
    assert [event["event"] for event in derive(capsys, tmp_path, "--frames", "2")[1]] == ["start", "frame", "done"]
    status, events, _ = derive(capsys, tmp_path)
    assert (status, [event.get("frame") for event in events]) == (0, [None, 1, 3, None])
    assert (events[0]["done"], events[0]["total"], events[0]["kind"]) == (1, 3, "skin")
    path = derived_path(cache, Moment(3), SKIN)
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    assert [event.get("frame") for event in derive(capsys, tmp_path)[1]] == [None, 3, None]
    assert path.read_bytes() == whole


def test_deleting_leaves_surfaces_and_freeing_a_cache_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mpm_addon.storage.removal import remove_cache

    cache = write_moves(tmp_path / "cache", scene_of(cube(0.4)), particles(8), same)
    assert derive(capsys, tmp_path / "cache")[0] == 0
    surface = derived_path(cache, Moment(1), SURFACE)
    surface.parent.mkdir()
    surface.write_bytes(b"a surface")
    assert derive(capsys, tmp_path / "cache", "--delete")[1] == [{"event": "deleted", "kind": "skin", "frames": 1}]
    assert not derived_path(cache, Moment(1), SKIN).exists()
    assert surface.exists()
    assert derive(capsys, tmp_path / "cache")[0] == 0
    path = derived_path(cache, Moment(1), SKIN)
    path.with_name(f"{path.name}.4711.partial").write_bytes(b"half")
    remove_cache(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_an_estimate_is_of_the_right_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_moves(tmp_path, scene_of(cube(SIDE, cuts=40)), particles(20), twisted)
    (estimate,) = derive(capsys, tmp_path, "--estimate")[1]
    assert derive(capsys, tmp_path)[0] == 0
    size = derived_path(open_cache(tmp_path), Moment(1), SKIN).stat().st_size
    assert 0.5 * size < estimate["bytes"] < 2.0 * size


@pytest.mark.parametrize(
    ("emitter", "options", "words"),
    [
        ({}, ("--emitters", "oen"), r'Skin: emitter "oen" does not exist \(did you mean "one"\?\); use one or more of one\.'),
        ({}, ("--quality", "draft"), r"--quality is a setting of surfaces; omit it to make skins\."),
        ({}, ("--frames", "7-9"), r"there are no frames 7-9; frames 1 to 1 are cached\."),
        ({"mode": "inflow"}, (), r'Emitter "one": its mesh cannot follow particles that are emitted over time \(mode inflow\); emit all'),
        ({"mode": "repeat"}, ("--emitters", "one"), r'Emitter "one": its mesh cannot follow .* \(mode repeat\); emit all at once'),
    ],
)
def test_wrong_requests_are_answered_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], emitter: dict[str, Any], options: tuple[str, ...], words: str
) -> None:
    write_moves(tmp_path, scene_of(cube(0.4), **emitter), particles(8), same)
    status, events, told = derive(capsys, tmp_path, *options)
    assert (status, events[-1]["event"], told.count("\n")) == (1, "error", 1)
    assert re.search(words, told), told


def test_shapes_without_a_mesh_and_flat_scenes_have_no_skin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path / "sphere", arrays(particles(4).astype(np.float32)))
    told = derive(capsys, tmp_path / "sphere")[2]
    assert 'Emitter "left": a sphere has no mesh that could follow its particles; use a mesh, or a surface.' in told
    write_cache(tmp_path / "flat", arrays(particles(4).astype(np.float32)), scene=description(dimension=2))
    assert "is two-dimensional, so no mesh can follow" in derive(capsys, tmp_path / "flat")[2]


def test_missing_births_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = write_moves(tmp_path, scene_of(cube(0.4)), particles(8), same)
    for path in (cache.takes[-1].folder / "births").iterdir():
        path.unlink()
    status, _events, told = derive(capsys, tmp_path)
    assert (status, told.count("\n")) == (1, 1)
    assert "births" in told


@pytest.mark.long  # of another cache: tests/faults
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_run_leaves_whole_frames_and_resumes_to_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moves = [lambda x, height=height: x + np.array([0.0, 0.0, height]) for height in np.linspace(0.0, 1.0, 30)]
    cache = write_moves(tmp_path / "cache", scene_of(cube(SIDE, cuts=60)), particles(20), *moves)
    made = killed_run(cache, SKIN)
    assert derive(capsys, tmp_path / "cache")[0] == 0
    for number in range(1, 31):
        assert state_of(cache, Moment(number), SKIN, SkinSettings().hash) is State.MADE
    assert all(path.read_bytes() == data for path, data in made.items())
    np.testing.assert_allclose(
        np.diff(piece(tmp_path / "cache", 30).position - piece(tmp_path / "cache", 1).position, axis=0), 0, atol=1e-4
    )


def test_a_follower_makes_what_a_running_bake_adds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from mpm_addon.derived import job

    class Status:
        is_live = True

    scene, status = scene_of(cube(0.4)), Status()
    cache = write_moves(tmp_path, scene, particles(8), same)
    first, born = cache.frame(1).arrays, dict(cache.births_of(512))

    def look(_folder: Path) -> Status:
        status.is_live = len(open_cache(tmp_path).frames) == 1
        if status.is_live:
            add_frame(tmp_path, scene, 2, dict(first), born)
        return status

    monkeypatch.setattr(job, "read_status", look)
    monkeypatch.setattr("mpm_addon.command_line.derive.os.nice", lambda _step: None)
    events = derive(capsys, tmp_path, "--follow")[1]
    assert [event["frame"] for event in events if event["event"] == "frame"] == [1, 2]


def test_making_skins_needs_no_numba(tmp_path: Path) -> None:
    write_moves(tmp_path / "cache", scene_of(cube(0.4)), particles(8), same)
    (tmp_path / "numba.py").write_text("raise AssertionError('numba is loaded')\n")
    told = subprocess.run(
        [sys.executable, "-m", "mpm_addon", "derive", str(tmp_path / "cache"), "skin"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (told.returncode, told.stderr) == (0, "")
