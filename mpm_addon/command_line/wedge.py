"""The command `wedge`."""

import argparse
from pathlib import Path
from typing import Any

from ..core.errors import MpmError
from ..storage.events import OnEvent, WedgeDone, WedgeSheet, ending_of
from ..wedge.wedge import Plan, bake_wedge, failures, plan
from .arguments import add_json, add_scene, add_threads, frame_range, thread_count
from .printing import complain, printer

_EXAMPLE = "example: --vary materials.snow.young_modulus=1e4:1e6:log:5 --vary colliders.floor.surface=slip,sticky"


def add_command(commands: Any) -> None:
    """Add `wedge` to the sub-commands of a parser."""
    wedge = commands.add_parser("wedge", help="bake a grid of variants of a scene; resumes by default", epilog=_EXAMPLE, allow_abbrev=False)
    add_scene(wedge)
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
    add_threads(wedge, "threads of all bakes together; on a cluster, of each bake")
    wedge.add_argument("--scheduler", metavar="ADDRESS", help="bake on this Dask cluster, such as tcp://farm:8786")
    wedge.add_argument("--frames", metavar="A-B", type=frame_range, help="bake only these frames (default: all)")
    wedge.add_argument("--frame", metavar="N", type=int, help="the frame to show on the contact sheet (default: the last)")
    add_json(wedge)
    wedge.set_defaults(run=_wedge)


def _wedge(options: argparse.Namespace) -> None:
    tell = printer(options)
    try:
        planned = plan(options.scene, options.vary, options.output, options.frames)
        bake_wedge(planned, jobs=options.jobs, threads=options.threads, scheduler=options.scheduler, on_event=tell)
        _draw_sheet(planned, options.frame, tell)
        errors = failures(planned.variants)
        for error in errors[:-1]:
            complain(error)
        if errors:
            raise errors[-1]
    except MpmError as error:
        tell(ending_of(error))
        raise
    tell(WedgeDone(variants=len(planned.variants)))


def _draw_sheet(planned: Plan, frame: int | None, tell: OnEvent) -> None:
    """Draw the contact sheet; report an error without failing the wedge."""
    from ..wedge.sheet import draw_sheet

    try:
        tell(WedgeSheet(path=str(draw_sheet(planned.index, planned.variants, frame))))
    except MpmError as error:
        complain(error, "no contact sheet: ")
