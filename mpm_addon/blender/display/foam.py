"""The node group MPM Foam: spray, foam and bubbles as points, which render as spheres.

A particle of foam stands for many bubbles. In renders, it becomes several small ones around its place, with sizes of a power law; single
large ones would look like grains of salt.
"""

from typing import Any

from .node_builder import GEOMETRY, Builder, Socket

NAME = "MPM Foam"
VERSION = 2
HELP = "Turn vertices into points with the diameters of their size attribute, which shrink at the end of their life"
SIZE_SCALE, COUNT, MATERIAL = "Size Scale", "Bubbles Each", "Material"
KINDS = ("Spray", "Foam", "Bubbles")
INPUTS = (
    GEOMETRY,
    Socket(SIZE_SCALE, "Float", "Factor on the diameter", 1.0, 0.0, 100.0),
    *(Socket(name, "Bool", f"Show {name.lower()}", default=True) for name in KINDS),
    Socket(MATERIAL, "Material", "Material of the points"),
    Socket(COUNT, "Int", "Small drops and bubbles of each particle in renders", 12, 1, 50),
)
# Particles shrink in this last part of their life.
_SHRINKING = 0.25
_FOAM = KINDS.index("Foam")
# The area that small ones cover, relative to that of the particle: as much would look like less, because many lie behind one another.
_COVER = 2.0
# All small ones together.
_MOST = 3e6
# How far small ones are from the particle at most [diameters], and how flat their cloud is where they float on the surface.
_REACH, _FLATNESS = 4.0, 0.12
# Sizes from the smallest to this multiple of it. The density of radii falls as r^-10/3, and so the number of those larger than r as
# r^-7/3 (Deane and Stokes 2002, "Scale dependence of bubble creation mechanisms in breaking waves").
_LARGEST, _EXPONENT = 5.0, 7.0 / 3.0


def build(builder: Builder) -> None:
    """Vertices with the attributes `size`, `life`, `kind` and `id` -> points."""
    inputs, kind = builder.inputs, builder.attribute("kind", "INT")
    left = builder.math("MINIMUM", builder.math("DIVIDE", builder.attribute("life", "FLOAT"), _SHRINKING), 1.0)
    radius = builder.math("MULTIPLY", builder.math("MULTIPLY", _diameter(builder), 0.5), left)
    shown = None
    for number, name in enumerate(KINDS):
        both = builder.out("FunctionNodeBooleanMath", {0: builder.is_equal(kind, number), 1: inputs[name]}, operation="AND")
        shown = both if shown is None else builder.out("FunctionNodeBooleanMath", {0: shown, 1: both}, operation="OR")
    points = builder.out("GeometryNodeMeshToPoints", {"Mesh": inputs["Geometry"], "Radius": radius, "Selection": shown})
    painted = builder.painted(points, inputs[MATERIAL])
    is_viewport = builder.out("GeometryNodeIsViewport")
    builder.end(builder.switch("GEOMETRY", is_viewport, _split(builder, painted, _affordable(builder, painted)), painted))


def _diameter(builder: Builder) -> Any:
    return builder.math("MULTIPLY", builder.attribute("size", "FLOAT"), builder.inputs[SIZE_SCALE])


def _affordable(builder: Builder, points: Any) -> Any:
    """How many small ones take the place of each point."""
    sizes = builder.node("GeometryNodeAttributeDomainSize", {"Geometry": points}, component="POINTCLOUD").outputs
    each = builder.math("DIVIDE", _MOST, builder.math("MAXIMUM", sizes["Point Count"], 1.0))
    return builder.math("FLOOR", builder.math("MAXIMUM", 1.0, builder.math("MINIMUM", builder.inputs[COUNT], each)))


def _split(builder: Builder, points: Any, count: Any) -> Any:
    """Small ones in the place of each point; Blender gives each copy of a point an ID of its own. One stays as it is."""
    number = builder.attribute("id", "INT")
    copies = builder.out("GeometryNodeDuplicateElements", {"Geometry": points, "Amount": count}, domain="POINT")
    spread = builder.math("SUBTRACT", 1.0, builder.math("POWER", count, -0.5))
    reach = builder.math("MULTIPLY", builder.math("MULTIPLY", _diameter(builder), _REACH), spread)
    # the density falls linearly from the particle, so that clouds of neighbors run into each other
    first, second = (builder.random("FLOAT_VECTOR", (-0.5, -0.5, -0.5), (0.5, 0.5, 0.5), number, seed) for seed in (1, 2))
    floats = builder.is_equal(builder.attribute("kind", "INT"), _FOAM)
    shape = builder.switch("VECTOR", floats, (1.0, 1.0, 1.0), (1.0, 1.0, _FLATNESS))
    place = builder.vector("MULTIPLY", builder.vector("SCALE", builder.vector("ADD", first, second), scale=reach), shape)
    moved = builder.out("GeometryNodeSetPosition", {"Geometry": copies, "Offset": place})
    return builder.out("GeometryNodeSetPointRadius", {"Points": moved, "Radius": _small(builder, number, count)})


def _small(builder: Builder, number: Any, count: Any) -> Any:
    """The radius of each small one.

    Of sizes between 1 and q with the density r^(-k-1), a share u is smaller than r = (1 - u (1 - q^-k))^(-1/k), and the mean of r^2 is
    k / (k - 2) (1 - q^(2-k)) / (1 - q^-k), by which sizes are divided.
    """
    span = 1.0 - _LARGEST**-_EXPONENT
    smaller = builder.math("MULTIPLY", builder.random("FLOAT", 0.0, 1.0, number, 3), span)
    size = builder.math("POWER", builder.math("SUBTRACT", 1.0, smaller), -1.0 / _EXPONENT)
    mean = _EXPONENT / (_EXPONENT - 2.0) * (1.0 - _LARGEST ** (2.0 - _EXPONENT)) / span
    share = builder.math("POWER", builder.math("MULTIPLY", count, mean / _COVER), -0.5)
    factor = builder.switch("FLOAT", builder.is_equal(count, 1), builder.math("MULTIPLY", size, share), 1.0)
    return builder.math("MULTIPLY", builder.out("GeometryNodeInputRadius"), factor)
