"""The base of operators that follow a process: their timer, and the redraw of panels."""

import time
from typing import Any

import bpy

from ...baking import session
from ...baking.session import BakeSession
from ...host.blender_types import BlenderEvent, Context
from ...host.operation import Operation
from ...host.redrawing import redraw

_TIMER_SECONDS = 0.03
_DRAWING_SECONDS = 0.25


class Following(Operation):
    """An operator that follows a process with a timer."""

    _timer: Any = None
    _drawn_at = 0.0
    _is_stale = False

    def _follow(self, context: Context) -> Any:
        manager = context.window_manager
        self._timer = manager.event_timer_add(_TIMER_SECONDS, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def _draw_progress(self, context: Context, *, has_news: bool) -> None:
        """Redraw panels with the progress, at a limited rate."""
        self._is_stale = self._is_stale or has_news
        now = time.monotonic()
        if self._is_stale and now >= self._drawn_at + _DRAWING_SECONDS:
            self._is_stale, self._drawn_at = False, now
            redraw(context.window_manager)

    def _on_news(self, running: BakeSession) -> None:
        """Called for each event of the bake, before panels are redrawn."""

    def _stop(self, context: Context) -> None:
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
        redraw(context.window_manager)


class FollowingBake(Following):
    """An operator that starts a bake and follows it to its end."""

    def modal(self, context: Context, event: BlenderEvent) -> Any:
        running = session.current()
        if running is None:
            self._stop(context)
            return {"CANCELLED"}
        if not poll_bake(self, context, event, running):
            return {"PASS_THROUGH"}
        self._stop(context)
        session.end()
        running.raise_outcome()
        return {"FINISHED"}

    def cancel(self, context: Context) -> None:
        """Blender ends the operator itself, to open another file or to quit."""
        self._stop(context)
        session.leave()


def poll_bake(operator: Any, context: Context, event: BlenderEvent, running: BakeSession) -> bool:
    """Poll the bake that an operator follows; Escape cancels it while its scene is being read. Returns whether it has ended."""
    if event.type == "ESC" and running.is_preparing:
        running.cancel()
    elif event.type != "TIMER":
        return False
    was_made = running.result.is_made
    has_news = bool(running.poll()) or running.is_finished or running.is_preparing
    running.follow.step(context, running.result)
    if running.result.is_made and (running.is_finished or not was_made) and context.mode == "OBJECT":
        # otherwise undoing an edit that follows would take away what shows the bake
        bpy.ops.ed.undo_push(message="Bake" if running.is_finished else "Show Bake")
    if has_news:
        operator._on_news(running)
    operator._draw_progress(context, has_news=has_news or running.is_silent)
    if running.is_finished:
        operator.notes(running.news, "INFO")
        operator.notes(running.notes)
    return running.is_finished
