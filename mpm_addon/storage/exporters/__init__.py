"""Frames in the formats of other programs. To add one, write its file and add it to `EXPORTERS`.

An exporter writes one frame into an open binary file.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from ...core.errors import CacheError
from ...core.particles import Frame
from ..atomic import write_atomically
from ..cache import Cache
from . import npz, obj, ply, vtk, vtu
from .names import plain_names

EXPORTERS: dict[str, Callable[[Frame, IO[bytes]], None]] = {
    "ply": ply.write,
    "obj": obj.write,
    "npz": npz.write,
    "vtk": vtk.write,
    "vtu": vtu.write,
}
# How frames can be split: word -> the attribute that numbers the parts, and the manifest's list of their names.
SPLITS = {"material": ("material_index", "materials"), "emitter": ("emitter_index", "emitters")}
SERIES = "frames.pvd"


def export_frames(
    cache: Cache,
    numbers: Iterable[int],
    format_name: str,
    output: Path,
    *,
    split: str | None = None,
    read: Callable[[Cache, int], Frame] | None = None,
) -> Iterator[Path]:
    """Export frames, yielding each file once it is written. With vtu and a folder, the last file lists the others with their times.

    Args:
        cache: the cache.
        numbers: the frames.
        format_name: a key of `EXPORTERS`.
        output: a folder, created if necessary, for frame_000001.ply and so on; or, for a single frame, a file whose name
            ends in the format's suffix.
        split: a key of `SPLITS`: one file for each part, frame_000001_NAME.ply, even if it has no particles.
        read: returns the particles of a frame; by default those of the simulation.

    Raises:
        CacheError: a frame is missing or damaged, or `output` cannot be written.
    """
    numbers = list(numbers)
    suffix = f".{format_name}"
    is_file = output.suffix.lower() == suffix and not output.is_dir()
    if is_file and len(numbers) != 1:
        raise CacheError(f"one file cannot hold {len(numbers)} frames", "use a folder, or one frame (--frames N)", subject=str(output))
    if is_file and split is not None:
        raise CacheError(f"one file cannot hold a frame that is split by {split}", "use a folder", subject=str(output))
    series = []
    for number in numbers:
        frame = cache.frame(number) if read is None else read(cache, number)
        for index, (name, part) in enumerate(_parts(cache, frame, split).items()):
            path = output if is_file else output / f"frame_{number:06d}{'_' if name else ''}{name}{suffix}"
            write_export(path, lambda file, part=part: EXPORTERS[format_name](part, file))
            series.append((frame.time, index, name, Path(path.name)))
            yield path
    if format_name == "vtu" and not is_file:
        write_export(output / SERIES, lambda file: vtu.write_series(series, file))
        yield output / SERIES


def write_export(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Write a file for another program, completely or not at all, and its folder if necessary. Raises CacheError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, write, is_durable=False)
    except OSError as error:
        raise CacheError(f"it cannot be written ({error.strerror})", "choose another output", subject=str(path)) from error


def _parts(cache: Cache, frame: Frame, split: str | None) -> dict[str, Frame]:
    """The frame under an empty name, or a frame for each material or emitter under its name, made safe for file names."""
    if split is None:
        return {"": frame}
    attribute, group = SPLITS[split]
    if attribute not in frame.arrays:
        raise CacheError(f"frame {frame.number} has no {attribute}", f"cache it, or do not split by {split}", subject=str(cache.folder))
    index, names = frame.arrays[attribute], cache.manifest.get(group, [])
    if len(index) and not 0 <= int(index.min()) <= int(index.max()) < len(names):
        raise CacheError(
            f"frame {frame.number} has particles of {split} {index.max()}, but only {len(names)} are known", subject=str(cache.folder)
        )
    plain = plain_names(names)
    members = [np.flatnonzero(index == number) for number in range(len(names))]
    return {
        plain[name]: replace(frame, arrays={key: values[chosen] for key, values in frame.arrays.items()})
        for name, chosen in zip(names, members, strict=True)
    }
