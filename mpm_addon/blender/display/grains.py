"""The node group MPM Grains: a small angular stone or flake on every point, turned and stretched as its matter is."""

from typing import Any

from .building import GEOMETRY, Builder, Socket

NAME = "MPM Grains"
VERSION = 1
HELP = "A stone or a flake on every point, as an instance, turned by the attribute rotation and stretched by stretch where there is one"
VARIATION, FLATNESS = "Variation", "Flatness"
INPUTS = (
    GEOMETRY,
    Socket(VARIATION, "Float", "How much grains differ in size: 0 all alike, 0.5 from half to one and a half", 0.35, 0.0, 1.0, "FACTOR"),
    Socket(FLATNESS, "Float", "Shape of the grains: 0 stones, 0.7 flakes", 0.0, 0.0, 0.95, "FACTOR"),
    Socket("Material", "Material", "Material of the grains"),
)
_SHAPES = 5
# Stones are smaller than the sphere that they are cut from.
_SIZE = 1.15


def build(builder: Builder) -> None:
    inputs = builder.inputs
    number = builder.attribute("id", "INT")
    ratio = builder.math("SUBTRACT", 1.0, inputs[FLATNESS])
    # the same volume, flatter
    wide = builder.math("MULTIPLY", _SIZE, builder.math("POWER", ratio, -1.0 / 3.0))
    shape = builder.out("ShaderNodeCombineXYZ", {0: wide, 1: wide, 2: builder.math("MULTIPLY", wide, ratio)})
    stones = [builder.painted(_stone(builder, shape, seed), inputs["Material"]) for seed in range(_SHAPES)]
    given = {
        "Points": inputs["Geometry"],
        "Instance": builder.out("GeometryNodeGeometryToInstance", {"Geometry": stones}),
        "Pick Instance": True,
        "Instance Index": builder.random("INT", 0, _SHAPES - 1, number, 1),
        "Rotation": _rotation(builder, number),
        "Scale": _scale(builder, number),
    }
    builder.end(builder.out("GeometryNodeInstanceOnPoints", given))


def _stone(builder: Builder, shape: Any, seed: int) -> Any:
    """A sphere of few faces, its vertices moved at random."""
    sphere = builder.out("GeometryNodeMeshIcoSphere", {"Radius": 1.0, "Subdivisions": 2 if seed % 2 else 1})
    index = builder.out("GeometryNodeInputIndex")
    position = builder.out("GeometryNodeInputPosition")
    lengths = builder.random("FLOAT", 0.72, 1.18, index, seed)
    moved = builder.vector("MULTIPLY", builder.vector("SCALE", position, scale=lengths), shape)
    return builder.out("GeometryNodeSetPosition", {"Geometry": sphere, "Position": moved})


def _rotation(builder: Builder, number: Any) -> Any:
    """Each grain as it lay at first, by its id, and then turned with its matter."""
    turn = 6.2831853
    first = builder.random("FLOAT_VECTOR", (0.0, 0.0, 0.0), (turn, turn, turn), number, 2)
    euler = builder.out("FunctionNodeEulerToRotation", {"Euler": first})
    turned = builder.attribute("rotation", "QUATERNION")
    return builder.out("FunctionNodeRotateRotation", {"Rotation": euler, "Rotate By": turned}, rotation_space="GLOBAL")


def _scale(builder: Builder, number: Any) -> Any:
    smallest = builder.math("SUBTRACT", 1.0, builder.inputs[VARIATION])
    largest = builder.math("ADD", 1.0, builder.inputs[VARIATION])
    size = builder.math("MULTIPLY", builder.out("GeometryNodeInputRadius"), builder.random("FLOAT", smallest, largest, number, 3))
    stretched = builder.attribute("stretch", "FLOAT_VECTOR")
    stretch = builder.switch("VECTOR", builder.has_attribute("stretch", "FLOAT_VECTOR"), (1.0, 1.0, 1.0), stretched)
    return builder.vector("SCALE", stretch, scale=size)
