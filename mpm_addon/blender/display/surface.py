"""The node group MPM Surface: a closed, smooth mesh around points, for liquids and soft solids."""

from typing import Any

import bpy

from ..playback.attributes import MESH_COLOR, MESH_SPEED, MESH_TEMPERATURE
from .node_builder import GEOMETRY, Builder, Socket

NAME = "MPM Surface"
VERSION = 2
HELP = "Reconstruct a smooth, closed mesh from points, with their velocity, color and other attributes (for liquids, jelly and dough)"
VOXEL_SIZE, COARSENESS, SMOOTHING = "Voxel Size", "Coarseness", "Smoothing"
INPUTS = (
    GEOMETRY,
    Socket(VOXEL_SIZE, "Float", "Size of the faces (0 is half a particle's edge)", 0.0, 0.0, 1000.0, "DISTANCE"),
    Socket(COARSENESS, "Float", "Factor on the size of the faces; 2 takes an eighth of the time", 1.0, 0.25, 8.0),
    Socket(SMOOTHING, "Int", "Smoothing iterations; higher values hide particles (bumpy 0, calm 20)", 14, 0, 100),
    Socket("Material", "Material", "Material of the surface"),
)
# Radius for meshing, relative to a sphere of the particle's volume: it closes gaps between neighbors; the surface is then moved back in.
_REACH = 2.3
# Voxel size relative to a particle's edge, and the smallest radius [voxels] at which Blender keeps a point.
_VOXEL, _LEAST = 0.5, 1.6
_THRESHOLD = 0.25
# How far Blender's mesh lies inside the spheres [voxels] at this threshold.
_INSET = 0.4
# How near the surface may come to a particle when it is moved back in [radii]. Where smoothing has thinned a rim, the two sides
# would otherwise pass through each other, which shows as dark flecks in clear liquids.
_LEAST_COVER = 0.6
_NEAREST = "mpm_nearest"
# Attributes that the mesh takes from its nearest points.
CARRIED = {
    "velocity": "FLOAT_VECTOR",
    MESH_SPEED: "FLOAT",
    "rest_position": "FLOAT_VECTOR",
    MESH_COLOR: "FLOAT_COLOR",
    "volume_ratio": "FLOAT",
    "density_ratio": "FLOAT",
    "stress": "FLOAT",
    "age": "FLOAT",
    MESH_TEMPERATURE: "FLOAT",
    "emitter_index": "INT",
}


def build(builder: Builder) -> None:
    inputs, points = builder.inputs, builder.inputs["Geometry"]
    radius = builder.out("GeometryNodeInputRadius")
    voxel = _voxel_size(builder, radius)
    reach = builder.math("MAXIMUM", builder.math("MULTIPLY", radius, _REACH), builder.math("MULTIPLY", voxel, _LEAST))
    volume = _volume(builder, {"Points": points, "Density": 1.0, "Voxel Size": voxel, "Radius": reach})
    mesh = _mesh(builder, {"Volume": volume, "Threshold": _THRESHOLD})
    source = builder.out("GeometryNodeSampleNearest", {"Geometry": points}, domain="POINT")
    mesh = builder.store(mesh, _NEAREST, "INT", source)
    nearest = builder.attribute(_NEAREST, "INT")
    mesh = _smoothed(builder, mesh, inputs[SMOOTHING])
    back = builder.math(
        "SUBTRACT",
        _of_nearest(builder, points, "FLOAT", builder.math("SUBTRACT", reach, radius), nearest),
        builder.math("MULTIPLY", voxel, _INSET),
    )
    back = builder.math("MINIMUM", back, _room(builder, points, radius, nearest))
    normal = builder.out("GeometryNodeInputNormal")
    inward = builder.vector("SCALE", normal, scale=builder.math("MULTIPLY", back, -1.0))
    mesh = builder.out("GeometryNodeSetPosition", {"Geometry": mesh, "Offset": inward})
    for name, kind in CARRIED.items():
        value = _of_nearest(builder, points, kind, builder.attribute(name, kind), nearest)
        if kind != "INT":
            value = builder.out("GeometryNodeBlurAttribute", {"Value": value, "Iterations": 4}, data_type=kind)
        mesh = builder.store(mesh, name, kind, value)
    mesh = builder.out("GeometryNodeRemoveAttribute", {"Geometry": mesh, "Name": _NEAREST})
    builder.end(builder.painted(builder.smooth(mesh), inputs["Material"]))


def _room(builder: Builder, points: Any, radius: Any, nearest: Any) -> Any:
    """How far each vertex may move toward its nearest particle."""
    center = _of_nearest(builder, points, "FLOAT_VECTOR", builder.out("GeometryNodeInputPosition"), nearest)
    away = builder.vector("LENGTH", builder.vector("SUBTRACT", builder.out("GeometryNodeInputPosition"), center))
    cover = builder.math("MULTIPLY", _of_nearest(builder, points, "FLOAT", radius, nearest), _LEAST_COVER)
    return builder.math("MAXIMUM", builder.math("SUBTRACT", away, cover), 0.0)


def _volume(builder: Builder, inputs: dict[str | int, Any]) -> Any:
    """A property of the node that became a menu socket in 5.0."""
    if bpy.app.version >= (5, 0, 0):
        return builder.out("GeometryNodePointsToVolume", {"Resolution Mode": "Size", **inputs})
    return builder.out("GeometryNodePointsToVolume", inputs, resolution_mode="VOXEL_SIZE")


def _mesh(builder: Builder, inputs: dict[str | int, Any]) -> Any:
    if bpy.app.version >= (5, 0, 0):
        return builder.out("GeometryNodeVolumeToMesh", {"Resolution Mode": "Grid", **inputs})
    return builder.out("GeometryNodeVolumeToMesh", inputs, resolution_mode="GRID")


def _voxel_size(builder: Builder, radius: Any) -> Any:
    """The voxel size; automatic sizes change in steps of a tenth, so that they stay stable as particles of other sizes come and go."""
    largest = builder.node("GeometryNodeAttributeStatistic", {"Geometry": builder.inputs["Geometry"], "Attribute": radius}).outputs["Max"]
    edge = builder.math("DIVIDE", largest, 0.6203504908994)
    steps = builder.math("ROUND", builder.math("LOGARITHM", builder.math("MAXIMUM", edge, 1e-9), 1.1))
    automatic = builder.math("MULTIPLY", builder.math("POWER", 1.1, steps), _VOXEL)
    given = builder.inputs[VOXEL_SIZE]
    is_given = builder.out("FunctionNodeCompare", {"A": given, "B": 0.0}, data_type="FLOAT", operation="GREATER_THAN")
    return builder.math("MULTIPLY", builder.switch("FLOAT", is_given, automatic, given), builder.inputs[COARSENESS])


def _smoothed(builder: Builder, mesh: Any, iterations: Any) -> Any:
    """Smooth the mesh: blur positions, then blur the displacement and add it back, twice. Removes bumps, and keeps the volume of drops."""

    def blurred(value: Any) -> Any:
        return builder.out("GeometryNodeBlurAttribute", {"Value": value, "Iterations": iterations}, data_type="FLOAT_VECTOR")

    position = builder.out("GeometryNodeInputPosition")
    smooth = blurred(position)
    for _ in range(2):
        smooth = builder.vector("ADD", smooth, blurred(builder.vector("SUBTRACT", position, smooth)))
    return builder.out("GeometryNodeSetPosition", {"Geometry": mesh, "Position": smooth})


def _of_nearest(builder: Builder, points: Any, kind: str, value: Any, nearest: Any) -> Any:
    given = {"Geometry": points, "Value": value, "Index": nearest}
    return builder.out("GeometryNodeSampleIndex", given, data_type=kind, domain="POINT")
