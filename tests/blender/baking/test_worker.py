"""The worker process of a bake: its command, its end, its priority."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.baking import worker
from mpm_addon.core.errors import MpmError
from mpm_addon.storage.events import BAKE, BakeProgress
from tests.blender.stand_ins import STAND_IN, until


def test_the_worker_runs_this_python() -> None:
    assert os.path.samefile(worker.python_executable(), sys.executable)


def test_blenders_python_is_found_where_the_executable_is_blender(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blender_binary = tmp_path / "blender"
    blender_binary.write_text("")
    python = tmp_path / "bin" / "python3.11"
    python.parent.mkdir()
    python.write_text("")
    for path in (blender_binary, python):
        path.chmod(0o755)
    monkeypatch.setattr(worker.sys, "executable", str(blender_binary))
    monkeypatch.setattr(worker.sys, "prefix", str(tmp_path))
    assert worker.python_executable() == str(python)
    python.unlink()
    with pytest.raises(MpmError, match="Blender's Python was not found"):
        worker.python_executable()


def test_the_command_is_the_command_line_and_finds_the_package(tmp_path: Path) -> None:
    command = worker.bake_command(tmp_path / "scene.toml", tmp_path / "cache", restart=True)
    assert command[1:] == [
        "-u",
        "-m",
        "mpm_addon",
        "bake",
        str(tmp_path / "scene.toml"),
        "--cache",
        str(tmp_path / "cache"),
        "--json",
        "--restart",
    ]
    running = worker.Worker([*command[:4], "bake", "--help"], tmp_path)
    try:
        until(lambda: running.exit_status is not None)
        assert running.exit_status == 0, running.complaint()
    finally:
        running.close()


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MpmError, match="/nowhere/python cannot be started"):
        worker.Worker(["/nowhere/python"], tmp_path)


@pytest.mark.parametrize("is_gentle", [True, False])
def test_on_windows_a_gentle_worker_has_low_priority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_gentle: bool) -> None:
    given: list[int] = []

    def start(_command: list[str], *, creationflags: int, **_more: Any) -> None:
        given.append(creationflags)
        raise OSError(2, "not started")

    monkeypatch.setattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0x4000, raising=False)
    monkeypatch.setattr(worker.subprocess, "Popen", start)
    with pytest.raises(MpmError, match="not started"):
        worker.Worker(["python"], tmp_path, is_gentle=is_gentle)
    assert [flags & 0x4000 for flags in given] == [0x4000 if is_gentle else 0]


def test_closing_kills_a_worker_that_does_not_listen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PATIENCE", 0.3)
    running = worker.Worker([sys.executable, str(STAND_IN), str(tmp_path), "stubborn"], tmp_path)
    until(lambda: any(isinstance(event, BakeProgress) for event in running.events(BAKE)))
    running.close()
    assert running.exit_status not in (None, 0)
    assert not (tmp_path / "cancel").exists()
    running.close()
    assert running.events(BAKE) == []


@pytest.mark.slow
def test_a_worker_ends_with_its_blender(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from tests import fakes; fakes.install()\n"
        "from mpm_addon.blender.baking.worker import Worker; import time\n"
        f"running = Worker([sys.executable, {str(STAND_IN)!r}, {str(tmp_path)!r}, 'slow'], Path({str(tmp_path)!r}))\n"
        "events = []\n"
        "while not events: events = [told['pid'] for told in running.answers() if 'pid' in told]\n"
        "print(events[0])"
    )
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    with pytest.raises(ProcessLookupError):
        os.kill(int(finished.stdout), 0)
