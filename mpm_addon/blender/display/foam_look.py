"""The look of spray, foam and bubbles: points with a white Blender material, which belongs to the artist once it is made."""

from typing import Any

import bpy

from ..host.blender_types import BlenderMaterial, BlenderObject
from . import assets, foam
from .materials import Shader, tree_of
from .modifier import set_input

NAME = "MPM Foam"
# Bubbles and drops reflect nearly all light, scattered by their many walls.
_WHITE = (0.92, 0.95, 0.97, 1.0)
_ROUGHNESS = 0.4


def dress_foam(shown: BlenderObject) -> None:
    """Give the object with foam its modifier and material, unless it has a modifier already."""
    if any(modifier.type == "NODES" for modifier in shown.modifiers):
        return
    modifier = shown.modifiers.new(NAME, "NODES")
    modifier.node_group = assets.asset(foam)
    material = _material()
    shown.data.materials.append(material)
    set_input(modifier, foam.MATERIAL, material)


def _material() -> BlenderMaterial:
    known: Any = bpy.data.materials.get((NAME, None))
    if known is not None:
        return known
    material = bpy.data.materials.new(NAME)
    material.diffuse_color = _WHITE
    shader = Shader(tree_of(material))
    shader.end(shader.node("ShaderNodeBsdfPrincipled", {"Base Color": _WHITE, "Roughness": _ROUGHNESS, "IOR": 1.333}))
    return material
