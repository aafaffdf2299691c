"""The command line: bake, derive, wedge, live, info, takes, export, presets, kernels, doctor. Works without Blender.

Exit status: 0 done, 1 failed with an error on stderr, 2 bad usage, 130 canceled.
"""

import argparse
import contextlib
import dataclasses
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .arguments import frame_range, particle_count, thread_count
from .core.emission.references import current_reasons
from .core.errors import CacheError, Cancelled, MpmError, SceneError
from .core.forecast.estimate import estimate
from .core.messages import Message, SceneWarning, Topic, one_line
from .core.processor import LEVELS, NATIVE, is_supported, prepare_numba
from .core.scene.description import Scene
from .core.stepping.support import refuse_unsupported
from .dependencies import load_numba, missing_package
from .derived.command import add_command as add_derive
from .live.command import add_command as add_live
from .stopping import CANCELLED, Listener
from .storage.cache import CACHE_FILE, Cache, open_cache
from .storage.disk import free_space
from .storage.exporters import EXPORTERS, SPLITS, export_frames, write_export
from .storage.exporters.surfaces import export_surfaces
from .storage.exporters.volumes import FORMAT as VOLUME_FORMAT
from .storage.exporters.volumes import export_volumes
from .storage.failure import read_failure, summary
from .storage.installation import version
from .storage.manifest import outline
from .storage.scene_file import read_scene, read_scene_words, scene_path
from .storage.status import read_status, status_words
from .storage.take import KINDS, VOLUME
from .storage.takes import describe_takes, show_take, take_words
from .terminal import EventPrinter, print_json, print_scene, print_table
from .wedge.command import add_command as add_wedge


def main(arguments: Sequence[str] | None = None, *, listener: Listener | None = None) -> int:
    """Run a command and return its exit status.

    Args:
        arguments: the command line; by default that of the process.
        listener: receives requests to stop this process.
    """
    options = _parser().parse_args(arguments)
    options.listener = listener
    if listener is not None and not getattr(options, "listens", False):
        listener.step_back()
    try:
        options.run(options)
        sys.stdout.flush()
    except Cancelled as error:
        _complain(error)
        return CANCELLED
    except MpmError as error:
        _complain(error)
        return 1
    except ImportError as error:
        _complain(MpmError(*missing_package(error)))
        return 1
    except KeyboardInterrupt:
        return CANCELLED
    except BrokenPipeError:
        # the reader of stdout is gone; Python must not raise again when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _complain(error: MpmError) -> None:
    print(f"mpm: {error}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _answering(options: argparse.Namespace) -> Iterator[None]:
    """With --json, also print an error as an event."""
    try:
        yield
    except MpmError as error:
        if options.json:
            print_json({"event": "error", **error.message.fields()})
        raise


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mpm_addon", description="Material Point Method simulations")
    parser.add_argument("--version", action="version", version=version())
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (
        _add_bake,
        add_derive,
        add_wedge,
        add_live,
        _add_info,
        _add_takes,
        _add_export,
        _add_presets,
        _add_kernels,
        _add_doctor,
    ):
        add(commands)
    return parser


def _add_bake(commands: Any) -> None:
    bake = commands.add_parser("bake", help="simulate a scene into a cache; resumes by default", allow_abbrev=False)
    bake.add_argument("scene", metavar="SCENE", type=Path, help="a scene file, or the folder of its scene.toml")
    bake.add_argument("--cache", required=True, metavar="DIR", type=Path, help="the folder for the frames")
    bake.add_argument("--frames", metavar="A-B", type=frame_range, help="store only these frames (default: all)")
    bake.add_argument("--threads", metavar="N", type=thread_count, help="threads (default: all cores); may exceed the number of cores")
    bake.add_argument(
        "--processor", metavar="LEVEL", choices=[*LEVELS, NATIVE], help="the instruction set to use (default: the cache's, or the best)"
    )
    bake.add_argument("--preview", metavar="N", type=particle_count, help="bake a preview with about N particles, on a coarser grid")
    bake.add_argument("--variant", metavar="NAME", help="a variant of the scene")
    bake.add_argument("--size-limit", metavar="GB", type=float, help="stop before the cache exceeds this size (default: the scene's limit)")
    bake.add_argument("--time-limit", metavar="HOURS", type=float, help="stop after this time (default: the scene's limit)")
    beginning = bake.add_mutually_exclusive_group()
    beginning.add_argument("--restart", action="store_true", help="replace all existing takes once the first new frame is finished")
    beginning.add_argument("--from", dest="from_frame", metavar="N", type=int, help="resume after frame N, as a new take")
    bake.add_argument("--json", action="store_true", help="print one JSON object per line")
    bake.set_defaults(run=_bake, listens=True)


def _bake(options: argparse.Namespace) -> None:
    tell = print_json if options.json else EventPrinter().tell
    prepare_numba(options.threads, options.processor or _level_of_cache(options, tell))
    load_numba()
    from .bake import Order, bake

    order = Order(**{field.name: getattr(options, field.name) for field in dataclasses.fields(Order)})
    bake(options.scene, options.cache, order, on_event=tell, listener=options.listener)


def _level_of_cache(options: argparse.Namespace, tell: Callable[[dict[str, Any]], None]) -> str | None:
    """The processor level of an existing cache, if the bake resumes and this processor supports it."""
    if options.restart or not (options.cache / CACHE_FILE).is_file():
        return None
    try:
        level = open_cache(options.cache).manifest.get("processor_level")
    except CacheError:
        return None  # the bake itself reports the error
    if level is None or level == NATIVE or level not in LEVELS or is_supported(level):
        return level if level in LEVELS else None
    words = f"was baked with level {level}, which this processor does not support; later frames may differ in their last digits"
    tell({"event": "warning", **SceneWarning(Topic.PROCESSOR, Message(words, (), str(options.cache))).fields()})
    return None


def _add_kernels(commands: Any) -> None:
    kernels = commands.add_parser("kernels", help="compile all kernels in advance", allow_abbrev=False)
    kernels.add_argument("--processor", metavar="LEVEL", choices=[*LEVELS, NATIVE], help="the instruction set to use (default: the best)")
    kernels.add_argument("--package", metavar="DIR", type=Path, help="also store them in this copy of the package, for distribution")
    kernels.add_argument("--gently", action="store_true", help="run at low priority")
    kernels.add_argument("--threads", metavar="N", type=thread_count, help="kernels to compile at once (default: all cores)")
    kernels.add_argument("--json", action="store_true", help="print one JSON object per line")
    kernels.set_defaults(run=_kernels)


def _kernels(options: argparse.Namespace) -> None:
    """Compile all kernels that scenes with the default scheme can call."""
    if options.gently and hasattr(os, "nice"):
        os.nice(10)
    prepare_numba(options.threads, options.processor, is_for_others=options.package is not None)
    load_numba()
    from .core.stepping.compiling import make_all_ready, pack

    tell = print_json if options.json else EventPrinter().tell
    told = -1

    def report(done: int, total: int) -> None:
        nonlocal told
        if done != told:
            tell({"event": "compiling", "compiled": done, "kernels": total})
        told = done

    if options.package is not None:
        pack(options.package, report)
    else:
        make_all_ready(report)
    tell({"event": "ready"})


def _add_info(commands: Any) -> None:
    info = commands.add_parser("info", help="describe a cache, or estimate the cost of a scene", allow_abbrev=False)
    info.add_argument("path", metavar="DIR|SCENE", type=Path, help="a cache, or a scene file or its folder")
    info.add_argument("--variant", metavar="NAME", help="a variant of the scene")
    info.add_argument("--probe", action="store_true", help="for a scene: measure a few substeps and predict how long a bake takes")
    info.add_argument("--cache", metavar="DIR", type=Path, default=Path(), help="for a scene: where its cache would be (default: here)")
    info.add_argument("--threads", metavar="N", type=thread_count, help="threads of the probe (default: all cores)")
    info.add_argument("--check", action="store_true", help="for a cache: read every byte and list damaged files")
    info.add_argument("--json", action="store_true", help="print JSON")
    info.set_defaults(run=_info, listens=True)


def _info(options: argparse.Namespace) -> None:
    if not options.path.exists():
        raise SceneError("does not exist", "use a cache, or a scene file or its folder", subject=str(options.path))
    is_cache = (options.path / CACHE_FILE).exists() or (options.path.is_dir() and not scene_path(options.path).exists())
    if is_cache and options.variant is not None:
        raise SceneError("is a cache, which has only one variant", "omit --variant", subject=str(options.path))
    if is_cache and options.probe:
        raise SceneError("is a cache, which is already baked", "omit --probe", subject=str(options.path))
    if options.check and not is_cache:
        raise SceneError("is a scene, which is checked whenever it is read", "omit --check", subject=str(options.path))
    with _answering(options):
        description = _describe_cache(open_cache(options.path)) if is_cache else _describe_scene(options)
    if options.check:
        description["damaged"] = list(open_cache(options.path).damaged())
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
    said = {
        "failure": None if failure is None else summary(failure),
        "status": None if status is None else {**status.told, "words": status_words(status)},
    }
    return {"cache": str(cache.folder), **cache.manifest, "bytes": cache.size(), **said, "frames": frames}


def _describe_scene(options: argparse.Namespace) -> dict[str, Any]:
    scene = read_scene(options.path, options.variant)
    refuse_unsupported(scene)
    cost = estimate(scene)
    prepare_numba(options.threads)
    from .core.advice.preflight import sizes_of, warnings_of

    measured = _measured(scene) if options.probe else {}
    disk_free = free_space(options.cache)
    warnings = warnings_of(scene, cost, disk_free=disk_free, expected_seconds=measured.get("expected_seconds"))
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
        "current_reasons": current_reasons(scene),
        "probe": measured or None,
        "warnings": [warning.fields() for warning in warnings],
    }


def _measured(scene: Scene) -> dict[str, Any]:
    """The result of a probe of the scene. Raises SceneError if it cannot be computed."""
    from .core.advice.probe import probe

    return vars(probe(scene))


def _add_takes(commands: Any) -> None:
    takes = commands.add_parser("takes", help="list the takes of a cache, or show another one", allow_abbrev=False)
    takes.add_argument("cache", metavar="DIR", type=Path, help="a cache")
    takes.add_argument("--show", metavar="N", type=int, help="make take N the current one")
    takes.add_argument("--json", action="store_true", help="print JSON")
    takes.set_defaults(run=_takes)


def _takes(options: argparse.Namespace) -> None:
    if options.show is not None:
        show_take(options.cache, options.show)
    takes = describe_takes(options.cache)
    if options.json:
        print_json({"cache": str(options.cache), "takes": takes})
        return
    for take in takes:
        print(one_line(take_words(take)))


def _add_export(commands: Any) -> None:
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
        formats = VOLUME_FORMAT if kind == VOLUME else "ply, obj"
        instead.add_argument(f"--{kind}", action="store_true", help=f"write the {kind}s instead of the particles ({formats})")
    export.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> None:
    cache = open_cache(options.cache)
    first, last = options.frames or (0, -1)
    if options.frames and last < first:
        raise CacheError("the last is before the first", "swap them", subject=f"frames {first}-{last}")
    numbers = range(first, last + 1) if options.frames else cache.frames
    kind = next((kind for kind in KINDS if getattr(options, kind)), None)
    if (kind == VOLUME) != (options.format == VOLUME_FORMAT):
        raise CacheError(f"--format {options.format} does not go with {kind or 'particle'}s", "use --volume --format vdb for volumes")
    if kind == VOLUME:
        written = export_volumes(cache, numbers, options.output, write_export)
    elif kind is not None:
        is_split = options.split is not None
        written = export_surfaces(cache, numbers, options.format, options.output, write_export, kind=kind, is_split=is_split)
    else:
        written = export_frames(cache, numbers, options.format, options.output, split=options.split)
    for _path in written:
        pass
    print(f"{len(numbers)} frames written to {options.output}")


def _add_presets(commands: Any) -> None:
    presets = commands.add_parser("presets", help="list or show the presets", allow_abbrev=False)
    presets.set_defaults(run=_list_presets)
    actions = presets.add_subparsers(metavar="list|show NAME")
    actions.add_parser("list", help="list all presets").set_defaults(run=_list_presets)
    show = actions.add_parser("show", help="show one preset")
    show.add_argument("name", metavar="NAME")
    show.set_defaults(run=_show_preset)


def _list_presets(_options: argparse.Namespace) -> None:
    from .storage.presets import material_preset, material_preset_names, scene_preset_folders

    print("materials")
    for name in material_preset_names():
        preset = material_preset(name)
        print(f"  {name:<24} {preset.law.name:<12} {preset.description}")
    print("scenes")
    for name, folder in scene_preset_folders().items():
        words = read_scene_words(folder)
        print(f"  {name:<24} {words.description}\n  {'':<24} {folder}")
        for variant, description in words.variants.items():
            print(f"  {'':<24}   --variant {variant:<16} {description}")


def _show_preset(options: argparse.Namespace) -> None:
    from .storage.presets import preset_file

    print(preset_file(options.name).read_text(encoding="utf-8"), end="")


def _add_doctor(commands: Any) -> None:
    doctor = commands.add_parser("doctor", help="show versions, threads, folders, memory and disk", allow_abbrev=False)
    doctor.add_argument("--json", action="store_true", help="print JSON")
    doctor.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> None:
    prepare_numba()
    with _answering(options):
        try:
            load_numba()
        except ImportError as error:
            raise MpmError(*missing_package(error)) from error
    from .doctor import report

    print_json(report()) if options.json else print_table(report())
