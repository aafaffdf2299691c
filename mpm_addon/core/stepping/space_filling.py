"""What fills the space around a fluid's particles besides themselves: other materials, and colliders. See `transfer.fullness`."""

from collections.abc import Sequence

from ..contact.coverage import Cover
from ..contact.obstacles import ObstacleGroup
from ..laws import Law
from ..transfer.blocks import NODE
from ..transfer.fullness import MixedNodes
from ..transfer.particle_store import ParticleStore


class SpaceFilling:
    """Corrects the masses at the nodes so that particles gather the fullness of space.

    Args:
        laws: of the material instances.
        cell_volume: [m^3], in 2D [m^2].

    Attributes:
        full_mass: mass of a cell full of the first fluid [kg]; 0 without fluids, for which nothing is corrected.
    """

    def __init__(self, laws: Sequence[Law], cell_volume: float) -> None:
        self._mixed = MixedNodes(laws, cell_volume)
        self.full_mass = self._mixed.full_mass
        self._cover, self._is_covered = Cover(), False

    def begin(self, store: ParticleStore) -> None:
        """Start from a store's particles right after a sort."""
        self._mixed.find(store.layout)
        self._is_covered = False
        if self.full_mass > 0.0:
            self._cover.reserve(store.nodes.size // NODE)

    def find_cover(self, groups: Sequence[ObstacleGroup]) -> None:
        """Find the space that colliders cover; it stays the same until `uncover` or the next sort."""
        self._cover.find([group.cover for group in groups])
        self._is_covered = True

    def uncover(self) -> None:
        """Find the covered space again before it is used, because colliders have moved."""
        self._is_covered = False

    def fill(self, store: ParticleStore, groups: Sequence[ObstacleGroup]) -> None:
        """Correct the masses at the nodes."""
        self._mixed.count_volumes(store)
        if not self._is_covered:
            self.find_cover(groups)
        self._cover.fill(store, self.full_mass)
