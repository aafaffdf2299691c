"""The demonstration: install the built extension into a Blender of its own, build a scene, bake it, render it.

Writes into build/demo/. Start it with `make demo`, which builds the extension's zip first.
"""

import json
import shutil
import subprocess
import sys
import time
from typing import Any

from making import ROOT, DemoError, IsolatedBlender, built_zip, told
from pictures import animation, contact_sheet

OUTPUT = ROOT / "build" / "demo"
BLEND_FILE = OUTPUT / "demo.blend"
CACHE = OUTPUT / "cache_mpm"

FPS = 24
STILL_SIZE, STILL_SAMPLES = (640, 360), 12
ANIMATED = range(1, 49, 3)
ANIMATED_SIZE, ANIMATED_SAMPLES = (320, 180), 8
# Seconds between two lines about the bake.
PROGRESS_INTERVAL = 5.0


def main() -> int:
    started = time.perf_counter()
    try:
        make()
    except DemoError as error:
        print(f"demo: error: {error}", file=sys.stderr, flush=True)
        return 1
    say(f"done after {time.perf_counter() - started:.0f} s")
    return 0


def make() -> None:
    """Bake and render the demonstration. Raises DemoError."""
    archive = built_zip()
    shutil.rmtree(OUTPUT, ignore_errors=True)
    blender = IsolatedBlender(OUTPUT / "blender")
    say(f"installing {archive.name} into an empty Blender, building the scene, baking ...")
    started = time.perf_counter()
    stills = list(map(int, told(blender.run("bake.py", archive, "four_materials", BLEND_FILE, on_poll=BakeProgress().look), "stills")))
    frames = baked_frames(max(stills))
    particles, substeps = frames[-1]["particles"], sum(frame["substeps"] for frame in frames)
    say(f"baked {len(frames)} frames with {particles:,} particles in {time.perf_counter() - started:.0f} s, {substeps:,} substeps")
    say(f"scene         {BLEND_FILE}")
    sheet, film = OUTPUT / "contact_sheet.png", OUTPUT / "animation.gif"
    contact_sheet(blender.render(BLEND_FILE, OUTPUT / "stills", stills, STILL_SIZE, STILL_SAMPLES), stills, sheet)
    say(f"contact sheet {sheet}")
    animated = blender.render(BLEND_FILE, OUTPUT / "animation", ANIMATED, ANIMATED_SIZE, ANIMATED_SAMPLES)
    animation(animated, film, seconds_per_frame=ANIMATED.step / FPS)
    say(f"animation     {film}")


def say(text: str) -> None:
    print(f"demo: {text}", flush=True)


class BakeProgress:
    """Prints what the bake's status file says, now and then."""

    def __init__(self) -> None:
        self._next = 0.0
        self._said = ""

    def look(self) -> None:
        status_file = CACHE / "status.json"
        if time.monotonic() < self._next or not status_file.is_file():
            return
        self._next = time.monotonic() + PROGRESS_INTERVAL
        text = progress_line(json.loads(status_file.read_text(encoding="utf-8")))
        if text != self._said:
            say(text)
        self._said = text


def progress_line(status: dict[str, Any]) -> str:
    """One line about a running bake, from its status file."""
    if "particles" not in status:
        return "compiling the solver ..."
    line = f"frame {status['done']}/{status['total']}, {status['particles']:,} particles, {status['substeps']} substeps"
    eta = status.get("eta_seconds")
    return line if eta is None else f"{line}, {eta:.0f} s left"


def baked_frames(count: int) -> list[dict[str, Any]]:
    """What the command line knows of the cache's frames. Raises DemoError where one is missing."""
    command = [sys.executable, "-m", "mpm_addon", "info", str(CACHE), "--json"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise DemoError(answer.stderr.strip())
    frames = json.loads(answer.stdout)["frames"]
    if len(frames) < count:
        raise DemoError(f"{CACHE} holds {len(frames)} frames, not {count}")
    return frames


if __name__ == "__main__":
    sys.exit(main())
