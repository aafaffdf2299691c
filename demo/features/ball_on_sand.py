"""A ball rolls down a heap of sand and leaves a track."""

import stage

VIEW = stage.View(camera=(0.9, -1.7, 1.0), target=(0.1, 0.0, 0.12), stills=(1, 16, 30, 60))


def build() -> None:
    stage.new_file(frame_end=60, grid_spacing=0.02)
    stage.table(friction=0.8)
    slope = stage.mesh(
        "Sand",
        [(x, y, z) for y in (-0.25, 0.25) for x, z in ((-0.55, 0.0), (-0.55, 0.34), (0.2, 0.1), (0.6, 0.1), (0.6, 0.0))],
        [(0, 1, 2, 3, 4), (5, 9, 8, 7, 6), *((n, (n + 1) % 5, (n + 1) % 5 + 5, n + 5) for n in range(5))],
        at=(0.0, 0.0, 0.002),
    )
    stage.emitter(slope, "fine_sand", particles_per_cell=6)
    ball = stage.ball("Ball", 0.09, (-0.4, 0.0, 0.43))
    stage.collider(ball, dynamic=True, density=2500.0, friction=0.5, velocity=(0.6, 0.0, 0.0), color=(0.05, 0.2, 0.5), roughness=0.2)
