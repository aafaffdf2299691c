"""Frames in the formats of other programs. Adding one: its file, and its line in `EXPORTERS`.

An exporter writes one frame into an open binary file.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from ...core.errors import CacheError
from ...core.particles import Frame
from ..atomic import write_atomically
from ..cache import Cache
from . import npz, obj, ply, vtk

EXPORTERS: dict[str, Callable[[Frame, IO[bytes]], None]] = {
    "ply": ply.write,
    "obj": obj.write,
    "npz": npz.write,
    "vtk": vtk.write,
}


def export_frames(cache: Cache, numbers: Iterable[int], format_name: str, output: Path) -> Iterator[Path]:
    """Export frames, yielding each file when it is written.

    Args:
        cache: where the frames come from.
        numbers: which frames.
        format_name: a key of `EXPORTERS`.
        output: a folder, made where it is missing, for frame_000001.ply and so on; or, for one frame, a file whose name
            ends in the format's suffix.

    Raises:
        CacheError: a frame is missing or damaged, or `output` cannot be written.
    """
    numbers = list(numbers)
    suffix = f".{format_name}"
    is_file = output.suffix.lower() == suffix and not output.is_dir()
    if is_file and len(numbers) != 1:
        raise CacheError(f"{output}: one file cannot hold {len(numbers)} frames; give a folder, or one frame (--frames N).")
    for number in numbers:
        frame = cache.frame(number)
        path = output if is_file else output / f"frame_{number:06d}{suffix}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, lambda file, frame=frame: EXPORTERS[format_name](frame, file), is_durable=False)
        except OSError as error:
            raise CacheError(f"{path}: cannot be written ({error.strerror}); give another output.") from error
        yield path
