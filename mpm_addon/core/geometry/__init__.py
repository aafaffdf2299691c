"""Shapes, distances, samples and motion.

The names below import numba on first use; `shapes`, `motion` and `rotation` never do. Nothing here knows about laws, files or
Blender.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .distance import distance_query
    from .mass import mass_properties
    from .sampling import sample_mesh, sample_shape
    from .surface import closest_points, signed_distance, winding_number

_HOMES = {
    "closest_points": ".surface",
    "distance_query": ".distance",
    "mass_properties": ".mass",
    "sample_mesh": ".sampling",
    "sample_shape": ".sampling",
    "signed_distance": ".surface",
    "winding_number": ".surface",
}

__all__ = ["closest_points", "distance_query", "mass_properties", "sample_mesh", "sample_shape", "signed_distance", "winding_number"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)
