"""The material that colors particles by one of their attributes, with a perceptually uniform color map."""

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.errors import MpmError
from ...storage import open_cache
from ..host.blender_types import BlenderMaterial, BlenderObject
from ..playback.attributes import MESH_COLOR, MESH_SPEED, VELOCITY, stored_name
from ..playback.particle_objects import frame_rate
from ..settings import paths
from ..settings.display_settings import COLORINGS, Coloring
from .materials import Shader, tree_of

# Viridis (Stefan van der Walt and Nathaniel Smith, CC0): perceptually uniform, also in grayscale and with color blindness. sRGB.
_VIRIDIS = ("440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725")
# Colors that stay distinct with color blindness (Okabe and Ito 2008). sRGB.
_DISTINCT = ("0072b2", "e69f00", "009e73", "cc79a7", "56b4e9", "d55e00", "f0e442", "999999")
# Number of frames read to find a range, and the share of values that may lie below it and above it.
_FRAMES, _OUTSIDE = 5, 1.0
# What the names of these materials begin with.
_PREFIX = "MPM Colors "


def fitted_range(item: BlenderObject, scene: Any, name: str) -> tuple[float, float]:
    """The range of an attribute in the object's cache: all but the lowest and the highest hundredth of its values in five frames.

    Args:
        name: an attribute; the length of its vectors is used.

    Raises:
        MpmError: there is no cache, or none of the frames has the attribute.
    """
    cache = open_cache(paths.absolute(item.mpm.cache))
    numbers = list(cache.frames)
    chosen = [numbers[index] for index in sorted({round(each) for each in np.linspace(0, len(numbers) - 1, _FRAMES)})] if numbers else []
    arrays = [frame.attribute(name) for frame in map(cache.frame, chosen) if name in frame.attributes]
    values = np.concatenate([_lengths(array) for array in arrays]) if arrays else np.empty(0)
    if not len(values):
        raise MpmError(f'no frame of its cache has the attribute "{name}"', "bake with it, or choose another one", subject=f'"{item.name}"')
    low, high = (float(each) for each in np.percentile(values, (_OUTSIDE, 100.0 - _OUTSIDE)))
    if name == VELOCITY:
        factor = cache.time.time_scale * frame_rate(scene) / cache.time.fps / scene.unit_settings.scale_length
        low, high = 0.0, high * factor
    return low, high if high > low else low + 1.0


def _lengths(values: NDArray[Any]) -> NDArray[Any]:
    return np.linalg.norm(values, axis=1) if values.ndim > 1 else values


def color_material(item: BlenderObject, coloring: str, attribute: str, limits: tuple[float, float]) -> BlenderMaterial:
    """The material that colors an object's particles; each object has its own, because each has its own range."""
    name = f"{_PREFIX}{item.name}"
    material: Any = bpy.data.materials.get((name, None)) or bpy.data.materials.new(name)
    shader = Shader(tree_of(material))
    chosen = COLORINGS[coloring]
    if coloring == "color":
        color = shader.attribute(MESH_COLOR, "Vector")
    else:
        color = _ramped(shader, chosen, attribute, limits)
    shader.end(shader.node("ShaderNodeBsdfPrincipled", {"Base Color": color, "Roughness": 0.6}))
    return material


def is_color_material(material: BlenderMaterial) -> bool:
    """Whether a material is one that colors particles by an attribute."""
    return material.name.startswith(_PREFIX)


def _ramped(shader: Shader, chosen: Coloring, attribute: str, limits: tuple[float, float]) -> Any:
    stored = MESH_SPEED if chosen.attribute == VELOCITY else stored_name(chosen.attribute or attribute)
    value = shader.attribute(stored, "Fac")
    if not chosen.is_number:
        place = shader.node("ShaderNodeMapRange", {0: value, 1: limits[0], 2: limits[1]}).outputs[0]
        return _ramp(shader, place, _VIRIDIS, "LINEAR")
    count = float(len(_DISTINCT))
    turn = shader.node("ShaderNodeMath", {0: value, 1: count}, operation="MODULO").outputs[0]
    middle = shader.node("ShaderNodeMath", {0: turn, 1: 0.5}, operation="ADD").outputs[0]
    place = shader.node("ShaderNodeMath", {0: middle, 1: count}, operation="DIVIDE").outputs[0]
    return _ramp(shader, place, _DISTINCT, "CONSTANT")


def _ramp(shader: Shader, place: Any, colors: Iterable[str], interpolation: str) -> Any:
    node = shader.node("ShaderNodeValToRGB", {0: place})
    ramp, shown = node.color_ramp, [_linear(color) for color in colors]
    ramp.interpolation = interpolation
    steps = len(shown) - (interpolation == "LINEAR")
    for number, color in enumerate(shown):
        element = ramp.elements[number] if number < 2 else ramp.elements.new(number / steps)
        element.position, element.color = number / steps, color
    return node.outputs["Color"]


def _linear(text: str) -> tuple[float, float, float, float]:
    """Convert sRGB hexadecimal digits to linear RGBA."""
    parts = [int(text[index : index + 2], 16) / 255.0 for index in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return red, green, blue, 1.0
