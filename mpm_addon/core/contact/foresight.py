"""How far ahead of a substep the contacts of rigid bodies are found."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# the longest substep of rigid bodies, whatever particles allow [s]
LONGEST_STEP = 1.0 / 240.0
# the search distance for contacts, relative to how far bodies can move
FORESIGHT = 1.5


class Foresight(NamedTuple):
    """What is found beyond the contacts of a substep.

    Attributes:
        seconds: time beyond the substep within which gaps may close [s].
        distance: further distance of what moves fast [m]; speed: what counts as fast [m/s].
    """

    seconds: float = 0.0
    distance: float = 0.0
    speed: float = math.inf

    def margins(self, speeds: Floats, dt: float) -> Floats:
        """The distances within which contacts of surfaces are found in a substep of dt [s], from bounds on their speeds [m/s], (n,)."""
        return FORESIGHT * (dt + self.seconds) * speeds + self.distance * (speeds > self.speed)
