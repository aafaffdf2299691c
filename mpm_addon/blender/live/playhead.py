"""Decides which frame of a live simulation to display. Knows nothing of Blender."""

import time


class Playhead:
    """The displayed frame of a live simulation.

    Args:
        first, last: the frames of the scene.
        timeline: Blender's current frame.

    Attributes:
        first, last: see above.
        frame: the displayed frame; None before the first.
    """

    def __init__(self, first: int, last: int, timeline: int) -> None:
        self.first, self.last = first, last
        self.frame: int | None = None
        self._timeline = timeline
        self._began = 0.0

    def is_set_back(self, timeline: int, newest: int, *, is_playing: bool) -> bool:
        """Whether playback has looped or the user went back to the start, so that the simulation restarts."""
        if is_playing:
            before, self._timeline = self._timeline, timeline
            return timeline < before and newest > self.first
        return self.frame is not None and timeline != self.frame and timeline <= self.first < self.frame

    def due(self, timeline: int, newest: int, *, rate: float, is_playing: bool) -> int:
        """The frame to display now.

        Args:
            timeline: Blender's current frame, which decides while the animation plays.
            newest: the newest frame of the simulation.
            rate: maximum frames per second while the animation is stopped.
        """
        if is_playing:
            return min(newest, max(timeline, self.first))
        now, shown = time.monotonic(), self.first if self.frame is None else self.frame
        if self.frame is None or shown >= newest:
            self._began = now - (shown - self.first) / rate
        return max(shown, min(newest, self.first + int((now - self._began) * rate)))
