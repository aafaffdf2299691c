"""Surfaces as a product: one frame is made while the next is read and the last is written."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ..core.errors import MpmError
from ..core.particles import Moment
from ..storage.cache import Cache
from ..storage.container import Written
from ..storage.derived import Origin
from ..storage.renames import scene_of
from ..storage.surface_file import Surface, SurfacePiece, write_surface
from ..storage.take import SURFACE
from .boundaries import Boundaries, Boundary, Poses
from .forecast import forecast
from .images import Images, extended
from .meeting import fitted
from .particles import Plan
from .process import Reconstructor
from .product import Forecast, Made, Make
from .settings import SurfaceSettings
from .sheets import filled

# Maximum number of triangles of a frame; larger ones are refused.
_MOST_TRIANGLES = 100_000_000


class Task(NamedTuple):
    """A surface to be made.

    Attributes:
        moment: its frame.
        poses: of the dynamic colliders then, world from local (4, 4), by name.
        images: the particles of each mesh, and their images.
    """

    moment: Moment
    poses: Poses
    images: list[Images]


class SurfaceProduct:
    """The surfaces of a cache; see `Product`."""

    kind = SURFACE
    remedy = "free disk space, choose fewer frames, or use a larger voxel size"

    def __init__(self, cache: Cache, settings: SurfaceSettings, *, threads: int | None = None) -> None:
        """Read the scene. Raises MpmError.

        Args:
            cache: the cache.
            settings: how the surfaces are made.
            threads: number of threads; by default one per core.
        """
        self._cache, self._settings, self._threads = cache, settings, threads
        self._plan = Plan(cache, settings)
        self._boundaries = {cache.take: Boundaries(self._plan.scene if settings.meet_colliders else None)}
        self.hash = settings.hash
        self.emitters = self._plan.emitters

    def forecast(self, moments: Sequence[Moment]) -> Forecast:
        expected = forecast(self._cache, self._plan, self._settings, moments)
        if expected.triangles > _MOST_TRIANGLES:
            raise MpmError(f"a frame would have about {expected.triangles:.2g} triangles", "use a larger voxel size", subject="Surface")
        return Forecast(expected.frame_bytes)

    @contextmanager
    def maker(self) -> Iterator[Make]:
        with Reconstructor(self._settings.recipe, self._settings.voxel_size, self._threads) as process:
            yield lambda moments, look: self._made(process, moments, look)

    def _made(self, process: Reconstructor, moments: Sequence[Moment], look: Callable[[], None]) -> Iterator[Made]:
        following = self._prepared(moments)
        current = next(following, None)
        if current is not None:
            process.ask([each.cloud for each in current.images])
        while current is not None:
            task = current
            try:
                current = next(following, None)
            except MpmError:
                # the next frame is damaged, not the one being made
                yield self._fitted(task, process.receive(look))
                raise
            found = process.receive(look)
            if current is not None:
                process.ask([each.cloud for each in current.images])
            yield self._fitted(task, found)

    def _prepared(self, moments: Sequence[Moment]) -> Iterator[Task]:
        for moment in moments:
            frame = self._cache.state(moment)
            boundaries = self._bounding(moment, frame.poses)
            clouds = self._plan.clouds(frame)
            if self._settings.close_sheets:
                clouds = [filled(cloud) for cloud in clouds]
            yield Task(moment, frame.poses, [extended(cloud, boundaries) for cloud in clouds])

    def _bounding(self, moment: Moment, poses: Poses) -> list[Boundary]:
        """What bounds the particles of a frame, in the scene of its own take: another may have other colliders. Raises MpmError."""
        take = self._cache.take_of(moment)
        if take.number not in self._boundaries:
            self._boundaries[take.number] = Boundaries(scene_of(take, self._cache.takes[-1]) if self._settings.meet_colliders else None)
        return self._boundaries[take.number].at(moment, poses)

    def _fitted(self, task: Task, found: list[tuple[SurfacePiece, float]]) -> Made:
        boundaries = self._bounding(task.moment, task.poses)
        whole = [
            fitted(piece, boundaries, images.cloud.spacing, images) for images, (piece, _voxel) in zip(task.images, found, strict=True)
        ]
        pieces = tuple(piece for piece in whole if len(piece.triangles))
        voxel = min((edge for _piece, edge in found), default=1.0)

        def write(path: Path, origin: Origin) -> Written:
            return write_surface(path, Surface(origin, pieces), voxel)

        counts = {"vertices": sum(len(piece.position) for piece in pieces), "triangles": sum(len(piece.triangles) for piece in pieces)}
        return Made(task.moment, counts, write)
