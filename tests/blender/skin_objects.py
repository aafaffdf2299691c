"""Objects whose meshes follow particles, as tests set and read them."""

from typing import Any

import numpy as np

from mpm_addon.blender.host.file_record import silent


def use(item: Any, **modes: str) -> None:
    """Choose displays without building nodes, which the fake does not simulate."""
    with silent():
        for name, mode in modes.items():
            setattr(item.mpm.display.parts[0], name, mode)


def moved(position: np.ndarray, *by: float) -> np.ndarray:
    return position + np.array(by, np.float32)


def vertices(item: Any, name: str = "position") -> np.ndarray:
    mesh = item.mpm.display.parts[0].skin.data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes[name].data.foreach_get("vector", flat)
    return flat.reshape(-1, 3)


def edge_uses(mesh: Any) -> np.ndarray:
    """How many faces each edge has."""
    uses = np.zeros(len(mesh.edges), np.int64)
    for polygon in mesh.polygons:
        for loop in polygon.loop_indices:
            uses[mesh.loops[loop].edge_index] += 1
    return uses
