"""A ball rolls down a slope of sand and leaves a track."""

import stage

VIEW = stage.View(camera=(1.1, -2.2, 1.5), target=(0.05, 0.0, 0.2), stills=(1, 12, 24, 48))
PROFILE = ((-0.7, 0.0), (-0.7, 0.63), (0.49, 0.07), (0.84, 0.07), (0.84, 0.0))


def build() -> None:
    scene = stage.new_file(frame_end=48, grid_spacing=0.028)
    scene.mpm.domain.kind = "box"
    scene.mpm.domain.min, scene.mpm.domain.max = (-0.7, -0.28, 0.0), (0.84, 0.28, 1.4)
    for side in ("x_min", "x_max", "z_min"):
        getattr(scene.mpm.domain, side).surface = "separate"
        getattr(scene.mpm.domain, side).friction = 0.6
    count = len(PROFILE)
    slope = stage.mesh(
        "Sand",
        [(x, y, z) for y in (-0.28, 0.28) for x, z in PROFILE],
        [tuple(range(count)), tuple(range(2 * count - 1, count - 1, -1)),
         *((n, (n + 1) % count, (n + 1) % count + count, n + count) for n in range(count))],
    )  # fmt: skip
    stage.emitter(slope, "dry_sand", particles_per_cell=6)
    stage.painted(stage.box("Ground", (4.0, 4.0, 0.1), (0.0, 0.0, -0.06)), (0.12, 0.125, 0.14))
    ball = stage.ball("Ball", 0.112, (-0.49, 0.0, 0.742))
    motion = {"velocity": (0.8, 0.0, 0.0), "angular_velocity": (0.0, 360.0, 0.0)}
    stage.collider(ball, dynamic=True, density=2000.0, friction=0.5, color=(0.05, 0.2, 0.5), roughness=0.2, **motion)
