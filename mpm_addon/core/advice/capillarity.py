"""Warnings about surface tension: materials too soft for it, and fine grids on which it makes many substeps necessary."""

from collections.abc import Iterator

from ..forecast.stiffness import SURFACE_STRAIN, settled_law, surface_stress_of
from ..laws import Water
from ..messages import Message, SceneWarning, Topic
from ..scene.description import Scene

# with less than this share of the modulus that surface tension asks for, ripples at the scale of the cells grow
LEAST_SHARE = 0.5
# substeps in a frame, above which the limit that surface tension sets is worth a word
MANY_SUBSTEPS = 1000


def tense_surfaces(scene: Scene) -> Iterator[SceneWarning]:
    """Materials that are too soft for their surface tension on the scene's grid, or whose substeps it makes short."""
    spacing, frame = scene.solver.grid_spacing, scene.time.frame_seconds
    for name in dict.fromkeys(emitter.material for emitter in scene.emitters):
        stress, law = surface_stress_of(scene, name), settled_law(scene, name)
        if stress == 0.0 or not isinstance(law, Water):
            continue
        needed, subject = SURFACE_STRAIN * stress, f'Material "{name}"'
        if law.bulk_modulus < LEAST_SHARE * needed:
            yield SceneWarning(
                Topic.SOFT_SURFACE,
                Message(
                    f"its bulk modulus of {law.bulk_modulus:.3g} Pa is too low for its surface tension on cells of {spacing:g} m: "
                    "the surface becomes rough",
                    (f'use at least {needed:.2g} Pa or stiffness = "automatic"', "a larger `grid_spacing`"),
                    subject,
                ),
            )
        # waves are as fast as surface tension asks, or the limit of Brackbill et al. is shorter
        limit = law.capillary_limit(spacing)
        if law.bulk_modulus <= 1.1 * needed:
            limit = min(limit, scene.solver.cfl * spacing / law.wave_speed(dimension=scene.solver.dimension))
        if frame / limit > MANY_SUBSTEPS:
            yield SceneWarning(
                Topic.SURFACE_SUBSTEPS,
                Message(
                    f"its surface tension limits substeps to {limit:.2g} s on cells of {spacing:g} m, {frame / limit:.0f} per frame",
                    ("use a larger `grid_spacing`, or a higher frame rate for slow motion",),
                    subject,
                ),
            )
