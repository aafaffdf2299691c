"""The command `derive`: its arguments, and its events as text or JSON."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arguments import frame_range, thread_count
from ..core.errors import Cancelled, MpmError
from ..core.parameters import Parameter, parameters_of
from ..stopping import Listener
from ..storage.cache import Cache, open_cache
from ..storage.surfaces import remove_surfaces
from ..terminal import duration, print_json
from .settings import SurfaceSettings

if TYPE_CHECKING:
    from .surface_job import SurfaceJob

SURFACE = "surface"
_LOW_PRIORITY = 10
_TYPES: dict[str, Callable[[str], Any]] = {"number": float, "integer": int, "text": str}


def add_command(commands: Any) -> None:
    """Add `derive` to the sub-commands of a parser."""
    derive = commands.add_parser("derive", help="make surfaces from the cached frames; resumes by default", allow_abbrev=False)
    derive.add_argument("cache", metavar="DIR", type=Path, help="a cache")
    derive.add_argument("kind", nargs="?", default=SURFACE, choices=[SURFACE], help="what to make (default: surface)")
    derive.add_argument("--frames", metavar="A-B", type=frame_range, help="only these frames (default: all)")
    for declared in parameters_of(SurfaceSettings):
        _add_setting(derive, declared)
    derive.add_argument("--threads", metavar="N", type=thread_count, help="threads (default: all cores)")
    derive.add_argument("--follow", action="store_true", help="also make surfaces of the frames that a running bake adds, at low priority")
    instead = derive.add_mutually_exclusive_group()
    instead.add_argument("--estimate", action="store_true", help="only estimate the disk space of the missing surfaces")
    instead.add_argument("--delete", action="store_true", help="delete the surfaces of all takes")
    derive.add_argument("--json", action="store_true", help="print one JSON object per line")
    derive.set_defaults(run=_derive, listens=True)


def _add_setting(derive: argparse.ArgumentParser, declared: Parameter) -> None:
    flag = f"--{declared.name.replace('_', '-')}"
    default = "by quality" if declared.default is None else declared.default
    words = declared.help.replace("%", "%%") + (f" (default: {default})" if default != "" else "")
    if declared.kind == "flag":
        derive.add_argument(flag, action=argparse.BooleanOptionalAction, default=declared.default, help=words)
    elif declared.choices:
        derive.add_argument(flag, choices=declared.choices, default=declared.default, help=words)
    else:
        derive.add_argument(
            flag, metavar=declared.unit.upper() or "N" if declared.kind != "text" else "NAMES", type=_TYPES[declared.kind],
            default=declared.default, help=words,
        )  # fmt: skip


def _derive(options: argparse.Namespace) -> None:
    tell = print_json if options.json else _print_event
    listener: Listener | None = options.listener
    job: SurfaceJob | None = None

    def stop() -> None:
        tell({"event": "cancelled", **(Cancelled("canceled").message if job is None else job.words()).fields()})

    if listener is not None:
        listener.last_words = stop
    try:
        cache = open_cache(options.cache)
        if options.delete:
            tell({"event": "deleted", "frames": remove_surfaces(cache)})
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


def settings_of(options: argparse.Namespace) -> SurfaceSettings:
    """The settings in parsed arguments. Raises SceneError if a value is out of range."""
    return SurfaceSettings(**{declared.name: getattr(options, declared.name) for declared in parameters_of(SurfaceSettings)})


def _job(cache: Cache, options: argparse.Namespace, tell: Callable[[dict[str, Any]], None]) -> "SurfaceJob":
    # distances from colliders need numba, which `doctor` and `info` must do without
    from .surface_job import SurfaceJob

    return SurfaceJob(
        cache,
        settings_of(options),
        frames=options.frames,
        threads=options.threads,
        follows=options.follow,
        on_event=tell,
        listener=options.listener,
    )


def _failure(error: BaseException, job: "SurfaceJob | None") -> MpmError:
    if isinstance(error, MpmError):
        return error
    if isinstance(error, KeyboardInterrupt):
        return Cancelled("canceled") if job is None else Cancelled.of(job.words())
    return MpmError("out of memory", "use a larger voxel size or close other programs")


def _print_event(event: dict[str, Any]) -> None:
    """Print an event as a line of text."""
    kind = event["event"]
    if kind == "start":
        made = f"{event['done']} of {event['total']} frames have a surface"
        print(f"{made}; the others take about {event['bytes'] / 1e6:.3g} MB", flush=True)
    elif kind == "frame":
        share = f"{100 * event['done'] // max(event['total'], 1):3d} % ({event['done']}/{event['total']})"
        pace = f"{event['seconds_per_frame']:.2f} s/frame, {duration(event['eta_seconds'])} left"
        print(f"{share} frame {event['frame']}, {event['triangles']} triangles, {event['bytes'] / 1e6:.3g} MB, {pace}", flush=True)
    elif kind == "done":
        print(f"done: {event['frames']} frames after {event['seconds']:.1f} s", flush=True)
    elif kind == "estimate":
        print(f"{event['frames']} frames, about {event['bytes'] / 1e6:.3g} MB", flush=True)
    elif kind == "deleted":
        print(f"{event['frames']} surfaces deleted", flush=True)
