"""The project's environments: one for each supported Blender, and one for the programs of the benchmarks.

Runs before any environment exists: uses only the standard library.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
USUAL_FOLDERS = (Path("/usr/bin"), Path("/usr/local/bin"), Path("/opt/homebrew/bin"))


@dataclass(frozen=True)
class Environment:
    """A virtual environment; `blender` is the version of its bpy, empty for the environment of the benchmarks."""

    blender: str
    python: str
    folder: Path

    @property
    def lock(self) -> Path:
        """The pinned packages of this environment."""
        return ROOT / "locks" / (f"blender-{self.blender}.txt" if self.blender else "bench.txt")

    @property
    def groups(self) -> tuple[str, ...]:
        """Its dependency groups in pyproject.toml."""
        return ("development", f"blender-{self.blender}") if self.blender else ("bench",)

    @property
    def purpose(self) -> str:
        """Its purpose, for messages."""
        return f"Blender {self.blender}" if self.blender else "the benchmarks' peers"

    @property
    def interpreter(self) -> Path:
        """The Python inside the environment."""
        return self.folder / "bin" / "python"


def extension_version() -> str:
    """Returns the version in blender_manifest.toml, its only source."""
    match = re.search(r'(?m)^version = "([^"]+)"', (ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    if match is None:
        raise SystemExit("blender_manifest.toml: no version found")
    return match.group(1)


def find_python(version: str, needed_modules: tuple[str, ...] = ()) -> str | None:
    """Returns the path of a Python that runs, has the version ("3.11") and can import the modules, or None.

    A name on the PATH may be a shim that fails, so every candidate is tried.
    """
    return next((each for each in _python_candidates(version) if _is_working_python(each, version, needed_modules)), None)


def _python_candidates(version: str) -> list[str]:
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    folders += USUAL_FOLDERS
    names = (f"python{version}", "python3", "python")
    on_path = [str(folder / name) for name in names for folder in folders if (folder / name).is_file()]
    pyenv_versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    in_pyenv = sorted(pyenv_versions.glob(f"{version}.*/bin/python{version}"), key=_patch_number, reverse=True)
    candidates = [sys.executable, *on_path, *map(str, in_pyenv)]
    return list(dict.fromkeys(candidates))


def _patch_number(interpreter: Path) -> int:
    digits = re.match(r"\d+", interpreter.parents[1].name.rpartition(".")[2])
    return int(digits.group()) if digits else 0


def _is_working_python(candidate: str, version: str, needed_modules: tuple[str, ...]) -> bool:
    script = "\n".join(["import sys", *(f"import {module}" for module in needed_modules), "print('%d.%d' % sys.version_info[:2])"])
    return output_of(candidate, "-c", script) == version


def find_uv() -> str | None:
    """Returns the path of a uv that runs, or None."""
    uv = shutil.which("uv")
    return uv if uv and output_of(uv, "--version") else None


def output_of(*command: str) -> str | None:
    """Returns the stripped output of a command; None if it fails or takes more than a minute."""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def development_environment() -> Environment:
    """Returns the environment of `.venv`: Blender 4.5 on Python 3.11; or Blender 5.2 if only Python 3.13 is available."""
    usual = Environment("4.5", "3.11", ROOT / ".venv")
    newer = Environment("5.2", "3.13", ROOT / ".venv")
    if usual.folder.is_dir():
        return newer if (newer.folder / "lib" / "python3.13").is_dir() else usual
    if find_python("3.11") or find_uv() or not find_python("3.13"):
        return usual
    return newer


DEVELOPMENT_BLENDER = "4.5"
ENVIRONMENTS = {
    "4.2": Environment("4.2", "3.11", ROOT / ".venv-4.2"),
    DEVELOPMENT_BLENDER: development_environment(),
    "5.0": Environment("5.0", "3.11", ROOT / ".venv-5.0"),
    "5.2": Environment("5.2", "3.13", ROOT / ".venv-5.2"),
}
PEERS = Environment("", ENVIRONMENTS[DEVELOPMENT_BLENDER].python, ROOT / ".venv-bench")
