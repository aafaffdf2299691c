"""Why a folder cannot be written, before anything tries."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from mpm_addon.storage import disk


def test_a_folder_that_can_be_written_and_one_in_it_are_not_refused(tmp_path: Path) -> None:
    assert disk.refusal(tmp_path) == disk.refusal(tmp_path / "new" / "cache") == ""
    assert not (tmp_path / "new").exists()


def test_a_folder_without_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda place, _mode: place != tmp_path)
    assert disk.refusal(tmp_path / "new" / "cache") == f"there is no permission to write in {tmp_path}"


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert disk.refusal(tmp_path / "file" / "cache") == f"{tmp_path / 'file'} is not a folder"


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that no disk holds")
def test_a_folder_that_no_disk_holds_is_refused_whoever_asks() -> None:
    reasons = ("/proc holds no files of its own", "there is no permission to write in /proc")
    assert disk.refusal(Path("/proc/nowhere/cache")) == reasons[os.geteuid() != 0]
