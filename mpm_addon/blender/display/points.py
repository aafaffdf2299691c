"""The node group MPM Points: particles as a point cloud, with radii that match the particles' volume."""

from ..playback.particle_objects import MATERIAL_INDEX
from .node_builder import GEOMETRY, Builder, Socket

NAME = "MPM Points"
VERSION = 1
HELP = "Turn vertices into a point cloud with radii from the scale attribute, which renders as spheres"
RADIUS_SCALE = "Radius Scale"
SHARE = "Share"
INPUTS = (
    GEOMETRY,
    Socket("Selection", "Bool", "Particles to show", default=True, is_field=True),
    Socket(RADIUS_SCALE, "Float", "Factor on the radius; at 1, spheres have the particles' volume", 1.0, 0.0, 100.0),
    Socket(SHARE, "Float", "Percentage of the particles to show; fewer particles are drawn larger", 100.0, 0.0, 100.0, "PERCENTAGE"),
)
# Radius of a sphere relative to the edge of a cube of the same volume: (3 / (4 pi))^(1/3).
SPHERE_RADIUS = 0.6203504908994


def build(builder: Builder) -> None:
    """Vertices -> points; sets `material_index` under this name, which a mesh reserves for its faces."""
    inputs = builder.inputs
    share = builder.math("MAXIMUM", builder.math("DIVIDE", inputs[SHARE], 100.0), 1e-6)
    # fewer particles get larger, to keep the total volume
    larger = builder.math("POWER", share, -1.0 / 3.0)
    edge = builder.math("MULTIPLY", builder.attribute("scale", "FLOAT"), SPHERE_RADIUS)
    radius = builder.math("MULTIPLY", builder.math("MULTIPLY", edge, inputs[RADIUS_SCALE]), larger)
    number = builder.attribute("id", "INT")
    chosen = builder.out(
        "FunctionNodeCompare", {"A": builder.random("FLOAT", 0.0, 1.0, number, 7), "B": share}, data_type="FLOAT", operation="LESS_EQUAL"
    )
    is_whole = builder.out("FunctionNodeCompare", {"A": inputs[SHARE], "B": 100.0}, data_type="FLOAT", operation="GREATER_EQUAL")
    given = {"Mesh": inputs["Geometry"], "Radius": radius}
    every = builder.out("GeometryNodeMeshToPoints", {**given, "Selection": inputs["Selection"]})
    both = builder.out("FunctionNodeBooleanMath", {0: inputs["Selection"], 1: chosen}, operation="AND")
    some = builder.out("GeometryNodeMeshToPoints", {**given, "Selection": both})
    points = builder.switch("GEOMETRY", is_whole, some, every)
    builder.end(builder.store(points, "material_index", "INT", builder.attribute(MATERIAL_INDEX, "INT")))
