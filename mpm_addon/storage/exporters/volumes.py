"""Volumes for other programs: the files of the cache are OpenVDB already, so they are only copied."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from ...core.errors import CacheError
from ...core.particles import Moment
from ..arrays import ArrayFileError
from ..cache import Cache
from ..derived import derived_path, read_origin
from ..plain_files import open_plain
from ..take import VOLUME, frame_name, unreadable
from ..vdb import SUFFIX

FORMAT = SUFFIX.removeprefix(".")
_PIECE = 1 << 22


def export_volumes(
    cache: Cache, numbers: Iterable[int], output: Path, write: Callable[[Path, Callable[[IO[bytes]], None]], None]
) -> Iterator[Path]:
    """Export the volumes of frames, yielding each file once it is written.

    Args:
        cache: the cache.
        numbers: the frames.
        output: a folder for frame_000001.vdb and so on; or, for a single frame, a file whose name ends in .vdb.
        write: writes a file, given its path and a function that fills it.

    Raises:
        CacheError: a frame has none, it is damaged, or `output` cannot be written.
    """
    numbers = list(numbers)
    is_file = output.suffix.lower() == SUFFIX and not output.is_dir()
    if is_file and len(numbers) != 1:
        raise CacheError(f"one file cannot hold {len(numbers)} frames", "use a folder, or one frame (--frames N)", subject=str(output))
    for number in numbers:
        source = derived_path(cache, Moment(number), VOLUME)
        path = output if is_file else output / frame_name(Moment(number), SUFFIX)
        try:
            read_origin(source, VOLUME)
            with open_plain(source) as file:
                write(path, lambda target, file=file: _copy(file, target))
        except FileNotFoundError:
            raise CacheError(f"frame {number} has no volume", "derive it first", subject=str(cache.folder)) from None
        except ArrayFileError as error:
            raise error.at(source, "make the volume again") from error
        except OSError as error:
            raise unreadable(source, error) from error
        yield path


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    while piece := source.read(_PIECE):
        target.write(piece)
