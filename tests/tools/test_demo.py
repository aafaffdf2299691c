"""The demo prints the progress of its bake, as the cache's status file reports it."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).parents[2] / "demo"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(DEMO))
    return importlib.import_module("run")


def test_a_bake_is_reported_once_per_news(run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    progress = run.BakeProgress(tmp_path)
    progress.show()
    frame = {"done": 2, "total": 48, "particles": 95315, "substeps": 7, "eta_seconds": None}
    for status in ({"done": 0, "total": 48}, {"done": 0, "total": 48}, frame, frame | {"eta_seconds": 60.4}):
        (tmp_path / "status.json").write_text(json.dumps(status), encoding="utf-8")
        progress.show()
    line = "demo: frame 2/48, 95,315 particles, 7 substeps"
    assert capsys.readouterr().out.splitlines() == ["demo: compiling the solver ...", line, f"{line}, 60 s left"]


def test_a_script_is_watched_while_it_runs(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("making.POLL_SECONDS", 0.02)
    monkeypatch.setattr("making.LIMIT_SECONDS", 20.0)
    script, seen = tmp_path / "wait.py", tmp_path / "seen"
    lines = ("import pathlib, time", f"while not pathlib.Path({str(seen)!r}).exists():", "    time.sleep(0.02)", "print('watched')")
    script.write_text("\n".join(lines), encoding="utf-8")
    blender = run.IsolatedBlender(tmp_path / "blender")
    assert blender.run(str(script), on_poll=seen.touch) == "watched\n"
