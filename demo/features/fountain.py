"""A disk spouts water along its normals at a keyframed rate, from its surface; a drain takes the water away."""

import stage

VIEW = stage.View(camera=(0.0, -2.2, 0.9), target=(0.0, 0.0, 0.4), stills=(6, 20, 36, 60))


def build() -> None:
    stage.new_file(frame_end=60, grid_spacing=0.02)
    stage.table(half=0.6, friction=0.0)
    nozzle = stage.cylinder("Nozzle", 0.06, 0.1, (0.0, 0.0, 0.06))
    stage.emitter(nozzle, "water", mode="inflow", velocity=(0.0, 0.0, 3.4), flow_rate=0.02, particles_per_cell=6)
    stage.custom(nozzle, "water", bulk_modulus=2e5, viscosity=0.01)
    stage.keyed_setting(nozzle, "emitter", "flow_rate", {1: 0.0, 8: 0.03, 40: 0.03, 44: 0.004})
    drain = stage.box("Drain", (3.0, 3.0, 0.1), (0.0, 0.0, -0.35))
    drain.mpm.type = "outflow"
    drain.hide_render, drain.display_type = True, "WIRE"
