"""The base of all operators: one that fails reports why in one line, and leaves the file unchanged."""

import functools
import sys
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

import bpy

from ...core.errors import Cancelled, MpmError, Stopped
from ...core.messages import Message, one_line
from .blender_types import BlenderEvent, BlenderObject, Context
from .file_record import FileRecord
from .translations import message
from .wording import for_scripts, in_blender


class Operation:
    """An operator. Its `execute`, `invoke` and `modal` raise exceptions to fail, and never report errors themselves.

    An MpmError becomes a one-line report, which a script receives as a RuntimeError. So does any other exception, whose traceback also
    goes to `sys.excepthook`, and so to the system console. An operator with "UNDO" among its options that only changes the file
    undoes what `execute` changed; changes outside the file (frames, files) are kept.
    """

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        # Blender counts the arguments of each of these methods
        for name, wrapped in (("execute", _safe_execute), ("invoke", _safe_invoke), ("modal", _safe_modal)):
            if name in vars(cls):
                setattr(cls, name, wrapped(vars(cls)[name]))

    def touched(self, context: Context) -> Iterable[BlenderObject]:
        """The objects that it may change, for undoing a failure."""
        return [*context.view_layer.objects.selected, *([context.object] if context.object is not None else [])]

    def notes(self: Any, messages: Iterable[Message], level: str = "WARNING") -> None:
        """Report messages, as warnings or as "INFO"."""
        for each in messages:
            self.report({level}, _worded(each))


def call(name: str, *mode: str, **options: Any) -> None:
    """Call an operator, such as "mpm.bake"; mode "INVOKE_DEFAULT" is that of its button. Raises MpmError with its report."""
    area, _, function = name.partition(".")
    try:
        getattr(getattr(bpy.ops, area), function)(*mode, **options)
    except RuntimeError as error:
        raise MpmError(str(error).strip().removeprefix("Error: ")) from error


def _worded(message: Message) -> str:
    """A message in one line; without an interface, only scripts read it."""
    return for_scripts(message) if bpy.app.background else in_blender(message)


class _Attempt:
    """A block of an operator; an exception in it becomes a report.

    Attributes:
        was_expected: whether the exception was an MpmError.
    """

    def __init__(self, operator: Any, words: Callable[[Message], str] = in_blender) -> None:
        self._operator = operator
        self._words = words
        self._record: FileRecord | None = None
        self.was_expected = False

    def __enter__(self) -> "_Attempt":
        return self

    def will_take_back(self, context: Context) -> None:
        """Record the file, to restore it if the block raises."""
        self._record = FileRecord(context, self._operator.touched(context))

    def __exit__(self, _kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        if not isinstance(error, Exception):
            return False
        self.was_expected = isinstance(error, MpmError)
        if isinstance(error, MpmError):
            level = "WARNING" if isinstance(error, Cancelled | Stopped) else "ERROR"
            said = self._words(error.message)
        else:
            level, said = "ERROR", unexpected(self._operator.bl_label, error)
            sys.excepthook(type(error), error, trace)
        if self._record is not None:
            try:
                self._record.put_back()
            except Exception as other:  # noqa: BLE001 - what failed first is to be said all the same
                sys.excepthook(type(other), other, other.__traceback__)
                said = message("{error}. Some changes could not be undone; use Undo or reopen the file", error=said)
        self._operator.report({level}, said)
        return True


def unexpected(label: str, error: Exception) -> str:
    """The message for an unexpected exception."""
    words = one_line(f"{type(error).__name__}: {error}")
    return message("{operator} failed unexpectedly ({error}). The system console shows the full traceback", operator=label, error=words)


def _safe_execute(function: Callable[[Any, Context], Any]) -> Callable[[Any, Context], Any]:
    @functools.wraps(function)
    def execute(self: Any, context: Context) -> Any:
        # without an interface, only scripts call it
        with _Attempt(self, for_scripts if bpy.app.background else in_blender) as attempt:
            if "UNDO" in getattr(self, "bl_options", ()):
                attempt.will_take_back(context)
            return function(self, context)
        return {"CANCELLED"}

    return execute


def _safe_invoke(function: Callable[[Any, Context, BlenderEvent], Any]) -> Callable[[Any, Context, BlenderEvent], Any]:
    @functools.wraps(function)
    def invoke(self: Any, context: Context, event: BlenderEvent) -> Any:
        with _Attempt(self):
            return function(self, context, event)
        return {"CANCELLED"}

    return invoke


def _safe_modal(function: Callable[[Any, Context, BlenderEvent], Any]) -> Callable[[Any, Context, BlenderEvent], Any]:
    @functools.wraps(function)
    def modal(self: Any, context: Context, event: BlenderEvent) -> Any:
        with _Attempt(self) as attempt:
            return function(self, context, event)
        if not attempt.was_expected:
            # as when Blender ends the operator: stop what it follows
            self.cancel(context)
        return {"CANCELLED"}

    return modal
