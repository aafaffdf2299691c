"""What the panel shows of a bake: turns facts into a state with a headline, details and buttons. Draws nothing.

Every state offers at least one button for the next step, or ends by itself within a second.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from ...command_line.printing import countdown
from ...core.messages import NOTHING, Action, Message
from ...storage.overview import Overview, Span
from ...storage.status import BakeStatus
from ..host.wording import counted, duration, in_blender, problem_and_remedy, sentence, size
from ..reading.freshness import Freshness


class State(Enum):
    """State of a bake."""

    UNAVAILABLE = "baking is not possible"
    EMPTY = "nothing is baked"
    READING = "the scene is being read"
    PREPARING = "the process is starting"
    COMPILING = "the solver is being compiled"
    BAKING = "frames are being computed"
    CANCELLING = "it is stopping"
    PAUSED = "it is paused"
    RESUMABLE = "frames are missing"
    OUTDATED = "the scene has changed since"
    LIMITED = "it stopped at a limit"
    FAILED = "it failed"
    UNKNOWN = "all frames are cached, possibly with other settings"
    NOT_SHOWN = "no object shows the frames"
    DONE = "all frames are cached"


# Warnings of the last bake do not apply in these states.
_WITHOUT_WARNINGS = (State.UNAVAILABLE, State.EMPTY, State.READING, State.PREPARING, State.UNKNOWN)
# A process is working or waiting in these states.
LIVE = (State.READING, State.PREPARING, State.COMPILING, State.BAKING, State.CANCELLING, State.PAUSED)


# In these states, the panel does not say how many particles are lost.
_WITHOUT_LOSSES = (State.UNAVAILABLE, State.EMPTY, State.READING, State.PREPARING, State.COMPILING)
# The share of all emitted particles whose loss is worth a line.
_WORTH_TELLING = 0.01
# Message for frames that were baked outside this file.
_ELSEWHERE = "These frames were baked elsewhere or from another version of this file"


class Progress(NamedTuple):
    """Progress of a running bake.

    Attributes:
        state: one of `LIVE`.
        fraction: progress, 0 to 1.
        event: its latest numbers: frame, substeps, particles, seconds_per_frame, eta_seconds, done, total; any of them may be missing.
        where: computer and process, if the bake is not this Blender's.
        is_asked_to_pause: whether it is paused, or will pause.
        seconds: time in this state, if known.
    """

    state: State
    fraction: float
    event: Mapping[str, Any] = {}
    where: str = ""
    is_asked_to_pause: bool = False
    seconds: float = 0.0


class Facts(NamedTuple):
    """Facts about a bake.

    Attributes:
        wanted: first and last frame to bake.
        frame: the current frame.
        object_name: the only emitter to bake; all emitters if empty.
        unavailable: why nothing can be baked; `NOTHING` if baking is possible.
        progress: progress of a running bake.
        status: how the last bake ended; None if unknown.
        overview: what the cache contains; None if there is no cache.
        trouble: why the cache cannot be read, or why the last bake failed; `NOTHING` without trouble.
        has_unstable: whether the particles that stopped the bake are shown.
        freshness: whether the scene has changed since the bake.
        is_shown: whether an object of the scene shows the cache.
        queue: the queue of scenes in one line; "" if only this scene is baked.
        has_outflow: whether the scene has objects that remove particles.
        lost: which cache folder is missing that an object shows; `NOTHING` if all are there.
    """

    wanted: Span
    frame: int = 1
    object_name: str = ""
    unavailable: Message = NOTHING
    progress: Progress | None = None
    status: BakeStatus | None = None
    overview: Overview | None = None
    trouble: Message = NOTHING
    has_unstable: bool = False
    freshness: Freshness = Freshness.CURRENT
    is_shown: bool = True
    queue: str = ""
    has_outflow: bool = False
    lost: Message = NOTHING

    @property
    def is_outdated(self) -> bool:
        return self.freshness is Freshness.OUTDATED


class Button(NamedTuple):
    """A button: operator, text ("" shows only the icon), icon and properties."""

    operator: str
    text: str
    icon: str
    options: Mapping[str, Any] = {}


class BakeView(NamedTuple):
    """The contents of the panel.

    Attributes:
        state: the state of the bake.
        headline: one line.
        icon: icon of the headline.
        fraction: value of the progress bar; None hides it.
        details: short lines below the headline.
        message: the problem, of any length.
        remedy: the remedy, of any length.
        buttons: rows of buttons; the very first one is the main action.
        warnings: warnings of the bake, each of any length.
    """

    state: State
    headline: str
    icon: str = "NONE"
    fraction: float | None = None
    details: tuple[str, ...] = ()
    message: str = ""
    remedy: str = ""
    buttons: tuple[tuple[Button, ...], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole view as text, for the clipboard."""
        told = f"{self.message}. {self.remedy}" if self.remedy else self.message
        return "\n".join(filter(None, (self.headline, *self.details, told, *self.warnings)))


def view_of(facts: Facts) -> BakeView:
    """Turn facts into a view."""
    view = _state_view(facts)
    if facts.overview is not None and view.state not in _WITHOUT_LOSSES:
        view = view._replace(details=(*view.details, *_losses(facts.overview, has_outflow=facts.has_outflow)))
    if facts.status is None or view.state in _WITHOUT_WARNINGS or not _is_of_shown_take(facts, facts.status):
        return view
    return view._replace(warnings=tuple(sentence(in_blender(warning)) for warning in facts.status.warnings))


def _state_view(facts: Facts) -> BakeView:
    if facts.progress is not None:
        return _running(facts, facts.progress)
    if facts.unavailable:
        message, remedy = problem_and_remedy(facts.unavailable)
        return BakeView(
            State.UNAVAILABLE,
            "Baking is not possible",
            "ERROR",
            message=message,
            remedy=remedy,
            buttons=((_copy(facts),),),
        )
    if _is_refused(facts.trouble):
        if facts.freshness is not Freshness.CURRENT:
            return _outdated(facts)
    elif facts.trouble or _ended(facts) in ("error", "interrupted"):
        return _failed(facts)
    if facts.is_outdated:
        return _outdated(facts)
    if _ended(facts) == "stopped":
        return _limited(facts)
    missing = None if facts.overview is None else facts.overview.next_missing(facts.wanted)
    if facts.overview is None or not facts.overview.rows:
        if facts.lost:
            message, remedy = problem_and_remedy(facts.lost)
            return BakeView(State.EMPTY, "The cache is missing", "ERROR", message=message, remedy=remedy, buttons=((_bake(facts),),))
        return BakeView(State.EMPTY, "Nothing baked yet", "INFO", buttons=((_bake(facts),), *_beside(facts)))
    if not facts.is_shown:
        return _not_shown(facts, facts.overview)
    if not facts.overview.is_read:
        return _done(facts, facts.overview, "Reading the cache")
    if missing is not None:
        return _resumable(facts, facts.overview)
    return _done(facts, facts.overview, "Baked") if facts.freshness is Freshness.CURRENT else _unknown(facts, facts.overview)


def _running(facts: Facts, progress: Progress) -> BakeView:
    event, state = progress.event, progress.state
    percent = f"{100.0 * progress.fraction:.0f}%"
    headlines = {
        State.READING: f"Preparing {percent}",
        State.PREPARING: "Preparing",
        State.COMPILING: f"Compiling {event.get('compiled', 0)} of {event.get('kernels', 0)} kernels",
        State.BAKING: f"Baking {percent}",
        State.CANCELLING: "Canceling: safe to quit",
        State.PAUSED: f"Paused at {percent}",
    }
    details = {
        State.READING: ["Reading the scene"],
        State.COMPILING: ["Needed once per version for this scene's features"],
        State.CANCELLING: ["Finished frames are kept"],
    }.get(state, _numbers(event))
    cancel = Button("mpm.bake_cancel", "Cancel", "CANCEL")
    pause = Button("mpm.bake_pause", "Resume", "PLAY") if progress.is_asked_to_pause else Button("mpm.bake_pause", "Pause", "PAUSE")
    rows = {State.READING: ((cancel,),), State.CANCELLING: ()}.get(state, ((pause, cancel),))
    where = filter(None, (facts.queue, progress.where))
    return BakeView(state, headlines[state], "TIME", progress.fraction, (*where, *details), buttons=rows)


def _numbers(event: Mapping[str, Any]) -> list[str]:
    """The numbers of a running bake, in lines that fit the sidebar's usual width."""
    lines = [
        [_told(event, "frame", "Frame {:d}"), _told(event, "substeps", "{:,d} substeps")],
        [_told(event, "particles", "{:,d} particles"), _told(event, "seconds_per_frame", "{:.2g} s/frame")],
        [
            f"{event['done']} of {event['total']} frames" if event.get("total") else "",
            "" if event.get("eta_seconds") is None else f"{countdown(event['eta_seconds'])} left",
        ],
    ]
    return [", ".join(filter(None, line)) for line in lines if any(line)]


def _told(event: Mapping[str, Any], name: str, words: str) -> str:
    value = event.get(name)
    return words.format(value) if isinstance(value, (int, float)) else ""


def _failed(facts: Facts) -> BakeView:
    status = facts.status
    if facts.trouble:
        told, headline = facts.trouble, "The bake failed" if status is None or status.state != "interrupted" else "The bake was interrupted"
    elif status is not None and status.state == "interrupted":
        told = Message("the bake process stopped unexpectedly", (Action.RESUME,))
        headline = "The bake was interrupted" + ("" if status.frame is None else f" at frame {status.frame}")
    else:
        told, headline = NOTHING if status is None else status.message, "The bake failed"
    message, remedy = problem_and_remedy(told)
    first = [_lead(facts)]
    rows = [tuple(first), *_beside(facts)]
    if facts.has_unstable:
        rows.append((Button("mpm.select_unstable", "Select Unstable Particles", "RESTRICT_SELECT_OFF"),))
    rows.append((_copy(facts),))
    return BakeView(State.FAILED, headline, "ERROR", None, _there(facts), message, remedy, tuple(rows))


def _limited(facts: Facts) -> BakeView:
    message, remedy = problem_and_remedy(NOTHING if facts.status is None else facts.status.message)
    return BakeView(State.LIMITED, "Stopped at a limit", "INFO", None, _there(facts), message, remedy, ((_lead(facts),), *_beside(facts)))


def _outdated(facts: Facts) -> BakeView:
    there = None if facts.overview is None else facts.overview.last_before(facts.frame)
    row = [_again(facts)]
    if there is not None:
        options = {"from_frame": there, "object": facts.object_name}
        row.append(Button("mpm.bake", f"From Frame {there}", "TRACKING_FORWARDS", options))
    if facts.is_outdated:
        details, (message, remedy) = ("The scene has changed since the bake", *_there(facts)), ("", "")
    else:
        details, (message, remedy) = _there(facts), problem_and_remedy(facts.trouble)
    return BakeView(State.OUTDATED, "Outdated", "ERROR", None, details, message, remedy, ((*row, _free(facts)),))


def _is_refused(trouble: Message) -> bool:
    """Whether the bake did not begin, because the cached frames belong to other settings."""
    return Action.REPLACE in trouble.remedies


def _resumable(facts: Facts, overview: Overview) -> BakeView:
    wanted = facts.wanted[1] - facts.wanted[0] + 1
    count = sum(facts.wanted[0] <= frame <= facts.wanted[1] for frame in overview.rows)
    headline = f"{count} of {wanted} frames cached"
    message = _ELSEWHERE if facts.freshness is Freshness.UNKNOWN else ""
    return BakeView(State.RESUMABLE, headline, "INFO", message=message, buttons=((_lead(facts),), *_beside(facts)))


def _done(facts: Facts, overview: Overview, word: str) -> BakeView:
    numbers = filter(None, (size(overview.bytes), duration(overview.seconds) if overview.seconds else ""))
    headline = f"{word}: {counted(len(overview.rows), 'frame')}"
    last = overview.last_before(facts.frame)
    row = [_again(facts)]
    if last is not None and last != max(overview.rows):
        row.append(Button("mpm.bake", f"From Frame {last}", "TRACKING_FORWARDS", {"from_frame": last, "object": facts.object_name}))
    return BakeView(State.DONE, headline, "CHECKMARK", None, (", ".join(numbers),), buttons=((*row, _free(facts)),))


def _not_shown(facts: Facts, overview: Overview) -> BakeView:
    """The object was deleted or removed by an undo."""
    headline = f"{counted(len(overview.rows), 'frame')} baked, not shown"
    show, *others = _beside(facts)
    resume = [] if overview.next_missing(facts.wanted) is None else [(_lead(facts),)]
    return BakeView(State.NOT_SHOWN, headline, "INFO", None, (size(overview.bytes),), buttons=(show, *resume, *others))


def _unknown(facts: Facts, overview: Overview) -> BakeView:
    done = _done(facts, overview, "Baked")
    compare = Button("mpm.bake", "Compare with Scene", "VIEWZOOM", {"object": facts.object_name})
    headline = f"{counted(len(overview.rows), 'frame')}, possibly outdated"
    return done._replace(state=State.UNKNOWN, headline=headline, icon="QUESTION", message=_ELSEWHERE, buttons=((compare,), *done.buttons))


def _there(facts: Facts) -> tuple[str, ...]:
    if facts.overview is None or not facts.overview.rows:
        return ()
    return (f"{counted(len(facts.overview.rows), 'frame')} cached ({size(facts.overview.bytes)})",)


def _losses(overview: Overview, *, has_outflow: bool) -> tuple[str, ...]:
    """How many particles are gone by the last frame, if it is more than a few: what leaves the domain in view should not go unnoticed."""
    last = overview.rows[max(overview.rows)] if overview.rows else {}
    emitted, gone = last.get("emitted"), last.get("deleted")
    if not isinstance(emitted, int) or not isinstance(gone, int) or gone <= _WORTH_TELLING * emitted:
        return ()
    return (f"{gone:,d} {'removed' if has_outflow else 'left the domain'} ({100.0 * gone / emitted:.0f}%)",)


def _ended(facts: Facts) -> str:
    """How the last bake of the displayed take ended; "" if unknown."""
    return "" if facts.status is None or not _is_of_shown_take(facts, facts.status) else facts.status.state


def _is_of_shown_take(facts: Facts, status: BakeStatus) -> bool:
    others = () if facts.overview is None else [each.take for each in facts.overview.takes if each.take != facts.overview.shown]
    return status.told.get("take") not in others


def _lead(facts: Facts) -> Button:
    """The button that starts or resumes the bake."""
    if facts.is_outdated:
        return _again(facts)
    missing = None if facts.overview is None or not facts.overview.rows else facts.overview.next_missing(facts.wanted)
    if missing is None:
        return _bake(facts)
    return Button("mpm.bake", f"Resume from Frame {missing}", "PLAY", {"object": facts.object_name})


def _bake(facts: Facts) -> Button:
    return Button("mpm.bake", "Bake", "PHYSICS", {"object": facts.object_name})


def _again(facts: Facts) -> Button:
    return Button("mpm.bake_again", "Bake Again", "FILE_REFRESH", {"object": facts.object_name})


def _free(facts: Facts) -> Button:
    return Button("mpm.bake_free", "", "TRASH", {"object": facts.object_name})


def _show(facts: Facts) -> Button:
    return Button("mpm.show", "Show Frames", "HIDE_OFF", {"object": facts.object_name})


def _copy(facts: Facts) -> Button:
    return Button("mpm.copy_message", "Copy Message", "COPYDOWN", {"object": facts.object_name})


def _beside(facts: Facts) -> tuple[tuple[Button, ...], ...]:
    """The buttons beside the main one, if there is anything to lose."""
    if facts.overview is None:
        return ()
    again = (*([] if facts.is_outdated else [_again(facts)]), _free(facts)._replace(text="Free"))
    return (again,) if facts.is_shown or not facts.overview.rows else ((_show(facts),), again)
