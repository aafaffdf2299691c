"""Skins, foam, debris and volumes whose making is killed or whose disk is full: whole frames stay, and another run ends as without."""

import errno
import os
import shutil
import time
from pathlib import Path

import pytest

from mpm_addon.command_line.main import main
from mpm_addon.storage import atomic, open_cache
from mpm_addon.storage.take import DEBRIS, FOAM, SKIN, VOLUME
from tests.derived.caches import derived, killed_run
from tests.faults.writes import faulty_writes
from tests.upgrade.test_version_1 import FOLDER

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

KINDS = pytest.mark.parametrize(("name", "kind"), [("torn", SKIN), ("splashing", FOAM), ("broken", DEBRIS), ("splashing", VOLUME)])


def bare(name: str, folder: Path) -> Path:
    """A baked cache without what was derived from it."""
    shutil.copytree(FOLDER / name, folder)
    shutil.rmtree(folder / "takes" / "0001" / "derived")
    return folder


def files_of(cache: Path) -> dict[str, bytes]:
    found = (cache / "takes" / "0001").glob("derived/*/*")
    return {path.name: path.read_bytes() for path in found if path.suffix != atomic.TEMPORARY_SUFFIX}


def whole(name: str, kind: str, folder: Path) -> dict[str, bytes]:
    """What a run makes that nothing disturbs."""
    assert main(["derive", str(bare(name, folder)), kind]) == 0
    return files_of(folder)


@KINDS
def test_a_killed_run_resumes_to_the_same_bytes(name: str, kind: str, tmp_path: Path) -> None:
    wanted = whole(name, kind, tmp_path / "whole")
    for count in range(1, len(wanted)):
        cache = bare(name, tmp_path / f"killed after {count}")
        made = killed_run(open_cache(cache), kind, count)
        assert main(["derive", str(cache), kind]) == 0
        assert files_of(cache) == wanted
        assert all(path.read_bytes() == data for path, data in made.items())


@KINDS
@pytest.mark.parametrize(("minutes", "is_kept"), [(1, True), (60, False)])
def test_what_a_killed_run_was_writing_is_removed_unless_another_may_still_write_it(
    name: str, kind: str, minutes: int, is_kept: bool, tmp_path: Path
) -> None:
    cache = bare(name, tmp_path / "killed")
    killed_run(open_cache(cache), kind)
    (left,) = cache.rglob(f"*{atomic.TEMPORARY_SUFFIX}")
    then = time.time() - 60.0 * minutes
    os.utime(left, (then, then))
    assert main(["derive", str(cache), kind]) == 0
    assert left.exists() == is_kept


@KINDS
@pytest.mark.parametrize("place", ["write", "flush"])
def test_a_full_disk_is_said_in_one_line_and_costs_no_frame(
    name: str, kind: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every frame in turn is the first that cannot be written; from then on none can, until there is room again."""
    monkeypatch.setattr(atomic, "_RETRY_DELAYS", (0.0,))
    wanted = whole(name, kind, tmp_path / "whole")
    for first in range(len(wanted)):
        cache = bare(name, tmp_path / f"full after {first}")

        def fault(at: str, path: str, cache: Path = cache, first: int = first) -> None:
            if at == place and len(files_of(cache)) >= first and f"derived/{kind}" in path:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        capsys.readouterr()
        with faulty_writes(fault):
            status, events, complaint = derived(capsys, cache, kind)
        assert status != 0
        assert "No space left on device" in complaint and complaint.count("\n") == 1
        assert events[-1]["event"] == "error"
        kept = files_of(cache)
        assert len(kept) == first and kept.items() <= wanted.items()
        assert main(["derive", str(cache), kind]) == 0
        assert files_of(cache) == wanted
