"""Bad input through the command line: exit status 1 and one line on stderr with object, value, limit and remedy."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.command_line.commands import run, run_here

SCENE = """
schema = 1
name = "cube"
[time]
frame_start = 1
frame_end = 4
[solver]
grid_spacing = 0.05
[materials.jelly]
law = "corotated"
density = 1000
[[emitters]]
name = "Cube"
material = "jelly"
shape = { kind = "box", center = [0, 0, 0.5], size = [0.2, 0.2, 0.2] }
[[colliders]]
name = "Floor"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
"""


BOX = 'kind = "box", center = [0, 0, 0.5], size = [0.2, 0.2, 0.2]'
PLANE = 'kind = "plane", point = [0, 0, 0], normal = [0, 0, 1]'


def complaint(*arguments: object) -> str:
    """The one line on stderr of a command that fails."""
    done = run_here(*arguments)
    assert done.returncode == 1, done
    assert done.stderr.count("\n") == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("mpm: ")
    return done.stderr


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("grid_spacing = 0.05", "grid_spacing = 0.05\ngravty = [0, 0, 0]", ["solver", '"gravty"', '"gravity"']),
        ("density = 1000", "density = nan", ['Material "jelly"', "density nan kg/m^3", "above 0 kg/m^3"]),
        ("density = 1000", "density = -5", ['Material "jelly"', "density -5 kg/m^3", "above 0 kg/m^3"]),
        ("density = 1000", "poisson_ratio = 0.5", ['Material "jelly"', "poisson_ratio 0.5", "below 0.5"]),
        ("grid_spacing = 0.05", "grid_spacing = 0.5", ['"Cube"', "0.5 m", "(0.2 m)", "use at most 0.1 m"]),
        ("[0.2, 0.2, 0.2]", "[0.2, 0.0, 0.2]", ['"Cube"', "size", "above 0 m"]),
        (BOX, 'kind = "mesh", file = "flat.npz"', ['"Cube"', "volume"]),
        (BOX, 'kind = "mesh", file = "a.npz"', ['"Cube"', '"a.npz"', "exist"]),
        (PLANE, 'kind = "mesh", file = "bare.npz"', ['"Floor"', "faces"]),
        ("frame_end = 4", "frame_end = 0", ["frame_end 0", "frame_start 1", "at least 1"]),
        (PLANE, PLANE + " }\ndynamic = true\n# {", ['"Floor"', "a plane has no end and no mass", "use a closed shape"]),
        (PLANE, PLANE + ' }\nmotion = "flat_motion.npz"\n# {', ['"Floor"', "a plane has no vertices to move"]),
        ("grid_spacing = 0.05", "grid_spacing = 1e-6", ['"Cube"', "GB of memory", "use a grid_spacing of at least"]),
    ],
)
@pytest.mark.parametrize("command", ["bake", "info"])
def test_a_bad_scene_is_one_line(tmp_path: Path, command: str, old: str, new: str, words: list[str]) -> None:
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    np.savez(tmp_path / "flat.npz", vertices=corners, triangles=np.array([[0, 1, 2], [1, 3, 2]]))
    np.savez(tmp_path / "bare.npz", vertices=corners, triangles=np.zeros((0, 3), dtype=int))
    np.savez(tmp_path / "flat_motion.npz", frame=[1], vertices=corners[None])
    assert old in SCENE
    (tmp_path / "scene.toml").write_text(SCENE.replace(old, new))
    options = ["--cache", tmp_path / "cache"] if command == "bake" else []
    line = complaint(command, tmp_path, *options)
    for word in words:
        assert word in line
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "arguments", [["bake", "scene.toml", "--cache", "cache"], ["info", "scene.toml", "--json"], ["bkae"], ["export", "cache"]]
)
def test_a_process_fails_as_the_command_does_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scene.toml").write_text(SCENE.replace("density = 1000", "density = -5"))
    process, here = run(*arguments), run_here(*arguments)
    assert process.returncode == here.returncode != 0
    assert (process.stdout, process.stderr) == (here.stdout, here.stderr)


def test_a_missing_scene_is_one_line(tmp_path: Path) -> None:
    assert "none.toml: the file does not exist" in complaint("bake", tmp_path / "none.toml", "--cache", tmp_path / "c")
    assert "none does not exist; use a cache, or a scene file" in complaint("info", tmp_path / "none", "--check")


def test_a_cache_that_is_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_text(SCENE)
    (tmp_path / "cache").write_text("")
    line = complaint("bake", tmp_path, "--cache", tmp_path / "cache")
    assert "cache is a file, not a folder; choose another cache folder" in line


def test_with_json_the_error_is_an_event_too(tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_text(SCENE.replace("density = 1000", "density = -5"))
    done = run_here("bake", tmp_path, "--cache", tmp_path / "cache", "--json")
    event = json.loads(done.stdout)
    assert event["event"] == "error"
    assert "density -5" in event["message"]
    assert done.stderr.count("\n") == 1
    assert json.loads(run_here("info", tmp_path, "--json").stdout) == event


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["bkae"],
        ["bake", "scene.toml"],
        ["bake", "scene.toml", "--cache", "c", "--frames", "1..4"],
        ["bake", "scene.toml", "--cache", "c", "--threads", "0"],
        ["export", "c", "--format", "gif", "--output", "o"],
    ],
)
def test_bad_usage_has_its_own_status(arguments: list[str]) -> None:
    done = run_here(*arguments)
    assert done.returncode == 2
    assert "usage:" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["info"], ["export", "--format", "ply", "--output", "o"]])
def test_a_folder_that_is_no_cache_is_one_line(tmp_path: Path, arguments: list[str]) -> None:
    assert "contains no cache" in complaint(arguments[0], tmp_path, *arguments[1:])


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_names_that_the_console_cannot_show_are_printed_as_escapes(tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A console of Windows has an encoding of its own; Python would end the command with UnicodeEncodeError."""
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    monkeypatch.setenv("PYTHONUTF8", "0")
    package = tmp_path / "雪"
    package.mkdir()
    (package / "scene.toml").write_text(SCENE.replace('"cube"', '"雪崩 Ω"'), encoding="utf-8")
    done = run("info", package)
    assert (done.returncode, done.stderr) == (0, "")
    assert r"\u96ea\u5d29 \u03a9" in done.stdout
    refused = run("info", package / "Ω")
    assert refused.returncode == 1 and "Traceback" not in refused.stderr
