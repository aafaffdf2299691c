"""The frames that a bake stores."""

import math
from collections.abc import Container
from dataclasses import dataclass

from ..core.errors import SceneError
from ..core.particles import Moment
from ..core.scene.description import Scene


def wanted_frames(scene: Scene, frames: tuple[int, int] | None) -> range:
    """The frames to store. Raises SceneError if the scene does not have all of them."""
    first, last = frames or (scene.time.frame_start, scene.time.frame_end)
    if last < first:
        raise SceneError("the last is before the first", "swap them", subject=f"frames {first}-{last}")
    if first < scene.time.frame_start or last > scene.time.frame_end:
        raise SceneError(
            f'scene "{scene.name}" has frames {scene.time.frame_start} to {scene.time.frame_end}',
            "stay within them, or change `frame_start` or `frame_end`",
            subject=f"frames {first}-{last}",
        )
    return range(first, last + 1)


def wanted_moments(frames: range, subframes: int) -> list[Moment]:
    """The frames and subframes in a cache of these frames, ascending."""
    between = [(part, subframes + 1) for part in range(1, subframes + 1)]
    return [
        moment for number in frames for moment in (Moment(number), *(Moment(number, *parts) for parts in between if number < frames[-1]))
    ]


def frame_after(moment: Moment) -> int:
    """The frame to which a moment belongs: itself, or the next frame for a subframe."""
    return moment.number if moment.is_frame else moment.number + 1


@dataclass(frozen=True)
class Plan:
    """What one run of a bake has to do.

    Attributes:
        total: number of frames to store, including those that exist.
        missing: the frames and subframes to simulate and store, ascending.
        unfinished: the frames that are complete once `missing` is stored.
        gaps: frames that are missing in earlier takes and cannot be baked in this one.
    """

    total: int
    missing: list[Moment]
    unfinished: frozenset[int]
    gaps: frozenset[int]

    @property
    def done(self) -> int:
        """The number of frames that are complete before the run."""
        return self.total - len(self.unfinished | self.gaps)


def plan_of(frames: range, subframes: int, present: Container[Moment], from_frame: int | None) -> Plan:
    """The plan for these frames; from_frame: the frame after which the take begins, if it continues another."""
    absent = [moment for moment in wanted_moments(frames, subframes) if moment not in present]
    # frames before a take belong to another and are not baked here
    first = -math.inf if from_frame is None else from_frame
    missing = [moment for moment in absent if moment.frame > first]
    gaps = frozenset(frame_after(moment) for moment in absent if moment.frame <= first)
    return Plan(len(frames), missing, frozenset(map(frame_after, missing)), gaps)
