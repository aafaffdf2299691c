"""The node group MPM Grains: a small angular stone or flake on each point, rotated and stretched with the material."""

from typing import Any

from .node_builder import GEOMETRY, Builder, Socket

NAME = "MPM Grains"
VERSION = 2
HELP = "Instance a stone or flake on every point, rotated and stretched by the rotation and stretch attributes"
VARIATION, FLATNESS = "Variation", "Flatness"
INPUTS = (
    GEOMETRY,
    Socket(
        VARIATION, "Float", "Size variation of the grains (equal 0, half to one and a half times the size 0.5)", 0.35, 0.0, 1.0, "FACTOR"
    ),
    Socket(FLATNESS, "Float", "Flatness of the grains (stones 0, flakes 0.7)", 0.0, 0.0, 0.95, "FACTOR"),
    Socket("Material", "Material", "Material of the grains"),
)
_SHAPES = 5
# Stones are smaller than the sphere that they are cut from.
_SIZE = 1.15


def build(builder: Builder) -> None:
    inputs = builder.inputs
    number = builder.attribute("id", "INT")
    ratio = builder.math("SUBTRACT", 1.0, inputs[FLATNESS])
    # the same volume, but flatter
    wide = builder.math("MULTIPLY", _SIZE, builder.math("POWER", ratio, -1.0 / 3.0))
    shape = builder.out("ShaderNodeCombineXYZ", {0: wide, 1: wide, 2: builder.math("MULTIPLY", wide, ratio)})
    stones = [builder.painted(_stone(builder, shape, seed), inputs["Material"]) for seed in range(_SHAPES)]
    given = {
        "Points": inputs["Geometry"],
        "Instance": builder.out("GeometryNodeGeometryToInstance", {"Geometry": stones}),
        "Pick Instance": True,
        "Instance Index": builder.random("INT", 0, _SHAPES - 1, number, 1),
        "Rotation": _first_turn(builder, number),
        "Scale": _size(builder, number),
    }
    builder.end(_stretched(builder, builder.out("GeometryNodeInstanceOnPoints", given)))


def _stone(builder: Builder, shape: Any, seed: int) -> Any:
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
    smallest = builder.math("SUBTRACT", 1.0, builder.inputs[VARIATION])
    largest = builder.math("ADD", 1.0, builder.inputs[VARIATION])
    return builder.math("MULTIPLY", builder.out("GeometryNodeInputRadius"), builder.random("FLOAT", smallest, largest, number, 3))


def _stretched(builder: Builder, grains: Any) -> Any:
    """The grains, rotated and stretched with the material: along the material's axes, not along those of the initial grains."""
    known = builder.has_attribute("stretch", "FLOAT_VECTOR")
    stretch = builder.switch("VECTOR", known, (1.0, 1.0, 1.0), builder.attribute("stretch", "FLOAT_VECTOR"))
    lain = builder.out(
        "FunctionNodeCombineTransform",
        {"Rotation": builder.out("GeometryNodeInputInstanceRotation"), "Scale": builder.out("GeometryNodeInputInstanceScale")},
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
