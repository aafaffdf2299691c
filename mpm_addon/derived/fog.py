"""The particles of a swarm as a fog of voxels: how much of the light they would scatter, and how fast they move. Plain numpy.

Particles are opaque spheres: the density of a voxel is the area of their cross sections over its volume, the extinction coefficient of
geometric optics [1/m].
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.errors import CacheError
from ..core.particles import Moment
from ..storage.cache import Cache
from ..storage.swarm_file import KIND, LIFE, POSITION, SIZE, swarm_at
from ..storage.swarm_file import VELOCITY as SPEED
from ..storage.take import DEBRIS, FOAM, frame_name
from ..storage.vdb import SUFFIX, Grid, write_vdb
from ..storage.volume_file import DENSITY, VELOCITY
from .voxels import Voxels

# The kinds of particles that become a fog: spray, foam and bubbles; dust. Chips are solid.
FOGGY: Mapping[str, Sequence[int]] = {FOAM: (0, 1, 2), DEBRIS: (1,)}
# Voxels along the edge of a cell.
USUAL_DETAIL = 2
# The radius over which a particle is spread [voxels].
_RADIUS = 1.5
# Particles fade in this last part of their life.
_FADING = 0.25
# Half-precision numbers below this are zero.
_LEAST = 3e-8
# They end above this.
_MOST = 6e4


class Fog(NamedTuple):
    """How particles become a fog.

    Attributes:
        kinds: those that do, by number.
        voxel: the edge of a voxel [m].
        scale: a factor on the diameters.
    """

    kinds: Collection[int]
    voxel: float
    scale: float = 1.0


def fog_of(arrays: Mapping[str, NDArray[Any]], fog: Fog) -> Sequence[Grid]:
    """The grids of a fog: `density` [1/m] and `velocity` [m/s].

    Args:
        arrays: those of a `StoredSwarm`.
        fog: see `Fog`.

    Raises:
        MpmError: the particles are spread over too many voxels.
    """
    chosen = np.isin(arrays[KIND], list(fog.kinds))
    position, speed = (arrays[name][chosen].astype(np.float64) for name in (POSITION, SPEED))
    diameter = fog.scale * arrays[SIZE][chosen].astype(np.float64) * np.clip(arrays[LIFE][chosen] / _FADING, 0.0, 1.0)
    voxels = Voxels(position, fog.voxel, _RADIUS * fog.voxel)
    area = 0.25 * np.pi * diameter**2 / fog.voxel**3
    total = voxels.spread(np.concatenate([area[:, None], area[:, None] * speed], axis=1))
    density = np.minimum(total[:, :, :1], _MOST)
    mean = np.where(density > _LEAST, total[:, :, 1:] / np.maximum(total[:, :, :1], _LEAST), 0.0)
    return [Grid(DENSITY, voxels.leaves, density[:, :, 0]), Grid(VELOCITY, voxels.leaves, mean.astype(np.float32))]


def export_fogs(cache: Cache, numbers: Sequence[int], output: Path, kind: str) -> Iterator[Path]:
    """Write the foam or the dust of frames as files of OpenVDB, frame_000001.vdb and so on in a folder, yielding each once it is written.

    Args:
        cache: the cache.
        numbers: the frames.
        output: the folder; or, for a single frame, a file whose name ends in .vdb.
        kind: one of `FOGGY`.

    Raises:
        CacheError: a frame has none, it is damaged, or `output` cannot be written.
        MpmError: as `fog_of`.
    """
    is_file = output.suffix.lower() == SUFFIX and not output.is_dir()
    if is_file and len(numbers) != 1:
        raise CacheError(f"one file cannot hold {len(numbers)} frames", "use a folder, or one frame (--frames N)", subject=str(output))
    fog = Fog(FOGGY[kind], float(cache.manifest["grid_spacing"]) / USUAL_DETAIL)
    for number in numbers:
        path = output if is_file else output / frame_name(Moment(number), SUFFIX)
        try:
            grids = fog_of(swarm_at(cache, Moment(number), kind).arrays, fog)
        except FileNotFoundError:
            raise CacheError(f"frame {number} has no {kind}", "derive it first", subject=str(cache.folder)) from None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_vdb(path, grids, fog.voxel)
        except OSError as error:
            raise CacheError(f"it cannot be written ({error.strerror})", "choose another output", subject=str(path)) from error
        yield path
