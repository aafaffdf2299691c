"""The command `wedge`: its arguments, and its events as text or JSON."""

import argparse
import sys
from pathlib import Path
from typing import Any

from ..arguments import frame_range, thread_count
from ..core.errors import Cancelled, MpmError
from ..terminal import print_json
from .wedge import bake_wedge, failures, plan

_EXAMPLE = "example: --vary materials.snow.young_modulus=1e4:1e6:log:5 --vary colliders.floor.surface=slip,sticky"


def add_command(commands: Any) -> None:
    """Add `wedge` to the sub-commands of a parser."""
    wedge = commands.add_parser("wedge", help="bake a grid of variants of a scene; resumes by default", epilog=_EXAMPLE, allow_abbrev=False)
    wedge.add_argument("scene", metavar="SCENE", type=Path, help="a scene file, or the folder of its scene.toml")
    wedge.add_argument(
        "--vary",
        required=True,
        action="append",
        metavar="KEY=VALUES",
        help="a key of the scene file, and FIRST:LAST:lin:COUNT, FIRST:LAST:log:COUNT or VALUE,VALUE,...; may be repeated",
    )
    wedge.add_argument(
        "--output", required=True, metavar="DIR", type=Path, help="the folder for the index, scenes, caches and contact sheet"
    )
    wedge.add_argument(
        "--jobs", metavar="N", type=thread_count, help="number of bakes at a time (default: as many as cores and memory allow)"
    )
    wedge.add_argument("--threads", metavar="N", type=thread_count, help="threads of all bakes together; on a cluster, of each bake")
    wedge.add_argument("--scheduler", metavar="ADDRESS", help="bake on this Dask cluster, such as tcp://farm:8786")
    wedge.add_argument("--frames", metavar="A-B", type=frame_range, help="bake only these frames (default: all)")
    wedge.add_argument("--frame", metavar="N", type=int, help="the frame to show on the contact sheet (default: the last)")
    wedge.add_argument("--json", action="store_true", help="print one JSON object per line")
    wedge.set_defaults(run=_wedge)


def _wedge(options: argparse.Namespace) -> None:
    tell = print_json if options.json else _print_event
    try:
        planned = plan(options.scene, options.vary, options.output, options.frames)
        bake_wedge(planned, jobs=options.jobs, threads=options.threads, scheduler=options.scheduler, on_event=tell)
        _draw_sheet(planned, options.frame, tell)
        errors = failures(planned.variants)
        for error in errors[:-1]:
            print(f"mpm: {error}", file=sys.stderr, flush=True)
        if errors:
            raise errors[-1]
    except MpmError as error:
        tell({"event": "cancelled" if isinstance(error, Cancelled) else "error", **error.message.fields()})
        raise
    tell({"event": "done", "variants": len(planned.variants)})


def _draw_sheet(planned: Any, frame: int | None, tell: Any) -> None:
    """Draw the contact sheet; report an error without failing the wedge."""
    from .sheet import draw_sheet

    try:
        tell({"event": "sheet", "path": str(draw_sheet(planned.index, planned.variants, frame))})
    except MpmError as error:
        print(f"mpm: no contact sheet: {error}", file=sys.stderr, flush=True)


def _print_event(event: dict[str, Any]) -> None:
    """Print an event as a line of text."""
    kind = event["event"]
    if kind == "start":
        print(f"{event['scene']}: {event['done']} of {event['total']} variants baked, {event['jobs']} at a time", flush=True)
    elif kind == "variant":
        reason = f": {event['message']}" if event["message"] else ""
        print(f"({event['done']}/{event['total']}) {event['name']} {event['state']}{reason}", flush=True)
    elif kind == "progress" and sys.stdout.isatty():
        print(f"\x1b[K{event['name']}: {event['done']} of {event['total']} frames", end="\r", flush=True)
    elif kind == "sheet":
        print(f"contact sheet: {event['path']}", flush=True)
