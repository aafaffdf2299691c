"""Finds out which frames of a cache have derived data, cheaply enough for every redraw."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ...core.errors import MpmError
from ...derived.emitter_names import hash_in
from ...storage import open_cache
from ...storage.derived import Origin, counts_of, derived_folder, read_origin
from ...storage.take import SKIN, take_folder
from ..host.blender_types import BlenderScene
from ..host.runtime import OfFile, runtime
from ..settings import paths
from ..settings.derived_settings import displayed_as_mesh, settings_of
from . import cache_watch


class Facts(NamedTuple):
    """The derived data of a scene's cache: cached frames, those for which it is up to date and outdated, and the bytes of both."""

    frames: int
    made: int
    outdated: int
    size: int


NOTHING = Facts(0, 0, 0, 0)


@dataclass
class KnownDerived(OfFile):
    """The last answer about each kind and cache, with what it depends on; and the origin of each file, with the file's stamp."""

    by_folder: dict[tuple[str, Path], tuple[tuple[object, ...], Facts]] = field(default_factory=dict)
    origins: dict[Path, tuple[tuple[int, int], Origin]] = field(default_factory=dict)


def facts_of(scene: BlenderScene, kind: str) -> Facts:
    """The derived data of a scene's cache. Opens the cache only after something changed, and reads the header of each file once."""
    folder = paths.absolute(paths.cache_path(scene))
    overview = cache_watch.watch(folder).look()
    if overview is None:
        return NOTHING
    changes = tuple(_changed(derived_folder(take_folder(folder, take.take), kind)) for take in overview.takes)
    if not any(changes):
        return Facts(len(overview.rows), 0, 0, 0)
    try:
        wanted = wanted_hash(scene, kind, folder, overview.manifest)
        # the overview is the same object until it changes
        seen = (wanted, overview, changes)
        known = runtime.of(KnownDerived).by_folder
        if (kind, folder) not in known or known[kind, folder][0] != seen:
            known[kind, folder] = (seen, Facts(len(overview.rows), *counts_of(open_cache(folder), kind, wanted, _origin)))
        return known[kind, folder][1]
    except MpmError:
        return NOTHING


def wanted_hash(scene: BlenderScene, kind: str, folder: Path, manifest: Mapping[str, Any]) -> str:
    """The hash of the settings; "" if there is nothing to make, so that existing files count as outdated. Raises SceneError."""
    return "" if kind == SKIN and not displayed_as_mesh(scene, folder) else hash_in(manifest, settings_of(scene, kind, folder))


def _origin(path: Path, kind: str) -> Origin:
    """The origin in a file. Raises as `read_origin`."""
    status, known = path.stat(), runtime.of(KnownDerived).origins
    stamp = (status.st_mtime_ns, status.st_size)
    if path not in known or known[path][0] != stamp:
        known[path] = (stamp, read_origin(path, kind))
    return known[path][1]


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0
