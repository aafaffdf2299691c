"""The node group MPM Foam: spray, foam and bubbles as points, which render as spheres."""

from .node_builder import GEOMETRY, Builder, Socket

NAME = "MPM Foam"
VERSION = 1
HELP = "Turn vertices into points with the diameters of their size attribute, which shrink at the end of their life"
SIZE_SCALE, MATERIAL = "Size Scale", "Material"
KINDS = ("Spray", "Foam", "Bubbles")
INPUTS = (
    GEOMETRY,
    Socket(SIZE_SCALE, "Float", "Factor on the diameter", 1.0, 0.0, 100.0),
    *(Socket(name, "Bool", f"Show {name.lower()}", default=True) for name in KINDS),
    Socket(MATERIAL, "Material", "Material of the points"),
)
# Particles shrink in this last part of their life.
_SHRINKING = 0.25


def build(builder: Builder) -> None:
    """Vertices with the attributes `size`, `life` and `kind` -> points."""
    inputs, kind = builder.inputs, builder.attribute("kind", "INT")
    left = builder.math("MINIMUM", builder.math("DIVIDE", builder.attribute("life", "FLOAT"), _SHRINKING), 1.0)
    diameter = builder.math("MULTIPLY", builder.attribute("size", "FLOAT"), inputs[SIZE_SCALE])
    radius = builder.math("MULTIPLY", builder.math("MULTIPLY", diameter, 0.5), left)
    shown = None
    for number, name in enumerate(KINDS):
        both = builder.out("FunctionNodeBooleanMath", {0: builder.is_equal(kind, number), 1: inputs[name]}, operation="AND")
        shown = both if shown is None else builder.out("FunctionNodeBooleanMath", {0: shown, 1: both}, operation="OR")
    points = builder.out("GeometryNodeMeshToPoints", {"Mesh": inputs["Geometry"], "Radius": radius, "Selection": shown})
    builder.end(builder.painted(points, inputs[MATERIAL]))
