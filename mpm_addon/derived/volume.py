"""Volumes as a product: the powder of each frame as a fog of voxels, with its velocity.

Powder is what is loose: particles with little material around them. How much follows from the frame's positions and sizes alone, so volumes
can be made from any cache: the volume at rest of all particles is spread over voxels of a cell, and each particle gathers from these how
full the space around it is. Inside material at rest it is 1; at a flat surface about 0.6.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.errors import CacheError, SceneError
from ..core.laws.finish import GRAINS
from ..core.particles import Frame, Moment
from ..core.scene.description import Scene
from ..storage import read_scene
from ..storage.cache import Cache
from ..storage.container import Written
from ..storage.derived import Origin
from ..storage.finishes import finish_of
from ..storage.take import SCENE, VOLUME
from ..storage.vdb import LEAF_VOXELS, Grid
from ..storage.volume_file import DENSITY, VELOCITY, write_volume
from .emitter_names import hash_in, named, settings_in
from .particles import EMITTER, USUAL_PER_CELL
from .product import Forecast, Made, Make
from .settings import VolumeSettings
from .voxels import LARGEST_RADIUS, Floats, Voxels

# Frames that are made to estimate the size of all.
_SAMPLES = 3
# Bytes of a leaf's place and mask, twice, and of a voxel's number or vector in it.
_BYTES_PER_LEAF, _BYTES_PER_NUMBER = 90.0, 1.8
# The radius of a particle [cells]: at half of this, single particles show in loose material, whose particles are a cell apart.
_USUAL_RADIUS = 2.0
# Particles are powder to the full below this part of the largest fullness.
_FULL_POWDER = 0.5
# Half-precision numbers below this are zero.
_LEAST = 3e-8


class VolumeProduct:
    """The volumes of a cache; see `Product`."""

    kind = VOLUME
    remedy = "free disk space, choose fewer frames, or use a larger voxel size"

    def __init__(self, cache: Cache, settings: VolumeSettings) -> None:
        """Read the scene of the shown take. Raises MpmError."""
        self._cache, self._settings = cache, settings
        if cache.manifest.get("dimension", 3) != 3:
            raise CacheError("it is two-dimensional, so it has no volume", "use a three-dimensional scene", subject=str(cache.folder))
        scene = read_scene(cache.takes[-1].folder / SCENE)
        self.emitters = chosen_emitters(scene, settings_in(cache.manifest, settings))
        self._cell = scene.solver.grid_spacing
        self._voxel, self._radius = sizes_of(settings, self._cell)
        self.hash = hash_in(cache.manifest, settings)

    def forecast(self, moments: Sequence[Moment]) -> Forecast:
        if not moments:
            return Forecast(0)
        places = np.unique(np.linspace(0, len(moments) - 1, min(_SAMPLES, len(moments))).round().astype(int))
        return Forecast(round(float(np.mean([_size(self._grids(moments[place])) for place in places]))))

    @contextmanager
    def maker(self) -> Iterator[Make]:
        yield self._made

    def _made(self, moments: Sequence[Moment], look: Callable[[], None]) -> Iterator[Made]:
        for moment in moments:
            look()
            grids = self._grids(moment)

            def write(path: Path, origin: Origin, grids: Sequence[Grid] = grids) -> Written:
                return write_volume(path, origin, grids, self._voxel)

            yield Made(moment, {"voxels": int(np.count_nonzero(grids[0].values > _LEAST))}, write)

    def _grids(self, moment: Moment) -> list[Grid]:
        """The grids of a frame. Raises CacheError or MpmError."""
        frame = self._cache.state(moment)
        position = frame.position.astype(np.float64)
        if not np.isfinite(position).all():
            raise CacheError(
                f"frame {frame.number} has particles without a finite position", "bake it again", subject=str(self._cache.folder)
            )
        volume = self._volumes(frame)
        if self._settings.powder_only:
            loose = looseness(position, volume, self._cell, self._settings.max_fullness)
        else:
            loose = np.ones(len(position))
        chosen = np.flatnonzero(self._is_chosen(frame) & (loose > 0.0))
        return self._spread(frame, chosen, position[chosen], (volume * loose)[chosen])

    def _spread(self, frame: Frame, chosen: NDArray[np.intp], position: Floats, volume: Floats) -> list[Grid]:
        voxels = Voxels(position, self._voxel, self._radius)
        values = volume[:, None] / self._voxel**3
        has_velocity = self._settings.velocity and "velocity" in frame.arrays
        if has_velocity:
            values = np.concatenate([values, values * frame.velocity[chosen]], axis=1)
        total = voxels.spread(values)
        density = total[:, :, 0]
        grids = [Grid(DENSITY, voxels.leaves, density)]
        if has_velocity:
            mean = total[:, :, 1:] / np.maximum(density, _LEAST)[:, :, None]
            grids.append(Grid(VELOCITY, voxels.leaves, np.where(density[:, :, None] > _LEAST, mean, 0.0).astype(np.float32)))
        return grids

    def _volumes(self, frame: Frame) -> Floats:
        """The volumes of particles at rest [m^3], (n,)."""
        scale = frame.arrays.get("scale")
        if scale is None:
            return np.full(len(frame.position), self._cell**3 / USUAL_PER_CELL)
        return scale.astype(np.float64) ** 3

    def _is_chosen(self, frame: Frame) -> NDArray[np.bool_]:
        if EMITTER not in frame.arrays:
            return np.ones(len(frame.position), np.bool_)
        return np.isin(frame.arrays[EMITTER], self.emitters)


def looseness(position: Floats, volume: Floats, cell: float, max_fullness: float) -> Floats:
    """The part of each particle that is powder: 1 where the space around it is nearly empty, 0 where it is as full as `max_fullness`.

    Args:
        position: [m], shape (n, 3).
        volume: volumes at rest [m^3], (n,).
        cell: the distance over which the space around a particle extends [m].
        max_fullness: a share of this space.
    """
    voxels = Voxels(position, cell, cell)
    fullness = voxels.gathered(voxels.spread((volume / cell**3)[:, None])[:, :, 0])
    return np.clip((max_fullness - fullness) / ((1.0 - _FULL_POWDER) * max_fullness), 0.0, 1.0)


def sizes_of(settings: VolumeSettings, cell: float) -> tuple[float, float]:
    """The size of a voxel and the radius of a particle [m]. Raises SceneError if they do not fit together."""
    voxel = cell if settings.voxel_size is None else settings.voxel_size
    least, largest = voxel, LARGEST_RADIUS * voxel
    radius = min(max(_USUAL_RADIUS * cell, least), largest) if settings.radius is None else settings.radius
    if not least <= radius <= largest:
        raise SceneError(
            f"radius {radius:g} m is not between one and {LARGEST_RADIUS:g} voxels of {voxel:g} m",
            f"use {least:g} to {largest:g} m, or another voxel size",
            subject="Volume",
        )
    return voxel, radius


def chosen_emitters(scene: Scene, settings: VolumeSettings) -> tuple[int, ...]:
    """The emitters with a volume: those that are named; by default those of grains, or all if there are none. Raises SceneError."""
    if settings.emitters:
        names = [emitter.name for emitter in scene.emitters]
        return tuple(sorted({names.index(name) for name in named(settings.emitters, names, "Volume")}))
    numbers = tuple(range(len(scene.emitters)))
    grains = tuple(number for number in numbers if _is_grains(scene, scene.emitters[number].material))
    return grains or numbers


def _is_grains(scene: Scene, material: str) -> bool:
    return finish_of(scene.materials[material].law.name, material).mode == GRAINS


def _size(grids: Sequence[Grid]) -> float:
    """The approximate size of grids in a file [bytes]."""
    voxels = np.count_nonzero(grids[0].values > _LEAST)
    components = sum(grid.values.size // (len(grid.leaves) * LEAF_VOXELS) for grid in grids if len(grid.leaves))
    return len(grids) * _BYTES_PER_LEAF * len(grids[0].leaves) + _BYTES_PER_NUMBER * components * voxels
