"""The README's scripts run unchanged."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mpm_addon.bake import Order, bake

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_scripts_of_the_readme_run(tmp_path: Path) -> None:
    scripts = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(scripts) == 2
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run([sys.executable, "-c", scripts[0]], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("frame 1: ") and lines[0].endswith("fastest 1.00 m/s")
    assert len(lines) == 48
    bake(ROOT / "presets" / "scenes" / "two_spheres", tmp_path / "DIR", Order(frames=(1, 2)))
    result = subprocess.run([sys.executable, "-c", scripts[1]], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["1", "2"]
