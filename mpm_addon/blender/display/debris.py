"""The node group MPM Debris: chips as angular stones in the material of their emitter, and dust as points."""

from typing import Any

from .grains import stone
from .node_builder import GEOMETRY, Builder, Socket

NAME = "MPM Debris"
VERSION = 1
HELP = (
    "Instance stones on chips and turn dust into points, with the diameters of their size attribute, which shrink at the end of their life"
)
SIZE_SCALE, CHIPS, DUST, FLATNESS, DUST_MATERIAL = "Size Scale", "Chips", "Dust", "Flatness", "Dust Material"
# Chips of further emitters have the last one.
CHIP_MATERIALS = tuple(f"Material of Emitter {number}" for number in range(1, 5))
INPUTS = (
    GEOMETRY,
    Socket(SIZE_SCALE, "Float", "Factor on the diameter", 1.0, 0.0, 100.0),
    Socket(CHIPS, "Bool", "Show chips", default=True),
    Socket(DUST, "Bool", "Show dust", default=True),
    Socket(FLATNESS, "Float", "Flatness of chips (stones 0, flakes 0.7)", 0.2, 0.0, 0.95, "FACTOR"),
    *(Socket(name, "Material", "Material of the chips of this emitter") for name in CHIP_MATERIALS),
    Socket(DUST_MATERIAL, "Material", "Material of the dust"),
)
_SHAPES = 3
# Particles shrink in this last part of their life.
_SHRINKING = 0.1
# How far chips turn on their way [radians per unit], so that they do not turn where they lie.
_TURNS = 12.0


def build(builder: Builder) -> None:
    """Vertices with the attributes `size`, `life`, `kind`, `id` and `emitter_index` -> instances and points."""
    inputs, kind, number = builder.inputs, builder.attribute("kind", "INT"), builder.attribute("id", "INT")
    left = builder.math("MINIMUM", builder.math("DIVIDE", builder.attribute("life", "FLOAT"), _SHRINKING), 1.0)
    diameter = builder.math("MULTIPLY", builder.attribute("size", "FLOAT"), inputs[SIZE_SCALE])
    radius = builder.math("MULTIPLY", builder.math("MULTIPLY", diameter, 0.5), left)
    chips, dust = (
        builder.out("FunctionNodeBooleanMath", {0: builder.is_equal(kind, place), 1: inputs[name]}, operation="AND")
        for place, name in enumerate((CHIPS, DUST))
    )
    points = builder.out("GeometryNodeMeshToPoints", {"Mesh": inputs["Geometry"], "Radius": radius, "Selection": chips})
    emitter = builder.math("MINIMUM", builder.attribute("emitter_index", "INT"), len(CHIP_MATERIALS) - 1.0)
    shape = builder.math("MULTIPLY_ADD", emitter, float(_SHAPES))
    builder.give(shape.node.inputs[2], builder.random("INT", 0, _SHAPES - 1, number, 1))
    given = {
        "Points": points,
        "Instance": builder.out("GeometryNodeGeometryToInstance", {"Geometry": _stones(builder)}),
        "Pick Instance": True,
        "Instance Index": shape,
        "Rotation": _rotation(builder, number),
        "Scale": radius,
    }
    stones = builder.out("GeometryNodeInstanceOnPoints", given)
    specks = builder.out("GeometryNodeMeshToPoints", {"Mesh": inputs["Geometry"], "Radius": radius, "Selection": dust})
    builder.end(builder.out("GeometryNodeJoinGeometry", {"Geometry": [stones, builder.painted(specks, inputs[DUST_MATERIAL])]}))


def _stones(builder: Builder) -> list[Any]:
    """Every shape in every material: those of the first material first."""
    ratio = builder.math("SUBTRACT", 1.0, builder.inputs[FLATNESS])
    # the same volume, but flatter
    wide = builder.math("POWER", ratio, -1.0 / 3.0)
    shape = builder.out("ShaderNodeCombineXYZ", {0: wide, 1: wide, 2: builder.math("MULTIPLY", wide, ratio)})
    shapes = [stone(builder, shape, seed) for seed in range(_SHAPES)]
    return [builder.painted(each, builder.inputs[name]) for name in CHIP_MATERIALS for each in shapes]


def _rotation(builder: Builder, number: Any) -> Any:
    """The rotation of each chip: random at first, and then about each axis by how far it has moved in a random direction."""
    position = builder.out("GeometryNodeInputPosition")
    turn = 6.2831853
    angles = [builder.random("FLOAT", 0.0, turn, number, seed) for seed in (2, 3, 4)]
    ways = [builder.random("FLOAT_VECTOR", (-_TURNS,) * 3, (_TURNS,) * 3, number, seed) for seed in (5, 6, 7)]
    moved = [builder.node("ShaderNodeVectorMath", {0: position, 1: way}, operation="DOT_PRODUCT").outputs["Value"] for way in ways]
    euler = builder.out("ShaderNodeCombineXYZ", {axis: builder.math("ADD", angles[axis], moved[axis]) for axis in range(3)})
    return builder.out("FunctionNodeEulerToRotation", {"Euler": euler})
