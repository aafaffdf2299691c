"""Free disk space, the size of folders, and whether they can be written."""

import contextlib
import os
import shutil
from pathlib import Path


def free_space(folder: Path) -> int | None:
    """The free space on the disk of a folder, which need not exist yet [bytes]; None if the system does not report it."""
    folder = folder.absolute()
    with contextlib.suppress(OSError):
        for place in (folder, *folder.parents):
            if place.is_dir():
                return shutil.disk_usage(place).free
    return None


def refusal(folder: Path) -> str:
    """Why nothing can be written to a folder, which need not exist yet: a clause; "" if nothing is known to prevent it."""
    folder = folder.absolute()
    place = next((each for each in (folder, *folder.parents) if os.path.exists(each)), folder)
    if not place.is_dir():
        return f"{place} is not a folder"
    if not os.access(place, os.W_OK | os.X_OK):
        return f"there is no permission to write in {place}"
    with contextlib.suppress(OSError):
        if shutil.disk_usage(place).total == 0:
            return f"{place} holds no files of its own"
    return ""


def folder_size(folder: Path) -> int:
    """The bytes of all files in a folder and its subfolders; files that are deleted meanwhile do not count."""
    size = 0
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                size += folder_size(Path(entry.path))
            else:
                with contextlib.suppress(FileNotFoundError):
                    size += entry.stat(follow_symlinks=False).st_size
    return size
