"""A ball rolls down a slope of sand and leaves a track."""

from typing import Any

from parts import DARK, Solid, ball, box

STILLS = (1, 12, 24, 48)
PROFILE = ((-0.7, 0.0), (0.84, 0.0), (0.84, 0.07), (0.49, 0.07), (-0.7, 0.63))


def build(stage: Any) -> None:
    stage.frames(48)
    stage.cells(0.028)
    stage.domain((-0.7, -0.28, 0.0), (0.84, 0.28, 1.4))
    for side in ("x_min", "x_max", "z_min"):
        getattr(stage.scene.mpm.domain, side).surface = "separate"
        getattr(stage.scene.mpm.domain, side).friction = 0.6
    stage.emitter("Sand", slope(), (0.0, 0.0, 0.0), "dry_sand", particles_per_cell=6)
    stage.seen("Ground", box((4.0, 4.0, 0.1)), (0.0, 0.0, -0.06), DARK)
    motion = {"dynamic": True, "velocity": (0.8, 0.0, 0.0), "angular_velocity": (0.0, 360.0, 0.0), "density": 2000.0}
    rolling = stage.collider("Ball", ball(0.112), (-0.49, 0.0, 0.742), (0.05, 0.2, 0.5), roughness=0.2, friction=0.5, **motion)
    rolling.data.shade_smooth()
    stage.camera((1.1, -2.2, 1.5), (0.05, 0.0, 0.2))


def slope() -> Any:
    """The profile (x, z), drawn out along y."""
    count = len(PROFILE)
    sides = ((n, n + count, (n + 1) % count + count, (n + 1) % count) for n in range(count))
    return Solid(
        tuple((x, y, z) for y in (-0.28, 0.28) for x, z in PROFILE),
        (tuple(range(count)), tuple(range(2 * count - 1, count - 1, -1)), *sides),
    )
