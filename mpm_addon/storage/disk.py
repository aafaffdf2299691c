"""How much room there is for files."""

import contextlib
import os
import shutil
from pathlib import Path


def free_space(folder: Path) -> int | None:
    """What is free on the disk of a folder, which may be still to be made [bytes]; None where the system does not tell."""
    folder = folder.absolute()
    with contextlib.suppress(OSError):
        for place in (folder, *folder.parents):
            if place.is_dir():
                return shutil.disk_usage(place).free
    return None


def folder_size(folder: Path) -> int:
    """The bytes of all files in a folder and below; what vanishes meanwhile does not count."""
    size = 0
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                size += folder_size(Path(entry.path))
            else:
                with contextlib.suppress(FileNotFoundError):
                    size += entry.stat(follow_symlinks=False).st_size
    return size
