"""A user's own meshes with the installed extension; the steps are in walk_own_objects.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import RunInBlender

pytestmark = [pytest.mark.blender, pytest.mark.slow]


def test_own_objects_are_simulated_baked_changed_resumed_and_rendered(person: RunInBlender, tmp_path: Path) -> None:
    output = person("import tests.blender_real.walk_own_objects", str(tmp_path), timeout_seconds=1800.0)
    assert json.loads(output.partition("ANSWER ")[2].splitlines()[0]) == {"steps": 6}
