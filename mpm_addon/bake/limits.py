"""Where a bake stops by itself: at a size, after a time, before the disk is full."""

import math
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import Stopped
from ..core.forecast.estimate import BIRTH_BYTES, CHECKPOINT_BYTES, Estimate
from ..core.messages import Action
from ..core.scene.description import Scene
from ..storage.disk import folder_size, free_space

_GIGABYTE = 1e9
_HOUR = 3600.0


@dataclass
class Limits:
    """The limits of one bake.

    Attributes:
        folder: the cache.
        size: what the folder may hold [bytes]; None for any.
        seconds: how long the bake may take [s]; None for any.
        step: what a frame, the states before it, its births and an exact state take at the most [bytes].
    """

    folder: Path
    size: float | None
    seconds: float | None
    step: int
    _known_size: int | None = None

    @classmethod
    def of(cls, scene: Scene, cost: Estimate, folder: Path) -> "Limits":
        """The limits that a scene sets."""
        settings = scene.cache
        size = None if settings.size_limit is None else settings.size_limit * _GIGABYTE
        seconds = None if settings.time_limit is None else settings.time_limit * _HOUR
        frames = cost.frame_bytes * (1 + scene.time.subframes)
        state = cost.particles * (BIRTH_BYTES + CHECKPOINT_BYTES[scene.solver.precision])
        return cls(folder, size, seconds, frames + math.ceil(state))

    def check_time(self, seconds: float, words: str) -> None:
        """Raises Stopped where the bake has taken its time.

        Args:
            seconds: for which it has computed [s].
            words: how many frames are cached.
        """
        if self.seconds is not None and seconds > self.seconds:
            raise Stopped("time_limit", f"stopped after {self.seconds / _HOUR:g} h, its time_limit: {words}", Action.RESUME)

    def check_room(self, words: str) -> None:
        """Raises Stopped where another frame would pass the size, or leave no room for one more on the disk."""
        free = free_space(self.folder)
        if free is not None and free < 2 * self.step:
            need = f"a frame takes up to {_gigabytes(self.step)} and {_gigabytes(free)} are free"
            raise Stopped("disk", f"stopped before the disk of {self.folder} is full ({need}): {words}", "make room", Action.RESUME)
        if self.size is None:
            return
        # the files are counted only where the limit could be near
        if self._known_size is not None:
            self._known_size += self.step
        if self._known_size is None or self._known_size + self.step > self.size:
            self._known_size = folder_size(self.folder)
        if self._known_size + self.step > self.size:
            need = f"{self.folder} holds {_gigabytes(self._known_size)}, and a frame takes up to {_gigabytes(self.step)}"
            limit = f"stopped before its size_limit of {_gigabytes(self.size)}"
            raise Stopped("size_limit", f"{limit} ({need}): {words}", "raise the limit", Action.RESUME)


def _gigabytes(count: float) -> str:
    return f"{count / _GIGABYTE:.3g} GB"
