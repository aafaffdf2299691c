"""The live simulation as a process: a script drags an attractor, and the particles follow."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.core.messages import Message
from mpm_addon.live import Requests, write_requests
from mpm_addon.live.requests import RequestReader
from mpm_addon.storage import open_cache

ROOT = Path(__file__).parents[2]
SCENE = """
schema = 1
name = "drag"
[time]
fps = 24
frame_end = 12
[solver]
grid_spacing = 0.06
gravity = [0, 0, 0]
[materials.jelly]
law = "corotated"
young_modulus = 2e4
[[emitters]]
name = "cube"
material = "jelly"
shape = { kind = "box", center = [0, 0, 0], size = [0.3, 0.3, 0.3] }
[[forces]]
name = "Pull"
kind = "point"
strength = -1e-6
"""


class Process:
    """A live simulation, its requests and its events."""

    def __init__(self, folder: Path) -> None:
        self.cache, self.requests = folder / "cache", folder / "requests.json"
        (folder / "scene.toml").write_text(SCENE)
        command = [sys.executable, "-m", "mpm_addon", "live", str(folder / "scene.toml"), "--cache", str(self.cache), "--json"]
        self.process = subprocess.Popen(
            [*command, "--steering", str(self.requests), "--threads", "1"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.events: list[dict[str, Any]] = []

    def request(self, **requests: Any) -> None:
        write_requests(self.requests, Requests(**requests))

    def until(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Reads events up to one that is waited for."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.events.append(json.loads(line))
            if condition(self.events[-1]):
                return self.events[-1]
        raise AssertionError(self.events[-3:])

    def until_frame(self, number: int, run: int = 1) -> None:
        self.until(lambda event: event["event"] == "frame" and (event["run"], event["frame"]) == (run, number))

    def center(self, number: int) -> np.ndarray:
        return open_cache(self.cache).frame(number).position.mean(axis=0)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Process]:
    process = Process(tmp_path)
    yield process
    process.process.kill()
    process.process.communicate()


def test_the_center_of_mass_follows_an_attractor_that_a_script_drags(live: Process) -> None:
    for frame in range(1, 13):
        live.request(until=frame, things={"Pull": {"center": [3.0 + 0.1 * frame, 0, 0], "values": {"strength": -6.0}}})
        live.until_frame(frame)
    # 6 m/s^2 along x for 11 frames
    assert live.center(12) == pytest.approx([0.5 * 6.0 * (11 / 24.0) ** 2, 0.0, 0.0], rel=0.1, abs=5e-3)
    # it was somewhere else in a second run, in which the hand pulls upward
    for frame in range(1, 13):
        live.request(run=2, until=frame, things={"Pull": {"center": [0, 0, 3.0], "values": {"strength": -6.0}}})
        live.until_frame(frame, run=2)
    assert live.center(12)[2] > 0.4
    assert open_cache(live.cache).frames == list(range(1, 13))


def test_it_simulates_no_farther_than_requested_and_stops_on_request(live: Process) -> None:
    live.request(until=3)
    live.until_frame(3)
    time.sleep(0.3)
    assert open_cache(live.cache).frames == [1, 2, 3]
    live.process.terminate()
    out, complaint = live.process.communicate(timeout=120)
    assert (live.process.returncode, complaint) == (130, "mpm: stopped\n")
    assert json.loads(out.splitlines()[-1]) == {"event": "cancelled", **Message("stopped").fields()}
    assert not list(live.cache.glob("*.partial"))


def test_without_json_it_prints_sentences(tmp_path: Path) -> None:
    """One event of each kind that a run has: none may need a key that it lacks."""
    (tmp_path / "scene.toml").write_text(SCENE.replace("frame_end = 12", "frame_end = 2"))
    command = [
        sys.executable,
        "-m",
        "mpm_addon",
        "live",
        str(tmp_path / "scene.toml"),
        "--cache",
        str(tmp_path / "cache"),
        "--threads",
        "1",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "{" not in done.stdout
    assert "frame 2" in done.stdout


def test_a_wrong_wish_is_reported_once_and_the_rest_continues(live: Process) -> None:
    live.request(until=4, things={"Pul": {"center": [0, 0, 0]}, "Pull": {"values": {"strength": -2.0}}})
    warning = live.until(lambda event: event["event"] == "warning")
    assert warning["message"].startswith('"Pul" is not a collider or force of the scene (did you mean "Pull"?)')
    live.until_frame(4)
    assert [event["event"] for event in live.events].count("warning") == 1


def test_a_scene_that_is_wrong_is_one_line(live: Process, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text(SCENE.replace("0.06", "0.6"))
    live.request(until=2)
    live.until_frame(2)
    live.request(run=2, until=2, scene=str(tmp_path / "other.toml"))
    _, complaint = live.process.communicate(timeout=120)
    assert live.process.returncode == 1
    assert complaint.count("\n") == 1
    assert 'Emitter "cube": grid_spacing 0.6 m is larger than the object' in complaint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"untill": 3}', '"untill" is unknown; use run, until, scene, things, gravity'),
        ('{"until": 1.5}', '"until" is 1.5; use a frame number'),
        ('{"things": {"a": 3}}', 'things: "a"'),
        ('{"things": {"a": {"values": {"strength": "x"}}}}', "strength is not a number"),
    ],
)
def test_requests_that_are_wrong_are_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "requests.json"
    reader = RequestReader(path)
    assert reader.changed() is None
    path.write_text(text)
    with pytest.raises(SceneError) as error:
        reader.changed()
    assert words in str(error.value)
    assert reader.changed() is None
