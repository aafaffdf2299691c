"""The working time of a bake, and its forecast."""

import contextlib
import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from ..core.forecast.course import course_of
from ..core.particles import Frame
from ..core.scene.description import Scene

# Frames in which the weight of a finished frame halves: this share of all finished ones, and at least so many.
MEMORY, LEAST_MEMORY = 0.2, 3.0
# After so many frames in a row that all take this many times as long as expected, or as short, only these count, because something
# has broken or come to rest.
TURN, TURNED = 3, 2.0


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
    """The time that the frames of a bake take: measured for finished ones, and in proportion to the expected work for the others.

    Args:
        clock: the working time.
        course: frame -> expected work of simulating it, relative to that of the others.
        last: the last frame to simulate.
    """

    def __init__(self, clock: Clock, course: Mapping[int, float], last: int) -> None:
        self._clock = clock
        self._course, self._last = course, last
        self._since: float | None = None
        self._frames = 0
        # weighted sums over finished frames: seconds, work and weights
        self._seconds = self._work = self._weight = 0.0
        # the seconds and work of the last frames
        self._latest: deque[tuple[float, float]] = deque(maxlen=TURN)

    def substep(self) -> None:
        """Record a substep."""
        if self._since is None:
            self._since = self._clock.seconds

    def frame_done(self, frame: Frame) -> None:
        """Record a finished frame."""
        if self._since is None or not frame.statistics.substeps:
            return
        now = self._clock.seconds
        self._latest.append((now - self._since, self._course.get(frame.number, 1.0)))
        fading = 0.5 ** (1.0 / max(LEAST_MEMORY, MEMORY * self._frames))
        self._frames += 1
        self._seconds = fading * self._seconds + now - self._since
        self._work = fading * self._work + self._course.get(frame.number, 1.0)
        self._weight = fading * self._weight + 1.0
        self._since = now
        self._turn()

    def _turn(self) -> None:
        """Forget the frames before the last ones if these are quite different."""
        ratios = [seconds * self._work / (work * self._seconds) for seconds, work in self._latest if work * self._seconds > 0.0]
        if len(ratios) == TURN < self._frames and (max(ratios) < 1.0 / TURNED or min(ratios) > TURNED):
            self._seconds, self._work = (sum(each) for each in zip(*self._latest, strict=True))
            self._weight = float(TURN)
            self._frames = TURN

    def forecast(self, number: int, fraction: float) -> dict[str, Any]:
        """Seconds per frame of late, and until the end; None while unknown.

        Args:
            number: the last finished frame.
            fraction: how much of the next one is finished.
        """
        following = self._course.get(number + 1, 1.0)
        if self._frames:
            per_frame, per_work = self._seconds / self._weight, self._seconds / self._work
        elif self._since is not None and fraction > 0.0:
            per_frame = (self._clock.seconds - self._since) / fraction
            per_work = per_frame / following
        else:
            return {"seconds_per_frame": None, "eta_seconds": None}
        left = sum(self._course.get(each, 1.0) for each in range(number + 1, self._last + 1)) - fraction * following
        return {"seconds_per_frame": per_frame, "eta_seconds": per_work * max(left, 0.0)}


def course_by_frame(scene: Scene) -> dict[int, float]:
    """The expected work of every frame but the first, on average 1."""
    work = course_of(scene)
    return dict(zip(scene.time.frames[1:], (work / work.mean()).tolist() if len(work) else (), strict=True))
