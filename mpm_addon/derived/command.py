"""The command `derive`: its arguments, and its events as text or JSON."""

import argparse
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..arguments import frame_range, thread_count
from ..core.errors import Cancelled, MpmError
from ..core.parameters import Parameter, parameters_of
from ..stopping import Listener
from ..storage.cache import Cache, open_cache
from ..storage.derived import remove_derived
from ..storage.take import KINDS, SKIN, SURFACE, VOLUME
from ..terminal import duration, print_json
from .job import DerivedJob, wanted_moments
from .product import Product
from .settings import SkinSettings, SurfaceSettings, VolumeSettings
from .skin import SkinProduct
from .volume import VolumeProduct

_LOW_PRIORITY = 10
_TYPES: dict[str, Callable[[str], Any]] = {"number": float, "integer": int, "text": str}


def add_command(commands: Any) -> None:
    """Add `derive` to the sub-commands of a parser."""
    derive = commands.add_parser(
        "derive", help="make surfaces, skins or volumes from the cached frames; resumes by default", allow_abbrev=False
    )
    derive.add_argument("cache", metavar="DIR", type=Path, help="a cache")
    derive.add_argument("kind", nargs="?", default=SURFACE, choices=KINDS, help="what to make (default: surface)")
    derive.add_argument("--frames", metavar="A-B", type=frame_range, help="only these frames (default: all)")
    for kinds in dict.fromkeys(_kinds_of(name) for name in _all_settings()):
        group = derive.add_argument_group(f"settings of {' and '.join(f'{kind}s' for kind in kinds)}")
        for name, declared in _all_settings().items():
            if _kinds_of(name) == kinds:
                _add_setting(group, declared)
    derive.add_argument("--threads", metavar="N", type=thread_count, help="threads (default: all cores)")
    derive.add_argument("--follow", action="store_true", help="also process the frames that a running bake adds, at low priority")
    instead = derive.add_mutually_exclusive_group()
    instead.add_argument("--estimate", action="store_true", help="only estimate the disk space of the missing frames")
    instead.add_argument("--delete", action="store_true", help="delete the surfaces, skins or volumes of all takes")
    derive.add_argument("--json", action="store_true", help="print one JSON object per line")
    derive.set_defaults(run=_derive, listens=True)


def _flag(declared: Parameter) -> str:
    return f"--{declared.name.replace('_', '-')}"


def _all_settings() -> dict[str, Parameter]:
    """The settings of all kinds by name; those of the same name share an option."""
    found: dict[str, Parameter] = {}
    for kind in PRODUCTS.values():
        for declared in parameters_of(kind.settings):
            found.setdefault(declared.name, declared)
    return found


def _kinds_of(name: str) -> tuple[str, ...]:
    """The kinds with a setting of this name."""
    return tuple(name_of for name_of, kind in PRODUCTS.items() if any(declared.name == name for declared in parameters_of(kind.settings)))


def _add_setting(group: Any, declared: Parameter) -> None:
    flag = _flag(declared)
    default = "automatic" if declared.default is None else declared.default
    words = declared.help.replace("%", "%%") + (f" (default: {default})" if default != "" else "")
    if declared.kind == "flag":
        group.add_argument(flag, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=words)
    elif declared.choices:
        group.add_argument(flag, choices=declared.choices, default=argparse.SUPPRESS, help=words)
    else:
        metavar = "NAMES" if declared.kind == "text" else declared.unit.upper() or "N"
        group.add_argument(flag, metavar=metavar, type=_TYPES[declared.kind], default=argparse.SUPPRESS, help=words)


def _derive(options: argparse.Namespace) -> None:
    tell = print_json if options.json else _print_event
    listener: Listener | None = options.listener
    job: DerivedJob | None = None

    def stop() -> None:
        tell({"event": "cancelled", **(Cancelled("canceled").message if job is None else job.words()).fields()})

    if listener is not None:
        listener.last_words = stop
    try:
        cache = open_cache(options.cache)
        if options.delete:
            tell({"event": "deleted", "kind": options.kind, "frames": remove_derived(cache, options.kind)})
            return
        job = _job(cache, options, tell)
        if options.follow and hasattr(os, "nice"):
            os.nice(_LOW_PRIORITY)
        if options.estimate:
            expected = job.forecast()
            tell({"event": "estimate", "frames": job.missing, "bytes": expected.frame_bytes * job.missing})
            return
        job.run()
    except (MpmError, MemoryError, KeyboardInterrupt) as error:
        failure = _failure(error, job)
        tell({"event": "cancelled" if isinstance(failure, Cancelled) else "error", **failure.message.fields()})
        raise failure from error
    finally:
        if listener is not None:
            listener.last_words = None


def settings_of(options: argparse.Namespace) -> Any:
    """The settings of the kind in parsed arguments. Raises MpmError if a value is out of range, or a setting is that of another kind."""
    given = {}
    for name, declared in _all_settings().items():
        if not hasattr(options, name):
            continue
        kinds = _kinds_of(name)
        if options.kind not in kinds:
            owners = " and ".join(f"{kind}s" for kind in kinds)
            raise MpmError(f"{_flag(declared)} is a setting of {owners}", f"omit it to make {options.kind}s")
        given[name] = getattr(options, name)
    return PRODUCTS[options.kind].settings(**given)


def _job(cache: Cache, options: argparse.Namespace, tell: Callable[[dict[str, Any]], None]) -> DerivedJob:
    settings = settings_of(options)
    # before the scene is read, which takes longer
    wanted_moments(cache, options.frames)
    product = PRODUCTS[options.kind].product(cache, settings, options.threads)
    return DerivedJob(cache, product, frames=options.frames, follows=options.follow, on_event=tell, listener=options.listener)


def _surface(cache: Cache, settings: SurfaceSettings, threads: int | None) -> Product:
    # distances from colliders need numba, which `doctor`, `info` and the others must do without
    from .surface import SurfaceProduct

    return SurfaceProduct(cache, settings, threads=threads)


class _Kind(NamedTuple):
    """A kind of derived data: its settings, and what makes it from a cache, these and a number of threads."""

    settings: type[Any]
    product: Callable[[Cache, Any, int | None], Product]


PRODUCTS: Mapping[str, _Kind] = {
    SURFACE: _Kind(SurfaceSettings, _surface),
    SKIN: _Kind(SkinSettings, lambda cache, settings, _threads: SkinProduct(cache, settings)),
    VOLUME: _Kind(VolumeSettings, lambda cache, settings, _threads: VolumeProduct(cache, settings)),
}


def _failure(error: BaseException, job: DerivedJob | None) -> MpmError:
    if isinstance(error, MpmError):
        return error
    if isinstance(error, KeyboardInterrupt):
        return Cancelled("canceled") if job is None else Cancelled.of(job.words())
    has_voxels = job is None or hasattr(PRODUCTS[job.product.kind].settings, "voxel_size")
    return MpmError("out of memory", "use a larger voxel size or close other programs" if has_voxels else "close other programs")


def _print_event(event: dict[str, Any]) -> None:
    """Print an event as a line of text."""
    kind = event["event"]
    if kind == "start":
        made = f"{event['done']} of {event['total']} frames have a {event['kind']}"
        print(f"{made}; the others take about {event['bytes'] / 1e6:.3g} MB", flush=True)
    elif kind == "frame":
        share = f"{100 * event['done'] // max(event['total'], 1):3d} % ({event['done']}/{event['total']})"
        pace = f"{event['seconds_per_frame']:.2f} s/frame, {duration(event['eta_seconds'])} left"
        count = next(f"{event[name]} {name}" for name in ("triangles", "voxels") if name in event)
        print(f"{share} frame {event['frame']}, {count}, {event['bytes'] / 1e6:.3g} MB, {pace}", flush=True)
    elif kind == "done":
        print(f"done: {event['frames']} frames after {event['seconds']:.1f} s", flush=True)
    elif kind == "estimate":
        print(f"{event['frames']} frames, about {event['bytes'] / 1e6:.3g} MB", flush=True)
    elif kind == "deleted":
        print(f"{event['frames']} {event['kind']}s deleted", flush=True)
