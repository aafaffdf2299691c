"""The node group MPM Spheres: instances a sphere on each point."""

from .node_builder import GEOMETRY, Builder, Socket

NAME = "MPM Spheres"
VERSION = 1
HELP = "Instance a sphere on every point, with the point's radius"
SUBDIVISIONS = "Subdivisions"
INPUTS = (
    GEOMETRY,
    Socket(SUBDIVISIONS, "Int", "Subdivision level of the spheres; 1 has 20 faces, and each level has four times as many", 2, 1, 6),
    Socket("Material", "Material", "Material of the spheres"),
)


def build(builder: Builder) -> None:
    sphere = builder.smooth(builder.out("GeometryNodeMeshIcoSphere", {"Radius": 1.0, "Subdivisions": builder.inputs[SUBDIVISIONS]}))
    given = {
        "Points": builder.inputs["Geometry"],
        "Instance": builder.painted(sphere, builder.inputs["Material"]),
        "Scale": builder.out("GeometryNodeInputRadius"),
    }
    builder.end(builder.out("GeometryNodeInstanceOnPoints", given))
