"""Which frames of a cache have a surface, cheaply enough for every redraw."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ...core.errors import MpmError
from ...storage import open_cache
from ...storage.surfaces import counts_of, surface_folder
from ..host.blender_types import BlenderScene
from ..host.runtime import OfFile, runtime
from ..settings import paths
from ..settings.surface_settings import settings_of


class Facts(NamedTuple):
    """The surfaces of a scene's cache: cached frames, those with an up-to-date and with an outdated surface, and the bytes of both."""

    frames: int
    made: int
    outdated: int
    size: int


NOTHING = Facts(0, 0, 0, 0)


@dataclass
class KnownSurfaces(OfFile):
    """The last answer about each cache, with what it depends on."""

    by_folder: dict[Path, tuple[tuple[object, ...], Facts]] = field(default_factory=dict)


def facts_of(scene: BlenderScene) -> Facts:
    """The surfaces of a scene's cache. Reads the files' headers again only after something changed."""
    folder = paths.absolute(paths.cache_path(scene))
    if not paths.holds_cache(folder):
        return NOTHING
    try:
        cache, wanted = open_cache(folder), settings_of(scene).hash
        frames = len(cache.frames)
        changes = tuple(_changed(surface_folder(take.folder)) for take in cache.takes)
        seen = (wanted, cache.take, frames, changes)
        known = runtime.of(KnownSurfaces).by_folder
        if folder not in known or known[folder][0] != seen:
            known[folder] = (seen, Facts(frames, *counts_of(cache, wanted)))
        return known[folder][1]
    except MpmError:
        return NOTHING


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0
