"""A small scene, and wedges of it baked with the stand-in simulation, in separate processes, in milliseconds each."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.storage.stand_in import HALT, write_small_scene
from tests.wedge.stand_in_wedge import SCRIPT

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write_small_scene(tmp_path / "scene")


def environment(halt: Path | None = None) -> dict[str, str]:
    """That of a process with the stand-in; its bakes wait while the file `halt` is there."""
    search_path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": search_path, HALT: str(halt or os.devnull)}


def start(*arguments: object, halt: Path | None = None) -> "subprocess.Popen[str]":
    command = [sys.executable, str(SCRIPT), "wedge", *map(str, arguments), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(halt))


def bake(*arguments: object) -> "tuple[int, list[dict[str, Any]], str]":
    """Exit status, events and complaints of a wedge."""
    with start(*arguments) as process:
        out, complaints = process.communicate(timeout=120)
    return process.returncode, [json.loads(line) for line in out.splitlines()], complaints


def index(output: Path) -> dict[str, Any]:
    return json.loads((output / "wedge.json").read_text())


def states(output: Path) -> dict[str, str]:
    return {variant["name"]: variant["state"] for variant in index(output)["variants"]}
