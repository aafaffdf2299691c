"""A real Blender window on a virtual screen: start it, press its buttons by mouse, take screenshots, run Python on its main thread."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from PIL import Image

from tools.gui.places import Place
from tools.gui.screen import read_screen

TOOLS = Path(__file__).parent

# Software OpenGL: the same everywhere, and available without a graphics card.
SOFTWARE_DRAWING = {"LIBGL_ALWAYS_SOFTWARE": "1", "GALLIUM_DRIVER": "llvmpipe"}
START_SECONDS = 120.0
ANSWER_SECONDS = 900.0
END_SECONDS = 60.0
SETTLING_SECONDS = 0.6
# Of the mouse wheel, less than a page of a region at an interface scale of 1.
_NOTCHES = 12
# Number of times Blender handles events before it knows the button under the mouse.
_LEARNING = 4
# Of the screen, in pixels.
SIZE = (1600, 900)


class WindowError(Exception):
    """Blender did not start, or a script in it failed; the message contains its output."""


class Window:
    """A Blender with its own screen, mouse and home folder."""

    def __init__(self, place: Place, name: str = "window") -> None:
        self.place = place
        self.folder = place.shared / f"{name}-{place.blender}"
        self._display = ""
        # The processes of the screen and of Blender, in starting order.
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, *arguments: str) -> None:
        """Starts the screen and Blender, and waits for its main loop. Raises WindowError."""
        for name in ("scripts", "screen", "runtime"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).mkdir(parents=True)
        (self.folder / "runtime").chmod(0o700)
        for name in ("bridge.py", "interface.py"):
            shutil.copy2(TOOLS / name, self.folder)
        self._start_screen()
        width, height = map(str, SIZE)
        words = ["blender", "--window-geometry", "0", "0", width, height, *arguments]
        words += ["--python", self.place.inside(self.folder / "bridge.py")]
        self._start(words, self.log)
        self.run((TOOLS / "interface.py").read_text(encoding="utf-8"), limit=START_SECONDS)

    @property
    def is_running(self) -> bool:
        """Whether Blender is running."""
        return bool(self._processes) and self._processes[-1].poll() is None

    @property
    def log(self) -> Path:
        """The file with Blender's console output."""
        return self.folder / "console.txt"

    def console(self) -> str:
        """Returns Blender's console output."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    @property
    def home(self) -> Path:
        """The user's folder. All windows of a place share it, so that kernels are compiled once."""
        return self.place.shared / f"home-{self.place.blender}"

    def inside(self, path: Path) -> str:
        """Returns a path in this window's folder as Blender sees it."""
        return self.place.inside(path)

    def command_line(self, *arguments: str) -> str:
        """Runs this Blender without a window, with the same home, and returns its output. Raises WindowError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        command = self._command("blender", *arguments)
        finished = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False)
        if finished.returncode != 0:
            raise WindowError(f"blender {' '.join(arguments)}: status {finished.returncode}\n{finished.stdout}{finished.stderr}")
        return finished.stdout

    def install(self, archive: Path) -> None:
        """Installs and enables an extension's zip in this window's home, from the command line."""
        self.folder.mkdir(parents=True, exist_ok=True)
        copy = self.folder / archive.name
        shutil.copy2(archive, copy)
        self.command_line("--command", "extension", "install-file", "-r", "user_default", "--enable", self.inside(copy))
        copy.unlink()

    def run(self, source: str, *, limit: float = ANSWER_SECONDS) -> Any:
        """Runs Python on Blender's main thread; returns what it assigned to `result`. Raises WindowError with its traceback."""
        name = str(time.time_ns())
        scripts = self.folder / "scripts"
        (scripts / f"{name}.new").write_text(source, encoding="utf-8")
        (scripts / f"{name}.new").rename(scripts / f"{name}.py")
        answer = scripts / f"{name}.json"
        end = time.monotonic() + limit
        while not answer.exists():
            if not self.is_running:
                raise WindowError(f"Blender has ended:\n{self.console()[-3000:]}")
            if time.monotonic() > end:
                raise WindowError(f"no answer within {limit:.0f} s to:\n{source[:500]}\n{self.console()[-3000:]}")
            time.sleep(0.02)
        content = json.loads(answer.read_text(encoding="utf-8"))
        if content["error"]:
            raise WindowError(content["printed"] + content["error"])
        return content["result"]

    def ask(self, expression: str) -> Any:
        """Returns the value of an expression in Blender, as JSON can hold it."""
        return self.run(f"result = {expression}")

    def wait_until(self, expression: str, limit: float = 60.0) -> None:
        """Waits until an expression is true in Blender. Raises WindowError after `limit` seconds."""
        end = time.monotonic() + limit
        while not self.ask(f"bool({expression})"):
            if time.monotonic() > end:
                raise WindowError(f"not true within {limit:.0f} s: {expression}")
            time.sleep(0.1)

    def mouse(self, *words: str) -> None:
        """Runs xdotool with these arguments: "mousemove", "10", "20", or "key", "shift+a"."""
        subprocess.run(self._command("xdotool", *words), check=True)

    def move(self, x: int, y: int) -> None:
        """Moves the mouse to a place on the screen, from its top left corner."""
        self.mouse("mousemove", str(x), str(y), "sleep", "0.1")

    def click(self, x: int, y: int, button: int = 1) -> None:
        """Moves the mouse to a place and presses a button there."""
        self.move(x, y)
        # a button that Blender does not know to be under the mouse yet is not pressed, and a busy Blender learns it late
        self.run(f"result = (None for _ in range({_LEARNING}))")
        self.mouse("click", str(button))

    def key(self, *keys: str) -> None:
        """Presses keys one after the other, as xdotool names them."""
        self.mouse("key", "--delay", "60", *keys)

    def find_button(self, call: str, editor: str = "VIEW_3D") -> tuple[int, int]:
        """Returns the position of an operator's button. Raises WindowError if no such button is shown."""
        found = self.run(f"result = find_button({call!r}, {editor!r}, 'UI')")
        if not found:
            raise WindowError(f"no button that calls {call!r} in {editor}")
        return found[0], found[1]

    def pages(self, editor: str, region: str, limit: int = 40) -> list[Image.Image]:
        """Returns pictures of a region from its top to its bottom, scrolled by mouse, at most `limit`."""
        left, top, width, height = self.run(f"result = box({editor!r}, {region!r})")
        self.move(left + width // 3, top + height // 2)
        self.run(f"with within({editor!r}, {region!r}): bpy.ops.view2d.reset()")
        self.run("result = (None for _ in range(8))")
        found: list[Image.Image] = []
        while len(found) < limit:
            time.sleep(SETTLING_SECONDS)
            page = self.picture().crop((left, top, left + width, top + height))
            if found and page.tobytes() == found[-1].tobytes():
                break
            found.append(page)
            self.mouse("click", "--repeat", str(_NOTCHES), "--delay", "15", "5")
        return found

    def press(self, call: str, editor: str = "VIEW_3D") -> None:
        """Finds the button of an operator and presses it by mouse."""
        self.click(*self.find_button(call, editor))

    def picture(self) -> Image.Image:
        """Returns the current picture of the screen."""
        return read_screen(self.folder / "screen" / "Xvfb_screen0")

    def screenshot(self, path: Path) -> Path:
        """Writes the current picture of the screen as a PNG."""
        time.sleep(SETTLING_SECONDS)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.picture().save(path, optimize=True)
        return path

    def close(self) -> bool:
        """Quits Blender as its menu does; returns whether it ended by itself."""
        with contextlib.suppress(WindowError):
            self.run("bpy.app.timers.register(lambda: bpy.ops.wm.quit_blender() and None, first_interval=0.2)")
        end = time.monotonic() + END_SECONDS
        while self.is_running and time.monotonic() < end:
            time.sleep(0.1)
        has_ended = not self.is_running
        self.stop()
        return has_ended

    def stop(self) -> None:
        """Ends all started processes, whatever their state."""
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()
        # a bake survives a crash of Blender
        for number in _processes_with(f"MPM_GUI_RUN={self.place.inside(self.folder)}"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    def _start_screen(self) -> None:
        ours, theirs = os.pipe()
        words = ["Xvfb", "-displayfd", str(theirs), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-nolisten", "tcp", "-noreset"]
        words += ["-fbdir", self.place.inside(self.folder / "screen")]
        self._start(words, self.folder / "screen.txt", (theirs,))
        os.close(theirs)
        with os.fdopen(ours, encoding="utf-8") as answer:
            self._display = answer.readline().strip()
        if not self._display:
            raise WindowError(f"Xvfb did not start:\n{(self.folder / 'screen.txt').read_text(encoding='utf-8', errors='replace')}")

    def _start(self, words: list[str], log: Path, descriptors: tuple[int, ...] = ()) -> None:
        with log.open("wb") as output:
            command = self._command(*words)
            self._processes.append(subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, pass_fds=descriptors))

    def _command(self, *words: str) -> list[str]:
        inside, home = self.place.inside(self.folder), self.place.inside(self.home)
        variables = {
            **SOFTWARE_DRAWING,
            "HOME": home,
            "BLENDER_USER_RESOURCES": f"{home}/blender",
            "XDG_RUNTIME_DIR": f"{inside}/runtime",
            "MPM_GUI_RUN": inside,
            "DISPLAY": f":{self._display}",
        }
        self.home.mkdir(parents=True, exist_ok=True)
        return self.place.command(*words, variables=variables)


def _processes_with(variable: str) -> list[int]:
    """Processes of this machine that have an environment variable, as "NAME=value"."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or belongs to another user
            if f"{variable}\0".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found
