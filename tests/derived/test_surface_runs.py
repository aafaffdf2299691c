"""Runs that make surfaces: stopped, killed, out of room, following a bake, without the library."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.errors import MpmError
from mpm_addon.core.particles import Moment
from mpm_addon.derived.settings import SurfaceSettings
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import State, derived_path, state_of
from mpm_addon.storage.surface_file import surface_at
from mpm_addon.storage.take import SURFACE
from tests.derived.caches import add_frame, arrays, block, description, killed_run, write_cache
from tests.derived.caches import derived as derive

ROOT = Path(__file__).parents[2]


DRAFT = ("--quality", "draft")


def test_without_pysplashsurf_one_line_says_so(tmp_path: Path) -> None:
    write_cache(tmp_path / "cache", arrays(block(4)))
    (tmp_path / "pysplashsurf.py").write_text("raise ModuleNotFoundError(\"No module named 'pysplashsurf'\", name='pysplashsurf')\n")
    told = run(tmp_path / "cache", PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    assert (told.returncode, told.stderr.count("\n")) == (1, 1)
    assert "making surfaces needs the package pysplashsurf, which is missing; pip install pysplashsurf." in told.stderr


def test_a_library_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    write_cache(tmp_path / "cache", arrays(block(4)))
    (tmp_path / "pysplashsurf.py").write_text("raise ImportError('symbol not found', name='pysplashsurf')\n")
    told = run(tmp_path / "cache", PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    assert (told.returncode, told.stderr.count("\n")) == (1, 1)
    assert "pysplashsurf does not work with this Python" in told.stderr
    assert "(symbol not found); reinstall the extension's zip" in told.stderr


def test_a_process_that_dies_is_named(tmp_path: Path) -> None:
    write_cache(tmp_path / "cache", arrays(block(4)))
    (tmp_path / "pysplashsurf.py").write_text(
        "import os, sys\nsys.stderr.write('memory allocation failed\\n')\nsys.stderr.flush()\nos._exit(7)\n"
    )
    told = run(tmp_path / "cache", PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    assert (told.returncode, told.stderr.count("\n")) == (1, 1)
    assert "the surface process exited with status 7 (memory allocation failed)" in told.stderr


def test_an_answer_that_does_not_fit_into_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from mpm_addon.derived import process

    def refuse(_file: object) -> None:
        raise MemoryError

    def look() -> None:
        assert time.monotonic() < end, "nothing is answered"

    monkeypatch.setattr(process.pickle, "load", refuse)
    end = time.monotonic() + 120.0
    with process.Reconstructor(SurfaceSettings().recipe, None, 1) as started, pytest.raises(MpmError, match="MemoryError"):
        started.receive(look)


def run(cache: Path, *more: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "mpm_addon", "derive", str(cache), *more],
        cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_stop_is_heard_while_a_frame_is_made(tmp_path: Path) -> None:
    """A module in the place of pysplashsurf that never answers and never lets go of the interpreter."""
    write_cache(tmp_path / "cache", arrays(block(4)))
    (tmp_path / "pysplashsurf.py").write_text(f"open({str(tmp_path / 'begun')!r}, 'w').close()\nimport time\ntime.sleep(100)\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "mpm_addon", "derive", str(tmp_path / "cache"), "--json"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (tmp_path / "begun").exists():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert json.loads(out.splitlines()[-1])["event"] == "cancelled"
    assert errors == "mpm: canceled: 0 of 1 frames have a surface; derive again to resume.\n"
    assert not list((tmp_path / "cache").rglob("*.partial"))


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_run_leaves_whole_frames_and_resumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # with more, splashsurf numbers vertices in the order in which its threads end
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")
    frames = [arrays(block(6, (0.01 * number, 0.0, 0.0))) for number in range(20)]
    cache = write_cache(tmp_path / "cache", *frames)
    made = killed_run(cache, SURFACE)
    assert derive(capsys, tmp_path / "cache")[0] == 0
    for number in range(1, len(frames) + 1):
        assert state_of(cache, Moment(number), SURFACE, SurfaceSettings().hash) is State.MADE
    # what was whole is not made again, and what is made later does not depend on the interruption
    assert all(path.read_bytes() == data for path, data in made.items())
    write_cache(tmp_path / "other", *frames)
    assert derive(capsys, tmp_path / "other")[0] == 0
    for number in (1, len(frames)):
        shapes = [surface_at(open_cache(tmp_path / name), Moment(number)).pieces[0] for name in ("cache", "other")]
        np.testing.assert_array_equal(shapes[0].triangles, shapes[1].triangles)
        np.testing.assert_array_equal(shapes[0].position, shapes[1].position)


def test_a_full_disk_is_reported_and_leaves_no_half_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_cache(tmp_path, arrays(block(4)))

    def refuse(*_given: object, **_more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mpm_addon.storage.atomic.os.fsync", refuse)
    status, events, words = derive(capsys, tmp_path, *DRAFT)
    assert (status, events[-1]["event"]) == (1, "error")
    assert words.endswith("frame_000001.mpm cannot be written (No space left on device); free disk space or check its permissions.\n")
    assert not list(tmp_path.rglob("*.partial"))
    monkeypatch.setattr("mpm_addon.derived.job.free_space", lambda _folder: 10)
    assert "do not fit on the disk" in derive(capsys, tmp_path, *DRAFT)[2]


def test_freeing_a_cache_takes_its_surfaces_along(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mpm_addon.storage.removal import remove_cache

    write_cache(tmp_path / "cache", arrays(block(4)))
    assert derive(capsys, tmp_path / "cache", *DRAFT)[0] == 0
    remove_cache(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_freeing_a_cache_takes_along_what_a_killed_process_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mpm_addon.storage.removal import remove_cache

    cache = write_cache(tmp_path / "cache", arrays(block(4)))
    derive(capsys, tmp_path / "cache", *DRAFT)
    path = derived_path(cache, Moment(1), SURFACE)
    path.with_name(f"{path.name}.4711.partial").write_bytes(b"half")
    path.with_name("cancel").touch()
    remove_cache(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    write_cache(tmp_path / "cache", arrays(block(4)))


def test_a_follower_makes_what_a_running_bake_adds_until_it_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bake adds a frame at two of three looks, and has ended at the third."""
    from mpm_addon.derived import job

    scene = description()
    write_cache(tmp_path, arrays(block(4)), scene=scene)
    looks: list[int] = []

    class Status:
        is_live = True

    def look(_folder: Path) -> Status:
        looks.append(len(looks))
        status = Status()
        status.is_live = len(looks) < 4
        if len(looks) in (2, 3):
            add_frame(tmp_path, scene, len(looks), arrays(block(4)))
        return status

    monkeypatch.setattr(job, "read_status", look)
    monkeypatch.setattr(job, "_PAUSE", 0.0)
    monkeypatch.setattr("mpm_addon.command_line.derive.os.nice", lambda _step: None)
    status, events, _ = derive(capsys, tmp_path, *DRAFT, "--follow")
    assert status == 0
    assert [(event["frame"], event["done"], event["total"]) for event in events if event["event"] == "frame"] == [
        (1, 1, 1), (2, 2, 2), (3, 3, 3),
    ]  # fmt: skip
    assert (events[-1]["event"], events[-1]["frames"]) == ("done", 3)
    assert len(looks) == 4
