"""A vertex group makes one end of a beam a hundred times stiffer than the other; a color attribute shows it."""

from typing import Any

from parts import GRAY, box, custom, cylinder, table

STILLS = (1, 12, 24, 48)


def build(stage: Any) -> None:
    stage.frames(48)
    stage.cells(0.02)
    table(stage)
    stage.collider("Bar", cylinder(0.06, 0.8), (0.0, 0.0, 0.28), GRAY, rotation=(90.0, 0.0, 0.0), friction=0.8)
    beam = stage.emitter("Beam", box((0.9, 0.3, 0.14)), (0.0, 0.0, 0.42), "jelly")
    cut = beam.modifiers.new("Cut", "SUBSURF")
    cut.subdivision_type, cut.levels, cut.render_levels = "SIMPLE", 4, 4
    soft_end = [vertex.index for vertex in beam.data.vertices if vertex.co.x < 0.0]
    stiff = beam.vertex_groups.new(name="Stiffness")
    # a vertex group holds 0 to 1: the jelly's own stiffness is that of the stiff end
    stiff.add([vertex.index for vertex in beam.data.vertices], 1.0, "REPLACE")
    stiff.add(soft_end, 0.01, "REPLACE")
    color = beam.data.attributes.new("color", "FLOAT_COLOR", "POINT")
    for number, value in enumerate(color.data):
        value.color = (0.9, 0.35, 0.05, 1.0) if number in soft_end else (0.1, 0.15, 0.5, 1.0)
    beam.mpm.emitter.stiffness_attribute = "Stiffness"
    beam.mpm.emitter.carried_attributes = "color"
    custom(beam, "damped_elastic", density=1050.0, young_modulus=1e6, poisson_ratio=0.4)
    stage.camera((0.0, -2.0, 0.8), (0.0, 0.0, 0.3))
