"""The simulator: numpy and numba, no Blender, no files.

The names below import numba on first use, so that the interface can read scene descriptions without it.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .geometry import sample_mesh, signed_distance
    from .laws.evaluation import evaluate_law, return_map
    from .stepping.simulation import simulate

_HOMES = {
    "simulate": ".stepping.simulation",
    "evaluate_law": ".laws.evaluation",
    "return_map": ".laws.evaluation",
    "signed_distance": ".geometry",
    "sample_mesh": ".geometry",
}

__all__ = ["evaluate_law", "return_map", "sample_mesh", "signed_distance", "simulate"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)
