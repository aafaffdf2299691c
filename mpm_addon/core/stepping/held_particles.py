"""The particles of rigid fragments, which are not in the store."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# of the names of their arrays in a checkpoint
PREFIX = "fragment_"


class Held(NamedTuple):
    """Particles of rigid fragments, in the order in which these became rigid.

    Attributes:
        id, instance: (n,); fragment: the number of each one's fragment, (n,).
        place: from the center of mass of the fragment when it became rigid [m], (n, 3); shown: where frames show it, no farther out than
            the surface of the fragment [m], (n, 3).
        mass: [kg]; volume: at rest [m^3]; damage: all (n,).
        deformation: F when the fragment became rigid, (n, 9).
        volume_ratio: (n,); rotation: (n, 4); stretch: (n, 3): what frames show at that moment.
    """

    id: NDArray[np.int32]
    instance: Ints
    fragment: Ints
    place: Floats
    shown: Floats
    mass: Floats
    volume: Floats
    damage: Floats
    deformation: Floats
    volume_ratio: NDArray[np.float32]
    rotation: NDArray[np.float32]
    stretch: NDArray[np.float32]

    def rows(self, its: Ints | NDArray[np.bool_]) -> "Held":
        return Held._make(each[its] for each in self)


def nothing_held() -> Held:
    one, several = np.zeros(0), np.zeros(0, np.float32)
    none = np.zeros(0, np.int64)
    return Held(
        np.zeros(0, np.int32),
        none,
        none,
        np.zeros((0, 3)),
        np.zeros((0, 3)),
        one,
        one,
        one,
        np.zeros((0, 9)),
        several,
        np.zeros((0, 4), np.float32),
        np.zeros((0, 3), np.float32),
    )
