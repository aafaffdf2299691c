"""Every operator of the installed extension is pressed and every panel drawn, right after installation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import RunInBlender

pytestmark = [pytest.mark.blender, pytest.mark.slow]


def test_every_operator_does_its_work_and_nothing_loads_numba(person: RunInBlender, tmp_path: Path) -> None:
    """The steps are in walk_operators.py, in order, each with its checks."""
    output = person("import tests.blender_real.walk_operators", str(tmp_path), timeout_seconds=1800.0)
    found = json.loads(output.partition("ANSWER ")[2].splitlines()[0])
    assert found["missing"] == [], "operators that no step presses"
    assert found["pressed"] > 60
