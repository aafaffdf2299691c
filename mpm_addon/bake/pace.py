"""The working time of a bake, and its forecast."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from ..core.particles import Frame


class Clock:
    """The working time of a bake, without pauses."""

    def __init__(self) -> None:
        self._zero = time.perf_counter()

    @property
    def seconds(self) -> float:
        """The elapsed working time [s]."""
        return time.perf_counter() - self._zero

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the clock while the block runs."""
        before = self.seconds
        try:
            yield
        finally:
            self._zero = time.perf_counter() - before


class Pace:
    """The mean time per frame, over the frames that took substeps."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started: float | None = None
        self._frames = 0
        self._elapsed = 0.0

    def substep(self) -> None:
        """Record a substep."""
        if self._started is None:
            self._started = self._clock.seconds

    def frame_done(self, frame: Frame) -> None:
        """Record a finished frame."""
        if self._started is not None and frame.statistics.substeps:
            self._frames += 1
            self._elapsed = self._clock.seconds - self._started

    def forecast(self, remaining: int, fraction: float) -> dict[str, Any]:
        """Seconds per frame and until the end; None while unknown."""
        per_frame = self._elapsed / self._frames if self._frames else None
        if per_frame is None and self._started is not None and fraction > 0.0:
            per_frame = (self._clock.seconds - self._started) / fraction
        eta = None if per_frame is None else per_frame * (remaining - fraction)
        return {"seconds_per_frame": per_frame, "eta_seconds": eta}
