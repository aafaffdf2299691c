"""Volume files: the powder made from one frame of a cache, as grids of OpenVDB. Renderers read them; nothing here does."""

import json
from collections.abc import Sequence
from pathlib import Path

from .container import Written
from .derived import Origin
from .vdb import Grid, write_vdb

# How much of a voxel particles at rest would fill; and their mean velocity [m/s].
DENSITY, VELOCITY = "density", "velocity"


def write_volume(path: Path, origin: Origin, grids: Sequence[Grid], voxel: float) -> Written:
    """Write a volume, completely or not at all.

    Args:
        path: the file; its folder must exist.
        origin: what it was made from.
        grids: the grids.
        voxel: the edge of a voxel [m].

    Raises:
        OSError: the file could not be written.
    """
    return write_vdb(path, grids, voxel, json.dumps(origin.header()))
