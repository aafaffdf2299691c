"""`blender -b file.blend --command mpm bake`, `export` and `publish`, for scripts, farms and terminals."""

import argparse
import sys
from collections.abc import Sequence

import bpy

from ....command_line.arguments import frame_range
from ....command_line.printing import complain
from ....core.errors import Cancelled, MpmError, SceneError
from ....core.messages import Message, one_line
from ....stopping import CANCELLED
from ....storage.events import BakeFrame, BakeStart, Event, Finished
from ...baking import bake_queue, session
from ...host.registrar import Registrar
from . import export_operators

NAME = "mpm"


def run(arguments: Sequence[str]) -> int:
    """Run the command line after `--command mpm`.

    Returns:
        The exit status: 0 success, 1 failure with one line on stderr, 2 wrong usage, 130 canceled.
    """
    try:
        options = _parser().parse_args(list(arguments))
    except SystemExit as usage:
        return int(usage.code or 0)
    try:
        options.run(options)
    except Cancelled as error:
        complain(error)
        return CANCELLED
    except MpmError as error:
        complain(error)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"blender -b FILE.blend --command {NAME}", description="MPM simulations")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    bake = commands.add_parser("bake", help="simulate the scene of the open file into its cache; resumes by default")
    which = bake.add_mutually_exclusive_group()
    which.add_argument("--object", default="", metavar="NAME", help="only this emitter, with all colliders")
    which.add_argument("--all", action="store_true", help="every scene in the file that has an emitter, one after another")
    bake.add_argument("--cache", default="", metavar="DIR", help="the folder for the frames (default: the scene's)")
    beginning = bake.add_mutually_exclusive_group()
    beginning.add_argument("--restart", action="store_true", help="replace the cached frames of all takes")
    beginning.add_argument("--from", dest="from_frame", metavar="N", type=int, help="resume after frame N, as a new take")
    bake.set_defaults(run=_bake)
    export = commands.add_parser("export", help="write the particles for other programs")
    export.add_argument("--output", required=True, metavar="FILE", help="the file; .usdc, .abc, .ply, .vtu ... choose the format")
    export.add_argument("--object", default="", metavar="NAME", help="the object that shows the cache, if there are several")
    export.add_argument("--frames", metavar="A-B", type=frame_range, help="these frames (default: the scene's baked frames)")
    export.set_defaults(run=_export)
    publish = commands.add_parser("publish", help="write a folder that plays without this extension")
    publish.add_argument("--output", required=True, metavar="DIR", help="a new or empty folder, or an earlier publication")
    publish.set_defaults(run=_publish)
    return parser


def _bake(options: argparse.Namespace) -> None:
    if options.all:
        _bake_all(options)
        return
    session.bake(
        bpy.context,
        object_name=options.object,
        cache=options.cache,
        restart=options.restart,
        from_frame=options.from_frame,
        on_event=_print_event,
    )


def _bake_all(options: argparse.Namespace) -> None:
    if options.cache or options.restart or options.from_frame is not None:
        raise SceneError("--all: each scene bakes into its own cache and resumes", "omit --cache, --restart and --from")
    _print_notes(bake_queue.bake_all(bpy.context, on_event=_print_event))


def _export(options: argparse.Namespace) -> None:
    _print_notes(export_operators.export(bpy.context, options.output, object_name=options.object, frames=options.frames))


def _publish(options: argparse.Namespace) -> None:
    _print_notes(export_operators.publish(bpy.context, options.output))


def _print_notes(notes: Sequence[Message]) -> None:
    for note in notes:
        print(f"mpm: {one_line(note.text())}", file=sys.stderr, flush=True)


def _print_event(event: Event) -> None:
    if isinstance(event, BakeStart):
        print(f"Baking {event.total} frames into {event.cache} ({event.done} already cached)", flush=True)
    elif isinstance(event, BakeFrame):
        count = f"{event.particles} particles, {event.substeps} substeps"
        print(f"Frame {event.frame}: {count} ({event.done}/{event.total})", flush=True)
    elif isinstance(event, Finished):
        print("Done", flush=True)


def register(registrar: Registrar) -> None:
    registrar.on_removal(bpy.utils.unregister_cli_command, bpy.utils.register_cli_command(NAME, run))
