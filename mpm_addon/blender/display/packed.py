"""Nodes for packed grains: a closed surface around them, on which the grains of the outermost particles lie.

Grains that fill the share of each particle leave gaps as large as particles, which make packed sand and snow look like crumbs. So what is
packed gets a surface, and only loose particles keep grains that together have their volume.
"""

from typing import Any, NamedTuple

from ..playback.packing import FULLNESS
from .node_builder import Builder
from .points import SPHERE_RADIUS

# 1 on the surface of packed grains, by which materials know it.
BODY = "mpm_packed_surface"
# Fullness above which particles are packed: it is 1 inside, 0.7 at a flat face, 0.55 at an edge and 0.4 at a corner.
_LEAST_FULLNESS = 0.45
# Keeps distances finite.
_EMPTIEST = 1e-3
# Particles farther inside the surface than this are not seen [edges of the particle's share].
_DEEPEST = 1.1
# Particles farther from any surface than this do not lie on it: too few of them are together for a surface of their own.
_FARTHEST = 1.8


class Nearest(NamedTuple):
    """The place on a surface that is nearest to a point, and its distance."""

    position: Any
    distance: Any


def is_packed(builder: Builder) -> Any:
    """Whether points are packed; nothing is where their fullness is unknown."""
    return _compare(builder, builder.attribute(FULLNESS, "FLOAT"), _LEAST_FULLNESS, "GREATER_THAN")


def mean_distance(builder: Builder) -> Any:
    """The mean distance between the particles around each [edges of a particle's share]; 1 where their fullness is unknown."""
    full = builder.math("MAXIMUM", builder.attribute(FULLNESS, "FLOAT"), _EMPTIEST)
    return builder.switch("FLOAT", builder.has_attribute(FULLNESS, "FLOAT"), 1.0, builder.math("POWER", full, -1.0 / 3.0))


def only_packed(builder: Builder, cloud: Any) -> Any:
    return builder.out("GeometryNodeSeparateGeometry", {"Geometry": cloud, "Selection": is_packed(builder)}, domain="POINT")


def without_buried(builder: Builder, cloud: Any, surface: Any) -> Any:
    """The points that are loose or near the surface."""
    nearest = nearest_on(builder, surface)
    deep = _compare(builder, nearest.distance, builder.math("MULTIPLY", edge_of(builder), _DEEPEST), "GREATER_THAN")
    buried = _both(
        builder,
        _both(builder, is_packed(builder), deep),
        _both(builder, _is_inside(builder, surface, nearest), has_faces(builder, surface)),
    )
    return builder.out("GeometryNodeDeleteGeometry", {"Geometry": cloud, "Selection": buried}, domain="POINT")


def lies_on(builder: Builder, surface: Any) -> Any:
    """Whether the grains of points lie on the surface: 1 or 0."""
    near = _compare(builder, nearest_on(builder, surface).distance, builder.math("MULTIPLY", edge_of(builder), _FARTHEST), "LESS_THAN")
    lies = _both(builder, _both(builder, is_packed(builder), near), has_faces(builder, surface))
    return builder.switch("FLOAT", lies, 0.0, 1.0)


def edge_of(builder: Builder) -> Any:
    """The edge of each point's share of the volume."""
    return builder.math("DIVIDE", builder.out("GeometryNodeInputRadius"), SPHERE_RADIUS)


def nearest_on(builder: Builder, surface: Any) -> Nearest:
    """The places on a surface that are nearest to points."""
    found = builder.node("GeometryNodeProximity", {"Target": surface}, target_element="FACES").outputs
    return Nearest(found["Position"], found["Distance"])


def _is_inside(builder: Builder, surface: Any, nearest: Nearest) -> Any:
    normal = builder.out("GeometryNodeInputNormal")
    there = builder.out("GeometryNodeSampleNearestSurface", {"Mesh": surface, "Value": normal}, data_type="FLOAT_VECTOR")
    away = builder.vector("SUBTRACT", builder.out("GeometryNodeInputPosition"), nearest.position)
    along = builder.node("ShaderNodeVectorMath", {0: away, 1: there}, operation="DOT_PRODUCT").outputs["Value"]
    return _compare(builder, along, 0.0, "LESS_THAN")


def has_faces(builder: Builder, surface: Any) -> Any:
    sizes = builder.node("GeometryNodeAttributeDomainSize", {"Geometry": surface}, component="MESH").outputs
    return builder.out("FunctionNodeCompare", {"A": sizes["Face Count"], "B": 0}, data_type="INT", operation="GREATER_THAN")


def _compare(builder: Builder, value: Any, other: Any, operation: str) -> Any:
    return builder.out("FunctionNodeCompare", {"A": value, "B": other}, data_type="FLOAT", operation=operation)


def _both(builder: Builder, one: Any, other: Any) -> Any:
    return builder.out("FunctionNodeBooleanMath", {0: one, 1: other}, operation="AND")
