"""Kernels are compiled in the background if none were shipped, and bakes have priority."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender import compiling
from mpm_addon.blender.baking import session, worker
from mpm_addon.core import processor


class Process:
    """A process that runs until the test ends it."""

    def __init__(self, command: list[str], **_options: Any) -> None:
        self.command = command
        self.status: int | None = None

    def poll(self) -> int | None:
        return self.status

    def kill(self) -> None:
        self.status = -9

    def wait(self) -> None:
        pass


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Process]]:
    """The started processes."""
    made: list[Process] = []

    def start(command: list[str], **options: Any) -> Process:
        made.append(Process(command, **options))
        return made[-1]

    monkeypatch.setattr(compiling.subprocess, "Popen", start)
    yield made
    compiling.end()


def test_one_process_compiles_and_is_looked_at_until_it_has_ended(bpy: Any, started: list[Process]) -> None:
    assert compiling.tick() is not None
    assert compiling.tick() is not None
    (process,) = started
    assert process.command[-2:] == ["kernels", "--gently"]
    process.status = 0
    assert compiling.tick() is None


def test_a_bake_stops_it_and_it_resumes_afterward(bpy: Any, started: list[Process], monkeypatch: pytest.MonkeyPatch) -> None:
    compiling.tick()
    monkeypatch.setattr(session, "current", lambda: SimpleNamespace())
    assert compiling.tick() is not None
    assert started[0].status == -9
    assert len(started) == 1
    monkeypatch.undo()
    monkeypatch.setattr(compiling.subprocess, "Popen", lambda command, **_options: started.append(Process(command)) or started[-1])
    assert compiling.tick() is not None
    assert len(started) == 2


def test_without_a_python_to_run_it_says_so_and_gives_up(
    bpy: Any, started: list[Process], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(worker, "python_executable", lambda: (_ for _ in ()).throw(compiling.MpmError("Blender's Python was not found.")))
    assert compiling.tick() is None
    assert "Blender's Python was not found." in capsys.readouterr().out
    assert started == []


def test_shipped_kernels_are_seen_without_loading_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = processor.shipped_file("x86-64-v3", tmp_path)
    monkeypatch.setattr(compiling, "shipped_file", lambda level: processor.shipped_file(level, tmp_path))
    assert not compiling.are_shipped()
    path.parent.mkdir(parents=True)
    path.touch()
    assert compiling.are_shipped()


def test_after_an_installation_the_first_bake_finds_its_modules_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a Python that has never run this version's simulation, though its kernels are shipped
    monkeypatch.setattr(compiling, "are_shipped", lambda: True)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(compiling, "bpy", SimpleNamespace(app=SimpleNamespace(background=False)))
    begun: list[Any] = []
    registrar: Any = SimpleNamespace(on_removal=lambda _call: None, timer=lambda call, _seconds: begun.append(call))
    compiling.register(registrar)
    assert begun == [compiling.tick]
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = worker.kernels_command()
    subprocess.run(command, env=environment, cwd=worker.PACKAGE.parent, check=True, stdout=subprocess.DEVNULL)
    # numba imports this only when it loads stored code
    assert list(tmp_path.rglob("arraymath.*.pyc"))
    compiling.register(registrar)
    assert begun == [compiling.tick]
