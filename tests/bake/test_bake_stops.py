"""Bakes that stop: canceled by a file or a signal, failed, or refused before anything is written."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.bake import bake
from mpm_addon.core.errors import CacheError, Cancelled, SceneError, UnstableError
from mpm_addon.storage import open_cache
from tests.storage import stand_in
from tests.storage.stand_in import TAKE, bake_here, frame_bytes

pytestmark = pytest.mark.usefixtures("stand_in_simulation")


def test_a_file_instead_of_a_cache_folder_is_refused(scene: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    with pytest.raises(CacheError, match="is a file, not a folder"):
        bake_here(scene, tmp_path / "cache")


def test_a_folder_in_the_place_of_a_file_is_refused_in_one_line(scene: Path, tmp_path: Path) -> None:
    (tmp_path / "cache" / TAKE / "frames" / "frame_000002.mpm").mkdir(parents=True)
    (tmp_path / "cache" / "cache.json").mkdir()
    with pytest.raises(CacheError, match=r"cache\.json cannot be read"):
        bake_here(scene, tmp_path / "cache")


def test_nothing_is_written_for_a_scene_that_is_wrong(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    with pytest.raises(SceneError):
        bake(tmp_path / "none.toml", tmp_path / "cache", on_event=lambda event: events.append(event.fields()))
    assert events[-1]["event"] == "error"
    assert not (tmp_path / "cache").exists()


def test_a_scene_without_emitter_is_refused_before_anything_is_written_or_removed(
    scene: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    text = (scene / "scene.toml").read_text()
    (scene / "scene.toml").write_text(text[: text.index("[[emitters]]")])
    before = {path: path.read_bytes() for path in (tmp_path / "whole").rglob("*") if path.is_file()}
    for cache in ("whole", "new"):
        with pytest.raises(SceneError, match="has no emitter and no dynamic collider; add one"):
            bake_here(scene, tmp_path / cache, restart=True)
    assert {path: path.read_bytes() for path in (tmp_path / "whole").rglob("*") if path.is_file()} == before
    assert not (tmp_path / "new").exists()


def test_a_failure_keeps_the_frames_before_it(scene: Path, tmp_path: Path, stand_in_simulation: type[stand_in.Simulation]) -> None:
    stand_in_simulation.fails_at = 4
    events: list[dict[str, Any]] = []
    with pytest.raises(UnstableError):
        bake(scene, tmp_path / "cache", on_event=lambda event: events.append(event.fields()))
    assert open_cache(tmp_path / "cache").frames == [1, 2, 3]
    assert events[-1]["event"] == "error"
    status = json.loads((tmp_path / "cache" / "status.json").read_text())
    assert (status["state"], status["done"]) == ("error", 3)
    assert "frame 4" in status["message"]


def test_the_cancel_file_stops_at_the_next_substep(
    scene: Path, tmp_path: Path, whole: dict[str, bytes], stand_in_simulation: type[stand_in.Simulation]
) -> None:
    stand_in_simulation.pause = 0.03
    cache = tmp_path / "cache"
    events: list[dict[str, Any]] = []

    def listen(event: dict[str, Any]) -> None:
        events.append(event)
        if event["event"] == "progress" and event["frame"] == 3:
            (cache / "cancel").touch()

    with pytest.raises(Cancelled):
        bake(scene, cache, on_event=lambda event: listen(event.fields()))
    assert events[-1]["event"] == "cancelled"
    assert open_cache(cache).frames == [1, 2]
    assert json.loads((cache / "status.json").read_text())["state"] == "cancelled"
    # an old request does not stop the next bake
    assert bake_here(scene, cache)[0]["resumed_from"] == 2
    assert frame_bytes(cache) == whole


def spawn(scene: Path, cache: Path) -> subprocess.Popen[str]:
    """A bake with the stand-in in a process of its own, which does not end by itself."""
    halt = cache.with_name("halt")
    halt.touch()
    command = [sys.executable, "-m", "tests.storage.stand_in", str(scene), str(cache), "4", "0.001"]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, stand_in.HALT: str(halt)}
    )


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_cancel(scene: Path, tmp_path: Path, whole: dict[str, bytes], number: signal.Signals) -> None:
    cache = tmp_path / "cache"
    with spawn(scene, cache) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("frame 2"):
                process.send_signal(number)
        assert process.wait(120) == 130
    assert json.loads((cache / "status.json").read_text())["state"] == "cancelled"
    bake_here(scene, cache)
    assert frame_bytes(cache) == whole


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["order.read_scene", "estimate", "CacheWriter.prepare"])
def test_signals_cancel_before_there_is_anything_to_simulate(
    scene: Path, tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, moment: str, number: signal.Signals
) -> None:
    def unheard(*_: object) -> None:
        raise AssertionError(f"nobody listened while {moment} ran")

    def interrupted(*_: object, **__: object) -> None:
        os.kill(os.getpid(), number)

    events: list[dict[str, Any]] = []
    before = signal.signal(number, unheard)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(f"mpm_addon.bake.{moment}", interrupted)
            with pytest.raises(Cancelled, match="canceled before the bake began"):
                bake(scene, tmp_path / "cache", on_event=lambda event: events.append(event.fields()))
        assert signal.getsignal(number) is unheard
    finally:
        signal.signal(number, before)
    assert [event["event"] for event in events] == ["cancelled"]
    bake_here(scene, tmp_path / "cache")
    assert frame_bytes(tmp_path / "cache") == whole
