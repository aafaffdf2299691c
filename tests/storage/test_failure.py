"""Unstable bakes: earlier frames remain, and the particles at fault are reported to events, `info` and Blender."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.bake import bake
from mpm_addon.command_line.main import main
from mpm_addon.core.errors import CacheError, UnstableError
from mpm_addon.storage import open_cache
from mpm_addon.storage.arrays import write_arrays
from mpm_addon.storage.failure import FAILURE, read_failure, write_failure

from . import stand_in
from .stand_in import bake_here, failure_at, write_small_scene


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write_small_scene(tmp_path / "scene")


@pytest.fixture
def cache(scene: Path, tmp_path: Path, stand_in_simulation: type[stand_in.Simulation]) -> Path:
    """A cache whose bake became unstable at frame 4."""
    stand_in_simulation.fails_at = 4
    with pytest.raises(UnstableError):
        bake_here(scene, tmp_path / "cache")
    stand_in_simulation.fails_at = None
    return tmp_path / "cache"


def test_the_event_and_the_status_tell_of_it(scene: Path, tmp_path: Path, stand_in_simulation: type[stand_in.Simulation]) -> None:
    stand_in_simulation.fails_at = 4
    events: list[dict[str, Any]] = []
    with pytest.raises(UnstableError) as caught:
        bake(scene, tmp_path / "cache", on_event=lambda event: events.append(event.fields()))
    said = json.loads(json.dumps(events[-1]))
    assert (said["event"], said["message"]) == ("error", str(caught.value))
    assert said["failure"] == {
        "kind": "inverted",
        "subject": 'Material "jelly"',
        "frame": 4,
        "time": 0.125,
        "time_step": 1e-6,
        "shortening": 64,
        "particles": 10,
        "ids": [5, 6, 7, 8, 9, 10, 11, 12],
        "emitters": ["ball"],
        "advice": "use a smaller cfl than 1, such as 0.4",
        "message": said["message"],
    }
    assert said["message"] == (
        'Material "jelly": unstable at frame 4 (0.125 s) even with substeps 64 times shorter (1e-06 s); 10 particles are inverted '
        'or completely crushed (ids 5, 6, 7, 8, 9, 10, 11, 12, ...; emitter "ball"); use a smaller cfl than 1, such as 0.4.'
    )
    assert json.loads((tmp_path / "cache" / "status.json").read_text())["message"] == said["message"]


def test_the_cache_keeps_all_particles_and_all_good_frames(cache: Path) -> None:
    failure = read_failure(cache)
    assert failure is not None
    for name, value in vars(failure_at(4)).items():
        assert np.array_equal(getattr(failure, name), value), name
    assert open_cache(cache).frames == [1, 2, 3]
    for number in (1, 2, 3):
        assert np.isfinite(open_cache(cache).frame(number).position).all()


def test_info_says_it(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(cache)]) == 0
    assert 'failure: Material "jelly": unstable at frame 4' in capsys.readouterr().out
    assert main(["info", str(cache), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["failure"]["particles"] == 10


def test_it_is_removed_when_the_bake_resumes(scene: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bake_here(scene, cache)[0]["resumed_from"] == 3
    assert open_cache(cache).frames == [1, 2, 3, 4, 5, 6]
    assert read_failure(cache) is None
    assert main(["info", str(cache)]) == 0
    assert "failure" not in capsys.readouterr().out
    assert main(["info", str(cache), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["failure"] is None


def test_a_bake_with_changed_settings_replaces_it(tmp_path: Path, cache: Path) -> None:
    bake_here(write_small_scene(tmp_path / "other", seed=5), cache, restart=True)
    assert read_failure(cache) is None
    assert open_cache(cache).frames == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("part", ["zip", "id", "position", "report", "kind", "frame"])
def test_a_damaged_failure_is_one_line(tmp_path: Path, part: str) -> None:
    write_failure(tmp_path, failure_at(4))
    path = tmp_path / FAILURE
    words = {"subject": "x", "frame": 4, "time": 0.0, "time_step": 1.0, "shortening": 2, "advice": "x", "kind": "runaway", "emitters": []}
    words |= {"kind": {"kind": "bad"}, "frame": {"frame": "4"}}.get(part, {})
    report = np.frombuffer(b"{" if part == "report" else json.dumps(words).encode(), np.uint8)
    arrays = {"id": np.zeros(2, np.int32), "position": np.zeros((2, 3), np.float32), "report": report}
    arrays |= {"id": {"id": np.zeros(2)}, "position": {"position": np.zeros((3, 3), np.float32)}}.get(part, {})
    write_arrays(path, arrays)
    if part == "zip":
        path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(CacheError, match=r"failure\.npz .*; bake again\.$"):
        read_failure(tmp_path)


def test_a_folder_without_one_says_none(tmp_path: Path) -> None:
    assert read_failure(tmp_path) is None


def test_a_failure_counts_for_its_own_take_and_where_that_one_never_began(cache: Path) -> None:
    def found(shown: int) -> bool:
        return read_failure(cache, shown=shown) is not None

    assert (found(1), found(2)) == (True, False)
    # a take that failed before its first frame is not there, so it counts for the one after which it was to go on
    write_failure(cache, failure_at(4), take=2)
    assert (found(1), found(2)) == (True, True)
    shutil.copytree(cache / "takes" / "0001", cache / "takes" / "0002")
    assert (found(1), found(2)) == (False, True)
    write_failure(cache, failure_at(4))
    assert (found(1), found(2)) == (True, True)
