"""The look of foam and debris: points, stones and volumes, with Blender materials that belong to the artist once they are made."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import bpy

from ...storage.take import DEBRIS, FOAM
from ...storage.volume_file import DENSITY
from ..host.blender_types import BlenderMaterial, BlenderObject
from ..host.registrar import Registrar
from ..host.runtime import runtime
from ..playback import fog_objects
from ..settings.listeners import FogListeners
from . import assets, debris, foam
from .materials import Shader, tree_of
from .modifier import set_input

NAME = "MPM Foam"
DUST_NAME = "MPM Dust"
# Bubbles and drops reflect nearly all light, scattered by their many walls.
_WHITE = (0.92, 0.95, 0.97, 1.0)
_ROUGHNESS, _DRY = 0.4, 0.95
# Fine grains scatter light mostly forward.
_ANISOTROPY = 0.3


def dress_foam(shown: BlenderObject) -> None:
    """Give the object with foam its modifier and material, unless it has a modifier already."""
    if any(modifier.type == "NODES" for modifier in shown.modifiers):
        return
    modifier = shown.modifiers.new(NAME, "NODES")
    modifier.node_group = assets.asset(foam)
    material = _surface(NAME, _WHITE, _ROUGHNESS)
    shown.data.materials.append(material)
    set_input(modifier, foam.MATERIAL, material)


def dress_debris(
    item: BlenderObject, shown: BlenderObject, bodies: Mapping[int, BlenderMaterial | None], makers: Collection[int] | None
) -> None:
    """Give the object with the debris of a particle object its modifier and materials, unless it has a modifier already.

    Args:
        item: the particle object.
        shown: the object with the debris.
        bodies: the materials of the chips of colliders that break, by the number of their debris, which follow those of the emitters.
        makers: the numbers of the emitters and colliders that make debris; None stands for all. The first gives dust its color.
    """
    if any(modifier.type == "NODES" for modifier in shown.modifiers):
        return
    modifier = shown.modifiers.new(debris.NAME, "NODES")
    modifier.node_group = assets.asset(debris)
    chips = dict(enumerate(part.material for part in item.mpm.display.parts)) | dict(bodies)
    dust = _surface(DUST_NAME, _pale(material for number, material in chips.items() if makers is None or number in makers), _DRY)
    for material in dict.fromkeys((*chips.values(), dust)):
        if material is not None:
            shown.data.materials.append(material)
    chosen: BlenderMaterial | None = dust
    for number, name in enumerate(debris.CHIP_MATERIALS):
        chosen = chips.get(number, chosen)
        set_input(modifier, name, chosen)
    set_input(modifier, debris.DUST_MATERIAL, dust)


def dress_fog(item: BlenderObject, kind: str) -> None:
    """Add the volume of foam or dust to a particle object that shows it as one, with its material, if it is missing."""
    settings = getattr(item.mpm, kind)
    if settings.object is None or not settings.is_fog or fog_objects.fog_object_of(item, kind) is not None:
        return
    shown = fog_objects.add(item, kind)
    if not len(shown.data.materials):
        scenes: Any = bpy.data.scenes
        scene: Any = next((scene for scene in scenes if item.name in scene.objects), bpy.context.scene)
        color = _WHITE if kind == FOAM else _color_of_fog(item)
        shown.data.materials.append(_volume(fog_objects.NAMES[kind], color, scene.unit_settings.scale_length))


def _pale(materials: Iterable[BlenderMaterial | None]) -> tuple[float, float, float, float]:
    """The color of dust: that of the first of some materials, but paler, because fine grains scatter more light."""
    for material in materials:
        if material is not None:
            red, green, blue = (max(float(each), 0.0) ** 0.7 for each in material.diffuse_color[:3])
            return red, green, blue, 1.0
    return 0.8, 0.8, 0.8, 1.0


def _color_of_fog(item: BlenderObject) -> tuple[float, float, float, float]:
    """The color of dust as a volume: that of the points in its place."""
    shown = item.mpm.debris.object
    for material in () if shown is None else shown.data.materials:
        if material is not None and material.name.startswith(DUST_NAME):
            red, green, blue = material.diffuse_color[:3]
            return red, green, blue, 1.0
    return _pale(part.material for part in item.mpm.display.parts)


def _surface(name: str, color: tuple[float, float, float, float], roughness: float) -> BlenderMaterial:
    known: Any = bpy.data.materials.get((name, None))
    if known is not None:
        return known
    material = bpy.data.materials.new(name)
    material.diffuse_color = color
    shader = Shader(tree_of(material))
    shader.end(shader.node("ShaderNodeBsdfPrincipled", {"Base Color": color, "Roughness": roughness, "IOR": 1.333}))
    return material


def _volume(name: str, color: tuple[float, float, float, float], scale_length: float) -> BlenderMaterial:
    """A material whose density attribute is the extinction [1/m]."""
    name = f"{name} Volume" if not name.endswith("Volume") else name
    known: Any = bpy.data.materials.get((name, None))
    if known is not None:
        return known
    material = bpy.data.materials.new(name)
    material.diffuse_color = color
    shader = Shader(tree_of(material))
    values = {"Color": color, "Density": scale_length, "Density Attribute": DENSITY, "Anisotropy": _ANISOTROPY}
    volume = shader.node("ShaderNodeVolumePrincipled", values)
    shader.node("ShaderNodeOutputMaterial", {"Volume": volume.outputs[0]})
    return material


def _dress_fogs(item: BlenderObject) -> None:
    for kind in (FOAM, DEBRIS):
        dress_fog(item, kind)


def register(registrar: Registrar) -> None:
    registrar.member(runtime.of(FogListeners).functions, _dress_fogs)
