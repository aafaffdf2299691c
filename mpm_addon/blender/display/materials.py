"""Blender materials of particles: one for each emitter, with the surface of its material. They work for instances, points and meshes.

They are ordinary Blender materials that belong to the artist: once the nodes are edited, only the color still follows the emitter.
"""

import json
from typing import Any, NamedTuple

import bpy

from ...core.laws.finish import GRAINS, Color, Finish
from ...core.scene.thermal import ABSOLUTE_ZERO
from ...storage.finishes import finish_of
from ..host.blender_types import BlenderMaterial, NodeTree
from ..playback.attributes import MESH_COLOR, MESH_TEMPERATURE
from . import assets
from .grains import GRAIN
from .node_builder import Inputs
from .packed import BODY

_LOOK = "mpm_look"
# Raised when the nodes change: materials of older files are then built anew, except edited ones.
_VERSION = 1
# the name of an absorption is not that which Blender gives to those of artists
_SURFACE, _VOLUME = "Principled BSDF", "MPM Absorption"
# Fraction by which a clear material that does not absorb keeps its color: light passes through at least two surfaces.
_TINT = 0.3
# Light takes on the color over this fraction of thick matter, where that is deeper than the finish says: a jar of honey is golden, and a
# barrel of it nearly black.
_DEPTH = 0.25
# How strongly the color of what a clear material scatters also tints what passes, relative to the share that does not pass.
_HAZE = 4.0
# Gamma of the color of a grain among others: light takes it on at each of the several times that it is scattered.
_BETWEEN_GRAINS = 0.3
# The height of bumps for which they look like grains, relative to the grains' size.
_RELIEF = 1.5
# How far the hue of grains varies around that of the color, for the greatest variation [turns].
_HUES = 0.03
# How often hues go back and forth while brightness goes from one end to the other.
_REPEATS = 7.0
# The size of the largest bumps on the surface of packed grains [cells].
_OF_PACKED = 0.12
# The color of rock that has cooled.
_CRUST = (0.02, 0.018, 0.016, 1.0)
# The temperatures at which glow begins and has its full strength [degrees C].
_DARKEST, _HOTTEST = 650.0, 1150.0
# Blender's black body is brighter than a color, and the view would turn it white.
_OF_BLACK_BODY = 0.4


class Look(NamedTuple):
    """How one emitter's particles are shown.

    Attributes:
        name: name of its Blender material, without prefix.
        color: the emitter's color.
        is_painted: whether each particle has its own color, in the attribute `color`.
        law, material: its law and material; emitters of one material share a surface.
        is_heated: whether each particle has a temperature, so that what glows glows by it.
        spacing: the cell size [m], which scales bumps and subsurface scattering.
        thickness: how thick the emitted matter is [m]; colors inside a clear material are deeper in thick matter.
        scale_length: meters per Blender unit.
        mode: the initial display mode in the viewport and in renders; chosen by the material if not given.
        can_follow: whether the emitter has a mesh that can follow its particles.
        vertices: the number of vertices of that mesh; 0 if unknown.
    """

    name: str
    color: Color
    is_painted: bool = False
    law: str = ""
    material: str = ""
    is_heated: bool = False
    spacing: float = 0.02
    thickness: float = 0.0
    scale_length: float = 1.0
    mode: str = ""
    can_follow: bool = False
    vertices: int = 0

    @property
    def finish(self) -> Finish:
        return finish_of(self.law, self.material)

    @property
    def cell(self) -> float:
        """The cell size in Blender units."""
        return self.spacing / self.scale_length

    @property
    def grain(self) -> float:
        """The size of grains on a surface in Blender units."""
        return self.finish.texture_size / self.scale_length

    @property
    def absorption(self) -> float:
        """The density of absorption [1 / Blender unit]; 0 if the color does not come from inside a clear material."""
        finish = self.finish
        if finish.absorption_depth == 0.0 or finish.transmission == 0.0 or self.is_painted:
            return 0.0
        return self.scale_length / max(finish.absorption_depth, _DEPTH * self.thickness)


def material_name(emitter: str) -> str:
    """The name of an emitter's Blender material."""
    return f"MPM {emitter}"


def material_of(look: Look) -> BlenderMaterial:
    """The emitter's Blender material. Follows changes of the emitter, and is otherwise left unchanged."""
    name = material_name(look.name)
    material: Any = bpy.data.materials.get((name, None)) or bpy.data.materials.new(name)
    numbers = (*look.color, look.scale_length, look.absorption)
    heated = ["heated"] if look.is_heated else []
    # 2 since painted colors have a name that Cycles reads from meshes
    painted = 2 * look.is_painted
    wanted = [*(float(f"{number:.5g}") for number in numbers), painted, look.law, look.material, *heated, _VERSION]
    known = json.loads(material.get(_LOOK, "[]"))
    if known == wanted:
        return material
    is_ours = _LOOK not in material or not assets.is_edited(tree_of(material))
    material[_LOOK] = json.dumps(wanted)
    material.diffuse_color = look.color
    material.metallic, material.roughness = look.finish.metallic, look.finish.roughness
    tree = tree_of(material)
    if is_ours:
        _build(tree, look)
        material.use_raytrace_refraction = look.finish.transmission > 0.0
        assets.note(tree)
    elif known[:4] != wanted[:4]:
        _recolor(tree, look)
    return material


def forget_look(material: BlenderMaterial) -> None:
    """Make a copy of an emitter's material one that does not follow it."""
    if _LOOK in material:
        del material[_LOOK]


def tree_of(material: BlenderMaterial) -> NodeTree:
    """The nodes of a Blender material."""
    if bpy.app.version < (5, 0, 0):  # since 5.0, every material uses nodes
        material.use_nodes = True
    return material.node_tree


def _build(tree: NodeTree, look: Look) -> None:
    finish = look.finish
    shader = Shader(tree)
    color, subsurface = _base_color(shader, look), finish.subsurface
    if finish.mode == GRAINS and finish.subsurface > 0.0:
        color, subsurface = _scattered(shader, look, color)
    values: dict[str | int, Any] = {
        "Base Color": color,
        "Roughness": finish.roughness,
        "IOR": finish.ior,
        "Metallic": finish.metallic,
        "Transmission Weight": finish.transmission,
        "Subsurface Weight": subsurface,
        "Subsurface Scale": 1.5 * look.cell,
        # light of all colors scatters equally far: the default radius is that of skin
        "Subsurface Radius": (1.0, 1.0, 1.0),
        "Coat Weight": finish.coat,
        "Coat Roughness": 0.05,
    }
    if finish.emission > 0.0:
        values |= _glow(shader, look, color)
    if finish.mode == GRAINS:
        values["Normal"] = _bumps_of_packed(shader, look)
    elif finish.bump > 0.0 or finish.texture_size > 0.0:
        values["Normal"] = _bumps(shader, look)
    absorption = {"Color": look.color, "Density": look.absorption} if look.absorption else {}
    volume = shader.node("ShaderNodeVolumeAbsorption", absorption, name=_VOLUME) if absorption else None
    surface = shader.node("ShaderNodeBsdfPrincipled", values, name=_SURFACE)
    shader.end(surface if volume is None else _lit_through(shader, surface), volume)


def _scattered(shader: "Shader", look: Look, color: Any) -> tuple[Any, Any]:
    """The color and the weight of subsurface scattering of grains that let light in, such as those of snow.

    On a surface, light is scattered inside. Among single grains, it is scattered from grain to grain, and takes on their color several
    times: they are brighter than all of them together. In a grain that is smaller than light scatters, it would be lost.
    """
    is_grain = shader.instance_attribute(GRAIN)
    gamma = shader.node("ShaderNodeMapRange", {0: is_grain, 3: 1.0, 4: _BETWEEN_GRAINS}).outputs[0]
    weight = shader.node("ShaderNodeMapRange", {0: is_grain, 3: look.finish.subsurface, 4: 0.0}).outputs[0]
    return shader.node("ShaderNodeGamma", {"Color": color, "Gamma": gamma}).outputs[0], weight


def _lit_through(shader: "Shader", surface: Any) -> Any:
    """The surface of a clear material, which light passes straight on its way to other objects.

    Renderers find hardly any of the paths that are bent on their way to a lamp: whatever lies in water or behind it would be in shadow.
    """
    path = shader.node("ShaderNodeLightPath", {}).outputs
    passes = shader.node("ShaderNodeMath", {0: path["Is Shadow Ray"], 1: path["Is Diffuse Ray"]}, operation="MAXIMUM").outputs[0]
    through = shader.node("ShaderNodeBsdfTransparent", {}).outputs[0]
    return shader.node("ShaderNodeMixShader", {0: passes, 1: surface.outputs[0], 2: through})


def _base_color(shader: "Shader", look: Look) -> Any:
    finish = look.finish
    if look.is_painted:
        return shader.attribute(MESH_COLOR, "Vector")
    # what does not pass through a clear material scatters in its color; white would be a gray haze
    share = min(1.0, _HAZE * (1.0 - finish.transmission)) if look.absorption else 1.0 - _TINT * finish.transmission
    color = tuple(1.0 - share * (1.0 - part) for part in look.color[:3])
    if finish.variation == 0.0:
        return (*color, 1.0)
    brightness = _brightness(shader, look)
    value = shader.node("ShaderNodeMapRange", brightness).outputs[0]
    # brightness alone looks like one kind of stone in light and shadow; a second number, nearly independent, follows from the first
    other = shader.node("ShaderNodeMath", {0: brightness[0], 1: 1.0 / _REPEATS}, operation="PINGPONG").outputs[0]
    other = shader.node("ShaderNodeMath", {0: other, 1: _REPEATS}, operation="MULTIPLY").outputs[0]
    spread = finish.variation * _HUES
    hue = shader.node("ShaderNodeMapRange", {0: other, 3: 0.5 - spread, 4: 0.5 + spread}).outputs[0]
    saturation = shader.node("ShaderNodeMapRange", {0: other, 3: 1.0 + 0.5 * finish.variation, 4: 1.0 - 0.5 * finish.variation}).outputs[0]
    shift = {"Hue": hue, "Saturation": saturation, "Value": value, "Color": (*color, 1.0)}
    return shader.node("ShaderNodeHueSaturation", shift).outputs[0]


def _brightness(shader: "Shader", look: Look) -> Inputs:
    """What maps noise to the brightness of grains, which stays the same in all frames."""
    darkest, brightest = 1.0 - look.finish.variation, 1.0 + 0.15 * look.finish.variation
    if look.finish.texture_size > 0.0:
        # nearly all of the noise is within 0.2 of its mean, 0.5
        return {0: _noise(shader, 1.0 / look.grain), 1: 0.3, 2: 0.7, 3: darkest, 4: brightest}
    # particles keep their IDs
    noise = shader.node("ShaderNodeTexWhiteNoise", {"W": shader.attribute("id", "Fac")}, noise_dimensions="1D").outputs["Value"]
    if look.finish.mode == GRAINS:
        # the surface of packed grains has no IDs
        texture = shader.node("ShaderNodeMapRange", {0: _noise(shader, 1.0 / (_OF_PACKED * look.cell)), 1: 0.3, 2: 0.7}).outputs[0]
        noise = shader.node("ShaderNodeMapRange", {0: shader.mesh_attribute(BODY), 3: noise, 4: texture}).outputs[0]
    return {0: noise, 3: darkest, 4: brightest}


def _glow(shader: "Shader", look: Look, color: Any) -> Inputs:
    """Light in the color of the material, from the cracks of its crust alone if it has one."""
    finish = look.finish
    if look.is_heated:
        return _glow_of_heat(shader, look)
    if finish.crust == 0.0:
        return {"Emission Color": color, "Emission Strength": finish.emission}
    return {
        "Base Color": _CRUST,
        "Emission Color": color,
        "Emission Strength": _light_of_cracks(shader, look, _edge(finish.crust), finish.emission),
    }


def _glow_of_heat(shader: "Shader", look: Look) -> Inputs:
    """Light in the color of a black body, from the cracks of a crust that closes as it cools, and is thinner than a cell."""
    finish, degrees, brightest = look.finish, shader.attribute(MESH_TEMPERATURE, "Fac"), _OF_BLACK_BODY * look.finish.emission
    kelvins = shader.node("ShaderNodeMath", {0: degrees, 1: -ABSOLUTE_ZERO}, operation="ADD").outputs[0]
    color = shader.node("ShaderNodeBlackbody", {"Temperature": kelvins}).outputs[0]
    # what a black body radiates, relative to the hottest that keeps its strength: (T / T0)^4; the eye sees none below dark red
    share = shader.node("ShaderNodeMath", {0: kelvins, 1: _HOTTEST - ABSOLUTE_ZERO}, operation="DIVIDE").outputs[0]
    power = shader.node("ShaderNodeMath", {0: share, 1: 4.0}, operation="POWER").outputs[0]
    if finish.crust > 0.0:
        edge = shader.node("ShaderNodeMapRange", {0: degrees, 1: _DARKEST, 2: _HOTTEST, 3: _edge(1.2), 4: _edge(finish.crust)}).outputs[0]
        seen = _light_of_cracks(shader, look, edge, brightest)
    else:
        seen = shader.node("ShaderNodeMapRange", {0: degrees, 1: _DARKEST, 2: _HOTTEST, 3: 0.0, 4: brightest}).outputs[0]
    strength = shader.node("ShaderNodeMath", {0: power, 1: seen}, operation="MULTIPLY").outputs[0]
    return {"Base Color": _CRUST, "Emission Color": color, "Emission Strength": strength}


def _edge(crust: float) -> float:
    """The level of noise below which a share of the surface is crust: half of it is below 0.5, and nearly all within 0.2 of that."""
    return 0.3 + 0.4 * crust


def _light_of_cracks(shader: "Shader", look: Look, edge: Any, brightest: float) -> Any:
    """The strength of light, from dark red beside the crust to the brightest in the middle of the cracks."""
    above = shader.node("ShaderNodeMath", {0: _noise(shader, 0.25 / look.cell), 1: edge}, operation="SUBTRACT").outputs[0]
    glowing = {0: above, 1: -0.05, 2: 0.15, 3: 0.0, 4: brightest}
    return shader.node("ShaderNodeMapRange", glowing, interpolation_type="SMOOTHSTEP").outputs[0]


def _noise(shader: "Shader", scale: float) -> Any:
    """Noise that moves with the material."""
    place = shader.attribute("rest_position", "Vector")
    return shader.node("ShaderNodeTexNoise", {"Vector": place, "Scale": scale, "Detail": 4.0}).outputs[0]


def _bumps(shader: "Shader", look: Look) -> Any:
    """Small bumps that move with the material: its grains, or else some of about a cell."""
    if look.finish.texture_size > 0.0:
        scale, strength, distance = 1.0 / look.grain, 1.0, _RELIEF * look.grain
    else:
        scale, strength, distance = 0.6 / look.cell, look.finish.bump, 0.4 * look.cell
    return shader.node("ShaderNodeBump", {"Strength": strength, "Distance": distance, "Height": _noise(shader, scale)}).outputs[0]


def _bumps_of_packed(shader: "Shader", look: Look) -> Any:
    """Bumps on the surface of packed grains alone, which look like smaller ones."""
    size = _OF_PACKED * look.cell
    values = {"Strength": shader.mesh_attribute(BODY), "Distance": size, "Height": _noise(shader, 1.0 / size)}
    return shader.node("ShaderNodeBump", values).outputs[0]


def _recolor(tree: NodeTree, look: Look) -> None:
    volume = tree.nodes.get(_VOLUME)
    if volume is not None:
        volume.inputs["Color"].default_value = look.color
        return
    node = tree.nodes.get(_SURFACE) or next((node for node in tree.nodes if node.type == "BSDF_PRINCIPLED"), None)
    if node is not None and not node.inputs["Base Color"].is_linked:
        node.inputs["Base Color"].default_value = look.color


class Shader:
    """Fills the nodes of a Blender material."""

    def __init__(self, tree: NodeTree) -> None:
        self.tree = tree
        tree.nodes.clear()

    def node(self, kind: str, inputs: Inputs, **settings: Any) -> Any:
        node = self.tree.nodes.new(kind)
        node.location = (220 * len(self.tree.nodes), 0)
        for name, value in settings.items():
            setattr(node, name, value)
        for name, value in inputs.items():
            if isinstance(value, bpy.types.NodeSocket):
                self.tree.links.new(value, node.inputs[name])
            else:
                node.inputs[name].default_value = value
        return node

    def instance_attribute(self, name: str) -> Any:
        """A number of instances; 0 for what is none."""
        return self._attribute("INSTANCER", name, "Fac")

    def mesh_attribute(self, name: str) -> Any:
        """A number of meshes; 0 where a mesh lacks it, and for what is none."""
        return self._attribute("GEOMETRY", name, "Fac")

    def _attribute(self, owner: str, name: str, output: str) -> Any:
        node = self.node("ShaderNodeAttribute", {}, attribute_type=owner, attribute_name=name)
        # the value has another name in 5.2
        return next(socket for socket in node.outputs if socket.identifier == output)

    def attribute(self, name: str, output: str) -> Any:
        """An attribute of instances, or of points and meshes: one of the two exists, the other is 0."""
        found = [self._attribute(owner, name, output) for owner in ("INSTANCER", "GEOMETRY")]
        if output == "Vector":
            return self.node("ShaderNodeVectorMath", {0: found[0], 1: found[1]}, operation="ADD").outputs[0]
        return self.node("ShaderNodeMath", {0: found[0], 1: found[1]}, operation="ADD").outputs[0]

    def end(self, surface: Any, volume: Any = None) -> None:
        inside = {} if volume is None else {"Volume": volume.outputs[0]}
        self.node("ShaderNodeOutputMaterial", {"Surface": surface.outputs[0], **inside})
