"""Foam and debris for other programs: points with attributes, in every format of particles."""

from ...core.errors import CacheError
from ...core.particles import Frame, FrameStatistics, Moment
from ..cache import Cache
from ..swarm_file import swarm_at


def swarm_frame(cache: Cache, number: int, kind: str) -> Frame:
    """The foam or debris of a frame as a frame of its particles. Raises CacheError if there is none, or it is damaged."""
    try:
        arrays = swarm_at(cache, Moment(number), kind).arrays
    except FileNotFoundError:
        raise CacheError(f"frame {number} has no {kind}", "derive it first", subject=str(cache.folder)) from None
    statistics = FrameStatistics(len(arrays["id"]), 0, 0, 0.0, (0.0, 0.0, 0.0), 0.0, 0.0)
    return Frame(number, cache.time.seconds_at(number), arrays, statistics)
