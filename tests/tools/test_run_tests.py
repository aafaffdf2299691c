"""The tests of each group."""

from __future__ import annotations

from pathlib import Path

import pytest
import run_tests
from environments import DEVELOPMENT_BLENDER, ENVIRONMENTS


def test_every_folder_of_tests_is_in_a_group() -> None:
    there = {file.relative_to(run_tests.ROOT / "tests").parts[0] for file in (run_tests.ROOT / "tests").rglob("test_*.py")}
    assert there == {folder for group in run_tests.groups().values() for folder in group.folders}


def test_a_folder_that_is_ignored_is_left_out_of_its_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("storage", "core"):
        (tmp_path / "tests" / folder).mkdir(parents=True)
        (tmp_path / "tests" / folder / f"test_{folder}.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    run = [run_tests.run_group("plain", ENVIRONMENTS[DEVELOPMENT_BLENDER], more) for more in ([], ["--ignore=tests/core"])]
    assert [summary.partition(" in ")[0] for _, summary in run] == ["2 passed", "1 passed"]
