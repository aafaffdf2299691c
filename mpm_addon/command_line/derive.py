"""The command `derive`."""

import argparse
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..core.errors import MpmError
from ..core.messages import Message
from ..core.parameters import Parameter, parameters_of
from ..derived.job import DerivedJob, wanted_moments
from ..derived.products import PRODUCTS
from ..stopping import Listener
from ..storage.cache import Cache, open_cache
from ..storage.derived import remove_derived
from ..storage.events import CancelledEvent, DeriveDeleted, DeriveEstimate, OnEvent, ending_of, error_of
from ..storage.take import KINDS, MANY, SURFACE
from .arguments import add_json, add_threads, frame_range
from .printing import printer

_LOW_PRIORITY = 10
_TYPES: dict[str, Callable[[str], Any]] = {"number": float, "integer": int, "text": str}


def add_command(commands: Any) -> None:
    """Add `derive` to the sub-commands of a parser."""
    derive = commands.add_parser(
        "derive", help="make surfaces, skins, volumes, foam or debris from the cached frames; resumes by default", allow_abbrev=False
    )
    derive.add_argument("cache", metavar="DIR", type=Path, help="a cache")
    derive.add_argument("kind", nargs="?", default=SURFACE, choices=KINDS, help="what to make (default: surface)")
    derive.add_argument("--frames", metavar="A-B", type=frame_range, help="only these frames (default: all)")
    for kinds in dict.fromkeys(tuple(owners) for owners in _all_settings().values()):
        group = derive.add_argument_group(f"settings of {' and '.join(MANY[kind] for kind in kinds)}")
        for owners in _all_settings().values():
            if tuple(owners) == kinds:
                _add_setting(group, owners)
    add_threads(derive, "threads (default: all cores)")
    derive.add_argument("--follow", action="store_true", help="also process the frames that a running bake adds, at low priority")
    instead = derive.add_mutually_exclusive_group()
    instead.add_argument("--estimate", action="store_true", help="only estimate the disk space of the missing frames")
    instead.add_argument("--delete", action="store_true", help="delete the surfaces, skins, volumes, foam or debris of all takes")
    add_json(derive)
    derive.set_defaults(run=_derive, listens=True)


def _flag(declared: Parameter) -> str:
    return f"--{declared.name.replace('_', '-')}"


def _all_settings() -> dict[str, dict[str, Parameter]]:
    """The settings by name, and by the kinds that have them: those of the same name share an option."""
    found: dict[str, dict[str, Parameter]] = {}
    for kind, product in PRODUCTS.items():
        for declared in parameters_of(product.settings):
            found.setdefault(declared.name, {})[kind] = declared
    return found


def _add_setting(group: Any, owners: Mapping[str, Parameter]) -> None:
    """Add the option of a setting, given the kinds that have it."""
    declared = next(iter(owners.values()))
    flag = _flag(declared)
    default = "automatic" if declared.default is None else declared.default
    helps = [declared.help] if len(owners) == 1 else [f"{MANY[kind].title()}: {each.help}." for kind, each in owners.items()]
    words = " ".join(helps).replace("%", "%%") + (f" (default: {default})" if default != "" else "")
    if declared.kind == "flag":
        group.add_argument(flag, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=words)
    elif declared.choices:
        group.add_argument(flag, choices=declared.choices, default=argparse.SUPPRESS, help=words)
    else:
        metavar = "NAMES" if declared.kind == "text" else declared.unit.upper() or "N"
        group.add_argument(flag, metavar=metavar, type=_TYPES[declared.kind], default=argparse.SUPPRESS, help=words)


def _derive(options: argparse.Namespace) -> None:
    tell = printer(options)
    listener: Listener | None = options.listener
    job: DerivedJob | None = None

    def canceled() -> Message:
        return Message("canceled") if job is None else job.words()

    if listener is not None:
        listener.last_words = lambda: tell(CancelledEvent(message=canceled()))
    try:
        cache = open_cache(options.cache)
        if options.delete:
            tell(DeriveDeleted(kind=options.kind, frames=remove_derived(cache, options.kind)))
            return
        job = _job(cache, options, tell)
        if options.follow and hasattr(os, "nice"):
            os.nice(_LOW_PRIORITY)
        if options.estimate:
            tell(DeriveEstimate(frames=job.missing, bytes=job.forecast().frame_bytes * job.missing))
            return
        job.run()
    except (MpmError, MemoryError, KeyboardInterrupt) as error:
        ending = ending_of(error, canceled=canceled(), out_of_memory=_out_of_memory(options.kind))
        tell(ending)
        raise error_of(ending) from error
    finally:
        if listener is not None:
            listener.last_words = None


def settings_of(options: argparse.Namespace) -> Any:
    """The settings of the kind in parsed arguments. Raises MpmError if a value is out of range, or a setting is that of another kind."""
    given = {}
    for name, owners in _all_settings().items():
        if not hasattr(options, name):
            continue
        if options.kind not in owners:
            kinds = " and ".join(MANY[kind] for kind in owners)
            raise MpmError(f"{_flag(next(iter(owners.values())))} is a setting of {kinds}", f"omit it to make {MANY[options.kind]}")
        given[name] = getattr(options, name)
    return PRODUCTS[options.kind].settings(**given)


def _job(cache: Cache, options: argparse.Namespace, tell: OnEvent) -> DerivedJob:
    settings = settings_of(options)
    # before the scene is read, which takes longer
    wanted_moments(cache, options.frames)
    product = PRODUCTS[options.kind].product(cache, settings, options.threads)
    return DerivedJob(cache, product, frames=options.frames, follows=options.follow, on_event=tell, listener=options.listener)


def _out_of_memory(kind: str) -> Message:
    has_voxels = hasattr(PRODUCTS[kind].settings, "voxel_size")
    return Message("out of memory", ("use a larger voxel size or close other programs" if has_voxels else "close other programs",))
