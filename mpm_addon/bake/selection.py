"""The frames that a bake stores."""

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
            "stay within them, or change frame_start or frame_end",
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
