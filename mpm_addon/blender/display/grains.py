"""The node group MPM Grains: angular stones or flakes on each point, rotated and stretched with the material.

A particle stands for many grains of sand. Its grains lie around it, with sizes of a power law, and together have its volume. They move
with the particle, and around it with the rotation and stretch of the material. In material that flies apart, they fill the growing
distance to the next particle; they would show as lumps otherwise. Grains of packed particles lie on the surface of what is packed.
"""

from typing import Any

from . import packed
from .node_builder import GEOMETRY, Builder, Socket

NAME = "MPM Grains"
VERSION = 6
HELP = "Instance stones or flakes on every point, rotated and stretched by the rotation and stretch attributes"
COUNT, VARIATION, FLATNESS, SURFACE = "Grains per Particle", "Variation", "Flatness", "Packed Surface"
INPUTS = (
    GEOMETRY,
    Socket(COUNT, "Int", "Grains of each particle, which share its volume (coarse sand 1, fine sand 30)", 1, 1, 50),
    Socket(
        VARIATION,
        "Float",
        "Size variation of the grains (equal 0, the largest seven times as large as the smallest 1)",
        0.7,
        0.0,
        1.0,
        "FACTOR",
    ),
    Socket(FLATNESS, "Float", "Flatness of the grains (stones 0, flakes 0.7)", 0.0, 0.0, 0.95, "FACTOR"),
    Socket("Material", "Material", "Material of the grains"),
    Socket(SURFACE, "Geometry", "Surface of the packed particles, on which their grains lie"),
)
_SHAPES = 5
# Stones are smaller than the sphere that they are cut from.
_SIZE = 1.15
# Crushed rock: the number of grains larger than r falls as r^-2.5 (Turcotte 1986, "Fractals and fragmentation").
_EXPONENT = 2.5
_LARGEST_RATIO = 7.0
# Keeps the formulas finite where all grains have the same size.
_EQUAL = 1e-3
# 1 on each grain, by which materials know that they are of one
GRAIN = "mpm_grain"
_PLACE, _LOOSENESS, _LIES = "grain_place", "grain_looseness", "grain_lies"
# The greatest distance to the next particle that grains fill [edges of the particle's share].
_LOOSEST = 4.0
# The size of grains that lie on a surface: it has the volume of the particles, which their grains only have to cover.
_ON_SURFACE = 0.55
# Half the width of the places of many grains [edges of the particle's share], whose density falls linearly from the particle: places
# of neighbors overlap, because grains that filled the share evenly would show as lumps.
_REACH = 1.4


def build(builder: Builder) -> None:
    inputs = builder.inputs
    grains = _grains(builder)
    number = builder.attribute("id", "INT")
    ratio = builder.math("SUBTRACT", 1.0, inputs[FLATNESS])
    # the same volume, but flatter
    wide = builder.math("MULTIPLY", _SIZE, builder.math("POWER", ratio, -1.0 / 3.0))
    shape = builder.out("ShaderNodeCombineXYZ", {0: wide, 1: wide, 2: builder.math("MULTIPLY", wide, ratio)})
    stones = [builder.painted(stone(builder, shape, seed), inputs["Material"]) for seed in range(_SHAPES)]
    given = {
        "Points": grains,
        "Instance": builder.out("GeometryNodeGeometryToInstance", {"Geometry": stones}),
        "Pick Instance": True,
        "Instance Index": builder.random("INT", 0, _SHAPES - 1, number, 1),
        "Rotation": _first_turn(builder, number),
        "Scale": _size(builder, number),
    }
    builder.end(_laid(builder, _stretched(builder, builder.out("GeometryNodeInstanceOnPoints", given))))


def _grains(builder: Builder) -> Any:
    """A point for each grain, which stores its place relative to the particle.

    Blender gives each copy of a point an ID of its own.
    """
    count = builder.inputs[COUNT]
    edge = packed.edge_of(builder)
    # before there are copies, whose neighbors are other copies; a single grain needs no room
    several = builder.math("GREATER_THAN", count, 1.5)
    points = builder.store(builder.inputs["Geometry"], _LOOSENESS, "FLOAT", _looseness(builder, edge), Selection=several)
    points = builder.store(points, _LIES, "FLOAT", packed.lies_on(builder, builder.inputs[SURFACE]))
    copies = builder.out("GeometryNodeDuplicateElements", {"Geometry": points, "Amount": count}, domain="POINT")
    # a single grain lies at the particle's position
    spread = builder.math("SUBTRACT", 1.0, builder.math("POWER", count, -1.0 / 3.0))
    room = builder.math("MULTIPLY", edge, builder.attribute(_LOOSENESS, "FLOAT"))
    reach = builder.math("MULTIPLY", room, builder.math("MULTIPLY", spread, _REACH))
    number = builder.attribute("id", "INT")
    first, second = (builder.random("FLOAT_VECTOR", (-0.5, -0.5, -0.5), (0.5, 0.5, 0.5), number, seed) for seed in (4, 5))
    place = builder.vector("SCALE", builder.vector("ADD", first, second), scale=reach)
    return builder.store(builder.store(copies, _PLACE, "FLOAT_VECTOR", place), GRAIN, "FLOAT", 1.0)


def _looseness(builder: Builder, edge: Any) -> Any:
    """The distance to the next particle relative to the edge of a particle's share, or to those around; 1 where particles are packed."""
    position = builder.out("GeometryNodeInputPosition")
    nearest = builder.out("GeometryNodeIndexOfNearest", {"Position": position})
    there = builder.out("GeometryNodeFieldAtIndex", {"Index": nearest, "Value": position}, data_type="FLOAT_VECTOR", domain="POINT")
    distance = builder.out("ShaderNodeVectorMath", {0: position, 1: there}, operation="DISTANCE")
    apart = builder.math("MAXIMUM", builder.math("DIVIDE", distance, edge), packed.mean_distance(builder))
    return builder.math("MINIMUM", _LOOSEST, builder.math("MAXIMUM", 1.0, apart))


def stone(builder: Builder, shape: Any, seed: int) -> Any:
    """A low-poly sphere with randomly displaced vertices."""
    sphere = builder.out("GeometryNodeMeshIcoSphere", {"Radius": 1.0, "Subdivisions": 2 if seed % 2 else 1})
    index = builder.out("GeometryNodeInputIndex")
    position = builder.out("GeometryNodeInputPosition")
    lengths = builder.random("FLOAT", 0.72, 1.18, index, seed)
    moved = builder.vector("MULTIPLY", builder.vector("SCALE", position, scale=lengths), shape)
    return builder.out("GeometryNodeSetPosition", {"Geometry": sphere, "Position": moved})


def _first_turn(builder: Builder, number: Any) -> Any:
    """The initial rotation of each grain, from its ID."""
    turn = 6.2831853
    first = builder.random("FLOAT_VECTOR", (0.0, 0.0, 0.0), (turn, turn, turn), number, 2)
    return builder.out("FunctionNodeEulerToRotation", {"Euler": first})


def _size(builder: Builder, number: Any) -> Any:
    """The radius of each grain.

    Of sizes between 1 and q with the density r^(-k-1), a share u is smaller than r = (1 - u (1 - q^-k))^(-1/k), and the mean of r^3 is
    k / (3 - k) (q^(3-k) - 1) / (1 - q^-k), by which sizes are divided, so that the grains together have the particle's volume.
    """
    largest = builder.math("ADD", builder.math("MULTIPLY", builder.inputs[VARIATION], _LARGEST_RATIO - 1.0), 1.0 + _EQUAL)
    span = builder.math("SUBTRACT", 1.0, builder.math("POWER", largest, -_EXPONENT))
    smaller = builder.math("MULTIPLY", builder.random("FLOAT", 0.0, 1.0, number, 3), span)
    size = builder.math("POWER", builder.math("SUBTRACT", 1.0, smaller), -1.0 / _EXPONENT)
    cubes = builder.math("DIVIDE", builder.math("SUBTRACT", builder.math("POWER", largest, 3.0 - _EXPONENT), 1.0), span)
    mean = builder.math("MULTIPLY", cubes, _EXPONENT / (3.0 - _EXPONENT))
    share = builder.math("POWER", builder.math("MULTIPLY", mean, builder.inputs[COUNT]), -1.0 / 3.0)
    full = builder.math("MULTIPLY", builder.math("MULTIPLY", builder.out("GeometryNodeInputRadius"), size), share)
    lying = builder.math("MULTIPLY", full, _ON_SURFACE)
    return builder.switch("FLOAT", _lies(builder), full, lying)


def _lies(builder: Builder) -> Any:
    return builder.out(
        "FunctionNodeCompare", {"A": builder.attribute(_LIES, "FLOAT"), "B": 0.5}, data_type="FLOAT", operation="GREATER_THAN"
    )


def _stretched(builder: Builder, grains: Any) -> Any:
    """The grains, rotated and stretched with the material: along the material's axes, not along those of the initial grains."""
    known = builder.has_attribute("stretch", "FLOAT_VECTOR")
    stretch = builder.switch("VECTOR", known, (1.0, 1.0, 1.0), builder.attribute("stretch", "FLOAT_VECTOR"))
    lain = builder.out(
        "FunctionNodeCombineTransform",
        {
            "Translation": builder.attribute(_PLACE, "FLOAT_VECTOR"),
            "Rotation": builder.out("GeometryNodeInputInstanceRotation"),
            "Scale": builder.out("GeometryNodeInputInstanceScale"),
        },
    )
    moved = builder.out(
        "FunctionNodeCombineTransform",
        {
            "Translation": builder.out("GeometryNodeInputPosition"),
            "Rotation": builder.attribute("rotation", "QUATERNION"),
            "Scale": stretch,
        },
    )
    transform = builder.out("FunctionNodeMatrixMultiply", {0: moved, 1: lain})
    return builder.out("GeometryNodeSetInstanceTransform", {"Instances": grains, "Transform": transform})


def _laid(builder: Builder, grains: Any) -> Any:
    """The grains, those of packed particles on the surface."""
    nearest = packed.nearest_on(builder, builder.inputs[SURFACE]).position
    return builder.out("GeometryNodeSetPosition", {"Geometry": grains, "Selection": _lies(builder), "Position": nearest})
