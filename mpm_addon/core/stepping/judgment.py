"""The judgment whether a substep was stable, one for all materials."""

import math
from typing import Any, NamedTuple

from numpy.typing import NDArray

from ..failure import Kind, Trouble
from .material_instances import MaterialInstance
from .time_step import Speeds

# F <- (I + dt C) F is about to invert, in one substep
LARGEST_GRADIENT_STEP = 0.9


class Extremes(NamedTuple):
    """The greatest values among the particles of a material instance after a substep.

    Attributes:
        speed: [m/s].
        way: displacement along an axis [cells].
        wave_speed: [m/s].
        gradient: |C| [1/s].
        flatness: -J.
        check: 0, or NaN if something is not finite.
        crowding: J / s^2 with the least principal stretch s, of bodies whose forces come from their rest state.
    """

    speed: float
    way: float
    wave_speed: float
    gradient: float
    flatness: float
    check: float
    crowding: float = 1.0

    @classmethod
    def of(cls, pieces: NDArray[Any]) -> "Extremes":
        """From what a pass has written, (pieces, 6) or (pieces, 7)."""
        return cls(*(float(each) for each in pieces.max(axis=0)))

    @property
    def speeds(self) -> Speeds:
        """What limits the next substep."""
        return Speeds(self.wave_speed, self.speed, self.gradient)


class Plausible(NamedTuple):
    """What no particle exceeds in a stable substep: a speed [m/s], and a displacement along an axis [cells]."""

    speed: float = math.inf
    way: float = math.inf

    def trouble(self, extremes: Extremes, dt: float, number: int, instance: MaterialInstance) -> Trouble | None:
        """What has become unstable in a substep of dt [s] among the particles of an instance, or None."""
        kind = None
        if not math.isfinite(extremes.check):
            kind = Kind.NOT_FINITE
        elif extremes.speed > self.speed or extremes.way > self.way:
            kind = Kind.RUNAWAY
        elif dt * extremes.gradient > LARGEST_GRADIENT_STEP or -extremes.flatness <= instance.law.least_volume_ratio:
            kind = Kind.INVERTED
        return None if kind is None else Trouble(kind, f'Material "{instance.name}"', number)
