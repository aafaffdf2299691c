"""The command `export`."""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from ..core.errors import CacheError
from ..derived.fog import export_fogs
from ..storage.cache import open_cache
from ..storage.exporters import EXPORTERS, SPLITS, export_frames, write_export
from ..storage.exporters.surfaces import export_surfaces
from ..storage.exporters.swarms import swarm_frame
from ..storage.exporters.volumes import FORMAT as VOLUME_FORMAT
from ..storage.exporters.volumes import export_volumes
from ..storage.take import DEBRIS, FOAM, KINDS, MANY, VOLUME
from .arguments import frame_range


def add_command(commands: Any) -> None:
    """Add `export` to the sub-commands of a parser."""
    export = commands.add_parser("export", help="write frames for other programs", allow_abbrev=False)
    export.add_argument("cache", metavar="DIR", type=Path, help="a cache")
    export.add_argument("--format", required=True, choices=sorted([*EXPORTERS, VOLUME_FORMAT]), help="the format")
    export.add_argument("--output", required=True, metavar="OUT", type=Path, help="a folder, or a file for a single frame")
    export.add_argument("--frames", metavar="A-B", type=frame_range, help="only these frames (default: all)")
    export.add_argument(
        "--split", choices=sorted(SPLITS), help="one file per material or emitter, named after it; for surfaces and skins, one per mesh"
    )
    instead = export.add_mutually_exclusive_group()
    for kind in KINDS:
        formats = {VOLUME: VOLUME_FORMAT, **dict.fromkeys((FOAM, DEBRIS), ", ".join([*EXPORTERS, VOLUME_FORMAT]))}.get(kind, "ply, obj")
        instead.add_argument(f"--{kind}", action="store_true", help=f"write the {MANY[kind]} instead of the particles ({formats})")
    export.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> None:
    cache = open_cache(options.cache)
    first, last = options.frames or (0, -1)
    if options.frames and last < first:
        raise CacheError("the last is before the first", "swap them", subject=f"frames {first}-{last}")
    numbers = range(first, last + 1) if options.frames else cache.frames
    kind = next((kind for kind in KINDS if getattr(options, kind)), None)
    is_swarm, is_volume = kind in (FOAM, DEBRIS), options.format == VOLUME_FORMAT
    if (kind == VOLUME) != is_volume and not (is_swarm and is_volume):
        raise CacheError(
            f"--format {options.format} does not go with {MANY.get(kind or '', 'particles')}", "use --volume --format vdb for volumes"
        )
    if kind == VOLUME:
        written = export_volumes(cache, numbers, options.output, write_export)
    elif kind is not None and is_swarm and is_volume:
        written = export_fogs(cache, list(numbers), options.output, kind)
    elif kind is not None and is_swarm:
        read = partial(swarm_frame, kind=kind)
        written = export_frames(cache, numbers, options.format, options.output, split=options.split, read=read)
    elif kind is not None:
        is_split = options.split is not None
        written = export_surfaces(cache, numbers, options.format, options.output, write_export, kind=kind, is_split=is_split)
    else:
        written = export_frames(cache, numbers, options.format, options.output, split=options.split)
    for _path in written:
        pass
    print(f"{len(numbers)} frames written to {options.output}")
