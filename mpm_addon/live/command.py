"""The command `live`: its arguments, and its events as text or JSON."""

import argparse
from pathlib import Path
from typing import Any

from ..arguments import particle_count, thread_count
from ..core.errors import Cancelled
from ..core.processor import prepare_numba
from ..terminal import print_json

_EPILOG = (
    'Replace the steering file as a whole: {"until": 48, "things": {"Empty": {"center": [0, 0, 1], "values": {"strength": -20}}}}. '
    "until: simulate up to this frame. things: colliders and forces, with center or matrix (motion since the start, world coordinates, m) "
    "and values. gravity: three numbers. run: another number starts over. scene: another scene file for the next run."
)


def add_command(commands: Any) -> None:
    """Add `live` to the sub-commands of a parser."""
    live = commands.add_parser("live", help="simulate while objects are moved by hand", epilog=_EPILOG, allow_abbrev=False)
    live.add_argument("scene", metavar="SCENE", type=Path, help="a scene file, or the folder of its scene.toml")
    live.add_argument("--cache", required=True, metavar="DIR", type=Path, help="the folder for the frames; each run replaces them")
    live.add_argument("--steering", metavar="FILE", type=Path, help="the steering file; without one the scene is simulated once")
    live.add_argument("--particles", metavar="N", type=particle_count, help="a preview with about N particles (default: the scene itself)")
    live.add_argument("--threads", metavar="N", type=thread_count, help="threads (default: all cores); may exceed the number of cores")
    live.add_argument("--json", action="store_true", help="print one JSON object per line")
    live.set_defaults(run=_live)


def _live(options: argparse.Namespace) -> None:
    prepare_numba(options.threads)
    from .job import ending, live

    tell = print_json if options.json else _print_event
    try:
        live(options.scene, options.cache, steering_path=options.steering, particles=options.particles, on_event=tell)
    except BaseException as error:
        tell(ending(error))
        if isinstance(error, KeyboardInterrupt):
            raise Cancelled("stopped") from error
        raise


def _print_event(event: dict[str, Any]) -> None:
    """Print an event as a line of text."""
    kind = event["event"]
    if kind == "start":
        print(f"{event['scene']}: run {event['run']}, frames {event['frame_start']} to {event['frame_end']}", flush=True)
    elif kind == "compiling":
        print(f"compiling kernels (once per version): {event['compiled']} of {event['kernels']}", flush=True)
    elif kind == "frame":
        counts = f"{event['particles']} particles, {event['substeps']} substeps"
        print(f"frame {event['frame']}, {counts}, {event['seconds']:.3f} s", flush=True)
    elif kind == "warning":
        print(f"warning: {event['subject']}: {event['message']}", flush=True)
