"""A real window for each desktop Blender that is installed, with the extension's zip built from this working copy."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import ROOT

from tools.gui import places
from tools.gui.blender import Window

BLENDERS = ("5.2", "4.3")
# Debian's Blender 5.2 runs on Debian's Python, for which no kernels can be compiled here: the walk's first bake compiles them.
WINDOW_PYTHON = "cp314"
PICTURES = ROOT / "build" / "gui"
NAMES = Path(__file__).parent / "names.py"


class Walk:
    """A window, and the folder of its screenshots."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.folder = PICTURES / window.place.blender
        self.folder.mkdir(parents=True, exist_ok=True)
        self.has_failed = False
        self._count = 0

    def picture(self, name: str) -> Path:
        """Take a numbered screenshot."""
        self._count += 1
        return self.window.screenshot(self.folder / f"{self._count:02d}_{name}.png")


@pytest.fixture(scope="session")
def archive() -> Path:
    """The extension's zip, built from this working copy, unless MPM_GUI_ARCHIVE names one."""
    if os.environ.get("MPM_GUI_ARCHIVE"):
        return Path(os.environ["MPM_GUI_ARCHIVE"])
    if sys.platform != "linux":
        pytest.skip("windows on a screen in memory are made on Linux alone")
    command = [sys.executable, ROOT / "tools" / "build_extension.py", "--python-tag", WINDOW_PYTHON]
    built = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return ROOT / built.stdout.strip().splitlines()[-1].removeprefix("build: ").partition(" (")[0]


@pytest.fixture(scope="module", params=BLENDERS)
def walk(request: pytest.FixtureRequest) -> Iterator[Walk]:
    """A window that one module's tests use in sequence."""
    if not os.environ.get("MPM_TEST_GUI"):
        pytest.skip("opens windows; run by `make test-gui`")
    place = places.find(request.param)
    if place is None:
        pytest.skip(places.how_to_get(request.param))
    window = Window(place, "walk")
    for old in (PICTURES / request.param).glob("*.png"):
        old.unlink()
    window.install(request.getfixturevalue("archive"))
    try:
        window.start()
        window.run(NAMES.read_text(encoding="utf-8"))
        yield Walk(window)
    finally:
        window.stop()


@pytest.fixture(autouse=True)
def stop_at_failure(walk: Walk) -> None:
    """Later steps of a walk are skipped after a failure."""
    if walk.has_failed:
        pytest.skip("an earlier step of this walk failed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """Take a screenshot after a failed step."""
    report = yield
    walk = getattr(item, "funcargs", {}).get("walk")
    if report.failed and walk is not None:
        walk.has_failed = True
        report.sections.append(("picture", str(walk.picture(f"failed_{item.name.split('[')[0]}"))))
        report.sections.append(("Blender's console", walk.window.console()[-3000:]))
    return report
