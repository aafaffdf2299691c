"""Foam for other programs: points with attributes, in every format of particles."""

from ...core.errors import CacheError
from ...core.particles import Frame, FrameStatistics, Moment
from ..cache import Cache
from ..foam_file import foam_at


def foam_frame(cache: Cache, number: int) -> Frame:
    """The foam of a frame as a frame of its particles. Raises CacheError if there is none, or it is damaged."""
    try:
        arrays = foam_at(cache, Moment(number)).arrays
    except FileNotFoundError:
        raise CacheError(f"frame {number} has no foam", "derive it first", subject=str(cache.folder)) from None
    statistics = FrameStatistics(len(arrays["id"]), 0, 0, 0.0, (0.0, 0.0, 0.0), 0.0, 0.0)
    return Frame(number, cache.time.seconds_at(number), arrays, statistics)
