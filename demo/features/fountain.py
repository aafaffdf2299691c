"""A disk spouts water along its normals at a keyframed rate, from its surface; a drain takes the water away."""

from typing import Any

from parts import box, cylinder, keyed, placing, table, thin_water

STILLS = (6, 20, 36, 60)


def build(stage: Any) -> None:
    stage.frames(60)
    stage.cells(0.02)
    table(stage, half=0.6, friction=0.0)
    flow = {"mode": "inflow", "velocity": (0.0, 0.0, 3.4), "flow_rate": 0.02, "particles_per_cell": 6}
    nozzle = thin_water(stage.emitter("Nozzle", cylinder(0.06, 0.1), (0.0, 0.0, 0.06), "water", **flow))
    keyed(nozzle, "mpm.emitter.flow_rate", {1: 0.0, 8: 0.03, 40: 0.03, 44: 0.004})
    drain = stage.seen("Drain", box((3.0, 3.0, 0.1)), (0.0, 0.0, -0.35), (0.3, 0.3, 0.3))
    drain.mpm.type = "outflow"
    placing.show_as_wire(drain)
    stage.camera((0.0, -2.2, 0.9), (0.0, 0.0, 0.4))
