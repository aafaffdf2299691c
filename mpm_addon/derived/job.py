"""Makes what is missing of one kind of derived data, one frame after another, and reports progress."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from ..core.errors import CacheError, Cancelled
from ..core.messages import Action, Message
from ..core.particles import Moment
from ..stopping import Listener
from ..storage.cache import Cache
from ..storage.derived import Origin, State, derived_path, refuse_link, sources_of, state_of
from ..storage.disk import free_space
from ..storage.events import DeriveFrame, DeriveStart, Finished, OnEvent, ignore
from ..storage.removal import remove_abandoned
from ..storage.status import read_status
from ..storage.take import MANY, ONE
from .product import Forecast, Made, Make, Product

# Seconds between checks for new frames of a bake.
_PAUSE = 0.2


class DerivedJob:
    """One run of `derive DIR KIND`.

    Attributes:
        cache: the cache.
        product: what is made of each frame.
    """

    def __init__(
        self,
        cache: Cache,
        product: Product,
        *,
        frames: tuple[int, int] | None = None,
        follows: bool = False,
        on_event: OnEvent | None = None,
        listener: Listener | None = None,
    ) -> None:
        """Determine which frames are missing. Raises MpmError.

        Args:
            cache: the cache.
            product: what is made of each frame.
            frames: the first and last frame; by default all cached ones.
            follows: whether to also process the frames that a running bake adds, until it ends.
            on_event: called with every event, one of `storage.events.DERIVE`.
            listener: receives requests to stop.
        """
        self.cache = cache
        self.product = product
        self._frames, self._follows = frames, follows
        self._emit = on_event or ignore
        self._listener = listener
        self._wanted = wanted_moments(cache, frames)
        # asked for once, because it looks at every cached frame
        self._sources = sources_of(cache, product.kind)
        self._missing = [moment for moment in self._wanted if not self._is_made(moment)]
        self._done = len(self._wanted) - len(self._missing)
        self._made, self._started = 0, time.monotonic()

    def _is_made(self, moment: Moment) -> bool:
        return state_of(self.cache, moment, self.product.kind, self.product.hash, sources=self._sources) is State.MADE

    @property
    def missing(self) -> int:
        """The number of frames without a file that is up to date."""
        return len(self._wanted) - self._done

    def forecast(self) -> Forecast:
        """The expected size of the missing files. Raises MpmError."""
        return self.product.forecast(self._missing)

    def run(self) -> None:
        """Make what is missing. Raises MpmError; Cancelled if the listener was asked to stop."""
        self._started = time.monotonic()
        expected = self.forecast()
        self._emit(
            DeriveStart(
                cache=str(self.cache.folder),
                kind=self.product.kind,
                **self._counts(),
                bytes=expected.frame_bytes * len(self._missing),
                settings=self.product.hash,
                pid=os.getpid(),
            )
        )
        self._check_room(expected)
        if self._missing or self._follows:
            with self.product.maker() as make:
                self._make(make)
                while self._follows and self._has_more():
                    self._make(make)
        self._emit(Finished(frames=self._done, seconds=time.monotonic() - self._started))

    def _check_room(self, expected: Forecast) -> None:
        """Raise CacheError if the missing files do not fit on the disk."""
        needed, free = expected.frame_bytes * len(self._missing), free_space(self.cache.folder)
        if free is not None and needed > free:
            raise CacheError(
                f"about {needed / 1e9:.3g} GB of {MANY[self.product.kind]} do not fit on the disk, where {free / 1e9:.3g} GB are free",
                self.product.remedy,
                subject=str(self.cache.folder),
            )

    def _make(self, make: Make) -> None:
        for made in make(self._missing, self._look):
            self._store(made)

    def _has_more(self) -> bool:
        """Wait until the bake has added frames, which then count as missing; False if it ended without adding any."""
        known = set(self._wanted)
        while True:
            self._look()
            status = read_status(self.cache.folder)
            self._wanted = wanted_moments(self.cache, self._frames)
            self._missing = [moment for moment in self._wanted if moment not in known]
            if self._missing:
                self._sources = sources_of(self.cache, self.product.kind)
                return True
            if status is None or not status.is_live:
                return False
            time.sleep(_PAUSE)

    def _store(self, made: Made) -> None:
        moment = made.moment
        path = derived_path(self.cache, moment, self.product.kind)
        origin = Origin(moment, self.product.hash, self._sources.get(moment, ""), self.product.emitters)
        try:
            # not together with the take, which may have been removed
            for folder in (path.parent.parent, path.parent):
                refuse_link(path.parent)
                folder.mkdir(exist_ok=True)
            remove_abandoned(path)
            written = made.write(path, origin)
        except OSError as error:
            raise unwritable(path, error) from error
        self._done, self._made = self._done + 1, self._made + 1
        per_frame = (time.monotonic() - self._started) / self._made
        self._emit(
            DeriveFrame(
                frame=moment.number,
                **made.counts,
                bytes=written.size,
                **self._counts(),
                seconds_per_frame=per_frame,
                eta_seconds=per_frame * (len(self._wanted) - self._done),
            )
        )

    def _counts(self) -> dict[str, int]:
        return {"done": self._done, "total": len(self._wanted)}

    def words(self) -> Message:
        """The message of a canceled run."""
        made = f"{self._done} of {len(self._wanted)} frames have {ONE[self.product.kind]}"
        return Message(f"canceled: {made}", (Action.DERIVE,))

    def _look(self) -> None:
        if self._listener is not None and self._listener.is_asked:
            raise Cancelled.of(self.words())


def unwritable(path: Path, error: OSError) -> CacheError:
    """The error for a file that cannot be written."""
    return CacheError(f"it cannot be written ({error.strerror})", "free disk space or check its permissions", subject=str(path))


def wanted_moments(cache: Cache, frames: tuple[int, int] | None) -> Sequence[Moment]:
    """The cached frames of a range, ascending. Raises CacheError if there are none."""
    if frames is not None and frames[1] < frames[0]:
        raise CacheError("the last is before the first", "swap them", subject=f"frames {frames[0]}-{frames[1]}")
    found = [Moment(number) for number in cache.frames if frames is None or frames[0] <= number <= frames[1]]
    if not found:
        known = cache.frames
        have = f"frames {known[0]} to {known[-1]} are cached" if known else "no frame is cached yet"
        which = "" if frames is None else f" {frames[0]}-{frames[1]}"
        raise CacheError(f"there are no frames{which}", have, subject=str(cache.folder))
    return found
