"""The Blender material of powder that is shown as a volume. It belongs to the artist: it is made once and then left unchanged."""

from typing import Any

import bpy

from ...core.laws.finish import GRAINS
from ...storage.finishes import finish_of
from ...storage.volume_file import DENSITY
from ..host.blender_types import BlenderMaterial, BlenderObject
from .materials import Shader, tree_of

NAME = "MPM Powder"
# Light is scattered so many times in a meter of packed material [1/m]: that of coarse grains, so that the air stays clear.
_EXTINCTION = 30.0
# Fine grains scatter light mostly forward.
_ANISOTROPY = 0.3
_WHITE = (1.0, 1.0, 1.0)


def dress_volume(item: BlenderObject, shown: BlenderObject, scale_length: float) -> None:
    """Give the volume object of a particle object its material.

    Args:
        item: the particle object.
        shown: the volume object.
        scale_length: meters per Blender unit.
    """
    if not len(shown.data.materials):
        shown.data.materials.append(_material(_color(item), scale_length))


def _color(item: BlenderObject) -> tuple[float, float, float]:
    """The color of the first emitter of grains; white if there is none."""
    for part in item.mpm.display.parts:
        if part.material is not None and finish_of(part.law, part.simulated_material).mode == GRAINS:
            # light takes on the color at each of the several times that it is scattered
            red, green, blue = (max(float(each), 0.0) ** 0.5 for each in part.material.diffuse_color[:3])
            return red, green, blue
    return _WHITE


def _material(color: tuple[float, float, float], scale_length: float) -> BlenderMaterial:
    known: Any = bpy.data.materials.get((NAME, None))
    if known is not None:
        return known
    material = bpy.data.materials.new(NAME)
    material.diffuse_color = (*color, 1.0)
    shader = Shader(tree_of(material))
    values = {
        "Color": (*color, 1.0),
        "Density": _EXTINCTION * scale_length,
        "Density Attribute": DENSITY,
        "Anisotropy": _ANISOTROPY,
    }
    volume = shader.node("ShaderNodeVolumePrincipled", values)
    shader.node("ShaderNodeOutputMaterial", {"Volume": volume.outputs[0]})
    return material
