"""Measures how long the main loop of a real Blender window is away while a bake of many particles runs.

Five cases: an idle window; a window beside as many busy processes as there are cores, which is what any program that computes
does to Blender; the same with the panels drawn ten times a second, which is what any progress bar costs; the bake with its particles
hidden; and the bake with its particles shown. A gap is the time from one call of a 5 ms timer on the main thread to the next.
Longer gaps are told with what ran in them.

    python -m tools.gui.main_loop --blender 5.2 --install build/mpm_addon-....zip
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.gui import places
from tools.gui.blender import Window, WindowError

TOOLS = Path(__file__).parent
LIMIT = 0.050
SETTLING_SECONDS = 15.0
RECORDER = (TOOLS / "recorder.py").read_text(encoding="utf-8")
SCENE = """
bpy.ops.wm.read_homefile(app_template="")
scene = CONTEXT.window_manager.windows[0].scene
cube = scene.objects["Cube"]
cube.location.z = 1.2
cube.mpm.type = "emitter"
cube.mpm.material.preset = "snow"
bpy.ops.mesh.primitive_plane_add(size=8)
scene.objects["Plane"].mpm.type = "collider"
scene.frame_end = {frames}
scene.mpm.solver.spacing = "spacing"
# a cube of 2 m with 8 particles a cell
scene.mpm.solver.grid_spacing = 2.0 / ({particles} / 8) ** (1 / 3)
# antialiasing would draw a still viewport again and again
CONTEXT.preferences.system.viewport_aa = "OFF"
result = show_sidebar("MPM")
"""
# What a bake's progress makes Blender draw, without a bake.
REDRAWING = """
def redraw_panels():
    for kind, region_type in (("VIEW_3D", "UI"), ("PROPERTIES", "WINDOW"), ("DOPESHEET_EDITOR", "WINDOW")):
        region_of(kind, region_type)[2].tag_redraw()
    return 0.1


bpy.app.timers.register(redraw_panels)
"""
STATE = """
from bl_ext.user_default.mpm_addon.blender.settings import paths
from bl_ext.user_default.mpm_addon.blender.baking import session
from bl_ext.user_default.mpm_addon.storage.take import JOURNAL, TAKES
running = session.current()
journals = sorted((paths.absolute(paths.cache_path(CONTEXT.scene)) / TAKES).glob(f"*/{JOURNAL}"))
result = [running.text if running else "", journals[-1].read_bytes().count(b"\\n") if journals else 0]
"""


@dataclass
class Measured:
    """The gaps of one case [s], and what ran in those above the limit: name -> [s]."""

    name: str
    gaps: list[float]
    longest: list[tuple[float, dict[str, float]]] = field(default_factory=list)

    def line(self) -> str:
        """Returns one row of a table in Markdown; milliseconds."""
        gaps = sorted(self.gaps)
        numbers = [gaps[len(gaps) // 2], gaps[min(len(gaps) - 1, int(0.99 * len(gaps)))], gaps[-1]]
        above = sum(gap > LIMIT for gap in gaps)
        ours = max((sum(seconds for name, seconds in parts.items() if is_ours(name)) for _, parts in self.longest), default=0.0)
        shown = " | ".join(f"{1000 * number:.1f}" for number in numbers)
        return f"| {self.name} | {len(gaps)} | {shown} | {above} | {1000 * ours:.1f} |"


def is_ours(name: str) -> bool:
    """Whether a call belongs to the extension."""
    return name not in ("drawing of the viewport", "evaluation of the scene")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--blender", default="5.2")
    parser.add_argument("--install", type=Path, help="install this extension's zip first")
    parser.add_argument("--particles", type=int, default=500_000)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each case")
    parser.add_argument("--show", type=int, default=8, help="how many of the longest gaps to tell of each case")
    arguments = parser.parse_args()
    place = places.find(arguments.blender)
    if place is None:
        print(f"main_loop: error: {places.how_to_get(arguments.blender)}", file=sys.stderr)
        return 1
    window = Window(place, "main_loop")
    if arguments.install:
        window.install(arguments.install)
    try:
        window.start()
        measured = measure(window, arguments.particles, arguments.seconds)
    except WindowError as error:
        print(f"main_loop: error: {error}", file=sys.stderr)
        return 1
    finally:
        window.stop()
    report(measured, arguments.show)
    return 0


def measure(window: Window, particles: int, seconds: float) -> list[Measured]:
    """Goes through the cases."""
    window.run(RECORDER)
    window.run(SCENE.format(frames=250, particles=particles))
    found = [_case(window, "idle", seconds)]
    with busy_processes():
        found.append(_case(window, "beside busy processes", seconds))
        window.run(REDRAWING)
        found.append(_case(window, "beside them, panels drawn 10 times a second", seconds))
        window.run("bpy.app.timers.unregister(redraw_panels)")
    window.press("mpm.bake(")
    _say("waiting for the first frames ...")
    while window.run(STATE)[1] < 2:
        time.sleep(1.0)
        if not window.run(STATE)[0]:
            raise WindowError(f"the bake ended early: {window.run(STATE)}")
    # where the mouse rests the interface draws nothing by itself
    window.move(300, 300)
    count = window.ask("max(len(item.data.vertices) for item in scene.objects if item.type == 'MESH')")
    _say(f"{count} particles")
    first = window.run(STATE)[1]
    window.run("shown = next(item for item in scene.objects if item.mpm.cache); shown.hide_viewport = True")
    time.sleep(SETTLING_SECONDS)
    found.append(_case(window, "bake, particles hidden", seconds))
    window.run("shown.hide_viewport = False")
    time.sleep(SETTLING_SECONDS)
    found.append(_case(window, "bake, particles shown", seconds))
    _say(f"{window.run(STATE)[1] - first} frames came meanwhile; the bake says: {window.run(STATE)[0]}")
    return found


@contextlib.contextmanager
def busy_processes() -> Iterator[None]:
    """As many processes as cores that compute and do nothing else."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _case(window: Window, name: str, seconds: float) -> Measured:
    _say(f"{name} ...")
    path = window.folder / "recorded.json"
    window.run("record()")
    time.sleep(seconds)
    window.run(f"end_record({window.inside(path)!r})")
    recorded = json.loads(path.read_text(encoding="utf-8"))
    found = analysed(name, recorded["gaps"], recorded["calls"])
    _say(found.line())
    return found


def analysed(name: str, gaps: list[list[float]], calls: list[list[object]]) -> Measured:
    """Returns the lengths of gaps, and for each above the limit how long each named call ran in it."""
    found = Measured(name, [end - begin for begin, end in gaps])
    for begin, end in gaps:
        if end - begin <= LIMIT:
            continue
        parts: dict[str, float] = defaultdict(float)
        for called, started, finished in calls:
            overlap = min(end, float(str(finished))) - max(begin, float(str(started)))
            if overlap > 0.0:
                parts[str(called)] += overlap
        found.longest.append((end - begin, dict(parts)))
    found.longest.sort(key=lambda gap: -gap[0])
    return found


def report(measured: list[Measured], shown: int) -> None:
    """Prints the table and the longest gaps."""
    print("\n| case | gaps | median [ms] | 99 % [ms] | longest [ms] | above 50 ms | most of ours in one [ms] |")
    print("|---|---|---|---|---|---|---|")
    for case in measured:
        print(case.line())
    for case in measured:
        if case.longest:
            print(f"\n{case.name}: gaps above {1000 * LIMIT:.0f} ms")
        for length, parts in case.longest[:shown]:
            told = ", ".join(f"{name} {1000 * seconds:.1f}" for name, seconds in sorted(parts.items(), key=lambda part: -part[1]))
            print(f"  {1000 * length:.1f} ms: {told or 'nothing of the extension, no drawing, no evaluation'}")


def _say(text: str) -> None:
    print(f"main_loop: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
