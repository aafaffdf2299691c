"""`blender -b file.blend --command mpm bake`: the bake for scripts, farms and terminals."""

import argparse
import sys
from collections.abc import Sequence

import bpy

from ..core.errors import Cancelled, MpmError
from . import session
from .worker import Event

NAME = "mpm"

_handles: list[object] = []


def run(arguments: Sequence[str]) -> int:
    """Run the command line after `--command mpm`.

    Returns:
        The exit status: 0 done, 1 failed with one line on stderr, 2 bad usage, 130 cancelled.
    """
    try:
        options = _parser().parse_args(list(arguments))
    except SystemExit as usage:
        return int(usage.code or 0)
    try:
        session.bake(
            bpy.context,
            object_name=options.object,
            cache=options.cache,
            restart=options.restart,
            on_event=_print_event,
        )
    except Cancelled as error:
        print(f"mpm: {error}", file=sys.stderr, flush=True)
        return 130
    except MpmError as error:
        print(f"mpm: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"blender -b FILE.blend --command {NAME}", description="MPM simulations")
    commands = parser.add_subparsers(required=True, metavar="bake")
    bake = commands.add_parser("bake", help="simulate the scene of the open file into its cache; resumes by default")
    bake.add_argument("--object", default="", metavar="NAME", help="this emitter alone, with all colliders")
    bake.add_argument("--cache", default="", metavar="DIR", help="the folder for the frames (default: the scene's)")
    bake.add_argument("--restart", action="store_true", help="replace the frames that are there")
    return parser


def _print_event(event: Event) -> None:
    if event["event"] == "start":
        print(f"Baking {event['total']} frames into {event['cache']}, {event['done']} are there", flush=True)
    elif event["event"] == "frame":
        count = f"{event['particles']} particles, {event['substeps']} substeps"
        print(f"Frame {event['frame']}: {count} ({event['done']}/{event['total']})", flush=True)
    elif event["event"] == "done":
        print("Done", flush=True)


def register() -> None:
    _handles.append(bpy.utils.register_cli_command(NAME, run))


def unregister() -> None:
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
