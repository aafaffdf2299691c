"""The particles of a cache at any fractional frame: read at baked moments, interpolated between them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import CacheError
from ..core.interpolation import between
from ..core.particles import Frame, Moment
from .cache import Cache

# Fractional frames nearer than this are the same moment.
SAME = 1e-6


def nearest_frame(frame: float) -> int:
    """The frame whose particles a fractional frame shows; the earlier one at the midpoint. Raises CacheError if it is not finite."""
    if not np.isfinite(frame):
        raise CacheError(f"Frame {frame} is not baked")
    return int(np.ceil(frame - 0.5 - SAME))


class MomentReader:
    """Reads the particles of one cache at fractional frames.

    Motion blur needs many moments between the same two frames, so the frames that were read last are cached in memory.
    """

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self._kept: dict[tuple[Any, ...], Frame] = {}

    def arrays(self, frame: float, *, like: int | None = None) -> Mapping[str, NDArray[Any]]:
        """The attributes at a fractional frame, SI units.

        Args:
            frame: the fractional frame.
            like: the frame whose particles are returned; by default the nearest.

        Raises:
            CacheError: that frame was not baked, or a file is damaged.
        """
        wanted = nearest_frame(frame) if like is None else like
        if not self.cache.frame_path(wanted).is_file():
            raise CacheError(f"Frame {wanted} is not baked")
        if abs(frame - wanted) < SAME:
            self._kept.clear()
            return self.cache.frame(wanted).arrays
        first, second = self._around(frame, wanted)
        self._kept = {self._key(moment): self._frame(moment) for moment in {Moment(wanted), first, second}}
        shown, start, end = (self._frame(moment) for moment in (Moment(wanted), first, second))
        for name in {*start.arrays, *end.arrays, *shown.arrays}:
            if len({frame.arrays[name].shape[1:] for frame in (start, end, shown) if name in frame.arrays}) > 1:
                raise CacheError(
                    f'"{name}" changes its number of components after frame {start.number}', "bake again", subject=str(self.cache.folder)
                )
        return between(start, end, self.cache.time.seconds_at(frame), like=shown)

    def _around(self, frame: float, wanted: int) -> tuple[Moment, Moment]:
        """The baked moments next to a fractional frame, before and after; the same one twice if the other is missing."""
        number = int(np.floor(frame + SAME))
        parts = self.cache.time.subframes + 1
        candidates = [Moment(number), *(Moment(number, part, parts) for part in range(1, parts)), Moment(number + 1)]
        baked = [moment for moment in candidates if self.cache.state_path(moment).is_file()] or [Moment(wanted)]
        before = [moment for moment in baked if moment.frame <= frame + SAME]
        after = [moment for moment in baked if moment.frame > frame + SAME]
        return (before or after[:1])[-1], (after or before[-1:])[0]

    def _frame(self, moment: Moment) -> Frame:
        return self._kept.get(self._key(moment)) or self.cache.state(moment)

    def _key(self, moment: Moment) -> tuple[Any, ...]:
        """The moment and its file's time stamp, so that a file that was baked again is read again."""
        status = self.cache.state_path(moment).stat()
        return moment, status.st_mtime_ns, status.st_size
