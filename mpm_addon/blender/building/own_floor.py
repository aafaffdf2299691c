"""The floor that a quick effect has added: later effects widen it instead of letting their objects fall over its edge.

Two floors at one height would flicker in renders. A floor that the artist has changed is left as it is.
"""

import numpy as np

from ..host.blender_types import BlenderObject
from ..host.meshes import Floats
from .ground import Ground

# A custom property of a floor: its bounds in world space when it was made or widened.
MARK = "mpm_floor"
_ROUNDING = 1e-4


def mark(floor: BlenderObject, bounds: Floats) -> None:
    """Note the bounds (2, 3) of a floor, by which it is known to be unchanged."""
    floor[MARK] = [float(value) for value in np.asarray(bounds).ravel()]


def hangs_over(bounds: Floats, ground: Ground) -> bool:
    """Whether something with bounds (2, 3) stands half over the edge of a floor that nobody has changed."""
    is_over = (bounds[0, :2] < ground.bounds[0, :2]).any() or (bounds[1, :2] > ground.bounds[1, :2]).any()
    return bool(is_over) and _is_unchanged(ground)


def _is_unchanged(ground: Ground) -> bool:
    item, known = ground.item, np.array(ground.item.get(MARK, ()), np.float64)
    if known.size != 6 or item.library is not None or item.override_library is not None:
        return False
    if item.parent is not None or item.animation_data is not None or len(item.modifiers) or len(item.data.vertices) != 8:
        return False
    return bool(np.allclose(known.reshape(2, 3), ground.bounds, rtol=0.0, atol=_ROUNDING * ground.width))


def widen(ground: Ground, outline: Floats) -> None:
    """Make a floor reach the corners (n, 2) too; its height and its thickness remain."""
    item, before = ground.item, ground.bounds
    low, high = np.minimum(before[0, :2], outline.min(axis=0)), np.maximum(before[1, :2], outline.max(axis=0))
    factor = (high - low) / (before[1, :2] - before[0, :2])
    x, y = (0.5 * (low + high)).tolist()
    item.location = (x, y, item.location[2])
    item.scale = (item.scale[0] * float(factor[0]), item.scale[1] * float(factor[1]), item.scale[2])
    mark(item, np.array([(*low, before[0, 2]), (*high, before[1, 2])]))
