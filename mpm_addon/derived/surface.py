"""Surfaces as a product: one frame is made while the next is read and the last is written."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import MpmError
from ..core.particles import Moment
from ..storage.cache import Cache
from ..storage.container import Written
from ..storage.derived import Origin
from ..storage.surface_file import Piece, Surface, write_surface
from ..storage.take import SURFACE
from .forecast import forecast
from .particles import Cloud, Plan
from .process import Reconstructor
from .product import Forecast, Made, Make
from .settings import SurfaceSettings

# Triangles of a frame beyond which it is not tried.
_MOST_TRIANGLES = 100_000_000


class SurfaceProduct:
    """The surfaces of a cache; see `Product`."""

    kind = SURFACE
    remedy = "free some space, or choose fewer frames or larger voxels"

    def __init__(self, cache: Cache, settings: SurfaceSettings, *, threads: int | None = None) -> None:
        """Read the scene. Raises MpmError.

        Args:
            cache: the cache.
            settings: how the surfaces are made.
            threads: how many; by default one for each core.
        """
        self._cache, self._settings, self._threads = cache, settings, threads
        self._plan = Plan(cache, settings)
        self.hash = settings.hash
        self.emitters = self._plan.emitters

    def forecast(self, moments: Sequence[Moment]) -> Forecast:
        expected = forecast(self._cache, self._plan, self._settings, moments)
        if expected.triangles > _MOST_TRIANGLES:
            raise MpmError(f"a frame would have about {expected.triangles:.2g} triangles", "use a larger voxel size", subject="Surface")
        return expected

    @contextmanager
    def maker(self) -> Iterator[Make]:
        with Reconstructor(self._settings.recipe, self._settings.voxel_size, self._threads) as process:
            yield lambda moments, look: self._made(process, moments, look)

    def _made(self, process: Reconstructor, moments: Sequence[Moment], look: Callable[[], None]) -> Iterator[Made]:
        following = self._prepared(moments)
        current = next(following, None)
        if current is not None:
            process.ask(current[1])
        while current is not None:
            moment = current[0]
            try:
                current = next(following, None)
            except MpmError:
                # the next frame is damaged, but not the one that is being made
                yield _made(moment, process.receive(look))
                raise
            pieces = process.receive(look)
            if current is not None:
                process.ask(current[1])
            yield _made(moment, pieces)

    def _prepared(self, moments: Sequence[Moment]) -> Iterator[tuple[Moment, list[Cloud]]]:
        for moment in moments:
            yield moment, self._plan.clouds(self._cache.state(moment))


def _made(moment: Moment, found: list[tuple[Piece, float]]) -> Made:
    pieces = tuple(piece for piece, _voxel in found if len(piece.triangles))
    voxel = min((edge for _piece, edge in found), default=1.0)

    def write(path: Path, origin: Origin) -> Written:
        return write_surface(path, Surface(origin, pieces), voxel)

    return Made(moment, sum(len(piece.position) for piece in pieces), sum(len(piece.triangles) for piece in pieces), write)
