"""A real window for each desktop Blender that is installed, with the extension's zip built from this working copy."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import ROOT

from tools.gui import places
from tools.gui.blender import Window
from tools.gui.menus import ROW, find_entry, opened

BLENDERS = ("5.2", "4.3")
# Debian's Blender 5.2 runs on Debian's Python, for which no kernels can be compiled here: the walk's first bake compiles them.
WINDOW_PYTHON = "cp314"
PICTURES = ROOT / "build" / "gui"
NAMES = Path(__file__).parent / "names.py"
# The first bake of a new extension compiles the simulator, which takes minutes on a slow machine.
COMPILING_SECONDS = 900.0
BAKING_SECONDS = 600.0
# By its key code: not every screen finds a key by name.
F12 = "96"


class Walk:
    """A window, and the folder of its screenshots."""

    def __init__(self, window: Window, folder: Path) -> None:
        self.window = window
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        # of the artist; without the frames of an earlier walk
        self.files = window.folder / "files"
        shutil.rmtree(self.files, ignore_errors=True)
        self.files.mkdir(parents=True)
        self.has_failed = False
        self._count = 0
        self._tabs = 0

    def picture(self, name: str) -> Path:
        """Take a numbered screenshot."""
        self._count += 1
        self.window.run("result = (None for _ in range(10))")  # of Blender's main loop, so that all is drawn
        return self.window.screenshot(self.folder / f"{self._count:02d}_{name}.png")

    def viewport(self, height: float = 0.5) -> tuple[int, int]:
        """Returns a point in the 3D viewport; `height` is 0 at its top and 1 at its bottom."""
        box = self.window.run('result = box("VIEW_3D")')
        return box[0] + box[2] // 3, box[1] + int(height * box[3])

    def state(self) -> str:
        """Returns the name of the bake's state."""
        return self.window.ask("view()['state']")

    def press_and_bake(self, call: str) -> None:
        """Press a button by mouse that starts a bake, and wait until all frames are baked."""
        self.window.press(call)
        self.window.wait_until("is_live()", limit=30)
        self.window.wait_until("not is_live()", limit=COMPILING_SECONDS)
        self.window.wait_until("view()['state'] == 'DONE'", limit=10)

    def undo(self) -> None:
        """Press Ctrl Z over the viewport."""
        self.window.move(*self.viewport())
        self.window.key("ctrl+z")

    def redo(self) -> None:
        """Press Shift Ctrl Z over the viewport."""
        self.window.move(*self.viewport())
        self.window.key("ctrl+shift+z")

    def choose(self, menu: str, call: str, columns: int) -> None:
        """Open a menu of the extension over the viewport and click the entry that calls an operator."""
        place = self.viewport(height=0.15)
        self.window.move(*place)
        before = self.window.picture()
        self.window.run(f'with within("VIEW_3D"): bpy.ops.wm.call_menu(name={menu!r})')
        find_entry(self.window, opened(self.window, before, place), call, columns)
        self.picture(menu)
        self.window.mouse("click", "1")

    def tick_last_setting(self, name: str) -> None:
        """Open the last operation's panel over the viewport and click its lowest setting."""
        place = self.viewport(height=0.4)
        self.window.move(*place)
        before = self.window.picture()
        self.window.run('with within("VIEW_3D"): bpy.ops.screen.redo_last("INVOKE_DEFAULT")')
        box = opened(self.window, before, place).box
        self.picture(name)
        # below the setting are a margin and the panel's shadow
        self.window.click((box[0] + box[2]) // 2, box[3] - ROW)

    def open(self, *panels: str) -> None:
        """Show these panels of the sidebar open, in a tab of their own; without any, the extension's tab again."""
        tab = "MPM"
        if panels:
            self._tabs += 1
            tab = f"Open{self._tabs}"
            self.window.run(f"open_panels({panels!r}, {tab!r})")
        self.window.run(f"result = show_sidebar({tab!r})")
        self.window.run("result = (None for _ in range(10))")

    def confirm(self, name: str) -> None:
        """Take a picture of a dialog, and press its main button."""
        self.picture(name)
        self.window.key("Return")

    def write(self, words: str) -> None:
        """Write into the text field of a dialog, and press its main button."""
        self.window.run("result = (None for _ in range(10))")
        self.window.mouse("type", "--delay", "60", words)
        self.window.key("Return", "Return")

    def close(self, *told: str) -> None:
        """Quit Blender, and expect that its console shows no error, except for these, which the artist was told."""
        assert self.window.close(), "Blender did not end by itself"
        console = self.window.console()
        found = [line for line in console.splitlines() if re.search(r"Traceback|Error|error:|segfault|Exception|unable to", line)]
        wrong = [line for line in found if not any(words in line for words in told)]
        assert not wrong, "\n".join(wrong) + "\n" + console[-3000:]


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
    name = request.module.__name__.rpartition("test_")[2]
    window = Window(place, name)
    pictures = PICTURES / request.param / name
    for old in pictures.glob("*.png"):
        old.unlink()
    window.install(request.getfixturevalue("archive"))
    try:
        window.start()
        window.run(NAMES.read_text(encoding="utf-8"))
        yield Walk(window, pictures)
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
        if walk.window.is_running:
            report.sections.append(("picture", str(walk.picture(f"failed_{item.name.split('[')[0]}"))))
        report.sections.append(("Blender's console", walk.window.console()[-3000:]))
    return report
