"""A bat at 10 m/s drives a block of jelly in front of it."""

import stage

VIEW = stage.View(camera=(0.5, -3.9, 1.5), target=(0.5, 0.0, 0.3), stills=(1, 3, 5, 6))


def build() -> None:
    stage.new_file(frame_end=14, grid_spacing=0.03)
    stage.table(half=3.0, friction=0.3)
    stage.emitter(stage.box("Jelly", (0.4, 0.4, 0.3), (-0.2, 0.0, 0.151)), "jelly", color=(0.7, 0.02, 0.05))
    bat = stage.collider(stage.box("Bat", (0.12, 0.7, 0.4), (-0.9, 0.0, 0.22), bevel=0.01), color=(0.55, 0.33, 0.12))
    # from rest to 10 m/s and back to rest
    stage.keyed(bat, "location", {1: (-0.9, 0.0, 0.22), 2: (-0.7, 0.0, 0.22), 5: (0.55, 0.0, 0.22), 7: (0.75, 0.0, 0.22)})
