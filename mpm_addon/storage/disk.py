"""How much room there is for files."""

import contextlib
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
