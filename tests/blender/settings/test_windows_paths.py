"""How caches are named on Windows, by Python's own rules of paths there."""

import ntpath
import os
from pathlib import PureWindowsPath
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("folder", "start", "stored"),
    [
        (r"C:\work\shots\cache_mpm", r"C:\work\shots", "//cache_mpm"),
        (r"C:\work\cache", r"C:\work\shots\010", "//../../cache"),
        (r"c:\work\cache", r"C:\Work", "//cache"),
        (r"D:\cache", r"C:\work", r"D:\cache"),
        (r"C:\cache", r"\\server\shots\010", r"C:\cache"),
        (r"\\server\caches\one", r"C:\work", r"\\server\caches\one"),
        (r"\\server\caches\one", r"\\server\shots\010", r"\\server\caches\one"),
        (r"\\Server\shots\cache", r"\\server\shots\010", "//../cache"),
        (r"C:\work\cache", None, r"C:\work\cache"),
    ],
)
def test_a_folder_is_relative_only_on_the_drive_of_its_file(
    bpy: Any, folder: str, start: str | None, stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mpm_addon.blender.settings import paths

    monkeypatch.setattr(os.path, "relpath", ntpath.relpath)
    monkeypatch.setattr(paths, "Path", PureWindowsPath)
    assert paths.written(PureWindowsPath(folder), start if start is None else PureWindowsPath(start)) == stored  # type: ignore[arg-type]
