"""Runs inside Blender: notes how long the main loop is away, and what of the extension, of drawing and of evaluation ran meanwhile.

Everything of the extension that Blender calls is wrapped: methods of its panels, menus and operators, its handlers and timers.
Drawing of the viewport is the time between the first and the last draw handler, evaluation that between the depsgraph's handlers.
"""

import functools
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

PACKAGE = "bl_ext.user_default.mpm_addon"
INTERVAL = 0.005
TIMERS: Any = bpy.app.timers
_METHODS = ("draw", "draw_header", "draw_header_preset", "poll", "modal", "invoke", "execute", "cancel", "draw_item", "filter_items")
_BASES = (bpy.types.Panel, bpy.types.Operator, bpy.types.Menu, bpy.types.UIList, bpy.types.Header)

_calls: list[tuple[str, float, float]] = []
_gaps: list[tuple[float, float]] = []
_undo: list[Callable[[], None]] = []
_opened: dict[str, float] = {}
_depth = 0


def _timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        global _depth
        _depth += 1
        begin = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            _depth -= 1
            if _depth == 0:
                _calls.append((name, begin, time.perf_counter()))

    # Blender looks how many arguments a function takes and gives it as many
    names = ", ".join(f"argument_{number}" for number in range(function.__code__.co_argcount))
    wrapper = eval(f"lambda {names}: call({names})", {"call": call})
    return functools.update_wrapper(wrapper, function)


def _wrap_classes() -> None:
    classes = [cls for base in _BASES for cls in base.__subclasses__() if cls.__module__.startswith(PACKAGE)]
    for cls in classes:
        for method in _METHODS:
            found = cls.__dict__.get(method)
            if found is None:
                continue
            function = found.__func__ if isinstance(found, classmethod) else found
            timed = _timed(f"{cls.__name__}.{method}", function)
            setattr(cls, method, classmethod(timed) if isinstance(found, classmethod) else timed)
            _undo.append(functools.partial(setattr, cls, method, found))


def _wrap_handlers() -> None:
    for name in dir(bpy.app.handlers):
        handlers = getattr(bpy.app.handlers, name)
        if not isinstance(handlers, list):
            continue
        for number, handler in enumerate(handlers):
            if getattr(handler, "__module__", "").startswith(PACKAGE):
                handlers[number] = _timed(f"{name}: {handler.__name__}", handler)
                _undo.append(functools.partial(handlers.__setitem__, number, handler))


def _wrap_timers() -> None:
    for module_name, module in list(sys.modules.items()):
        if not module_name.startswith(PACKAGE):
            continue
        functions: list[Any] = list(vars(module).values())
        for function in functions:
            if callable(function) and getattr(function, "__module__", "") == module_name and TIMERS.is_registered(function):
                timed = _timed(f"timer {module_name.rpartition('.')[2]}.{function.__name__}", function)
                TIMERS.unregister(function)
                TIMERS.register(timed, persistent=True)
                _undo.append(functools.partial(_put_back, timed, function))


def _put_back(timed: Any, function: Any) -> None:
    TIMERS.unregister(timed)
    TIMERS.register(function, persistent=True)


def _between(name: str) -> tuple[Callable[..., None], Callable[..., None]]:
    def open_it(*_: object) -> None:
        _opened[name] = time.perf_counter()

    def close_it(*_: object) -> None:
        begin = _opened.pop(name, None)
        if begin is not None:
            _calls.append((name, begin, time.perf_counter()))

    return open_it, close_it


def _watch_blender() -> None:
    before, after = _between("drawing of the viewport")
    view = bpy.types.SpaceView3D
    for function, moment in ((before, "PRE_VIEW"), (after, "POST_PIXEL")):
        handle = view.draw_handler_add(function, (), "WINDOW", moment)
        _undo.append(functools.partial(view.draw_handler_remove, handle, "WINDOW"))
    before, after = _between("evaluation of the scene")
    for handlers, function in ((bpy.app.handlers.depsgraph_update_pre, before), (bpy.app.handlers.depsgraph_update_post, after)):
        handlers.append(function)
        _undo.append(functools.partial(handlers.remove, function))


_last = 0.0


def _tick() -> float:
    global _last
    now = time.perf_counter()
    if _last:
        _gaps.append((_last, now))
    _last = now
    return INTERVAL


def record() -> None:
    """Begins to note the main loop's gaps."""
    global _last
    _last = 0.0
    _wrap_classes()
    _wrap_handlers()
    _wrap_timers()
    _watch_blender()
    TIMERS.register(_tick, persistent=True)


def end_record(path: str) -> int:
    """Ends it, writes gaps and calls as JSON [s], and returns the number of gaps."""
    TIMERS.unregister(_tick)
    while _undo:
        _undo.pop()()
    Path(path).write_text(json.dumps({"gaps": _gaps, "calls": _calls}), encoding="utf-8")
    count = len(_gaps)
    _gaps.clear()
    _calls.clear()
    return count
