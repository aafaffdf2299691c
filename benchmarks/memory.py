"""The memory of a simulation's arrays: bytes per particle, and per occupied block of the grid."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpm_addon.core.stepping.simulation import Simulation

# the parts of a store that belong to blocks
GRID = ("layout", "arenas", "nodes", "node_rows", "nodes_before", "node_rows_before", "scratch")


def footprint(simulation: Simulation) -> dict[str, float]:
    """Bytes per particle of the state, of its copy for failed steps, and of the origin of particles; bytes per block of the grid.

    Everything that the store keeps under private names, except the grid, is the copy.
    """
    store = simulation.store
    count, block_count = store.particle_count, len(store.layout.keys)
    seen: set[int] = set()
    result = {"state": 0.0, "copy": 0.0, "grid": 0.0}
    # public names first, so that an array with two names counts as state
    for name in sorted(vars(store), key=lambda name: name.startswith("_")):
        for array in arrays_in(vars(store)[name]):
            if id(array) in seen:
                continue
            seen.add(id(array))
            if name in GRID:
                result["grid"] += array.nbytes / block_count
            elif name.startswith("_"):
                result["copy"] += array.nbytes / count
            else:
                result["state"] += array.nbytes / count
    result["provenance"] = sum(array.nbytes for array in arrays_in(simulation.provenance)) / count
    return result


def arrays_in(value: Any) -> Iterator[NDArray[Any]]:
    """The arrays in a value: itself, or those in its fields or items."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from arrays_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from arrays_in(item)
    elif hasattr(value, "__dict__"):
        yield from arrays_in(vars(value))
