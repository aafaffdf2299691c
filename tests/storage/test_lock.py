"""The lock: one bake at a time writes into a cache, and readers can tell whether it is still running."""

import errno
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpm_addon.core.errors import CacheError
from mpm_addon.storage import lock
from mpm_addon.storage.lock import LOCK, WriterLock, is_held

HERE = {"host": socket.gethostname(), "pid": os.getpid()}

HOLD = """
import sys, time
from pathlib import Path
from mpm_addon.storage.lock import WriterLock
with WriterLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the lock of the folder."""
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def refusal(folder: Path) -> str:
    with pytest.raises(CacheError) as caught, WriterLock(folder):
        raise AssertionError("two have the lock")
    return str(caught.value)


def test_a_second_writer_is_told_who_writes(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    assert refusal(tmp_path) == (
        f"{tmp_path}: another bake is writing into it (process {other.pid} on {socket.gethostname()}); "
        "wait, cancel it, or choose another cache folder."
    )
    assert is_held(tmp_path, HERE)


def test_a_lock_ends_with_its_process_however_it_ends(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    other.kill()
    other.wait()
    assert (tmp_path / LOCK).exists()
    assert not is_held(tmp_path, HERE)
    with WriterLock(tmp_path):
        assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


def test_checking_disturbs_no_writer(tmp_path: Path) -> None:
    assert not is_held(tmp_path, HERE)
    with WriterLock(tmp_path):
        assert is_held(tmp_path, HERE)
        assert refusal(tmp_path)
    assert not is_held(tmp_path, HERE)
    assert is_held(tmp_path, {"host": "elsewhere", "pid": 1})


def test_a_lock_that_waits_for_a_check_is_taken(tmp_path: Path) -> None:
    (tmp_path / LOCK).touch()
    file = os.open(tmp_path / LOCK, os.O_RDONLY)
    assert lock._try_lock(file, is_shared=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", lambda _seconds: os.close(file))
        with WriterLock(tmp_path):
            pass


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps a folder that is in use")
@pytest.mark.parametrize("change", ["deleted", "replaced"])
def test_a_folder_that_is_gone_is_noticed(tmp_path: Path, change: str) -> None:
    cache = tmp_path / "cache"
    with WriterLock(cache) as held:
        held.check()
        cache.rename(tmp_path / "away")
        if change == "replaced":
            cache.mkdir()
            (cache / LOCK).write_text("of somebody else")
        with pytest.raises(CacheError, match=r"cache: the folder or its lock was deleted or replaced during the bake"):
            held.check()
    if change == "replaced":
        assert (cache / LOCK).read_text() == "of somebody else"


def test_a_lock_that_cannot_be_removed_while_it_is_open_is_removed_after_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, where a folder would not be empty for ever after."""
    own = WriterLock(tmp_path)
    remove = Path.unlink

    def as_on_windows(path: Path, missing_ok: bool = False) -> None:
        if own._file >= 0:
            raise PermissionError(errno.EACCES, "is open")
        remove(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", as_on_windows)
    with own:
        assert (tmp_path / LOCK).exists()
    assert list(tmp_path.iterdir()) == []


# A file system without locks.


@pytest.fixture
def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_file: int, *, is_shared: bool = False) -> bool:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(lock, "_try_lock", refuse)
    monkeypatch.setattr(lock, "BEAT", 0.1)


@pytest.mark.usefixtures("no_locks")
def test_without_locks_a_heartbeat_keeps_others_out(tmp_path: Path) -> None:
    with WriterLock(tmp_path):
        assert is_held(tmp_path, HERE)
        assert f"process {os.getpid()} on" in refusal(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("no_locks")
@pytest.mark.parametrize("owner", ['{"host": "elsewhere", "pid": 1, "token": "a", "beat": 7}', "damaged", ""])
def test_without_locks_a_silent_owner_loses_the_lock(tmp_path: Path, owner: str) -> None:
    (tmp_path / LOCK).write_text(owner)
    with WriterLock(tmp_path):
        assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()


@pytest.mark.usefixtures("no_locks")
def test_without_locks_an_owner_of_this_computer_that_is_gone_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    owner = {**HERE, "pid": gone.pid, "token": "a"}
    assert not lock.is_held(tmp_path, owner)
    (tmp_path / LOCK).write_text(json.dumps(owner))
    assert not lock.is_held(tmp_path, owner)
    monkeypatch.setattr(lock, "_SILENT_BEATS", 10**9)
    with WriterLock(tmp_path):
        pass
