"""Limits at which a bake stops: a size, a time, or a full disk."""

import math
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import Stopped
from ..core.forecast.estimate import BIRTH_BYTES, Estimate
from ..core.messages import Action
from ..core.scene.description import Scene
from ..core.scene.settings import CHECKPOINT_BYTES
from ..storage.disk import folder_size, free_space

_GIGABYTE = 1e9
_HOUR = 3600.0
# the size of a checkpoint is a mean
_MARGIN = 1.5


@dataclass
class Limits:
    """The limits of one bake.

    Attributes:
        folder: the cache.
        size: maximum size of the folder [bytes], or None.
        seconds: maximum time of the bake [s], or None.
        step: maximum size of a frame with its subframes, births and a checkpoint [bytes].
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
        state = cost.particles * (BIRTH_BYTES + _MARGIN * CHECKPOINT_BYTES[scene.solver.precision])
        return cls(folder, size, seconds, frames + math.ceil(state))

    def check_time(self, seconds: float, words: str) -> None:
        """Raise Stopped if the bake has reached its time limit.

        Args:
            seconds: working time of the bake [s].
            words: a clause that tells how many frames are cached.
        """
        if self.seconds is not None and seconds > self.seconds:
            raise Stopped("time_limit", f"stopped after {self.seconds / _HOUR:g} h, its `time_limit`: {words}", Action.RESUME)

    def check_room(self, words: str) -> None:
        """Raise Stopped if another frame would exceed the size limit or leave too little free disk space for the next."""
        free = free_space(self.folder)
        if free is not None and free < 2 * self.step:
            need = f"a frame needs up to {_gigabytes(self.step)}, and {_gigabytes(free)} is free"
            raise Stopped("disk", f"stopped before the disk of {self.folder} filled up ({need}): {words}", "free disk space", Action.RESUME)
        if self.size is None:
            return
        # the files are only measured if the limit could be near
        if self._known_size is not None:
            self._known_size += self.step
        if self._known_size is None or self._known_size + self.step > self.size:
            self._known_size = folder_size(self.folder)
        if self._known_size + self.step > self.size:
            need = f"{self.folder} has {_gigabytes(self._known_size)}, and a frame needs up to {_gigabytes(self.step)}"
            limit = f"stopped before its `size_limit` of {_gigabytes(self.size)}"
            raise Stopped("size_limit", f"{limit} ({need}): {words}", "raise the limit", Action.RESUME)


def _gigabytes(count: float) -> str:
    return f"{count / _GIGABYTE:.3g} GB"
