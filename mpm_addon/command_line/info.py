"""The command `info`: describes a cache, or estimates the cost of a scene."""

import argparse
from pathlib import Path
from typing import Any

from ..core.emission.references import current_reasons
from ..core.errors import CacheError, SceneError
from ..core.forecast.estimate import estimate
from ..core.forecast.stiffness import settled_moduli
from ..core.messages import Message, SceneWarning, Topic
from ..core.processor import prepare_numba, thread_count
from ..core.scene.description import Scene
from ..core.stepping.support import refuse_unsupported
from ..storage.cache import CACHE_FILE, Cache, open_cache
from ..storage.disk import free_space, refusal
from ..storage.failure import read_failure, summary
from ..storage.manifest import outline
from ..storage.scene_file import read_scene, read_scene_words, scene_path
from ..storage.status import read_status, status_words
from .arguments import add_threads
from .printing import answering, print_json, print_scene, print_table


def add_command(commands: Any) -> None:
    """Add `info` to the sub-commands of a parser."""
    info = commands.add_parser("info", help="describe a cache, or estimate the cost of a scene", allow_abbrev=False)
    info.add_argument("path", metavar="DIR|SCENE", type=Path, help="a cache, or a scene file or its folder")
    info.add_argument("--variant", metavar="NAME", help="a variant of the scene")
    info.add_argument("--probe", action="store_true", help="for a scene: measure a few substeps and predict how long a bake takes")
    info.add_argument("--cache", metavar="DIR", type=Path, default=Path(), help="for a scene: where its cache would be (default: here)")
    add_threads(info, "threads of the probe (default: all cores)")
    info.add_argument("--check", action="store_true", help="for a cache: read every byte and list damaged files")
    info.add_argument("--json", action="store_true", help="print JSON")
    info.set_defaults(run=_info, listens=True)


def _info(options: argparse.Namespace) -> None:
    if not options.path.exists():
        raise SceneError("it does not exist", "use a cache, or a scene file or its folder", subject=str(options.path))
    is_cache = (options.path / CACHE_FILE).exists() or (options.path.is_dir() and not scene_path(options.path).exists())
    if is_cache and options.variant is not None:
        raise SceneError("it is a cache, which has only one variant", "omit --variant", subject=str(options.path))
    if is_cache and options.probe:
        raise SceneError("it is a cache, which is already baked", "omit --probe", subject=str(options.path))
    if options.check and not is_cache:
        raise SceneError("it is a scene, which is checked whenever it is read", "omit --check", subject=str(options.path))
    with answering(options):
        description = _describe_cache(open_cache(options.path)) if is_cache else _describe_scene(options)
    if options.check:
        description["damaged"] = [message.text() for message in open_cache(options.path).damaged()]
    if options.json:
        print_json(description)
    elif is_cache:
        print_table(description)
    else:
        print_scene(description)
    if options.check and description["damaged"]:
        count = len(description["damaged"])
        raise CacheError(
            f"{count} file{'s are' if count > 1 else ' is'} damaged", "delete the listed files and bake again", subject=str(options.path)
        )


def _describe_cache(cache: Cache) -> dict[str, Any]:
    frames = list(cache.statistics())
    failure, status = read_failure(cache.folder), read_status(cache.folder)
    last_bake = {
        "failure": None if failure is None else summary(failure),
        "status": None if status is None else {**status.told, "words": status_words(status)},
    }
    return {"cache": str(cache.folder), **cache.manifest, "bytes": cache.size(), **last_bake, "frames": frames}


def _describe_scene(options: argparse.Namespace) -> dict[str, Any]:
    scene = read_scene(options.path, options.variant)
    refuse_unsupported(scene)
    cost = estimate(scene)
    prepare_numba(options.threads)
    from ..core.advice.preflight import sizes_of, warnings_of

    measured = _measured(scene) if options.probe else {}
    disk_free, unwritable = free_space(options.cache), _unwritable(options.cache)
    room = None if unwritable else disk_free
    warnings = [*unwritable, *warnings_of(scene, cost, disk_free=room, expected_seconds=measured.get("expected_seconds"))]
    return {
        "scene": scene.name,
        "variants": list(read_scene_words(options.path).variants),
        **outline(scene),
        "colliders": [collider.name for collider in scene.colliders],
        "forces": [force.name for force in scene.forces],
        "outflows": [outflow.name for outflow in scene.outflows],
        **vars(cost),
        "disk_free_bytes": disk_free,
        "sizes": sizes_of(scene),
        "bulk_moduli": settled_moduli(scene),
        "threads": thread_count(),
        "current_reasons": current_reasons(scene),
        "probe": measured or None,
        "warnings": [warning.fields() for warning in warnings],
    }


def _unwritable(folder: Path) -> list[SceneWarning]:
    """A warning if nothing can be written to the cache folder."""
    reason = refusal(folder)
    problem = Message(f"it cannot be written: {reason}", ("choose another cache folder, or allow writing there",), f"Cache {folder}")
    return [SceneWarning(Topic.UNWRITABLE, problem)] if reason else []


def _measured(scene: Scene) -> dict[str, Any]:
    """The result of a probe of the scene. Raises SceneError if it cannot be computed."""
    from ..core.advice.probe import probe

    return vars(probe(scene))
