"""The settings of previews, of the live simulation and of bakes that are watched, on `Scene.mpm`. Declarations only."""

from typing import Any

from bpy.props import BoolProperty, IntProperty

from ...core.advice.preview import PARTICLES

PROPERTIES: dict[str, Any] = {
    "preview_particles": IntProperty(
        name="Particles",
        description="Approximate maximum number of particles in a preview, which sets its cell size (5,000 for live work, 20,000 for "
        "more detail)",
        default=PARTICLES,
        min=500,
        max=1_000_000,
        soft_max=50_000,
        step=1000,
        options=set(),
    ),
    "use_follow_bake": BoolProperty(
        name="Follow Bake",
        description="Go to each new frame while baking; go to another frame to look around, and back to the newest one to follow again",
        default=True,
        options=set(),
    ),
    "use_live_repeat": BoolProperty(
        name="Loop", description="Start over after the last frame instead of stopping", default=True, options=set()
    ),
}
