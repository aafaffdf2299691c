"""The settings of previews and of the live simulation, on `Scene.mpm`. Declarations alone."""

from typing import Any

from bpy.props import BoolProperty, IntProperty

from ...core.advice.preview import PARTICLES

PROPERTIES: dict[str, Any] = {
    "preview_particles": IntProperty(
        name="Particles",
        description="About how many particles a preview has at the most; the cells of its grid follow. "
        "5000 for dragging things about, 20000 to see more; a final with fewer is simulated as it is",
        default=PARTICLES, min=500, max=1_000_000, soft_max=50_000, step=1000, options=set(),
    ),
    "use_live_repeat": BoolProperty(
        name="Repeat", description="Begin anew after the last frame, as the animation does; otherwise stop", default=True, options=set()
    ),
}  # fmt: skip
