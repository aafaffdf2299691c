"""Events: what commands tell while they run, one JSON object per line. Each kind is declared here, and written and read nowhere else.

Commands that run for a while (bake, derive, wedge, live) each have a vocabulary of kinds; "start" of one has other keys than "start" of
another.
"""

import dataclasses
import functools
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, ClassVar, Self

from ..core.errors import Cancelled, MpmError, Stopped, UnstableError
from ..core.messages import Message, SceneWarning, Topic, message_of
from .failure import summary

# The keys of a message, which events have beside their own.
MESSAGE_KEYS = tuple(Message("").fields())
# A key that is left out instead of being null.
_OPTIONAL = {"is_optional": True}


@typing.dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Event:
    """Something that a command tells; each subclass is a frozen dataclass.

    The attributes are the keys in JSON; a message or warning is spread over several keys.

    Attributes:
        word: the kind in JSON.
    """

    word: ClassVar[str]

    def __init_subclass__(cls, word: str = "") -> None:
        cls.word = word
        dataclass(frozen=True, kw_only=True)(cls)

    def fields(self) -> dict[str, Any]:
        """The event as a JSON object."""
        return {"event": self.word, **self.content()}

    def content(self) -> dict[str, Any]:
        """What it tells, without its kind."""
        told: dict[str, Any] = {}
        for each in _fields(type(self)):
            value = getattr(self, each.name)
            if isinstance(value, (Message, SceneWarning)):
                told |= value.fields()
            elif value is not None or not each.metadata:
                told[each.name] = value
        return told

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """The keys that it can have in JSON, besides "event"."""
        spread = {Message: MESSAGE_KEYS, SceneWarning: ("topic", *MESSAGE_KEYS)}
        return tuple(key for name, kind in _types(cls).items() for key in spread.get(kind, (name,)))

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self | None:
        """The event in an untrusted JSON object; None if a value is missing or of the wrong type."""
        values: dict[str, Any] = {}
        for each in _fields(cls):
            wanted = _types(cls)[each.name]
            if wanted is Message:
                values[each.name] = message_of(told)
            elif wanted is SceneWarning:
                if told.get("topic") not in set(Topic):
                    return None
                values[each.name] = SceneWarning(Topic(told["topic"]), message_of(told))
            elif each.name in told and _is_of(told[each.name], wanted):
                values[each.name] = told[each.name]
            elif each.name in told or not each.metadata:
                return None
        return cls(**values)


def _fields(kind: type[Event]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(typing.cast(Any, kind))


@functools.cache
def _types(kind: type[Event]) -> dict[str, Any]:
    """The types of an event's attributes, by name."""
    hints = typing.get_type_hints(kind)
    return {each.name: hints[each.name] for each in _fields(kind)}


def _is_of(value: object, wanted: Any) -> bool:
    """Whether a JSON value has a type; whole numbers are also numbers."""
    if isinstance(wanted, UnionType):
        return any(_is_of(value, each) for each in wanted.__args__)
    if isinstance(value, bool) or wanted is bool:
        return isinstance(value, bool) and wanted is bool
    return isinstance(value, (int, float) if wanted is float else typing.get_origin(wanted) or wanted)


# Kinds that several commands have.


class WarningEvent(Event, word="warning"):
    """Something worth a second look."""

    warning: SceneWarning


class Compiling(Event, word="compiling"):
    """Kernels are being compiled: how many of how many are ready."""

    frame: int | None = field(default=None, metadata=_OPTIONAL)
    compiled: int
    kernels: int


class Preparing(Event, word="preparing"):
    """Particles are being sampled, or read from a checkpoint."""

    frame: int


class Finished(Event, word="done"):
    """All requested frames are finished."""

    frames: int
    seconds: float


class Ending(Event):
    """The command ends without having finished."""

    message: Message


class CancelledEvent(Ending, word="cancelled"):
    """Someone asked it to stop."""


class StoppedEvent(Ending, word="stopped"):
    """A limit was reached."""

    reason: str


class ErrorEvent(Ending, word="error"):
    """It failed."""


class SimulationError(ErrorEvent, word="error"):
    """A simulation failed; after an instability with what is known of it."""

    failure: dict[str, Any] | None = field(default=None, metadata=_OPTIONAL)


class _Counted(Event):
    """How many frames are finished."""

    done: int
    total: int


class _Paced(_Counted):
    """How many frames are finished, the seconds that each takes, and those until the end; None while unknown."""

    seconds_per_frame: float | None
    eta_seconds: float | None


# The command bake.


class BakeStart(_Counted, word="start"):
    """A bake begins."""

    scene: str
    cache: str
    particles: int
    resumed_from: int | None
    take: int
    scene_hash: str
    pid: int


class BakeProgress(_Paced, word="progress"):
    """The simulation of a frame goes on."""

    frame: int
    fraction: float
    substeps: int
    particles: int


class BakeFrame(_Paced, word="frame"):
    """A frame is finished."""

    frame: int
    particles: int
    substeps: int
    seconds: float
    deleted: int
    crushed: int


class Paused(Event, word="paused"):
    """The bake waits."""


class Resumed(Event, word="resumed"):
    """The bake waits no longer."""


# The command derive.


class DeriveStart(_Counted, word="start"):
    """Derived data is being made."""

    cache: str
    kind: str
    bytes: int
    settings: str
    pid: int


class DeriveFrame(_Paced, word="frame"):
    """The derived data of a frame is finished; it consists of vertices and triangles, of voxels, or of particles."""

    frame: int
    vertices: int | None = field(default=None, metadata=_OPTIONAL)
    triangles: int | None = field(default=None, metadata=_OPTIONAL)
    voxels: int | None = field(default=None, metadata=_OPTIONAL)
    particles: int | None = field(default=None, metadata=_OPTIONAL)
    bytes: int


class DeriveEstimate(Event, word="estimate"):
    """What making the missing frames would take."""

    frames: int
    bytes: int


class DeriveDeleted(Event, word="deleted"):
    """Derived data was deleted."""

    kind: str
    frames: int


# The command wedge.


class WedgeStart(_Counted, word="start"):
    """A wedge begins; counts are those of variants."""

    scene: str
    output: str
    jobs: int


class WedgeVariant(_Counted, word="variant"):
    """The state of a variant has changed; counts are those of variants that ended."""

    name: str
    values: dict[str, Any]
    state: str
    message: str


class WedgeProgress(_Counted, word="progress"):
    """The bake of a variant goes on; counts are those of its frames."""

    name: str


class WedgeSheet(Event, word="sheet"):
    """The contact sheet is drawn."""

    path: str


class WedgeDone(Event, word="done"):
    """All variants are baked."""

    variants: int


# The command live.


class LiveStart(Event, word="start"):
    """A run begins."""

    scene: str
    run: int
    frame_start: int
    frame_end: int


class LiveFrame(Event, word="frame"):
    """A frame of a run is finished."""

    frame: int
    run: int
    particles: int
    substeps: int
    seconds: float


class LiveEnd(Event, word="end"):
    """A run has reached the last frame; the simulation waits for another run."""

    run: int


class LiveDone(Event, word="done"):
    """The scene was simulated once, without steering."""


# The command kernels.


class KernelsReady(Event, word="ready"):
    """All kernels are compiled."""


Vocabulary = Mapping[str, type[Event]]
OnEvent = Callable[[Event], None]


def _vocabulary(*kinds: type[Event]) -> Vocabulary:
    return {kind.word: kind for kind in kinds}


BAKE = _vocabulary(
    BakeStart,
    WarningEvent,
    Compiling,
    Preparing,
    BakeProgress,
    BakeFrame,
    Paused,
    Resumed,
    Finished,
    CancelledEvent,
    StoppedEvent,
    SimulationError,
)
DERIVE = _vocabulary(DeriveStart, DeriveFrame, Finished, DeriveEstimate, DeriveDeleted, CancelledEvent, ErrorEvent)
WEDGE = _vocabulary(WedgeStart, WedgeVariant, WedgeProgress, WedgeSheet, WedgeDone, CancelledEvent, ErrorEvent)
LIVE = _vocabulary(LiveStart, WarningEvent, Compiling, Preparing, LiveFrame, LiveEnd, LiveDone, CancelledEvent, SimulationError)
KERNELS = _vocabulary(Compiling, KernelsReady)


def read_event(told: object, vocabulary: Vocabulary) -> Event | None:
    """The event in an untrusted JSON value; None if it is none of the vocabulary."""
    if not isinstance(told, dict) or not isinstance(told.get("event"), str):
        return None
    kind = vocabulary.get(told["event"])
    return None if kind is None else kind.read(told)


def ignore(_event: Event) -> None:
    """Tells nobody."""


_CANCELED = Message("canceled")
_OUT_OF_MEMORY = Message("out of memory", ("close other programs",))


def ending_of(error: BaseException, *, canceled: Message = _CANCELED, out_of_memory: Message = _OUT_OF_MEMORY) -> Ending:
    """The last event of a command that an error ends.

    Args:
        error: the error.
        canceled: the message of an interrupt.
        out_of_memory: the message of a lack of memory.
    """
    if isinstance(error, KeyboardInterrupt):
        return CancelledEvent(message=canceled)
    if isinstance(error, Cancelled):
        return CancelledEvent(message=error.message)
    if isinstance(error, Stopped):
        return StoppedEvent(message=error.message, reason=error.reason)
    if isinstance(error, UnstableError) and error.failure is not None:
        return SimulationError(message=error.message, failure=summary(error.failure))
    if isinstance(error, MpmError):
        return ErrorEvent(message=error.message)
    if isinstance(error, MemoryError):
        return ErrorEvent(message=out_of_memory)
    return ErrorEvent(message=Message(f"{type(error).__name__}: {error}"))


def error_of(ending: Ending) -> MpmError:
    """The error that an event tells of."""
    if isinstance(ending, StoppedEvent):
        return Stopped(ending.reason, ending.message.problem, *ending.message.remedies, subject=ending.message.subject)
    return (Cancelled if isinstance(ending, CancelledEvent) else MpmError).of(ending.message)
