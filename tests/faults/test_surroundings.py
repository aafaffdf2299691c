"""Problems around a bake: disks, permissions, other programs, clocks. Each is reported in one line, loses no data, and a retry works."""

import errno
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.core.errors import CacheError, MpmError
from mpm_addon.storage import atomic, open_cache
from mpm_addon.storage.lock import WriterLock
from mpm_addon.storage.status import read_status
from mpm_addon.storage.takes import show_take
from tests.faults.kills import fingerprint
from tests.faults.writes import faulty_writes
from tests.storage import stand_in
from tests.storage.stand_in import bake_here, write_small_scene

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files in use cannot be deleted on Windows")


@pytest.fixture(autouse=True)
def inflow(stand_in_simulation: type[stand_in.Simulation]) -> None:
    stand_in_simulation.inflow = 30


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write_small_scene(tmp_path / "scene", frame_end=3, checkpoint_interval=2)


@pytest.fixture
def whole(tmp_path: Path, scene: Path) -> dict[str, Any]:
    """What an uninterrupted bake gives."""
    bake_here(scene, tmp_path / "whole")
    return fingerprint(tmp_path / "whole")


def refused(scene: Path, cache: Path) -> str:
    """What a bake says that cannot write."""
    events: list[dict[str, Any]] = []
    with pytest.raises(MpmError) as caught:
        stand_in.bake(scene, cache, on_event=lambda event: events.append(event.fields()))
    assert "\n" not in str(caught.value) and str(cache) in str(caught.value)
    assert events[-1] == {"event": "error", **caught.value.message.fields()}
    return str(caught.value)


def assert_whole(cache: Path, whole: dict[str, Any]) -> None:
    assert fingerprint(cache) == whole
    assert list(open_cache(cache).damaged()) == []
    assert not list(cache.rglob("*.partial"))


def frames_of(cache: Path) -> dict[Path, int]:
    """The frames that a reader sees in a cache, and which files they are."""
    if not list(cache.glob("takes/*/take.json")):
        return {}
    opened = open_cache(cache)
    assert list(opened.damaged()) == []
    return {opened.state_path(moment): opened.state_path(moment).stat().st_ino for moment in opened.whole_moments()}


def raises(number: int) -> Callable[[Path], None]:
    def fail(_cache: Path) -> None:
        raise OSError(number, os.strerror(number))

    return fail


FAULTS = {
    "full disk": ("write", raises(errno.ENOSPC), "No space left on device"),
    "full disk, said late": ("flush", raises(errno.ENOSPC), "No space left on device"),
    "failing disk": ("fsync", raises(errno.EIO), "Input/output error"),
    "read-only folder": ("open", raises(errno.EROFS), "Read-only file system"),
    "file that somebody holds": ("replace", raises(errno.EACCES), "Permission denied"),
    "deleted folder": ("write", shutil.rmtree, ""),
}


@pytest.mark.parametrize("name", FAULTS)
def test_whatever_fails_at_any_place_costs_one_line_and_no_frame(
    name: str, scene: Path, whole: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every write in turn is the first that fails; from then on all of them do, until the retry."""
    place, fail, words = FAULTS[name]
    monkeypatch.setattr(atomic, "_RETRY_DELAYS", (0.0,))
    count = 0

    def fault(at: str, path: str) -> None:
        nonlocal count
        # how often the status is written depends on the time
        count += at == place and "status.json" not in path
        if at == place and count >= first and cache.exists():
            fail(cache)

    first, cache = 10**6, tmp_path / "counted"
    with faulty_writes(fault):
        bake_here(scene, cache)
    assert count > 10
    for first in range(1, count + 1):
        cache, count = tmp_path / f"cache {first}", 0
        with faulty_writes(fault):
            said = refused(scene, cache)
        assert words in said
        if fail is shutil.rmtree:
            assert not cache.exists(), "a folder that was deleted came back"
        kept = frames_of(cache)
        bake_here(scene, cache)
        assert_whole(cache, whole)
        assert kept.items() <= frames_of(cache).items(), "a frame that was there was made again"


def test_a_file_that_somebody_holds_for_a_moment_costs_only_that_moment(
    scene: Path, whole: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a virus scanner does on Windows: every rename is refused twice."""
    monkeypatch.setattr(atomic, "_RETRY_DELAYS", (0.0,) * len(atomic._RETRY_DELAYS))
    refusals: dict[str, int] = {}

    def fault(at: str, path: str) -> None:
        if at == "replace":
            refusals[path] = refusals.get(path, 0) + 1
            if refusals[path] % 3:
                raise PermissionError(errno.EACCES, "The process cannot access the file because it is being used by another process")

    with faulty_writes(fault):
        assert bake_here(scene, tmp_path / "cache")[-1]["event"] == "done"
    assert len(refusals) > 10
    assert_whole(tmp_path / "cache", whole)


def test_a_clock_that_jumps_changes_nothing(scene: Path, whole: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of day goes back and forth by years at every look, and the dates of all files with it."""
    cache, chance, seen = tmp_path / "cache", random.Random(0), []
    monkeypatch.setattr(time, "time", lambda: chance.uniform(0.0, 4e9))
    readers: list[Any] = []

    def listen(event: dict[str, Any]) -> None:
        for path in cache.rglob("*"):
            date = chance.uniform(0.0, 4e9)
            os.utime(path, (date, date))
        if event["event"] == "frame":
            status = read_status(cache)
            assert status is not None and status.state == "running"
            with pytest.raises(CacheError, match="another bake is writing into it"), WriterLock(cache):
                pass
            readers[:] = readers or [open_cache(cache)]
            seen.append(readers[0].frames)

    stand_in.bake(scene, cache, on_event=lambda event: listen(event.fields()))
    assert seen == [[1], [1, 2], [1, 2, 3]]
    assert_whole(cache, whole)
    status = read_status(cache)
    assert status is not None and status.state == "done"
    assert [event["event"] for event in bake_here(scene, cache)] == ["start", "done"]


# With file systems of their own, where the system lets a test mount some.


def mounted(folder: Path, action: str) -> None:
    """Run a function of this module in a process that may mount, for itself alone."""
    program = f"from pathlib import Path\nfrom tests.faults import test_surroundings\ntest_surroundings.{action}(Path({str(folder)!r}))"
    attempt = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", str(folder)], capture_output=True, text=True, check=False)
    if attempt.returncode:
        reason = attempt.stderr.strip()
        pytest.skip(f"no file system can be mounted here ({reason}): the errors that it would give are tested at every place above")
    done = subprocess.run(["unshare", "-rm", sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare: the errors of disks are tested at every place above")
@pytest.mark.parametrize("action", ["fill_a_disk", "bake_into_a_read_only_folder"])
def test_real_file_systems_are_said_in_one_line_and_lose_nothing(action: str, scene: Path, whole: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    mounted(tmp_path / "disk", action)


def fill_a_disk(disk: Path) -> None:
    """Another program fills a small disk while a frame is written; then there is room again."""
    sys.modules[stand_in.MODULE] = stand_in.module()
    stand_in.Simulation.inflow = 30
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(disk)], check=True)
    scene, cache, filler = disk.parent / "scene", disk / "cache", disk / "filler"

    def fault(at: str, path: str) -> None:
        if at == "open" and "frame_000003.mpm" in path and not filler.exists():
            with pytest.raises(OSError, match="No space left"), open(filler, "wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass

    with faulty_writes(fault):
        assert "No space left on device, 0.0 GB free); free disk space" in refused(scene, cache)
    assert open_cache(cache).frames == [1, 2] and len(frames_of(cache)) == 2
    # still full: refused again, whatever is said, and nothing is lost
    with pytest.raises(MpmError) as caught:
        bake_here(scene, cache)
    assert "\n" not in str(caught.value) and open_cache(cache).frames == [1, 2] and len(frames_of(cache)) == 2
    filler.unlink()
    bake_here(scene, cache)
    assert_whole(cache, fingerprint(disk.parent / "whole"))


def bake_into_a_read_only_folder(disk: Path) -> None:
    """A folder becomes read-only, as network drives do; it can be watched, and baked into when that is over."""
    sys.modules[stand_in.MODULE] = stand_in.module()
    stand_in.Simulation.inflow = 30
    subprocess.run(["mount", "-t", "tmpfs", "none", str(disk)], check=True)
    scene, cache = disk.parent / "scene", disk / "cache"
    bake_here(scene, cache, frames=(1, 2))
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    before = frames_of(cache)
    assert refused(scene, cache) == f"{cache} cannot be written (Read-only file system); choose another cache folder."
    status = read_status(cache)
    assert status is not None and (status.state, status.done) == ("done", 2)
    assert frames_of(cache) == before and len(before) == 2
    with pytest.raises(CacheError, match="Read-only file system"):
        show_take(cache, 1)
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    bake_here(scene, cache)
    assert_whole(cache, fingerprint(disk.parent / "whole"))
