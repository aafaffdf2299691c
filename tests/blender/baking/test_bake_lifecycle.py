"""What happens to a bake when its process dies, Blender quits, a file is opened, an undo happens or names change."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.baking import cache_watch, observation, preparation, removal, session, shown_caches, unstable, worker
from mpm_addon.blender.host.runtime import runtime
from mpm_addon.blender.interface.panels import bake_panels
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.reading import freshness
from mpm_addon.blender.reading.fingerprint import fingerprint
from mpm_addon.blender.settings import paths
from mpm_addon.core.errors import CacheError, Stopped
from mpm_addon.core.messages import NOTHING, Message
from mpm_addon.storage import open_cache
from mpm_addon.storage.events import StoppedEvent
from mpm_addon.storage.failure import write_failure
from mpm_addon.storage.lock import WriterLock
from mpm_addon.storage.status import BakeStatus, read_status
from tests.blender.scenes import add_collider, failure, write_cache
from tests.blender.stand_ins import read_at_once, until
from tests.storage.stand_in import HALT, HALT_FRAME, write_small_scene

blender = pytest.mark.blender


@pytest.fixture(autouse=True)
def looked_at_anew() -> None:
    runtime.forget(freshness.Baked)


@pytest.fixture
def cache(bpy: Any, tmp_path: Path) -> Path:
    bpy.context.scene.mpm.cache = str(tmp_path / "cache")
    return tmp_path / "cache"


def small_bake(cache: Path) -> list[str]:
    """The command of a real bake with a replaced simulation: 200 particles, 6 frames."""
    scene = write_small_scene(cache.with_name("small"))
    return [sys.executable, "-m", "tests.storage.stand_in", str(scene), str(cache), "4", "0.01", "json"]


@pytest.fixture
def halt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """While this file is there, bakes do not get beyond frame 5."""
    path = tmp_path / "halt"
    path.touch()
    monkeypatch.setenv(HALT, str(path))
    yield path
    path.unlink(missing_ok=True)


@pytest.fixture
def bakes(cache: Path, halt: Path, host: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., session.BakeSession]:
    """Starts a bake in Blender with the stand-in process; returns its session once the process runs. It ends once `halt` is deleted."""
    if host == "fake":
        monkeypatch.setattr(shown_caches.display, "dress", lambda *_arguments, **_options: None)
        monkeypatch.setattr(shown_caches.display, "build_missing", lambda _looks: False)

    def begin(context: Any) -> session.BakeSession:
        monkeypatch.setattr(session, "bake_command", lambda _scene, folder, **_: small_bake(folder))
        monkeypatch.setattr(preparation, "extraction", read_at_once)
        running = session.start(context)
        until(lambda: running.poll() or running._worker is not None)
        return running

    return begin


def live(cache: Path) -> BakeStatus | None:
    found = read_status(cache)
    return found if found is not None and found.is_live else None


def finish(running: session.BakeSession) -> None:
    until(lambda: (running.poll(), running.is_finished)[1])


@contextmanager
def killed(process: subprocess.Popen[Any]) -> Iterator[None]:
    """A test that fails does not wait for a process that a file halts."""
    try:
        yield
    # what pytest.raises raises where nothing was raised is not an Exception
    except BaseException:
        process.kill()
        raise


def end_of(cache: Path) -> None:
    """Stops a bake that runs without Blender."""
    found = live(cache)
    (cache / "cancel").touch()
    until(lambda: live(cache) is None)
    assert found is not None


# The process.


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (3, "exited with status 3"),
        (-9, "was killed (SIGKILL), probably because the system ran out of memory; use a larger `grid_spacing` or close other programs"),
        (-11, "crashed (SIGSEGV)"),
        (-15, "was terminated (SIGTERM)"),
        (-200, "crashed (signal 200)"),
        (0xC0000005, "crashed (access violation)"),
    ],
)
def test_an_ending_is_told_in_words(status: int, words: str) -> None:
    assert worker.ending(status) == words


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_a_bake_whose_process_is_killed_is_an_error_and_its_cache_is_interrupted(bpy: Any, bakes: Any, cache: Path) -> None:
    running = bakes(bpy.context)
    until(lambda: live(cache))
    os.kill(read_status(cache).told["pid"], signal.SIGKILL)
    finish(running)
    with pytest.raises(Exception, match=r"The bake was killed \(SIGKILL\), probably because the system ran out of memory; use a larger"):
        running.raise_outcome()
    session.end()
    found = cache_watch.status_of(cache)
    assert found is not None and found.state == "interrupted"
    assert observation.observed(bpy.context.scene) is None


def test_a_crash_is_reported_with_the_innermost_functions(tmp_path: Path) -> None:
    code = "import faulthandler, os, signal; faulthandler.enable()\ndef inner(): os.kill(os.getpid(), signal.SIGSEGV)\ninner()"
    running = worker.Worker([sys.executable, "-c", code], tmp_path)
    try:
        until(lambda: running.exit_status is not None)
        assert running.complaint().startswith("Fatal Python error: Segmentation fault | ")
        assert "in inner" in running.complaint()
    finally:
        running.close()


def test_unstable_particles_go_where_the_next_bake_is_cancelled(bpy: Any, bakes: Any, cache: Path) -> None:
    write_cache(cache, {1: 3})
    write_failure(cache, failure(3))
    scene = bpy.context.scene
    unstable.refresh(scene, str(cache))
    assert unstable.shown(scene, str(cache)) is not None
    shutil.rmtree(cache)
    running = bakes(bpy.context)
    until(lambda: live(cache))
    running.cancel()
    finish(running)
    session.end()
    assert unstable.shown(scene, str(cache)) is None


def test_a_limit_is_a_warning_and_no_error(bpy: Any, bakes: Any, cache: Path) -> None:
    running = bakes(bpy.context)
    running._take(StoppedEvent(reason="time_limit", message=Message("stopped after 2 h.")))
    with pytest.raises(Stopped, match="stopped after 2 h"):
        running.raise_outcome()


# Quitting Blender, and opening files.


def test_a_new_file_stops_the_bake_unless_it_is_to_keep_baking(bpy: Any, bakes: Any, cache: Path) -> None:
    bakes(bpy.context)
    until(lambda: live(cache))
    bpy.ops.wm.read_homefile(use_empty=True)
    assert (session.current(), live(cache)) == (None, None)


def test_a_bake_continues_when_its_file_is_closed_and_is_found_again(bpy: Any, bakes: Any, cache: Path, halt: Path, draw: Any) -> None:
    scene = bpy.context.scene
    scene.mpm.when_closing = "keep_baking"
    running = bakes(bpy.context)
    until(lambda: running.poll() and live(cache))
    bpy.ops.wm.read_homefile(use_empty=True)
    assert session.current() is None
    scene = bpy.context.scene
    scene.mpm.cache = str(cache)
    assert observation.look() == observation.INTERVAL
    layout = draw(bake_panels.MPM_PT_bake)
    assert [text for text in layout.texts() if text.startswith(f"On {socket.gethostname()}")]
    assert layout.find("operator", "mpm.bake") == []
    until(lambda: observation.look() and particle_objects.result_objects(scene))
    (item,) = particle_objects.result_objects(scene)
    scene.frame_set(HALT_FRAME + 1)
    assert particle_objects.status(item)
    assert bpy.ops.mpm.bake_pause() == {"FINISHED"}
    until(lambda: (found := live(cache)) and found.state == "paused")
    assert bpy.ops.mpm.bake_pause() == {"FINISHED"}
    halt.unlink()
    until(lambda: live(cache) is None)
    observation.look()
    # the last frame arrived without a frame change
    assert (particle_objects.status(item), len(item.data.vertices)) == (NOTHING, 200)
    runtime.forget(cache_watch.Looks)
    assert draw(bake_panels.MPM_PT_bake).find("operator", "mpm.bake_again") != []


@pytest.mark.usefixtures("halt")
def test_a_bake_of_somebody_else_can_be_cancelled(bpy: Any, cache: Path) -> None:
    with subprocess.Popen(small_bake(cache), stdout=subprocess.DEVNULL) as process, killed(process):
        until(lambda: live(cache))
        with pytest.raises(CacheError, match="another bake is writing into it"):
            removal.free(bpy.context.scene)
        with pytest.raises(RuntimeError, match="poll"):
            bpy.ops.mpm.bake_free()
        assert bpy.ops.mpm.bake_cancel() == {"FINISHED"}
    runtime.forget(cache_watch.Looks)
    found = cache_watch.status_of(cache)
    assert found is not None and found.state == "cancelled"
    with pytest.raises(RuntimeError, match="poll"):
        bpy.ops.mpm.bake_cancel()


@pytest.mark.slow
@pytest.mark.usefixtures("halt")
@pytest.mark.skipif(os.name != "posix", reason="process groups of POSIX")
def test_a_bake_that_was_left_runs_on_when_blender_has_ended(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    script = (
        "import sys; from pathlib import Path; from tests import fakes; fakes.install()\n"
        "from mpm_addon.blender.baking.worker import Worker\n"
        "from mpm_addon.storage.status import read_status\n"
        f"running = Worker({small_bake(cache)!r}, Path({str(cache)!r}), is_apart=True)\n"
        f"while not (found := read_status(Path({str(cache)!r}))) or not found.is_live: pass\nrunning.leave()"
    )
    with subprocess.Popen([sys.executable, "-c", script], start_new_session=True) as process:
        assert process.wait(120) == 0
        # it left Blender's process group
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    end_of(cache)


# Undo, renaming, saving elsewhere.


def test_a_bake_survives_new_names(bpy: Any, bakes: Any, cache: Path, halt: Path) -> None:
    running = bakes(bpy.context)
    bpy.context.scene.name = "Another name"
    halt.unlink()
    finish(running)
    assert len(particle_objects.result_objects(bpy.context.scene)) == 1


def test_the_object_that_shows_a_bake_is_made_again_where_an_undo_took_it(bpy: Any, bakes: Any, cache: Path, halt: Path) -> None:
    running = bakes(bpy.context)
    until(lambda: running.poll() and particle_objects.result_objects(bpy.context.scene))
    (item,) = particle_objects.result_objects(bpy.context.scene)
    bpy.data.objects.remove(item)
    halt.unlink()
    finish(running)
    (item,) = particle_objects.result_objects(bpy.context.scene)
    assert json.loads(item.mpm.fingerprint) == {open_cache(cache).manifest["scene_hash"]: fingerprint(bpy.context.scene)}


@blender
def test_a_real_undo_leaves_the_bake_its_scene(bpy: Any, bakes: Any, cache: Path, halt: Path) -> None:
    bpy.ops.ed.undo_push(message="before")
    running = bakes(bpy.context)
    until(lambda: running.poll() and particle_objects.result_objects(bpy.context.scene))
    bpy.context.scene.name = "Another name"
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    halt.unlink()
    finish(running)
    running.raise_outcome()
    assert len(particle_objects.result_objects(bpy.context.scene)) == 1


def test_keyframes_go_to_the_collider_whatever_it_is_called_now(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ball = add_collider(bpy, "Ball", dynamic=True)
    result = shown_caches.Result(bpy.context.scene, str(write_cache(tmp_path / "cache", {1: 3})))
    result.describe(SimpleNamespace(emitters=[], colliders=[SimpleNamespace(name="Ball", dynamic=True)]))
    ball.name = "Stone"
    written: list[Any] = []
    monkeypatch.setattr(shown_caches, "baked_poses", lambda _folder: {1: {"Ball": "pose"}})
    monkeypatch.setattr(shown_caches.keyframes, "write_keys", lambda _scene, poses, _cache: written.append(poses) or [])
    assert result.write_keys() == []
    assert written == [{1: {"Stone": "pose"}}]


def test_a_file_that_is_saved_elsewhere_still_shows_the_folder_of_its_bake(bpy: Any, tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "here" / "a.blend"))
    result = shown_caches.Result(bpy.context.scene, "//cache")
    assert result.cache == "//cache"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "there" / "b.blend"))
    assert result.cache == str(tmp_path / "here" / "cache")


# What the panel shows.


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"state": "running", "frame": 3, "done": 2, "total": 6}, "The bake was interrupted at frame 3"),
        ({"state": "cancelled", "message": "cancelled: 2 are there; bake again."}, "1 of 250 frames cached"),
        ({"state": "stopped", "problem": "stopped after 2 h", "remedies": [{"action": "resume"}]}, "Stopped after 2 h Choose Resume"),
        ({"state": "done", "done": 6, "total": 6}, None),
    ],
)
def test_the_panel_says_how_the_last_bake_ended(
    bpy: Any, draw: Any, cache: Path, told: dict[str, Any], words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # however busy the computer is, the first check reads everything
    monkeypatch.setattr(cache_watch, "SLICE", 60.0)
    write_cache(cache, {1: 3})
    (cache / "status.json").write_text(json.dumps({"host": socket.gethostname(), "pid": 1, **told}))
    bpy.context.scene.frame_end = 1 if words is None else 250
    particle_objects.result_object(bpy.context.scene, str(cache))
    texts = draw(bake_panels.MPM_PT_bake).texts()
    assert (words or "1 frame,") in " ".join(texts)


def test_a_status_is_read_only_where_it_changed(bpy: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir()
    (cache / "status.json").write_text('{"state": "done"}')
    reads: list[Path] = []
    monkeypatch.setattr(cache_watch, "read_status", lambda folder: reads.append(folder) or read_status(folder))
    for _ in range(3):
        assert cache_watch.status_of(cache) is not None
    assert len(reads) == 1
    os.utime(cache / "status.json", (1, 1))
    cache_watch.status_of(cache)
    assert len(reads) == 2
    with WriterLock(cache):
        (cache / "status.json").write_text('{"state": "running"}')
        os.utime(cache / "status.json", (2, 2))
        assert observation.observed(bpy.context.scene) is not None
        monkeypatch.setattr(cache_watch, "AGAIN", 0.0)
        assert observation.observed(bpy.context.scene) is not None
        assert len(reads) == 4
    shutil.rmtree(cache)
    assert cache_watch.status_of(cache) is None
    assert paths.absolute(str(cache)) not in runtime.of(cache_watch.Looks).by_folder


def test_a_bake_on_another_computer_that_says_nothing_more_is_not_believed_for_ever(
    bpy: Any, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_cache(cache, {1: 3})
    told = {"state": "running", "host": "elsewhere", "pid": 7, "done": 1, "total": 3, "frame": 2}
    (cache / "status.json").write_text(json.dumps(told))
    bpy.context.scene.mpm.cache = str(cache)
    now = 0.0
    monkeypatch.setattr(cache_watch.time, "monotonic", lambda: now)
    assert observation.observed(bpy.context.scene) is not None
    now = cache_watch.SILENCE + 1.0
    assert observation.observed(bpy.context.scene) is None
    assert cache_watch.status_of(cache).state == "interrupted"
    # an event shows that it is alive
    (cache / "status.json").write_text(json.dumps({**told, "done": 2, "frame": 3}))
    assert observation.observed(bpy.context.scene) is not None
