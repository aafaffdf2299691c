"""The demonstration: install the built extension into a Blender of its own, build a scene, bake it, render it.

Writes into build/demo/. Start it with `make demo`, which builds the extension's zip first.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from blender_process import DemoError, IsolatedBlender
from pictures import animation, contact_sheet

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "build" / "demo"
BLEND_FILE = OUTPUT / "demo.blend"
CACHE = OUTPUT / "cache_mpm"

FPS = 24
STILLS = (1, 10, 16, 48)
STILL_SIZE, STILL_SAMPLES = (640, 360), 12
ANIMATED = range(1, 49, 3)
ANIMATED_SIZE, ANIMATED_SAMPLES = (320, 180), 8

BAKE_LIMIT_SECONDS = 3600.0
RENDER_LIMIT_SECONDS = 1800.0
# Seconds between two lines about the bake.
PROGRESS_INTERVAL = 5.0


def main() -> int:
    started = time.perf_counter()
    try:
        archive = built_zip()
        shutil.rmtree(OUTPUT, ignore_errors=True)
        blender = IsolatedBlender(OUTPUT / "blender")
        seconds = bake(blender, archive)
        frames = baked_frames()
        say(
            f"baked {len(frames)} frames with {frames[-1]['particles']:,} particles in {seconds:.0f} s, "
            f"{sum(frame['substeps'] for frame in frames):,} substeps"
        )
        sheet, film = render(blender)
    except DemoError as error:
        print(f"demo: error: {error}", file=sys.stderr, flush=True)
        return 1
    say(f"scene         {BLEND_FILE}")
    say(f"contact sheet {sheet}")
    say(f"animation     {film}")
    say(f"done after {time.perf_counter() - started:.0f} s")
    return 0


def say(text: str) -> None:
    print(f"demo: {text}", flush=True)


def built_zip() -> Path:
    """The newest zip of the extension in build/. Raises DemoError where there is none."""
    archives = sorted((ROOT / "build").glob("mpm_addon-*.zip"), key=lambda path: path.stat().st_mtime)
    if not archives:
        raise DemoError("build/ holds no zip of the extension; run make build")
    return archives[-1]


def bake(blender: IsolatedBlender, archive: Path) -> float:
    """Install the zip, build the scene and bake it; returns the seconds that it took."""
    say(f"installing {archive.name} into an empty Blender, building the scene, baking ...")
    started = time.perf_counter()
    progress = BakeProgress()
    blender.run("bake.py", str(archive), str(BLEND_FILE), limit_seconds=BAKE_LIMIT_SECONDS, on_poll=progress.look)
    return time.perf_counter() - started


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


def baked_frames() -> list[dict[str, Any]]:
    """What the command line knows of the cache's frames. Raises DemoError where one is missing."""
    command = [sys.executable, "-m", "mpm_addon", "info", str(CACHE), "--json"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if told.returncode != 0:
        raise DemoError(told.stderr.strip())
    frames = json.loads(told.stdout)["frames"]
    if len(frames) < max(STILLS):
        raise DemoError(f"{CACHE} holds {len(frames)} frames, not {max(STILLS)}")
    return frames


def render(blender: IsolatedBlender) -> tuple[Path, Path]:
    """Render the stills and the animation; returns the contact sheet and the GIF."""
    stills = render_frames(blender, "stills", STILLS, STILL_SIZE, STILL_SAMPLES)
    sheet = OUTPUT / "contact_sheet.png"
    contact_sheet(stills, [f"frame {number}" for number in STILLS], sheet)
    animated = render_frames(blender, "animation", ANIMATED, ANIMATED_SIZE, ANIMATED_SAMPLES)
    film = OUTPUT / "animation.gif"
    animation(animated, film, seconds_per_frame=ANIMATED.step / FPS)
    return sheet, film


def render_frames(blender: IsolatedBlender, name: str, numbers: Any, size: tuple[int, int], samples: int) -> list[Path]:
    """Render frames of the saved file into a folder; returns the pictures."""
    folder = OUTPUT / name
    folder.mkdir()
    pictures = [folder / f"{number:04d}.png" for number in numbers]
    say(f"rendering {len(pictures)} pictures of {size[0]}x{size[1]} into {os.path.relpath(folder)} ...")
    words = map(str, (BLEND_FILE, folder, *size, samples, *numbers))
    blender.run("render.py", *words, limit_seconds=RENDER_LIMIT_SECONDS)
    missing = [picture.name for picture in pictures if not picture.is_file()]
    if missing:
        raise DemoError(f"Blender rendered no {', '.join(missing)}")
    return pictures


if __name__ == "__main__":
    sys.exit(main())
