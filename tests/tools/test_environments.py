"""Finding a Python: a name on the PATH may be a shim that fails, so every candidate is tried."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import environments
import pytest

THIS_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def make_script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def other_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose PATH and pyenv folder are empty, and whose running Python has another version."""
    monkeypatch.setattr(environments.sys, "executable", "/nowhere/python")
    monkeypatch.setattr(environments, "USUAL_FOLDERS", ())
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path


def test_a_shim_that_fails_is_passed_over(other_python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_script(other_python / "shims" / "python3.99", "echo 'pyenv: command not found' >&2; exit 127")
    works = make_script(other_python / "bin" / "python3.99", "echo 3.99")
    monkeypatch.setenv("PATH", f"{other_python / 'shims'}:{other_python / 'bin'}")
    assert environments.find_python("3.99") == str(works)


def test_a_python_of_another_version_is_passed_over(other_python: Path) -> None:
    make_script(other_python / "bin" / "python3.99", "echo 3.98")
    assert environments.find_python("3.99") is None


def test_the_newest_of_pyenvs_versions_is_taken(other_python: Path) -> None:
    for patch in ("9", "10"):
        make_script(other_python / "pyenv" / "versions" / f"3.99.{patch}" / "bin" / "python3.99", "echo 3.99")
    found = environments.find_python("3.99")
    assert found is not None
    assert "3.99.10" in found


def test_a_python_without_a_needed_module_is_passed_over() -> None:
    assert environments.find_python(THIS_VERSION, ("json",)) is not None
    assert environments.find_python(THIS_VERSION, ("no_such_module",)) is None


@pytest.mark.parametrize(("pythons", "blender"), [(("3.11",), "4.5"), (("3.13",), "5.2"), (("3.11", "3.13"), "4.5"), ((), "4.5")])
def test_development_takes_the_python_that_is_there(
    pythons: tuple[str, ...], blender: str, other_python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "ROOT", other_python)
    for version in pythons:
        make_script(other_python / "bin" / f"python{version}", f"echo {version}")
    assert environments.development_environment().blender == blender


def test_development_stays_with_the_environment_that_was_made(other_python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "ROOT", other_python)
    make_script(other_python / "bin" / "python3.11", "echo 3.11")
    (other_python / ".venv" / "lib" / "python3.13").mkdir(parents=True)
    assert environments.development_environment().blender == "5.2"
