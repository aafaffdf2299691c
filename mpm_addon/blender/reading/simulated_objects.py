"""The simulated objects of a scene, and what is recorded of each."""

from collections import Counter
from dataclasses import dataclass

from ...core.errors import SceneError
from ...core.laws import LAWS
from ...core.parameters import suggestion
from ...core.scene.description import Collider, Emitter, Outflow
from ...core.scene.settings import Solver
from ..host.actions import is_animated
from ..host.blender_types import BlenderObject, BlenderScene, Context
from ..playback.keyframes import has_baked_keys
from ..settings.declarations import decimal, values_of
from .forces import field_objects, force_values, weights_of
from .motion import may_deform, may_move
from .painting import painting_reader
from .sampling import Track, Values


@dataclass(frozen=True)
class SimulatedObjects:
    """The tracks of a scene, each with its name in the description.

    Attributes:
        materials: tracks of custom materials, by the name of the emitter.
    """

    emitters: list[tuple[str, Track]]
    colliders: list[tuple[str, Track]]
    outflows: list[tuple[str, Track]]
    forces: list[tuple[str, Track]]
    materials: dict[str, Track]
    solver: Track

    @property
    def tracks(self) -> list[Track]:
        named = [*self.emitters, *self.colliders, *self.outflows, *self.forces]
        return [*(track for _, track in named), *self.materials.values(), self.solver]


def simulated_objects(context: Context, object_name: str, scale_length: float) -> SimulatedObjects:
    """All simulated objects.

    Args:
        object_name: the only emitter, with all other objects; all emitters if empty.
        scale_length: meters per Blender unit.

    Raises:
        SceneError: there is no emitter.
    """
    scene = context.scene
    emitting = _emitting(context, object_name)
    evaluated = [item for item in scene.objects if _is_evaluated(context, item)]
    forcing = [item for item in field_objects(scene) if item in evaluated]
    return SimulatedObjects(
        emitters=_tracks("Emitter", emitting, Emitter, scale_length),
        colliders=_tracks("Collider", [item for item in evaluated if item.mpm.type == "collider"], Collider, scale_length),
        outflows=_tracks("Outflow", [item for item in evaluated if item.mpm.type == "outflow"], Outflow, scale_length),
        forces=[(name, _force(name, item, scene, scale_length)) for name, item in _named(forcing)],
        materials={name: _material(name, item) for name, item in _named(emitting) if item.mpm.material.source == "custom"},
        solver=Track(scene, "solver", lambda: _solver_values(scene, scale_length), may_change=is_animated(scene)),
    )


def _is_evaluated(context: Context, item: BlenderObject) -> bool:
    """Whether Blender evaluates the object, which is false if it is disabled in viewports or in an excluded collection."""
    return item.evaluated_get(context.evaluated_depsgraph_get()).is_evaluated


def _emitting(context: Context, object_name: str) -> list[BlenderObject]:
    scene = context.scene
    marked = [item for item in scene.objects if item.mpm.type == "emitter"]
    if object_name:
        if object_name not in scene.objects:
            near = suggestion(object_name, scene.objects.keys())
            raise SceneError(f'it does not exist in scene "{scene.name}"{near}', "check its name", subject=f'Object "{object_name}"')
        marked = [item for item in marked if item.name == object_name]
        if not marked:
            raise SceneError(
                "it is not an emitter", "name an emitter, or make it one in the Physics tab", subject=f'Object "{object_name}"'
            )
    # rigid bodies alone are a simulation, too
    if not marked and any(item.mpm.type == "collider" and item.mpm.collider.dynamic for item in scene.objects):
        return []
    if not marked:
        raise SceneError("it has no emitter", "select an object and press MPM in its Physics tab", subject=f'Scene "{scene.name}"')
    emitting = [item for item in marked if _is_evaluated(context, item)]
    if not emitting:
        raise SceneError(
            "it is disabled in viewports or in an excluded collection, as is every emitter",
            "enable one",
            subject=f'Emitter "{marked[0].name}"',
        )
    return emitting


def _named(items: list[BlenderObject]) -> list[tuple[str, BlenderObject]]:
    """Objects with unique names: one that shares its name with a linked object is named together with its library."""
    counts = Counter(item.name for item in items)
    return [(item.name if counts[item.name] == 1 else item.name_full, item) for item in items]


def _tracks(noun: str, items: list[BlenderObject], owner: type, scale_length: float) -> list[tuple[str, Track]]:
    return [(name, _body(f'{noun} "{name}"', item, owner, scale_length)) for name, item in _named(items)]


def _body(subject: str, item: BlenderObject, owner: type, scale_length: float) -> Track:
    group = owner.__name__.lower()
    is_baked = owner is Collider and item.mpm.collider.dynamic and has_baked_keys(item)
    return Track(
        item,
        subject,
        lambda: values_of(getattr(item.mpm, group), owner, scale_length=scale_length),
        may_change=not is_baked and (may_move(item) or may_deform(item)),
        has_surface=True,
        is_deforming=may_deform(item),
        may_be_cloud=owner is Emitter,
        read_painting=painting_reader(item.mpm.emitter, subject) if owner is Emitter else None,
    )


def _force(name: str, item: BlenderObject, scene: BlenderScene, scale_length: float) -> Track:
    subject = f'Force "{name}"'
    return Track(
        item,
        subject,
        lambda: force_values(item, weights_of(scene), scale_length, subject),
        may_change=may_move(item) or is_animated(scene),
    )


def _material(name: str, item: BlenderObject) -> Track:
    law = item.mpm.material.law
    if law not in LAWS:
        raise SceneError("its law is not available in this version", f"use one of: {', '.join(LAWS)}", subject=f'Emitter "{name}"')
    return Track(
        item,
        f'Material "{name} (custom)"',
        lambda: values_of(getattr(item.mpm.material, law), LAWS[law]),
        may_change=is_animated(item),
    )


def _solver_values(scene: BlenderScene, scale_length: float) -> Values:
    settings = scene.mpm.solver
    return {**values_of(settings, Solver, scale_length=scale_length), "gravity": gravity_of(scene)}


def gravity_of(scene: BlenderScene) -> tuple[float, ...]:
    """The effective gravity [m/s^2]: the scene's or the solver's own, times its weight."""
    settings = scene.mpm.solver
    own = scene_gravity(scene) if settings.use_scene_gravity else values_of(settings, Solver, scale_length=meters(scene))["gravity"]
    weight = weights_of(scene)["gravity"]
    return tuple(component * weight for component in own)


def scene_gravity(scene: BlenderScene) -> tuple[float, ...]:
    """The scene's gravity [m/s^2]: the value in Blender's interface, times the unit scale."""
    if not scene.use_gravity:
        return 0.0, 0.0, 0.0
    return tuple(decimal(component) * meters(scene) for component in scene.gravity)


def meters(scene: BlenderScene) -> float:
    """Meters per Blender unit."""
    return decimal(scene.unit_settings.scale_length)
