"""The lifecycle of a bake: one writer, pause, limits, deleted folders, and what other processes read."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.bake import Order, bake, limits
from mpm_addon.bake.limits import Limits
from mpm_addon.core.errors import CacheError, Cancelled, MpmError, SceneError, Stopped
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.stopping import Listener
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.storage.lock import WriterLock
from mpm_addon.storage.status import ask_to_cancel, ask_to_pause, read_status, status_words
from tests.storage import stand_in
from tests.storage.stand_in import HALT, bake_here, write_small_scene

pytestmark = pytest.mark.usefixtures("stand_in_simulation")

Events = list[dict[str, Any]]


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write_small_scene(tmp_path / "scene")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def bake_and(scene: Path, cache: Path, react: Callable[[dict[str, Any]], None], **options: Any) -> tuple[Events, Exception | None]:
    """A bake with a reaction to its events; returns the events and what it raised."""
    events: Events = []

    def listen(event: dict[str, Any]) -> None:
        events.append(event)
        react(event)

    try:
        bake(scene, cache, Order(**options), on_event=lambda event: listen(event.fields()))
    except MpmError as error:
        return events, error
    return events, None


def at(kind: str, frame: int | None, action: Callable[[], object]) -> Callable[[dict[str, Any]], None]:
    """Does something at the first event of a kind (and of a frame)."""
    calls = [action]

    def react(event: dict[str, Any]) -> None:
        if calls and event["event"] == kind and frame in (None, event.get("frame")):
            calls.pop()()

    return react


def status(cache: Path) -> dict[str, Any]:
    return json.loads((cache / "status.json").read_text())


# The lock.


@pytest.mark.parametrize("restart", [False, True])
def test_a_second_bake_into_a_cache_is_refused_and_harms_nothing(scene: Path, cache: Path, restart: bool) -> None:
    refusals: list[str] = []

    def intrude() -> None:
        before = {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()}
        with pytest.raises(CacheError, match="another bake is writing into it") as caught:
            bake_here(scene, cache, restart=restart)
        refusals.append(str(caught.value))
        assert {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()} == before

    _, error = bake_and(scene, cache, at("frame", 3, intrude))
    assert error is None
    assert f"(process {os.getpid()} on {socket.gethostname()})" in refusals[0]
    assert open_cache(cache).frames == [1, 2, 3, 4, 5, 6]
    assert not (cache / "lock").exists()


def test_a_failed_bake_releases_its_lock(scene: Path, cache: Path, stand_in_simulation: type[stand_in.Simulation]) -> None:
    stand_in_simulation.fails_at = 3
    assert bake_and(scene, cache, lambda _event: None)[1] is not None
    with WriterLock(cache):
        pass


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps a folder that is in use")
@pytest.mark.parametrize("change", ["deleted", "replaced by a folder", "replaced by a cache"])
def test_a_deleted_cache_ends_the_bake_in_one_line(scene: Path, tmp_path: Path, cache: Path, change: str) -> None:
    other = tmp_path / "other"
    bake_here(write_small_scene(tmp_path / "another", seed=3), other)

    def take_away() -> None:
        shutil.rmtree(cache)
        if change == "replaced by a folder":
            cache.mkdir()
        elif change == "replaced by a cache":
            shutil.copytree(other, cache)

    events, error = bake_and(scene, cache, at("frame", 3, take_away))
    assert isinstance(error, CacheError)
    assert "deleted or replaced during the bake" in str(error) and "\n" not in str(error)
    assert events[-1] == {"event": "error", **error.message.fields()}
    there = {path.relative_to(cache): path.read_bytes() for path in cache.rglob("*") if path.is_file()} if cache.exists() else {}
    expected = {path.relative_to(other): path.read_bytes() for path in other.rglob("*") if path.is_file()}
    assert there == (expected if change == "replaced by a cache" else {})


# Pause.


def test_a_paused_bake_waits_and_resumes(scene: Path, cache: Path, stand_in_simulation: type[stand_in.Simulation]) -> None:
    # long enough a step for the bake to look whether it is to wait
    stand_in_simulation.pause = 0.03
    seen: list[str] = []

    def resume() -> None:
        until = time.monotonic() + 120.0
        while (not (found := read_status(cache)) or found.state != "paused") and time.monotonic() < until:
            time.sleep(0.005)
        assert found is not None
        seen.append(status_words(found))
        time.sleep(0.3)
        ask_to_pause(cache, is_paused=False)

    def pause() -> None:
        ask_to_pause(cache, is_paused=True)
        threading.Thread(target=resume, daemon=True).start()

    began = time.perf_counter()
    events, error = bake_and(scene, cache, at("frame", 3, pause))
    elapsed = time.perf_counter() - began
    assert error is None
    kinds = [event["event"] for event in events]
    assert kinds.index("resumed") == kinds.index("paused") + 1
    (words,) = seen
    assert words.startswith(f"Paused on {socket.gethostname()}, process {os.getpid()}: ") and words.endswith(" of 6 frames")
    assert open_cache(cache).frames == [1, 2, 3, 4, 5, 6]
    assert status(cache)["state"] == "done"
    # waiting is no work
    assert events[-1]["seconds"] < elapsed - 0.3


def test_a_paused_bake_can_be_cancelled_and_the_next_one_is_not_paused(
    scene: Path, cache: Path, stand_in_simulation: type[stand_in.Simulation]
) -> None:
    stand_in_simulation.pause = 0.03

    def react(event: dict[str, Any]) -> None:
        if event["event"] == "frame" and event["frame"] == 2:
            ask_to_pause(cache, is_paused=True)
        if event["event"] == "paused":
            ask_to_cancel(cache)

    events, error = bake_and(scene, cache, react)
    assert isinstance(error, Cancelled)
    assert [event["event"] for event in events[-2:]] == ["paused", "cancelled"]
    assert status(cache)["state"] == "cancelled"
    assert "paused" not in [event["event"] for event in bake_here(scene, cache)]


def test_a_request_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    for ask in (lambda: ask_to_cancel(tmp_path / "none"), lambda: ask_to_pause(tmp_path / "none", is_paused=True)):
        with pytest.raises(CacheError, match="the bake cannot be controlled"):
            ask()


# Limits.


def test_a_bake_stops_at_its_size_limit_and_resumes_with_a_higher_one(scene: Path, cache: Path, tmp_path: Path) -> None:
    bake_here(scene, tmp_path / "half", frames=(1, 3))
    described = read_scene(scene)
    room = limits.folder_size(tmp_path / "half") + Limits.of(described, estimate(described), cache).step
    events, error = bake_and(scene, cache, lambda _event: None, size_limit=room / 1e9)
    assert isinstance(error, Stopped) and error.reason == "size_limit"
    assert events[-1] == {"event": "stopped", "reason": "size_limit", **error.message.fields()}
    assert str(error).startswith("stopped before its size_limit of ") and str(error).endswith("raise the limit, then bake again to resume.")
    assert limits.folder_size(cache) < room
    found = read_status(cache)
    assert found is not None and (found.state, found.told["reason"]) == ("stopped", "size_limit")
    assert status_words(found).startswith("Stopped before its size_limit")
    done = len(open_cache(cache).frames)
    assert 0 < done == found.done < 6
    assert bake_here(scene, cache, size_limit=1.0)[0]["resumed_from"] is not None
    assert open_cache(cache).frames == [1, 2, 3, 4, 5, 6]


def test_the_limits_of_the_scene_hold_where_none_are_given(scene: Path, cache: Path) -> None:
    text = (scene / "scene.toml").read_text()
    (scene / "scene.toml").write_text(text.replace("[cache]", "[cache]\nsize_limit = 1e-6"))
    assert isinstance(bake_and(scene, cache, lambda _event: None)[1], Stopped)
    assert open_cache(cache).frames == []
    assert bake_and(scene, cache, lambda _event: None, size_limit=1.0)[1] is None


def test_a_bake_stops_after_its_time(scene: Path, cache: Path, stand_in_simulation: type[stand_in.Simulation]) -> None:
    stand_in_simulation.pause = 0.03
    _, error = bake_and(scene, cache, lambda _event: None, time_limit=0.2 / 3600.0)
    assert isinstance(error, Stopped) and error.reason == "time_limit"
    assert "its time_limit" in str(error) and "of 6 frames are cached; bake again to resume." in str(error)
    assert status(cache)["state"] == "stopped"


@pytest.mark.parametrize("name", ["size_limit", "time_limit"])
def test_a_limit_that_makes_no_sense_is_refused(scene: Path, cache: Path, name: str) -> None:
    with pytest.raises(SceneError, match=f"{name} 0 "):
        bake_here(scene, cache, **{name: 0.0})
    assert not cache.exists()


def test_a_bake_stops_before_the_disk_is_full(scene: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = [10**9]
    monkeypatch.setattr(limits, "free_space", lambda _folder: free[0])
    events, error = bake_and(scene, cache, at("frame", 3, lambda: free.__setitem__(0, 1000)))
    assert isinstance(error, Stopped) and error.reason == "disk"
    assert f"the disk of {cache} filled up (a frame needs up to" in str(error)
    assert open_cache(cache).frames == [1, 2, 3]
    free[0] = 10**9
    assert bake_here(scene, cache)[0]["resumed_from"] == 3
    assert events[-1]["event"] == "stopped"


# What others read.


def test_a_running_bake_is_distinguished_from_one_whose_process_is_gone(scene: Path, cache: Path) -> None:
    seen: list[Any] = []
    bake_and(scene, cache, at("frame", 3, lambda: (time.sleep(0.02), seen.append(read_status(cache)))))
    assert (seen[0].state, seen[0].is_live) == ("running", True)
    assert status_words(read_status(cache) or seen[0]) == "Baked: 6 of 6 frames"
    command = [sys.executable, "-m", "tests.storage.stand_in", str(scene), str(cache.with_name("killed")), "4", "0.02"]
    halt = cache.with_name("halt")
    halt.touch()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, HALT: str(halt)}) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("frame 2"):
            pass
        process.kill()
    found = read_status(cache.with_name("killed"))
    assert found is not None and (found.state, found.is_live) == ("interrupted", False)
    assert status_words(found).startswith("Interrupted") and "of 6 frames are cached; bake again to resume" in status_words(found)


@pytest.mark.parametrize("content", ["", "{", "[]", '"x"', "[" * 100_000, '{"state": 3, "done": "x", "frame": true, "fraction": []}'])
def test_a_damaged_status_is_no_status(tmp_path: Path, content: str) -> None:
    (tmp_path / "status.json").write_text(content)
    found = read_status(tmp_path)
    assert found is None or (found.state, found.done, found.frame, found.fraction) == ("3", 0, None, 0.0)
    assert read_status(tmp_path / "none") is None


def test_a_status_that_ends_while_it_is_looked_at_is_not_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mpm_addon.storage import status as module

    def ended(_folder: Path, _owner: object) -> bool:
        (tmp_path / "status.json").write_text('{"state": "done", "done": 6, "total": 6}')
        return False

    (tmp_path / "status.json").write_text('{"state": "running"}')
    monkeypatch.setattr(module, "is_held", ended)
    found = read_status(tmp_path)
    assert found is not None and found.state == "done"


# The process of a bake.


def test_the_process_ends_by_itself_if_the_bake_is_too_busy(scene: Path, cache: Path) -> None:
    """Numba's compiler, a library and a disk that hangs have in common that no substep comes: here the main thread sleeps."""
    program = (
        "import sys, time, types\n"
        "from pathlib import Path\n"
        "from mpm_addon.bake import bake\n"
        "from mpm_addon.stopping import Listener\n"
        "class Simulation:\n"
        "    def __init__(self, *_, **__): time.sleep(600)\n"
        "sys.modules['mpm_addon.core.stepping.simulation'] = types.SimpleNamespace(Simulation=Simulation)\n"
        "listener = Listener(); listener.listen()\n"
        "bake(sys.argv[1], sys.argv[2], on_event=lambda event: print(event.word, flush=True), listener=listener)\n"
    )
    for ask in ("signal", "file"):
        with subprocess.Popen(
            [sys.executable, "-c", program, str(scene), str(cache)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            assert process.stdout.readline() == "start\n"
            if ask == "file":
                ask_to_cancel(cache)
            else:
                process.send_signal(signal.SIGTERM if os.name == "posix" else signal.SIGINT)
            assert process.wait(120) == 130
            assert process.stdout.read() == "cancelled\n"
            assert process.stderr.read() == "mpm: canceled: 0 of 6 frames are cached; bake again to resume.\n"
        assert status(cache)["state"] == "cancelled"
        assert not (cache / "lock").exists()


def test_a_job_that_is_over_has_no_last_words(scene: Path, cache: Path) -> None:
    listener = Listener()
    bake(scene, cache, listener=listener)
    assert listener.last_words is None
    assert listener.file is None
    listener.is_asked = True
    with pytest.raises(Cancelled):
        bake(scene, cache, Order(restart=True), listener=listener)
    assert listener.last_words is None
