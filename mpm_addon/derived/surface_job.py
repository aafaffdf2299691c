"""Makes the missing surfaces of a cache, one frame after another, and reports progress."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..core.errors import CacheError, Cancelled, MpmError
from ..core.messages import Action, Message
from ..core.particles import Moment
from ..stopping import Listener
from ..storage.cache import Cache
from ..storage.disk import free_space
from ..storage.status import read_status
from ..storage.surface_file import Origin, Piece, Surface, write_surface
from ..storage.surfaces import State, refuse_link, source_of, state_of, surface_path
from .boundaries import Boundaries, Poses
from .forecast import Forecast, forecast
from .meeting import extended, fitted
from .particles import Cloud, Plan
from .process import Reconstructor
from .settings import SurfaceSettings

Event = dict[str, Any]
OnEvent = Callable[[Event], None]

# Maximum number of triangles of a frame; larger ones are refused.
_MOST_TRIANGLES = 100_000_000
# Seconds between checks for new frames of a bake.
_PAUSE = 0.2


class Task(NamedTuple):
    """A surface to be made.

    Attributes:
        moment: its frame.
        poses: of the dynamic colliders then, world from local (4, 4), by name.
        clouds: the particles of each mesh.
    """

    moment: Moment
    poses: Poses
    clouds: list[Cloud]


class SurfaceJob:
    """One run of `derive DIR surface`.

    Attributes:
        cache: the cache.
        settings: how the surfaces are made.
    """

    def __init__(
        self,
        cache: Cache,
        settings: SurfaceSettings,
        *,
        frames: tuple[int, int] | None = None,
        threads: int | None = None,
        follows: bool = False,
        on_event: OnEvent | None = None,
        listener: Listener | None = None,
    ) -> None:
        """Determine which surfaces are missing. Raises MpmError.

        Args:
            cache: the cache.
            settings: how the surfaces are made.
            frames: the first and last frame; by default all cached ones.
            threads: number of threads; by default one per core.
            follows: whether to also process the frames that a running bake adds, until it ends.
            on_event: called with every event; see docs/formats.md.
            listener: receives requests to stop.
        """
        self.cache = cache
        self.settings = settings
        self._threads = threads
        self._frames, self._follows = frames, follows
        self._emit = on_event or (lambda _event: None)
        self._listener = listener
        self._wanted = wanted_moments(cache, frames)
        self._plan = Plan(cache, settings)
        self._boundaries = Boundaries(self._plan.scene if settings.meet_colliders else None)
        self._missing = [moment for moment in self._wanted if state_of(cache, moment, settings.hash) is not State.MADE]
        self._done = len(self._wanted) - len(self._missing)
        self._made, self._started = 0, time.monotonic()

    @property
    def missing(self) -> int:
        """The number of frames without a surface that is up to date."""
        return len(self._wanted) - self._done

    def forecast(self) -> Forecast:
        """The expected size of the missing surfaces. Raises CacheError."""
        return forecast(self.cache, self._plan, self.settings, self._missing)

    def run(self) -> None:
        """Make the missing surfaces. Raises MpmError; Cancelled if the listener was asked to stop."""
        self._started = time.monotonic()
        expected = self.forecast()
        self._emit({"event": "start", **self._counts(), "cache": str(self.cache.folder), "pid": os.getpid(), **self._expected(expected)})
        self._check_room(expected)
        if self._missing or self._follows:
            with Reconstructor(self.settings.recipe, self.settings.voxel_size, self._threads) as process:
                self._make(process)
                while self._follows and self._has_more():
                    self._make(process)
        self._emit({"event": "done", "frames": self._done, "seconds": time.monotonic() - self._started})

    def _expected(self, expected: Forecast) -> Event:
        return {"bytes": expected.frame_bytes * len(self._missing), "settings": self.settings.hash}

    def _check_room(self, expected: Forecast) -> None:
        """Raise CacheError if a frame would be far too large, or if the surfaces do not fit on the disk."""
        if expected.triangles > _MOST_TRIANGLES:
            raise MpmError(f"a frame would have about {expected.triangles:.2g} triangles", "use a larger voxel size", subject="Surface")
        needed, free = expected.frame_bytes * len(self._missing), free_space(self.cache.folder)
        if free is not None and needed > free:
            raise CacheError(
                f"about {needed / 1e9:.3g} GB of surfaces do not fit on the disk, where {free / 1e9:.3g} GB are free",
                "free disk space, choose fewer frames, or use a larger voxel size",
                subject=str(self.cache.folder),
            )

    def _make(self, process: Reconstructor) -> None:
        """Make one frame while the next is read and the last is written."""
        made: tuple[Task, list[tuple[Piece, float]]] | None = None
        following = self._prepared(self._missing)
        current = next(following, None)
        while current is not None:
            task = current
            process.ask(task.clouds)
            if made is not None:
                self._store(*made)
            try:
                current = next(following, None)
            except MpmError:
                # the next frame is damaged, not the one being made
                self._store(task, process.receive(self._look))
                raise
            made = task, process.receive(self._look)
        if made is not None:
            self._store(*made)

    def _has_more(self) -> bool:
        """Wait until the bake has added frames, which then count as missing; False if it ended without adding any."""
        known = set(self._wanted)
        while True:
            self._look()
            status = read_status(self.cache.folder)
            self._wanted = wanted_moments(self.cache, self._frames)
            self._missing = [moment for moment in self._wanted if moment not in known]
            if self._missing or status is None or not status.is_live:
                return bool(self._missing)
            time.sleep(_PAUSE)

    def _prepared(self, moments: Iterable[Moment]) -> Iterator[Task]:
        for moment in moments:
            frame = self.cache.state(moment)
            boundaries = self._boundaries.at(moment, frame.poses)
            yield Task(moment, frame.poses, [extended(cloud, boundaries) for cloud in self._plan.clouds(frame)])

    def _store(self, task: Task, found: list[tuple[Piece, float]]) -> None:
        moment = task.moment
        path = surface_path(self.cache, moment)
        origin = Origin(moment, self.settings.hash, source_of(self.cache, moment), self._plan.emitters)
        boundaries = self._boundaries.at(moment, task.poses)
        whole = [fitted(piece, boundaries, cloud.spacing) for cloud, (piece, _voxel) in zip(task.clouds, found, strict=True)]
        pieces = tuple(piece for piece in whole if len(piece.triangles))
        voxel = min((edge for _piece, edge in found), default=1.0)
        try:
            # not together with the take, which may have been removed
            for folder in (path.parent.parent, path.parent):
                refuse_link(path.parent)
                folder.mkdir(exist_ok=True)
            written = write_surface(path, Surface(origin, pieces), voxel)
        except OSError as error:
            raise unwritable(path, error) from error
        self._done, self._made = self._done + 1, self._made + 1
        per_frame = (time.monotonic() - self._started) / self._made
        self._emit(
            {
                "event": "frame",
                "frame": moment.number,
                "vertices": sum(len(piece.position) for piece in pieces),
                "triangles": sum(len(piece.triangles) for piece in pieces),
                "bytes": written.size,
                **self._counts(),
                "seconds_per_frame": per_frame,
                "eta_seconds": per_frame * (len(self._wanted) - self._done),
            }
        )

    def _counts(self) -> Event:
        return {"done": self._done, "total": len(self._wanted)}

    def words(self) -> Message:
        """The message of a canceled run."""
        made = f"{self._done} of {len(self._wanted)} frames have a surface"
        return Message(f"canceled: {made}", (Action.DERIVE,))

    def _look(self) -> None:
        if self._listener is not None and self._listener.is_asked:
            raise Cancelled.of(self.words())


def unwritable(path: Path, error: OSError) -> CacheError:
    """The error for a file that cannot be written."""
    return CacheError(f"cannot be written ({error.strerror})", "free disk space or check its permissions", subject=str(path))


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
