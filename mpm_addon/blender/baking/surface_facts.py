"""Finds out which frames of a cache have a surface, cheaply enough for every redraw."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ...core.errors import MpmError
from ...storage import open_cache
from ...storage.surface_file import Origin, read_origin
from ...storage.surfaces import counts_of, surface_folder
from ...storage.take import take_folder
from ..host.blender_types import BlenderScene
from ..host.runtime import OfFile, runtime
from ..settings import paths
from ..settings.surface_settings import settings_of
from . import watching


class Facts(NamedTuple):
    """The surfaces of a scene's cache: cached frames, those with an up-to-date and with an outdated surface, and the bytes of both."""

    frames: int
    made: int
    outdated: int
    size: int


NOTHING = Facts(0, 0, 0, 0)


@dataclass
class KnownSurfaces(OfFile):
    """The last answer about each cache, with what it depends on; and what each file was made from, with the file's stamp."""

    by_folder: dict[Path, tuple[tuple[object, ...], Facts]] = field(default_factory=dict)
    origins: dict[Path, tuple[tuple[int, int], Origin]] = field(default_factory=dict)


def facts_of(scene: BlenderScene) -> Facts:
    """The surfaces of a scene's cache. Opens the cache only after something changed, and reads the header of each file once."""
    folder = paths.absolute(paths.cache_path(scene))
    overview = watching.watch(folder).look()
    if overview is None:
        return NOTHING
    changes = tuple(_changed(surface_folder(take_folder(folder, take.take))) for take in overview.takes)
    if not any(changes):
        return Facts(len(overview.rows), 0, 0, 0)
    try:
        wanted = settings_of(scene).hash
        # the overview is the same object until it changes
        seen = (wanted, overview, changes)
        known = runtime.of(KnownSurfaces).by_folder
        if folder not in known or known[folder][0] != seen:
            known[folder] = (seen, Facts(len(overview.rows), *counts_of(open_cache(folder), wanted, _origin)))
        return known[folder][1]
    except MpmError:
        return NOTHING


def _origin(path: Path) -> Origin:
    """What a surface file was made from. Raises as `read_origin`."""
    status, known = path.stat(), runtime.of(KnownSurfaces).origins
    stamp = (status.st_mtime_ns, status.st_size)
    if path not in known or known[path][0] != stamp:
        known[path] = (stamp, read_origin(path))
    return known[path][1]


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0
