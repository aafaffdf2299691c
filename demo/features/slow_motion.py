"""A drop splashes; the baked frames are played at a quarter of their speed, cubic between them, and rendered with motion blur."""

import look
import stage

VIEW = stage.View(camera=(0.0, -1.3, 0.6), target=(0.0, 0.0, 0.14), stills=(1, 24, 34, 48))


def build() -> None:
    scene = stage.new_file(frame_end=16, grid_spacing=0.014)
    scene.mpm.domain.kind = "box"
    scene.mpm.domain.min, scene.mpm.domain.max = (-0.3, -0.3, 0.0), (0.3, 0.3, 1.2)
    pool = stage.emitter(stage.box("Pool", (0.598, 0.598, 0.09), (0.0, 0.0, 0.046)), "water", particles_per_cell=6)
    drop = stage.emitter(stage.ball("Drop", 0.07, (0.0, 0.0, 0.3)), "water", velocity=(0.0, 0.0, -3.0), particles_per_cell=6)
    for item in (pool, drop):
        stage.custom(item, "water", bulk_modulus=2e5, viscosity=0.01)


def after_bake() -> None:
    """Play what was baked at a quarter of its speed, and blur what moves."""
    scene = stage.context.scene
    for item in look.particle_objects():
        item.mpm.use_retime, item.mpm.playback_speed = True, 0.25
    scene.frame_end = 61
    scene.render.use_motion_blur = True
