"""Warnings about viscosity and damping that make many substeps necessary: on fine grids, they limit them more than waves do."""

from collections.abc import Iterator

from ..emission.references import rest_states
from ..forecast.estimate import viscous_substep, wave_speed_of
from ..messages import Message, SceneWarning, Topic
from ..scene.description import Scene
from .capillarity import MANY_SUBSTEPS

# the parameter that is the viscosity of a law, or in proportion to it, and its unit
_UNITS = {"damping_time": "s", "viscosity": "Pa s"}


def viscous_materials(scene: Scene) -> Iterator[SceneWarning]:
    """Materials whose viscosity or damping makes substeps short."""
    solver, frame = scene.solver, scene.time.frame_seconds
    told = set()
    for emitter, has_rest_state in zip(scene.emitters, rest_states(scene), strict=True):
        limit = viscous_substep(emitter, scene, has_rest_state=has_rest_state)
        of_waves = solver.cfl * solver.grid_spacing / wave_speed_of(emitter, scene)
        if frame / limit <= MANY_SUBSTEPS or limit > of_waves or emitter.material in told:
            continue
        told.add(emitter.material)
        law = scene.materials[emitter.material].law
        name, unit = next((each, unit) for each, unit in _UNITS.items() if hasattr(law, each))
        value = getattr(law, name)
        words = name.replace("_", " ")
        yield SceneWarning(
            Topic.VISCOUS_SUBSTEPS,
            Message(
                f"its {words} of {value:.3g} {unit} limits substeps to {limit:.2g} s on cells of {solver.grid_spacing:g} m, "
                f"{frame / limit:.0f} per frame",
                (f"set its `{name}` to {value * limit * MANY_SUBSTEPS / frame:.1g} {unit} or less, or use a larger `grid_spacing`",),
                f'Material "{emitter.material}"',
            ),
        )
