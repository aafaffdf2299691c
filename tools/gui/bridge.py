"""Runs inside a Blender that `blender.py` started: executes the scripts that appear in a folder, on the main thread.

Timers have no window, so scripts get the first one. The answer to a script NAME.py is NAME.json: {"result": what it assigned to
`result`, "printed": ..., "error": a traceback or ""}. If `result` is a generator, it is resumed at each call, so that a script can let
Blender handle events in between.
"""

import contextlib
import io
import json
import os
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import Any

import bpy

FOLDER = Path(os.environ["MPM_GUI_RUN"]) / "scripts"
INTERVAL = 0.03
CONTEXT: Any = bpy.context

_names: dict[str, Any] = {"bpy": bpy}
# The running script: its name, its remaining steps, and its output.
_under_way: list[tuple[str, Generator[None, None, Any], io.StringIO]] = []


def look() -> float:
    """Resumes the running script, or starts the next one."""
    if _under_way:
        _resume(*_under_way[0])
        return INTERVAL
    for path in sorted(FOLDER.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        path.unlink()
        _begin(path.stem, source)
    return INTERVAL


def _begin(name: str, source: str) -> None:
    printed = io.StringIO()
    _names["result"] = None
    try:
        with contextlib.redirect_stdout(printed), CONTEXT.temp_override(window=CONTEXT.window_manager.windows[0]):
            exec(compile(source, name, "exec"), _names)
    except BaseException:  # noqa: BLE001 - whatever a script raises is its answer
        _answer(name, None, printed, traceback.format_exc())
        return
    if isinstance(_names["result"], Generator):
        _under_way.append((name, _names["result"], printed))
    else:
        _answer(name, _names["result"], printed, "")


def _resume(name: str, steps: Generator[None, None, Any], printed: io.StringIO) -> None:
    try:
        with contextlib.redirect_stdout(printed):
            next(steps)
    except StopIteration as finished:
        _under_way.clear()
        _answer(name, finished.value, printed, "")
    except BaseException:  # noqa: BLE001
        _under_way.clear()
        _answer(name, None, printed, traceback.format_exc())


def _answer(name: str, result: object, printed: io.StringIO, error: str) -> None:
    unfinished = FOLDER / f"{name}.unfinished"
    answer = {"result": result, "printed": printed.getvalue(), "error": error}
    unfinished.write_text(json.dumps(answer, default=str), encoding="utf-8")
    unfinished.replace(FOLDER / f"{name}.json")


CONTEXT.preferences.use_preferences_save = False
CONTEXT.preferences.view.show_splash = False
# a second window would cover the first, since the screen has no window manager
CONTEXT.preferences.view.render_display_type = "SCREEN"
# pictures have the same size on every screen, and no tooltip covers a button
CONTEXT.preferences.view.ui_scale = 1.0
CONTEXT.preferences.view.show_tooltips = False
bpy.app.timers.register(look, first_interval=0.5, persistent=True)
