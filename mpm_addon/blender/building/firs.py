"""Firs in snow: tiers of branches, the snow on them, and trunks.

Knows nothing of Blender. Lengths are in the caller's unit.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from .relief import lattice_value
from .solids import Point, Solid, lofted, together, turned

# The colors of snow: in hollows, and on the firs.
SNOW: tuple[Point, Point] = ((0.74, 0.79, 0.88), (0.86, 0.89, 0.94))
_NEEDLES, _BARK = (0.018, 0.045, 0.024), (0.07, 0.045, 0.03)
# Around a tier: the corners of firs nearby, and of those in the background.
NEAR, FAR = 36, 12
_TIERS, _RADIUS, _TRUNK = 9, 0.25, 0.03


class Fir(NamedTuple):
    """Its place on the ground, height, and the corners around a tier."""

    place: Point
    height: float
    corners: int = NEAR

    def crown(self) -> Solid:
        """Tiers of branches."""
        return together([self._tier(number, share=1.0) for number in range(_TIERS)])

    def load(self) -> Solid:
        """The snow that lies on the tiers."""
        return together([self._tier(number, share=0.8) for number in range(_TIERS)])

    def trunk(self) -> Solid:
        radius, top = _TRUNK * self.height, 0.5 * self.height
        return turned([(0.0, -0.5), (radius, -0.5), (0.7 * radius, top), (0.0, top)], steps=12).moved(self.place)

    def hull(self) -> Solid:
        """What snow meets of a crown."""
        low, radius = 0.2 * self.height, 0.9 * _RADIUS * self.height
        return turned([(0.0, low), (radius, low), (0.06 * radius, 0.98 * self.height), (0.0, self.height)], steps=16).moved(self.place)

    def _tier(self, number: int, *, share: float) -> Solid:
        """A cone with a ragged, drooping edge; a smaller one lies on a larger one of the same number."""
        x, y, ground = self.place
        at = number / _TIERS
        low = ground + self.height * (0.14 + 0.74 * at)
        high = min(low + 0.26 * self.height, ground + self.height)
        radius, lift = _RADIUS * self.height * (1.0 - 0.9 * at), 0.07 * self.height * (1.0 - share)
        edge: list[Point] = []
        for step in range(self.corners):
            turn = 2.0 * math.pi * (step + 0.4 * number) / self.corners
            ragged = share * (1.0 + 0.10 * (-1.0) ** step + 0.16 * lattice_value(step // 2, number, int(97.0 * (x + y))))
            reach = radius * ragged
            edge.append((x + reach * math.cos(turn), y + reach * math.sin(turn), high - (high - low) * ragged + lift))
        return lofted([edge], (x, y, low + 0.45 * (high - low) + lift), (x, y, high + lift))


def planted(firs: Sequence[Fir]) -> list[tuple[str, Solid, Point]]:
    """What is seen of firs: names, solids and colors."""
    return [
        ("Needles", together([fir.crown() for fir in firs]), _NEEDLES),
        ("Snow on Firs", together([fir.load() for fir in firs]), SNOW[1]),
        ("Trunks", together([fir.trunk() for fir in firs]), _BARK),
    ]
