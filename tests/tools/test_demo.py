"""The demo runs its scripts in an isolated Blender, and combines its pictures."""

import importlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

DEMO = Path(__file__).parents[2] / "demo"


@pytest.fixture
def making(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(DEMO))
    return importlib.import_module("making")


def test_a_script_sees_nothing_of_this_environment(making: Any, tmp_path: Path) -> None:
    script = tmp_path / "look.py"
    script.write_text("import importlib.util, sys; print(sys.argv[1], importlib.util.find_spec('numba'))", encoding="utf-8")
    assert making.IsolatedBlender(tmp_path / "blender").run(str(script), 7) == "7 None\n"


def test_a_script_that_fails_or_hangs_is_told(making: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blender, script = making.IsolatedBlender(tmp_path / "blender"), tmp_path / "script.py"
    script.write_text("import sys; sys.exit('no bowl')", encoding="utf-8")
    with pytest.raises(making.DemoError, match=r"ended with status 1:\nno bowl"):
        blender.run(str(script))
    monkeypatch.setattr(making, "LIMIT_SECONDS", 0.5)
    script.write_text("import time; time.sleep(60)", encoding="utf-8")
    with pytest.raises(making.DemoError, match=r"took more than 0\.5 s"):
        blender.run(str(script))


def test_a_contact_sheet_has_rows_of_pictures(making: Any, tmp_path: Path) -> None:
    for number, color in enumerate(("red", "green", "blue")):
        Image.new("RGB", (40, 30), color).save(tmp_path / f"{number}.png")
    sheet = making.contact_sheet([tmp_path / f"{number}.png" for number in range(3)], ["", "", ""])
    assert sheet.size == (80, 60)
    assert [sheet.getpixel(at) for at in ((20, 5), (60, 5), (20, 35))] == [(255, 0, 0), (0, 128, 0), (0, 0, 255)]
