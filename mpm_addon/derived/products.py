"""The kinds of derived data: the settings of each, and what makes it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..storage.cache import Cache
from ..storage.take import DEBRIS, FOAM, SKIN, SURFACE, VOLUME
from .debris_settings import DebrisSettings
from .product import Product
from .settings import FoamSettings, SkinSettings, SurfaceSettings, VolumeSettings
from .skin import SkinProduct
from .volume import VolumeProduct


class Kind(NamedTuple):
    """A kind of derived data: its settings, and what makes it from a cache, these and a number of threads."""

    settings: type[Any]
    product: Callable[[Cache, Any, int | None], Product]


def _surface(cache: Cache, settings: SurfaceSettings, threads: int | None) -> Product:
    # distances from colliders need numba, which `doctor`, `info` and the others must do without
    from .surface import SurfaceProduct

    return SurfaceProduct(cache, settings, threads=threads)


def _foam(cache: Cache, settings: FoamSettings, threads: int | None) -> Product:
    # as above, its kernels
    from .foam import FoamProduct

    return FoamProduct(cache, settings, threads=threads)


def _debris(cache: Cache, settings: DebrisSettings, threads: int | None) -> Product:
    # as above
    from .debris import DebrisProduct

    return DebrisProduct(cache, settings, threads=threads)


PRODUCTS: Mapping[str, Kind] = {
    SURFACE: Kind(SurfaceSettings, _surface),
    SKIN: Kind(SkinSettings, lambda cache, settings, _threads: SkinProduct(cache, settings)),
    VOLUME: Kind(VolumeSettings, lambda cache, settings, _threads: VolumeProduct(cache, settings)),
    FOAM: Kind(FoamSettings, _foam),
    DEBRIS: Kind(DebrisSettings, _debris),
}
