"""All that commands print: events as they happen, tables, JSON and errors."""

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from typing import Any

from ..core.errors import MpmError
from ..core.messages import SceneWarning, message_of, one_line
from ..storage import events
from ..storage.events import Event, OnEvent
from ..storage.take import MANY, ONE


def printer(options: argparse.Namespace) -> OnEvent:
    """What prints the events of a command: as JSON with --json, otherwise as text."""
    return (lambda event: print_json(event.fields())) if options.json else EventPrinter().tell


def print_json(value: Any) -> None:
    print(json.dumps(value), flush=True)


def complain(error: MpmError, clause: str = "") -> None:
    """Print an error to stderr, after a clause that says what it means here."""
    print(f"mpm: {clause}{error}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def answering(options: argparse.Namespace) -> Iterator[None]:
    """With --json, also print an error as an event."""
    try:
        yield
    except MpmError as error:
        if options.json:
            print_json(events.ErrorEvent(message=error.message).fields())
        raise


class EventPrinter:
    """Prints events as text, one per line; those that only show progress, on a terminal, all on one line that is overwritten."""

    def __init__(self) -> None:
        self._is_terminal = sys.stdout.isatty()

    def tell(self, event: Event) -> None:
        """Print an event."""
        line = text_of(event)
        is_passing = isinstance(event, (events.BakeProgress, events.WedgeProgress, events.Compiling))
        is_between = is_passing and not (isinstance(event, events.Compiling) and event.compiled in (0, event.kernels))
        if not line or (is_between and not self._is_terminal):
            return
        end = "\r" if self._is_terminal and is_passing else "\n"
        clear = "\x1b[K" if self._is_terminal else ""
        print(f"{clear}{line}", end=end, flush=True)


def text_of(event: Event) -> str:
    """An event as a line of text; "" for those that people need not see, and for errors, which are printed when the command ends."""
    match event:
        case events.WarningEvent():
            return warning_text(event.warning)
        case events.Compiling():
            return f"compiling kernels (once per version): {event.compiled} of {event.kernels}"
        case events.KernelsReady():
            return "all kernels are compiled"
        case events.BakeStart():
            resumed = f", resuming after frame {event.resumed_from}" if event.resumed_from is not None else ""
            return f"{event.scene}: about {event.particles} particles, {event.done} of {event.total} frames cached{resumed}"
        case events.BakeProgress():
            pace = _pace(event.seconds_per_frame, event.eta_seconds)
            return f"{_share(event.done, event.total)} frame {event.frame} at {event.fraction:.0%}, {event.substeps} substeps{pace}"
        case events.BakeFrame():
            counts = f"{event.particles} particles, {event.substeps} substeps"
            return f"{_share(event.done, event.total)} frame {event.frame}, {counts}{_pace(event.seconds_per_frame, event.eta_seconds)}"
        case events.Paused():
            return 'paused; delete the file "pause" in the cache to resume'
        case events.Resumed():
            return "resumed"
        case events.Finished():
            return f"done: {event.frames} frames after {event.seconds:.1f} s"
        case events.DeriveStart():
            made = f"{event.done} of {event.total} frames have {ONE.get(event.kind, event.kind)}"
            return f"{made}; the others take about {_megabytes(event.bytes)}"
        case events.DeriveFrame():
            counts = {"triangles": event.triangles, "voxels": event.voxels, "particles": event.particles}
            count = next((f"{number} {word}" for word, number in counts.items() if number is not None), "nothing")
            pace = _pace(event.seconds_per_frame, event.eta_seconds)
            return f"{_share(event.done, event.total)} frame {event.frame}, {count}, {_megabytes(event.bytes)}{pace}"
        case events.DeriveEstimate():
            return f"{event.frames} frames, about {_megabytes(event.bytes)}"
        case events.DeriveDeleted():
            return f"{MANY.get(event.kind, event.kind)} of {event.frames} frames deleted"
        case events.WedgeStart():
            return f"{event.scene}: {event.done} of {event.total} variants baked, {event.jobs} at a time"
        case events.WedgeVariant():
            reason = f": {event.message}" if event.message else ""
            return f"({event.done}/{event.total}) {event.name} {event.state}{reason}"
        case events.WedgeProgress():
            return f"{event.name}: {event.done} of {event.total} frames"
        case events.WedgeSheet():
            return f"contact sheet: {event.path}"
        case events.LiveStart():
            return f"{event.scene}: run {event.run}, frames {event.frame_start} to {event.frame_end}"
        case events.LiveFrame():
            return f"frame {event.frame}, {event.particles} particles, {event.substeps} substeps, {event.seconds:.3f} s"
    return ""


def warning_text(warning: SceneWarning) -> str:
    """A warning as a line of text."""
    return f"warning: {warning}"


def _share(done: int, total: int) -> str:
    return f"{100 * done // max(total, 1):3d}% ({done}/{total})"


def _pace(per_frame: float | None, eta: float | None) -> str:
    return "" if per_frame is None or eta is None else f", {per_frame:.2f} s/frame, {countdown(eta)} left"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.3g} MB"


def countdown(seconds: float) -> str:
    """Seconds as "1:02", or as "1:02:03"."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def print_scene(description: dict[str, Any]) -> None:
    """Print the numbers of a scene, its sizes in words, and its warnings, one per line."""
    from ..core.advice.preflight import size_text
    from ..core.emission.references import reason_text
    from ..core.forecast.stiffness import modulus_text

    structured = ("sizes", "bulk_moduli", "current_reasons", "probe", "warnings")
    print_table({key: value for key, value in description.items() if key not in structured})
    for name, size in description["sizes"].items():
        print(size_text(name, size))
    for name, modulus in description["bulk_moduli"].items():
        print(modulus_text(name, modulus))
    for name, reason in description["current_reasons"].items():
        print(reason_text(name, reason))
    if description["probe"] is not None:
        measured = description["probe"]
        substeps = f"{measured['expected_substeps']} substeps of {measured['time_step']:.3g} s"
        print(f"measured: a bake takes about {countdown(measured['expected_seconds'])} ({substeps}), not counting compilation and writing")
    for warning in description["warnings"]:
        print(f"warning: {message_of(warning).text()}")


def print_table(description: dict[str, Any]) -> None:
    for key, value in description.items():
        if key == "status":
            if value is not None:
                print(f"status: {_shown(value['words'])}")
        elif key == "frames":
            for frame in value:
                print("  " + ", ".join(f"{_shown(name)} {_shown(number)}" for name, number in frame.items()))
        elif key == "failure":
            if value is not None:
                print(f"failure: {_shown(value['message'])}")
        elif key == "damaged":
            print("damaged: nothing" if not value else "damaged:")
            for line in value:
                print(f"  {_shown(line)}")
        elif key != "attributes":
            items = [f"{_shown(name)} {_shown(entry)}" for name, entry in value.items()] if isinstance(value, dict) else value
            print(f"{_shown(key)}: {', '.join(map(_shown, items)) if isinstance(items, list) else _shown(items)}")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "(" + ", ".join(map(_shown, value)) + ")"
    return f"{value:.6g}" if isinstance(value, float) else one_line(str(value))
