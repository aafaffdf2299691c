"""The command `bake`."""

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from ..core.errors import CacheError
from ..core.messages import Message, SceneWarning, Topic
from ..core.processor import LEVELS, NATIVE, is_supported, prepare_numba
from ..dependencies import load_numba
from ..storage.cache import CACHE_FILE, open_cache
from ..storage.events import OnEvent, WarningEvent
from .arguments import add_json, add_processor, add_scene, add_threads, frame_range, particle_count
from .printing import printer


def add_command(commands: Any) -> None:
    """Add `bake` to the sub-commands of a parser."""
    bake = commands.add_parser("bake", help="simulate a scene into a cache; resumes by default", allow_abbrev=False)
    add_scene(bake)
    bake.add_argument("--cache", required=True, metavar="DIR", type=Path, help="the folder for the frames")
    bake.add_argument("--frames", metavar="A-B", type=frame_range, help="store only these frames (default: all)")
    add_threads(bake, "threads (default: all cores); may exceed the number of cores")
    add_processor(bake, "the cache's, or the best")
    bake.add_argument("--preview", metavar="N", type=particle_count, help="bake a preview with about N particles, on a coarser grid")
    bake.add_argument("--variant", metavar="NAME", help="a variant of the scene")
    bake.add_argument("--size-limit", metavar="GB", type=float, help="stop before the cache exceeds this size (default: the scene's limit)")
    bake.add_argument("--time-limit", metavar="HOURS", type=float, help="stop after this time (default: the scene's limit)")
    beginning = bake.add_mutually_exclusive_group()
    beginning.add_argument("--restart", action="store_true", help="replace all existing takes once the first new frame is finished")
    beginning.add_argument("--from", dest="from_frame", metavar="N", type=int, help="resume after frame N, as a new take")
    add_json(bake)
    bake.set_defaults(run=_bake, listens=True)


def _bake(options: argparse.Namespace) -> None:
    tell = printer(options)
    prepare_numba(options.threads, options.processor or _level_of_cache(options, tell))
    load_numba()
    from ..bake import Order, bake

    order = Order(**{field.name: getattr(options, field.name) for field in dataclasses.fields(Order)})
    bake(options.scene, options.cache, order, on_event=tell, listener=options.listener)


def _level_of_cache(options: argparse.Namespace, tell: OnEvent) -> str | None:
    """The processor level of an existing cache, if the bake resumes and this processor supports it."""
    if options.restart or not (options.cache / CACHE_FILE).is_file():
        return None
    try:
        level = open_cache(options.cache).manifest.get("processor_level")
    except CacheError:
        return None  # the bake itself reports the error
    if level is None or level == NATIVE or level not in LEVELS or is_supported(level):
        return level if level in LEVELS else None
    words = f"it was baked with level {level}, which this processor does not support; later frames may differ in their last digits"
    tell(WarningEvent(warning=SceneWarning(Topic.PROCESSOR, Message(words, (), str(options.cache)))))
    return None
