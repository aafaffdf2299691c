"""The command `live`."""

import argparse
from pathlib import Path
from typing import Any

from ..core.errors import Cancelled
from ..core.processor import prepare_numba
from .arguments import add_json, add_scene, add_threads, particle_count
from .printing import printer

_EPILOG = (
    'Replace the steering file as a whole: {"until": 48, "things": {"Empty": {"center": [0, 0, 1], "values": {"strength": -20}}}}. '
    "until: simulate up to this frame. things: colliders and forces, with center or matrix (motion since the start, world coordinates, m) "
    "and values. gravity: three numbers. run: another number starts over. scene: another scene file for the next run."
)


def add_command(commands: Any) -> None:
    """Add `live` to the sub-commands of a parser."""
    live = commands.add_parser("live", help="simulate while objects are moved by hand", epilog=_EPILOG, allow_abbrev=False)
    add_scene(live)
    live.add_argument("--cache", required=True, metavar="DIR", type=Path, help="the folder for the frames; each run replaces them")
    live.add_argument("--steering", metavar="FILE", type=Path, help="the steering file; without one the scene is simulated once")
    live.add_argument("--particles", metavar="N", type=particle_count, help="a preview with about N particles (default: the scene itself)")
    add_threads(live, "threads (default: all cores); may exceed the number of cores")
    add_json(live)
    live.set_defaults(run=_live)


def _live(options: argparse.Namespace) -> None:
    prepare_numba(options.threads)
    from ..live.job import ending, live

    tell = printer(options)
    try:
        live(options.scene, options.cache, steering_path=options.steering, particles=options.particles, on_event=tell)
    except BaseException as error:
        tell(ending(error))
        if isinstance(error, KeyboardInterrupt):
            raise Cancelled("stopped") from error
        raise
