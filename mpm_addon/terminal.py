"""Output of the command line: events of a bake, tables, and JSON."""

import json
import sys
from typing import Any

from .core.messages import one_line


def print_json(value: Any) -> None:
    print(json.dumps(value), flush=True)


class EventPrinter:
    """Prints a bake's events as text: one line per frame, and on a terminal a line of progress in between."""

    def __init__(self) -> None:
        self._is_terminal = sys.stdout.isatty()

    def tell(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if not self._is_terminal and (kind == "progress" or (kind == "compiling" and 0 < event["compiled"] < event["kernels"])):
            return
        show = getattr(self, f"_{kind}", None)
        if show is not None:
            line = show(event)
            end = "\r" if self._is_terminal and kind in ("progress", "compiling") else "\n"
            clear = "\x1b[K" if self._is_terminal else ""
            print(f"{clear}{line}", end=end, flush=True)

    def _start(self, event: dict[str, Any]) -> str:
        resumed = f", resuming after frame {event['resumed_from']}" if event["resumed_from"] is not None else ""
        cached = f"{event['done']} of {event['total']} frames cached"
        return f"{event['scene']}: about {event['particles']} particles, {cached}{resumed}"

    def _warning(self, event: dict[str, Any]) -> str:
        return f"warning: {event['subject']}: {event['message']}"

    def _compiling(self, event: dict[str, Any]) -> str:
        return f"compiling kernels (once per version): {event['compiled']} of {event['kernels']}"

    def _ready(self, event: dict[str, Any]) -> str:
        return "all kernels are compiled"

    def _progress(self, event: dict[str, Any]) -> str:
        reached = f"frame {event['frame']} at {event['fraction']:.0%}"
        return f"{_share(event)} {reached}, {event['substeps']} substeps{_pace(event)}"

    def _paused(self, event: dict[str, Any]) -> str:
        return 'paused; delete the file "pause" in the cache to resume'

    def _resumed(self, event: dict[str, Any]) -> str:
        return "resumed"

    def _frame(self, event: dict[str, Any]) -> str:
        counts = f"{event['particles']} particles, {event['substeps']} substeps"
        return f"{_share(event)} frame {event['frame']}, {counts}{_pace(event)}"

    def _done(self, event: dict[str, Any]) -> str:
        return f"done: {event['frames']} frames after {event['seconds']:.1f} s"


def _share(event: dict[str, Any]) -> str:
    done, total = event["done"], event["total"]
    return f"{100 * done // max(total, 1):3d} % ({done}/{total})"


def _pace(event: dict[str, Any]) -> str:
    per_frame, eta = event["seconds_per_frame"], event["eta_seconds"]
    return "" if per_frame is None else f", {per_frame:.2f} s/frame, {duration(eta)} left"


def duration(seconds: float) -> str:
    """Seconds as "1:02", or as "1:02:03"."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def print_scene(description: dict[str, Any]) -> None:
    """Print the numbers of a scene, its sizes in words, and its warnings, one per line."""
    from .core.advice.preflight import size_text
    from .core.emission.references import reason_text

    structured = ("sizes", "current_reasons", "probe", "warnings")
    print_table({key: value for key, value in description.items() if key not in structured})
    for name, size in description["sizes"].items():
        print(size_text(name, size))
    for name, reason in description["current_reasons"].items():
        print(reason_text(name, reason))
    if description["probe"] is not None:
        measured = description["probe"]
        substeps = f"{measured['expected_substeps']} substeps of {measured['time_step']:.3g} s"
        print(f"measured: a bake takes about {duration(measured['expected_seconds'])} ({substeps}), not counting compilation and writing")
    for warning in description["warnings"]:
        print(f"warning: {warning['subject']}: {warning['message']}")


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
