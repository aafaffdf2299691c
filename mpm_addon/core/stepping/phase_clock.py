"""The time that a simulation spends on its phases."""

import time
from collections import defaultdict


class PhaseClock:
    """Measures the time between calls and adds it to phases.

    Attributes:
        seconds: time spent so far on each phase, by name [s].
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._since = 0.0

    def start(self) -> None:
        """Measure from now on."""
        self._since = time.perf_counter()

    def spent(self, phase: str) -> None:
        """Add the time since the last call, or since `start`, to a phase."""
        now = time.perf_counter()
        self.seconds[phase] += now - self._since
        self._since = now
