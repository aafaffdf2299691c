"""Debris as a product: chips and dust that the material of each frame throws off where it breaks.

The limits follow from the simulation, as in Bender and others 2019: from the highest mean speed so far, which the journal tells without
reading frames.
"""

import numpy as np
from numpy.typing import NDArray

from ..core.particles import DAMAGE, Moment
from ..core.swarm.debris_births import CHIP, DUST, Limits
from ..storage.cache import Cache
from ..storage.take import DEBRIS
from .debris_lineage import Lineage, lineage_of
from .debris_pieces import Formed, born_of_pieces, cracks_between
from .debris_settings import DebrisSettings
from .debris_swarm import VOLUME_RATIO, advanced, born, broken, flying_chips, hanging_dust, sizes
from .emitter_names import hash_in, settings_in
from .sources import bodies_of_debris, emitters_of_debris
from .swarm import Around, Floats, Ids, Swarm, together
from .swarm_product import SwarmProduct, mean_speeds, shown_scene

# The sizes of chips and of dust [cells].
_CHIP_SIZE, _DUST_SIZE = 0.2, 0.1
# Debris begins where material parts at this share of its highest mean speed, but not below what is only settling [m/s].
_SHARE_OF_MEAN, _LEAST_SPEED = 0.02, 0.04
# The speed at which there is most of it, as a multiple of that.
_FAST = 5.0


class DebrisProduct(SwarmProduct):
    """The debris of a cache; see `Product`."""

    kind, label, read = DEBRIS, "Debris", (DAMAGE, VOLUME_RATIO)

    def __init__(self, cache: Cache, settings: DebrisSettings, *, threads: int | None = None) -> None:
        """Read the scene of the shown take. Raises MpmError.

        Args:
            cache: the cache.
            settings: how the debris is made.
            threads: number of threads; by default one per core. The result does not depend on it.
        """
        scene = shown_scene(cache)
        life = max(settings.chip_life, settings.dust_life)
        chosen = settings_in(cache.manifest, settings)
        emitters, self._bodies = emitters_of_debris(scene, chosen), bodies_of_debris(scene, chosen)
        super().__init__(cache, scene, emitters, hash_in(cache.manifest, settings), life, threads=threads)
        self._formed = Formed({}, Lineage({}, {}, {}))
        # of the cached frames, by number
        self._places: dict[int, int] = {}
        self._settings = settings
        self._chip = _CHIP_SIZE * self._cell if settings.chip_size is None else settings.chip_size
        self._dust = _DUST_SIZE * self._cell if settings.dust_size is None else settings.dust_size
        self._has_bonds = np.array([scene.materials[emitter.material].law.has_bonds for emitter in scene.emitters])
        self._speeds: dict[int, float] = {}

    def _prepare(self) -> None:
        self._speeds = {number: breaking_speed(speed) for number, speed in mean_speeds(self._cache).items()}
        if self._bodies:
            moments = [Moment(number) for number in self._cache.frames]
            self._places = {moment.number: place for place, moment in enumerate(moments)}
            pieces = {name: piece for name, (_moment, piece) in self._cache.pieces().items()}
            frames = [self._cache.take_of(moment).journal()[moment]["poses"] for moment in moments]
            self._formed = Formed(pieces, lineage_of(frames, pieces))

    def _advanced(self, swarm: Swarm, before: Around, after: Around, seconds: float) -> Swarm:
        given, gravity = self._settings, self._gravity(before)
        chips = flying_chips(seconds, gravity, given.chip_drag, given.bounce, given.friction)
        dust = hanging_dust(seconds, gravity, given.dust_drag, given.fall_speed)
        motions = ((CHIP, chips), (DUST, dust))
        return together(*(advanced(swarm.chosen(swarm.kind == kind), before, after, motion, self._cell) for kind, motion in motions))

    def _born(self, before: Around, after: Around, seconds: float) -> Swarm:
        given, gravity = self._settings, self._gravity(before)
        slow = self._speeds[after.number] if given.speed is None else given.speed
        limits = Limits(given.chips, given.dust, slow, _FAST * slow, seconds, given.spread)
        contact = flying_chips(seconds, gravity, given.chip_drag, given.bounce, given.friction).contact
        of_material = born(after, broken(before, after, self._has_bonds), limits, contact, self._cell)
        place = self._places.get(after.number, 0)
        cracks = cracks_between(before.poses, after.poses, place, self._formed, seconds, self._bodies)
        return born_of_pieces(after, cracks, limits, contact, self._cell, of_material)

    def _life(self, kind: NDArray[np.int32]) -> Floats:
        return np.where(kind == CHIP, self._settings.chip_life, self._settings.dust_life)

    def _sizes(self, ids: Ids, kind: NDArray[np.int32]) -> Floats:
        return sizes(ids, kind, self._chip, self._dust)


def breaking_speed(mean_speed: float) -> float:
    """The speed at which breaking material begins to throw off debris [m/s], given the highest root mean square of its speed so far."""
    return max(_SHARE_OF_MEAN * mean_speed, _LEAST_SPEED)
