"""Checkpoints: exact states from which a bake can resume. Surplus older ones are removed."""

import re
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from . import encoding
from .arrays import ArrayFileError
from .container import SUFFIX, read_container, write_container

Snapshot = dict[str, NDArray[Any]]

_KIND = "checkpoint"
_NAME = re.compile(r"frame_(-?\d{6,})" + re.escape(SUFFIX))


def checkpoint_frames(folder: Path) -> list[int]:
    """The frames of the checkpoints, ascending."""
    found = [_NAME.fullmatch(path.name) for path in folder.iterdir()] if folder.is_dir() else []
    return sorted(int(match[1]) for match in found if match)


def write_checkpoint(folder: Path, number: int, scene_hash: str, snapshot: Snapshot) -> None:
    """Write a checkpoint after frame `number`. The snapshot is emptied while it is written, to free memory. Raises OSError."""
    names = list(snapshot)
    tables = {
        name: {**encoding.raw(snapshot[name]).table, "section": place, "bytes": snapshot[name].nbytes} for place, name in enumerate(names)
    }
    header = {"frame": number, "scene_hash": scene_hash, "arrays": tables}
    write_container(checkpoint_path(folder, number), _KIND, header, (encoding.raw(snapshot.pop(name)).data for name in names))


def read_checkpoint(folder: Path, number: int, scene_hash: str) -> dict[str, NDArray[Any]]:
    """The checkpoint after frame `number`.

    Raises:
        ArrayFileError: it is damaged, or belongs to another scene.
        OSError: it cannot be read.
    """
    container = read_container(checkpoint_path(folder, number), _KIND)
    header = container.header
    try:
        if (header["frame"], header["scene_hash"]) != (number, scene_hash):
            raise ArrayFileError("belongs to another frame or scene")
        return {
            name: encoding.decode(table, table["bytes"], lambda size, table=table: container.section(table["section"], size))
            for name, table in header["arrays"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ArrayFileError(f"has an invalid header ({error})") from error


def checkpoint_path(folder: Path, number: int) -> Path:
    """The path of the checkpoint after a frame, whether it exists or not."""
    return folder / f"frame_{number:06d}{SUFFIX}"


def surplus(frames: list[int], count: int) -> list[int]:
    """The frames whose checkpoints to remove so that `count` remain: the newest two, and others spread over all frames."""
    kept, gone = sorted(frames), []
    while len(kept) > count:
        candidates = range(max(len(kept) - 2, 1))
        before = [2 * kept[0] - kept[1], *kept]
        gone.append(kept.pop(min(candidates, key=lambda place: kept[place + 1] - before[place])))
    return gone
