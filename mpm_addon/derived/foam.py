"""Foam as a product: particles of spray, foam and bubbles that the liquid of each frame makes and carries.

Source: Ihmsen and others 2012, see `core.swarm.foam_births`. As in Bender and others 2019, the limits of the potentials follow from the
simulation: from the highest mean speed so far, which the journal tells without reading frames.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..core.swarm.flight import Step
from ..core.swarm.foam_births import Limits
from ..storage.cache import Cache
from ..storage.take import FOAM
from .emitter_names import hash_in, settings_in
from .foam_swarm import advanced, born, sizes
from .settings import FoamSettings
from .sources import emitters_of_foam
from .swarm import Around, Floats, Ids, Swarm
from .swarm_product import SwarmProduct, mean_speeds, shown_scene

# The diameter of a particle [cells], up to that of large drops of spray [m]; in coarser cells it grows as the root of the cell. Drops and
# bubbles are no larger in a coarse scene, but from as far away as it is looked at, those of natural size could not be seen.
_USUAL_SIZE, _LARGE_DROP = 0.125, 0.0015
# Water begins to foam at this share of its highest mean speed, but not below what entrains air at all [m/s] (Kiger and Duncan 2012).
_SHARE_OF_MEAN, _LEAST_SPEED = 0.5, 0.5
# The limits of the potentials, as multiples of the speed at which water begins to foam.
_FAST, CALM, _ROUGH = 3.0, 0.08, 0.4


class FoamProduct(SwarmProduct):
    """The foam of a cache; see `Product`."""

    kind, label, compares = FOAM, "Foam", False

    def __init__(self, cache: Cache, settings: FoamSettings, *, threads: int | None = None) -> None:
        """Read the scene of the shown take. Raises MpmError.

        Args:
            cache: the cache.
            settings: how the foam is made.
            threads: number of threads; by default one per core. The result does not depend on it.
        """
        scene = shown_scene(cache)
        emitters = emitters_of_foam(scene, settings_in(cache.manifest, settings))
        super().__init__(cache, scene, emitters, hash_in(cache.manifest, settings), settings.life, threads=threads)
        self._settings = settings
        self._size = usual_size(self._cell) if settings.size is None else settings.size
        self._speeds: dict[int, float] = {}

    def _prepare(self) -> None:
        self._speeds = {number: foaming_speed(speed) for number, speed in mean_speeds(self._cache).items()}

    def _advanced(self, swarm: Swarm, before: Around, after: Around, seconds: float) -> Swarm:
        return advanced(swarm, before, after, Step(seconds, self._settings.drag, *self._gravity(before)), self._cell)

    def _born(self, before: Around, after: Around, seconds: float) -> Swarm:
        slow = self._speeds[after.number] if self._settings.speed is None else self._settings.speed
        limits = Limits(self._settings.amount * seconds, slow, _FAST * slow, CALM * slow, _ROUGH * slow)
        return born(after, limits, seconds, self._cell)

    def _life(self, kind: NDArray[np.int32]) -> float:
        return self._settings.life

    def _sizes(self, ids: Ids, kind: NDArray[np.int32]) -> Floats:
        return sizes(ids, self._size)


def usual_size(cell: float) -> float:
    """The mean diameter of particles where cells have this edge [m]."""
    size = _USUAL_SIZE * cell
    return min(size, math.sqrt(_LARGE_DROP * size))


def foaming_speed(mean_speed: float) -> float:
    """The speed at which water begins to foam [m/s], given the highest root mean square of its speed so far."""
    return max(_SHARE_OF_MEAN * mean_speed, _LEAST_SPEED)
