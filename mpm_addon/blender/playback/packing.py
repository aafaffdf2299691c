"""How packed particles are: an attribute that renders need to cover packed sand and snow with a surface."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.laws.finish import GRAINS
from ..host.blender_types import BlenderObject
from ..host.runtime import OfFile, runtime
from ..settings.display_settings import particle_mode
from .surface_objects import EMITTER

FULLNESS = "mpm_fullness"
# The distance over which the space around a particle extends [edges of a particle's share]: that of a cell with eight particles.
_REACH = 2.0
# The largest particles that count around those of another emitter [their edges].
_COARSEST = 1.25
# Places of the lattices [edges of a cube]: waves of fullness of one and of half an edge cancel.
_SHIFTS = (0.0, 1.0 / 3.0, 2.0 / 3.0)
# The most cubes for each particle of a box that is numbered whole.
_DENSEST = 8
_BITS = 21
_CORNERS = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), axis=-1).reshape(8, 3)


@dataclass
class Kept(OfFile):
    """How full space is at the first moment of a shutter: session UID of the object -> values of its particles.

    Particles that became packed or loose within a shutter would have grains at some of its moments only.
    """

    values: dict[int, NDArray[np.float32]] = field(default_factory=dict)


def drop() -> None:
    """Forget a shutter, and remove the attribute from all meshes: neither undo, files nor copies may keep that of a rendered frame."""
    runtime.of(Kept).values.clear()
    for mesh in bpy.data.meshes:
        attribute = mesh.attributes.get(FULLNESS)
        if attribute is not None:
            mesh.attributes.remove(attribute)
            mesh.update_tag()


def in_shutter(item: BlenderObject, arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
    """Arrays of a moment of a shutter `with_fullness`, that of the first moment since `drop`."""
    kept = runtime.of(Kept).values
    values = kept.get(item.session_uid)
    if values is not None and len(values) == len(arrays["position"]):
        return {**arrays, FULLNESS: values}
    found = with_fullness(item, arrays)
    if FULLNESS in found:
        kept[item.session_uid] = found[FULLNESS]
    return found


def with_fullness(item: BlenderObject, arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
    """Arrays of a frame, and how full the space around each particle is, if renders show some as grains and the frame has sizes.

    Args:
        item: the particle object.
        arrays: attribute name -> array in SI, as in `Frame.arrays`.
    """
    scale = arrays.get("scale")
    numbers = [number for number, part in enumerate(item.mpm.display.parts) if _is_rendered_as_grains(part)]
    if scale is None or not len(scale) or not numbers:
        return arrays
    emitter = arrays.get(EMITTER, np.zeros(len(scale), np.int32))
    return {**arrays, FULLNESS: _fullness_of_emitters(arrays["position"], scale, emitter, numbers)}


def _fullness_of_emitters(
    position: NDArray[np.floating], scale: NDArray[np.floating], emitter: NDArray[np.integer], numbers: Sequence[int]
) -> NDArray[np.float32]:
    """How full the space around the particles of some emitters is, (n,), in cubes of the size of each; 0 around all others.

    Grains of other emitters count where they are as small: they fill the space, too, but a larger one would fill all cubes around it.
    """
    found = np.zeros(len(scale), np.float32)
    members = {number: emitter == number for number in numbers}
    edges = {number: float(np.median(scale[own])) for number, own in members.items() if own.any()}
    for edge in {edge for edge in edges.values() if edge > 0.0}:
        near = np.any([members[number] for number, other in edges.items() if 0.0 < other <= _COARSEST * edge], axis=0)
        asked = np.any([members[number] for number, other in edges.items() if other == edge], axis=0)
        values = fullness(position[near] / (_REACH * edge), (scale[near] / (_REACH * edge)) ** 3)
        found[asked] = values[asked[near]]
    return found


def _is_rendered_as_grains(part: Any) -> bool:
    return particle_mode(part, is_render=True) == GRAINS


def fullness(position: NDArray[np.floating], volume: NDArray[np.floating]) -> NDArray[np.float32]:
    """How full the space around the particles near each particle is, (n,): 1 inside material at rest, about 0.7 at a flat surface.

    It is the mean by three lattices of cubes: by one alone, half of the grains of a small clump would come and go while it flies.

    Args:
        position: [edges of a cube], shape (n, 3).
        volume: volumes at rest [volumes of a cube], (n,).
    """
    found = sum(_fullness_of_cubes(position + shift, volume) for shift in _SHIFTS) / len(_SHIFTS)
    return np.asarray(found, np.float32)


def _fullness_of_cubes(position: NDArray[np.floating], volume: NDArray[np.floating]) -> NDArray[np.float64]:
    """How full the space is by one lattice.

    Volumes are spread linearly over the corners of cubes, and gathered from there; so is the result, weighted by volume. Its mean tells
    the edge of a packed block (0.55) from a cloud that fills 0.4 of the space, which the fullness of single particles does not.
    """
    low = np.floor(position)
    within = position - low
    numbers = _corner_numbers(low.astype(np.int64))
    shares = np.where(_CORNERS, within[:, None, :], 1.0 - within[:, None, :]).prod(axis=2)
    total = np.bincount(numbers.ravel(), (shares * volume[:, None]).ravel())
    own = (total[numbers] * shares).sum(axis=1)
    weighted = np.bincount(numbers.ravel(), (shares * (volume * own)[:, None]).ravel())
    mean = weighted / np.maximum(total, np.finfo(np.float64).tiny)
    return (mean[numbers] * shares).sum(axis=1)


def _corner_numbers(cubes: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each corner of cubes (n, 3), (n, 8). Corners are sorted only where particles are far apart, which takes longer."""
    lowest = cubes.min(axis=0)
    sizes = [int(size) for size in cubes.max(axis=0) - lowest + 2]
    if math.prod(sizes) <= _DENSEST * len(cubes):
        corners = (cubes - lowest)[:, None, :] + _CORNERS
        return (corners[:, :, 0] * sizes[1] + corners[:, :, 1]) * sizes[2] + corners[:, :, 2]
    corners = (cubes[:, None, :] + _CORNERS) & ((1 << _BITS) - 1)
    keys = (corners[:, :, 0] << 2 * _BITS) | (corners[:, :, 1] << _BITS) | corners[:, :, 2]
    return np.unique(keys, return_inverse=True)[1].reshape(keys.shape)
