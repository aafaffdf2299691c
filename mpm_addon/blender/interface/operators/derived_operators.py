"""The operators of derived data: make, stop, delete. Each calls one function."""

from typing import Any, ClassVar

import bpy

from ...baking import derived_facts, derived_processes
from ...baking.derived_kinds import DERIVED_KINDS, DerivedKind
from ...host.blender_types import BlenderEvent, Context
from ...host.operation import Operation
from ...host.redrawing import redraw
from ...host.registrar import Registrar
from ...host.wording import counted, size
from ...settings.properties import OTHER_CACHE
from .following import Following


class _OfKind:
    """An operator on one kind of derived data."""

    kind: ClassVar[DerivedKind]
    bl_label: str


class _WhileNoneIsMade(_OfKind):
    """An operator on the derived data of a scene's cache, unavailable while some of this kind is being made."""

    cache: OTHER_CACHE

    @classmethod
    def poll(cls: Any, context: Context) -> bool:
        cls.poll_message_set(cls.kind.when_busy)
        return context.scene is not None and derived_processes.current(cls.kind.name) is None


class _Making(_WhileNoneIsMade, Following):
    """Makes it in the background."""

    def execute(self, context: Context) -> Any:
        """Make it and wait, for scripts and background mode."""
        derived_processes.make(context.scene, kind=self.kind.name, cache=self.cache)
        return {"FINISHED"}

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        """Start it and follow it from the interface."""
        derived_processes.start(context.scene, kind=self.kind.name, cache=self.cache)
        return self._follow(context)

    def modal(self, context: Context, event: BlenderEvent) -> Any:
        running = derived_processes.current(self.kind.name)
        if running is None:
            self._stop(context)
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        self._draw_progress(context, has_news=bool(running.poll()) or running.is_finished)
        derived_processes.keep_in_undo(running)
        if not running.is_finished:
            return {"PASS_THROUGH"}
        self._stop(context)
        derived_processes.end(self.kind.name)
        running.raise_outcome()
        return {"FINISHED"}

    def cancel(self, context: Context) -> None:
        """Blender ends the operator itself, to open another file or to quit."""
        self._stop(context)
        derived_processes.end(self.kind.name)


class _Stopping(_OfKind, Operation):
    """Stops making it."""

    @classmethod
    def poll(cls: Any, context: Context) -> bool:
        cls.poll_message_set(cls.kind.when_idle)
        return derived_processes.current(cls.kind.name) is not None

    def execute(self, context: Context) -> Any:
        derived_processes.cancel(self.kind.name)
        redraw(context.window_manager)
        return {"FINISHED"}


class _Deleting(_WhileNoneIsMade, Operation):
    """Deletes it."""

    def invoke(self, context: Context, event: BlenderEvent) -> Any:
        facts = derived_facts.facts_of(context.scene, self.kind.name)
        count = facts.made + facts.outdated
        if not count or self.cache:
            return self.execute(context)
        lost = f"The {self.kind.name} of {counted(count, 'frame')} ({size(facts.size)}){self.kind.lost_too} will be deleted"
        return context.window_manager.invoke_confirm(self, event, title=self.bl_label, message=lost, confirm_text="Delete", icon="WARNING")

    def execute(self, context: Context) -> Any:
        redraw(context.window_manager)
        derived_processes.delete(context.scene, kind=self.kind.name, cache=self.cache)
        return {"FINISHED"}


def _operators_of(kind: DerivedKind) -> list[type]:
    """The three operators of a kind."""
    register, undo = {"REGISTER"}, {"REGISTER", "UNDO"}
    rows = (
        ("make", _Making, kind.make_label, kind.making, register),
        ("stop", _Stopping, "Stop", kind.stopping, set()),
        ("delete", _Deleting, kind.delete_label, kind.deleting, undo if kind.is_undoable else register),
    )
    made = []
    for verb, base, label, tip, options in rows:
        members = {"bl_idname": f"mpm.{kind.name}_{verb}", "bl_label": label, "bl_options": options, "__doc__": tip, "kind": kind}
        made.append(type(f"MPM_OT_{kind.name}_{verb}", (base, bpy.types.Operator), {**members, "__module__": __name__}))
    return made


CLASSES = tuple(operator for kind in DERIVED_KINDS.values() for operator in _operators_of(kind))


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
    registrar.on_removal(derived_processes.end_all)
