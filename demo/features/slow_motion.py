"""A drop splashes; the baked frames are played at a quarter of their speed, cubic between them, and rendered with motion blur."""

from typing import Any

from parts import ball, box, particle_objects, thin_water

STILLS = (1, 24, 34, 48)


def build(stage: Any) -> None:
    stage.frames(16)
    stage.cells(0.014)
    stage.domain((-0.3, -0.3, 0.0), (0.3, 0.3, 1.2))
    thin_water(stage.emitter("Pool", box((0.598, 0.598, 0.09)), (0.0, 0.0, 0.046), "water", particles_per_cell=6))
    thin_water(stage.emitter("Drop", ball(0.07), (0.0, 0.0, 0.3), "water", velocity=(0.0, 0.0, -3.0), particles_per_cell=6))
    stage.camera((0.0, -1.3, 0.6), (0.0, 0.0, 0.14))


def after_bake(scene: Any) -> None:
    """Play what was baked at a quarter of its speed, and blur what moves."""
    for item in particle_objects(scene):
        item.mpm.use_retime, item.mpm.playback_speed = True, 0.25
    scene.frame_end = 61
    scene.render.use_motion_blur = True
