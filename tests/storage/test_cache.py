"""Caches: what a reader sees, and what is refused."""

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.errors import CacheError
from mpm_addon.storage import open_cache
from mpm_addon.storage.journal import Journal
from mpm_addon.storage.lock import is_held
from mpm_addon.storage.removal import remove_cache
from mpm_addon.storage.status import read_status
from tests.storage.stand_in import PARTICLES, TAKE, bake_here, write_small_scene

pytestmark = pytest.mark.usefixtures("stand_in_simulation")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    bake_here(write_small_scene(tmp_path / "scene"), tmp_path / "cache")
    return tmp_path / "cache"


def test_a_reader_sees_frames_attributes_and_the_manifest(cache: Path) -> None:
    opened = open_cache(cache)
    assert opened.frames == [1, 2, 3, 4, 5, 6]
    frame = opened.frame(3)
    assert (frame.number, frame.time) == (3, 2 / 24)
    assert frame.position.shape == frame.velocity.shape == (PARTICLES, 3)
    assert frame.position.dtype == np.float32
    assert frame.attributes[:3] == ("position", "velocity", "id")
    np.testing.assert_array_equal(frame.attribute("id"), np.arange(PARTICLES))
    manifest = opened.manifest
    assert (manifest["scene_name"], manifest["fps"], manifest["grid_spacing"]) == ("small", 24.0, 0.05)
    assert manifest["attributes"]["velocity"]["unit"] == "m/s"


def test_the_statistics_are_those_of_the_frames(cache: Path) -> None:
    rows = list(open_cache(cache).statistics())
    assert [row["frame"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert {
        "frame",
        "particles",
        "substeps",
        "seconds",
        "step_seconds",
        "kinetic_energy",
        "momentum",
        "deleted",
        "crushed",
    } <= set(rows[0])
    assert rows[0]["substeps"] == 0
    assert rows[1]["substeps"] == 4
    for row in rows:
        frame = open_cache(cache).frame(row["frame"])
        assert (row["particles"], row["mass"]) == (len(frame.id), frame.statistics.mass)


def test_a_missing_frame_is_named_with_the_cached_ones(cache: Path) -> None:
    with pytest.raises(CacheError, match="frame 9 was not baked; frames 1 to 6 are cached"):
        open_cache(cache).frame(9)


def test_a_truncated_frame_is_found(cache: Path) -> None:
    path = open_cache(cache).frame_path(2)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(CacheError, match=r"frame_000002\.mpm is damaged"):
        open_cache(cache).frame(2)


def test_a_flipped_bit_in_the_numbers_is_found(cache: Path) -> None:
    path = open_cache(cache).frame_path(2)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 4
    path.write_bytes(damaged)
    with pytest.raises(CacheError, match=r"frame_000002\.mpm is damaged.*delete this file, then bake again to fill the gap"):
        open_cache(cache).frame(2)


def test_a_frame_under_a_wrong_name_is_found(cache: Path) -> None:
    opened = open_cache(cache)
    opened.frame_path(2).write_bytes(opened.frame_path(3).read_bytes())
    with pytest.raises(CacheError, match="contains frame 3, not 2"):
        opened.frame(2)


def test_arrays_of_another_program_are_no_frame(cache: Path) -> None:
    with open(open_cache(cache).frame_path(2), "wb") as file:
        np.savez(file, position=np.zeros((3, 3)))
    with pytest.raises(CacheError, match="is damaged or not a cache file"):
        open_cache(cache).frame(2)


def test_files_of_other_names_are_no_frames(cache: Path) -> None:
    (cache / TAKE / "frames" / "frame_000009.mpm.123.partial").write_bytes(b"half")
    (cache / TAKE / "frames" / "notes.txt").write_text("mine")
    assert open_cache(cache).frames == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{", "is damaged"),
        ("[]", "belongs to another program"),
        ('{"kind": "other"}', "belongs to another program"),
        ('{"kind": "mpm_addon cache", "schema": 99}', "does not support schema 99"),
    ],
)
def test_a_foreign_or_damaged_manifest_is_refused(cache: Path, content: str, expected: str) -> None:
    (cache / "cache.json").write_text(content)
    with pytest.raises(CacheError, match=expected):
        open_cache(cache)


def test_a_folder_without_a_manifest_and_a_file_are_no_caches(tmp_path: Path) -> None:
    with pytest.raises(CacheError, match="contains no cache"):
        open_cache(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match="is a file, not a cache folder"):
        open_cache(tmp_path / "file")
    with pytest.raises(CacheError, match="contains no cache"):
        open_cache(tmp_path / "nowhere")


@pytest.mark.parametrize("spoil", [lambda line: line[:-10], lambda line: line.replace(b'"mass": ', b'"mass": 1')])
def test_a_journal_line_that_is_damaged_costs_only_its_own_frame(cache: Path, spoil: Callable[[bytes], bytes]) -> None:
    journal = cache / TAKE / "journal.jsonl"
    *lines, last = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines, spoil(last)]))
    assert open_cache(cache).frames == [1, 2, 3, 4, 5]


def test_the_cache_describes_its_scene(cache: Path) -> None:
    from mpm_addon.storage import read_scene, scene_hash

    assert scene_hash(read_scene(cache / TAKE / "scene")) == open_cache(cache).manifest["scene_hash"]


@pytest.mark.skipif(sys.platform == "win32", reason="links as Unix has them")
@pytest.mark.parametrize(
    "name", ["takes", "takes/0001", "takes/0001/frames", "takes/0001/scene", "takes/0001/journal.jsonl", "status.json"]
)
def test_a_cache_with_a_link_is_neither_written_nor_removed(tmp_path: Path, name: str) -> None:
    scene = write_small_scene(tmp_path / "scene")
    bake_here(scene, tmp_path / "cache")
    (tmp_path / "cache" / name).rename(tmp_path / "elsewhere")
    (tmp_path / "cache" / name).symlink_to(tmp_path / "elsewhere")
    before = {path: path.read_bytes() for path in tmp_path.glob("elsewhere/**/*") if path.is_file()}
    with pytest.raises(CacheError, match="is a symbolic link"):
        bake_here(scene, tmp_path / "cache", restart=True)
    with pytest.raises(CacheError, match="is a symbolic link"):
        remove_cache(tmp_path / "cache")
    assert {path: path.read_bytes() for path in tmp_path.glob("elsewhere/**/*") if path.is_file()} == before


def test_only_temporary_files_of_bakes_are_removed(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    for name in ("film.iso.partial", "cache.json.77.partial"):
        (tmp_path / "cache" / name).touch()
    bake_here(write_small_scene(tmp_path / "scene"), tmp_path / "cache")
    assert [path.name for path in (tmp_path / "cache").glob("*.partial")] == ["film.iso.partial"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes as Unix has them")
def test_a_lock_that_is_a_link_or_a_pipe_is_neither_followed_nor_waited_for(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "cache" / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(CacheError, match="cannot be written"):
        bake_here(write_small_scene(tmp_path / "scene"), tmp_path / "cache")
    assert (tmp_path / "precious").read_text() == "precious"
    for name in ("lock", "status.json"):
        (tmp_path / "cache" / name).unlink(missing_ok=True)
        os.mkfifo(tmp_path / "cache" / name)
    assert read_status(tmp_path / "cache") is None
    assert not is_held(tmp_path / "cache", {"host": socket.gethostname(), "pid": 2**62})


def test_a_check_names_missing_frames_and_damaged_checkpoints(cache: Path) -> None:
    opened = open_cache(cache)
    gone = opened.frame_path(3)
    gone.unlink()
    state = next((cache / TAKE / "checkpoints").iterdir())
    state.write_bytes(state.read_bytes()[:-1] + b"x")
    missing, damaged = (each.text() for each in opened.damaged())
    assert missing == f"{gone} is missing; bake again to fill the gap."
    assert damaged.startswith(f"{state} is damaged; delete this file")


def test_changed_cache_settings_are_reported_every_time(tmp_path: Path) -> None:
    bake_here(write_small_scene(tmp_path / "scene", precision="exact"), tmp_path / "cache")
    other = write_small_scene(tmp_path / "other")
    for _ in range(2):
        told = [event["message"] for event in bake_here(other, tmp_path / "cache") if event.get("topic") == "settings"]
        assert told == ["its frames were cached with different settings (precision exact) and are kept; bake again with --restart."]
    assert open_cache(tmp_path / "cache").manifest["precision"] == "exact"


def test_a_journal_is_read_incrementally(cache: Path) -> None:
    take = open_cache(cache).takes[-1]
    path = take.folder / "journal.jsonl"
    *lines, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines) + last[:20])
    journal = Journal(path)
    first = dict(journal.read())
    assert len(first) == len(lines)
    with path.open("ab") as file:
        file.write(b"\n" + last)
    # what was read is not parsed again
    kept = journal.entries[next(iter(first))]
    assert len(journal.read()) == len(lines) + 1
    assert journal.entries[next(iter(first))] is kept
    # one that is written anew is another one
    path.unlink()
    path.write_bytes(last)
    assert len(journal.read()) == 1
    path.unlink()
    assert journal.read() == {}


def test_a_long_journal_is_read_in_parts(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpm_addon.storage.journal._CHUNK", 10)
    take = open_cache(cache).takes[-1]
    whole = dict(take.journal())
    journal = Journal(take.folder / "journal.jsonl")
    counts = []
    while not journal.is_read:
        counts.append(len(journal.read(0.0)))
    assert counts == list(range(1, len(whole) + 1)) or counts == [*range(1, len(whole) + 1), len(whole)]
    assert journal.entries == whole


def test_known_frames_are_those_whose_files_exist(cache: Path) -> None:
    take = open_cache(cache).takes[-1]
    take.read_journal()
    assert sorted(take.known(), key=lambda moment: moment.frame) == take.moments()
    take.path(take.moments()[0]).unlink()
    assert len(take.known()) == len(take.moments())
