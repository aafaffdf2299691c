"""Shows the frames of bakes that another process started, or that this Blender started before the file was reopened.

A timer checks the displayed cache every second. A check without changes costs a few system calls.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import bpy

from ...core.errors import MpmError
from ...storage.status import BakeStatus
from ..host.blender_types import BlenderScene
from ..host.redrawing import redraw
from ..host.registrar import Registrar
from ..host.runtime import OfFile, runtime
from ..playback import arriving_frames, particle_objects
from ..settings import paths
from . import cache_watch, emitter_wires, session
from .shown_caches import show_cache

INTERVAL = 1.0
# Interval while a displayed cache is still being read.
READING_INTERVAL = 0.05


class Observed(NamedTuple):
    """A bake of another process: its cache and its progress."""

    folder: Path
    status: BakeStatus


@dataclass
class Followed(OfFile):
    """The cache of the observed bake, and how many frames it had."""

    frames: dict[Path, int] = field(default_factory=dict)


def observed(scene: BlenderScene) -> Observed | None:
    """The bake of another process into a cache of the scene."""
    if session.current() is not None:
        return None
    shown = [item.mpm.cache for item in particle_objects.result_objects(scene)]
    for folder in dict.fromkeys(paths.absolute(cache) for cache in (paths.cache_path(scene), *shown)):
        status = cache_watch.status_of(folder)
        if status is not None and status.is_live:
            return Observed(folder, status)
    return None


def look() -> float:
    """Show frames that arrived since the last check. Called by a timer; returns the seconds to the next call."""
    scene = bpy.context.scene
    found = observed(scene) if scene is not None else None
    if scene is not None:
        emitter_wires.look(scene)
    followed = runtime.of(Followed).frames
    if scene is not None and (found is not None or followed):
        folder = found.folder if found is not None else next(iter(followed))
        _show(scene, folder, cache_watch.status_of(folder))
        redraw(bpy.context.window_manager)
    if found is None:
        followed.clear()
    if cache_watch.is_reading():
        redraw(bpy.context.window_manager)
        return READING_INTERVAL
    return INTERVAL


def _show(scene: BlenderScene, folder: Path, status: BakeStatus | None) -> None:
    """Show the current frame if it arrived since the last check."""
    done = 0 if status is None else status.done
    followed = runtime.of(Followed).frames
    has_more = done > followed.get(folder, 0)
    followed[folder] = done
    if not has_more:
        return
    shown = [item for item in particle_objects.result_objects(scene) if paths.absolute(item.mpm.cache) == folder]
    if not shown:
        try:
            cache = paths.cache_path(scene)
            show_cache(scene, cache if paths.absolute(cache) == folder else str(folder))
        except MpmError:
            followed.pop(folder)  # its scene package is not complete yet; try again soon
    elif any(particle_objects.status(item) for item in shown):
        arriving_frames.show(scene, folder)


def register(registrar: Registrar) -> None:
    registrar.timer(look, INTERVAL)
