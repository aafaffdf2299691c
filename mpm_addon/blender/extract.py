"""From the open Blender file to a `Scene` that asks nothing of Blender any more. Main thread only.

World space and SI: a Blender unit is `scale_length` metres, and so are the units in velocities and in gravity.
Meshes are taken as they are at the first frame, with modifiers and parents.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ..core.description import SIDES, Collider, Domain, Emitter, Material, Scene, Side, Solver, Time
from ..core.errors import SceneError
from ..core.geometry.shapes.mesh import Mesh
from ..core.laws import LAWS
from ..core.parameters import suggestion
from ..storage import load_material_preset
from .blender_types import BlenderObject, BlenderScene, Context
from .colors import material_color
from .meshes import evaluated_triangles, matrix_array, transformed, world_bounds
from .motion import may_move, metric, rigid_motion, sampled_poses
from .playback import frame_rate, suspended
from .properties import decimal, values_of


@dataclass(frozen=True)
class _Surroundings:
    """What every part of the extraction needs.

    Attributes:
        context: Blender's context.
        time: the frames to simulate.
        scale_length: metres in a Blender unit.
    """

    context: Context
    time: Time
    scale_length: float

    @property
    def scene(self) -> BlenderScene:
        return self.context.scene

    def evaluated(self, subject: BlenderObject) -> BlenderObject:
        return subject.evaluated_get(self.context.evaluated_depsgraph_get())


def extract_scene(context: Context, *, object_name: str = "") -> Scene:
    """The scene of `context` as the solver's description.

    Args:
        object_name: the one emitter that takes part, with all colliders; every emitter where it is empty.

    Raises:
        SceneError: nothing to simulate, or a value or a mesh that cannot be used; the message names the object.
    """
    around = _Surroundings(context, scene_time(context.scene), scale_length(context.scene))
    with suspended(), frame_kept(context.scene, around.time.frame_start):
        emitting = _emitting(context, object_name)
        colliding = [item for item in context.scene.objects if item.mpm.type == "collider" and _takes_part(context, item)]
        materials, emitters = _emitters(around, emitting)
        domain = _domain(around)
        colliders = _colliders(around, colliding)
    return Scene(
        name=context.scene.name,
        time=around.time,
        solver=_solver(around, domain, emitters),
        domain=domain,
        materials=materials,
        emitters=emitters,
        colliders=colliders,
    )


def scale_length(scene: BlenderScene) -> float:
    """Metres in a Blender unit."""
    return decimal(scene.unit_settings.scale_length)


def scene_time(scene: BlenderScene) -> Time:
    """The frames that are simulated. Raises SceneError where the last is before the first."""
    frames = scene.mpm if scene.mpm.use_frame_range else scene
    return Time(
        fps=frame_rate(scene),
        frame_start=frames.frame_start,
        frame_end=frames.frame_end,
        time_scale=decimal(scene.mpm.time_scale),
        subframes=scene.mpm.subframes,
    )


@contextmanager
def frame_kept(scene: BlenderScene, frame: int) -> Iterator[None]:
    """Evaluate the scene at `frame` inside the block and at the frame it was at afterwards."""
    before, fraction = scene.frame_current, scene.frame_subframe
    scene.frame_set(frame)
    try:
        yield
    finally:
        scene.frame_set(before, subframe=fraction)


def _takes_part(context: Context, item: BlenderObject) -> bool:
    """Whether Blender evaluates the object: not one that is disabled in viewports or in an excluded collection."""
    return item.evaluated_get(context.evaluated_depsgraph_get()).is_evaluated


def _emitting(context: Context, object_name: str) -> list[BlenderObject]:
    scene = context.scene
    marked = [item for item in scene.objects if item.mpm.type == "emitter"]
    if object_name:
        if object_name not in scene.objects:
            near = suggestion(object_name, scene.objects.keys())
            raise SceneError(f'Object "{object_name}" does not exist in scene "{scene.name}"{near}; check its name.')
        marked = [item for item in marked if item.name == object_name]
        if not marked:
            raise SceneError(f'Object "{object_name}" is not an emitter; name an emitter, or make it one in the Physics tab.')
    if not marked:
        raise SceneError(f'Scene "{scene.name}" has no emitter; select an object and set its type to Emitter in the Physics tab.')
    emitting = [item for item in marked if _takes_part(context, item)]
    if not emitting:
        raise SceneError(
            f'Emitter "{marked[0].name}" is disabled in viewports or in an excluded collection, as is every emitter; enable one.'
        )
    return emitting


def _emitters(around: _Surroundings, emitting: list[BlenderObject]) -> tuple[dict[str, Material], tuple[Emitter, ...]]:
    materials: dict[str, Material] = {}
    emitters = []
    for item in emitting:
        material, color = _material(item)
        materials.setdefault(material.name, material)
        values = values_of(item.mpm.emitter, Emitter, scale_length=around.scale_length)
        if values["particle_count"] is not None:
            values["particles_per_cell"] = None
        if not item.mpm.emitter.use_color:
            values["color"] = color
        shape = _world_mesh(around, item, f'Emitter "{item.name}"')
        emitters.append(Emitter(name=item.name, shape=shape, material=material.name, **values))
    return materials, tuple(emitters)


def _material(item: BlenderObject) -> tuple[Material, tuple[float, ...]]:
    """An object's material, and the colour in which it is shown. A custom one is named as its object."""
    settings = item.mpm.material
    if settings.source == "preset":
        if not settings.preset:
            raise SceneError(f'Emitter "{item.name}": its material preset does not exist here; choose another preset.')
        law = load_material_preset(settings.preset)
        return Material(settings.preset, law), material_color(law.name, settings.preset)
    if settings.law not in LAWS:
        raise SceneError(f'Emitter "{item.name}": its law does not exist here; use one of: {", ".join(LAWS)}.')
    owner = LAWS[settings.law]
    law = owner(**values_of(getattr(settings, settings.law), owner))
    return Material(f"{item.name} (custom)", law), material_color(law.name)


def _world_mesh(around: _Surroundings, item: BlenderObject, subject: str) -> Mesh:
    evaluated = around.evaluated(item)
    vertices, triangles = evaluated_triangles(evaluated, subject)
    vertices, triangles = transformed(vertices, triangles, matrix_array(evaluated.matrix_world))
    return Mesh(vertices * around.scale_length, triangles)


def _colliders(around: _Surroundings, colliding: list[BlenderObject]) -> tuple[Collider, ...]:
    """The colliders; one that moves has its mesh about its origin, and its poses. Leaves the first frame."""
    shapes = [_world_mesh(around, item, f'Collider "{item.name}"') for item in colliding]
    poses = sampled_poses(around.context, [item for item in colliding if may_move(item)], around.time.frames)
    colliders = []
    for item, shape in zip(colliding, shapes, strict=True):
        subject = f'Collider "{item.name}"'
        shape.check(subject)
        motion = None
        if item.name in poses:
            motion = rigid_motion(metric(poses[item.name], around.scale_length), around.time.frames, subject)
        if motion is not None and motion.matrices is not None:
            shape = Mesh(shape.vertices - motion.matrices[0, :3, 3], shape.triangles)
        values = values_of(item.mpm.collider, Collider, scale_length=around.scale_length)
        colliders.append(Collider(name=item.name, shape=shape, motion=motion, **values))
    return tuple(colliders)


def _domain(around: _Surroundings) -> Domain:
    settings = around.scene.mpm.domain
    values = values_of(settings, Domain, scale_length=around.scale_length)
    if settings.kind == "unbounded":
        return Domain(kind="unbounded")
    if settings.object is not None:
        low, high = world_bounds(around.evaluated(settings.object)) * around.scale_length
        values["min"], values["max"] = tuple(low.tolist()), tuple(high.tolist())
    sides = {name: Side(**values_of(getattr(settings, name), Side)) for name in SIDES}
    return Domain(sides=sides, **values)


def _solver(around: _Surroundings, domain: Domain, emitters: tuple[Emitter, ...]) -> Solver:
    settings = around.scene.mpm.solver
    values = values_of(settings, Solver, scale_length=around.scale_length)
    if settings.use_scene_gravity:
        values["gravity"] = scene_gravity(around.scene)
    if settings.spacing == "resolution":
        values["grid_spacing"] = longest_side(domain, emitters) / settings.resolution
    return Solver(**values)


def scene_gravity(scene: BlenderScene) -> tuple[float, ...]:
    """The scene's gravity [m/s^2]: the number that Blender's interface shows, which heeds the unit scale."""
    if not scene.use_gravity:
        return 0.0, 0.0, 0.0
    return tuple(decimal(component) * scale_length(scene) for component in scene.gravity)


def longest_side(domain: Domain, emitters: tuple[Emitter, ...]) -> float:
    """The longest side [m] of the box domain, or of the box around all emitters where there is none."""
    if domain.min is not None and domain.max is not None:
        return float(np.max(np.subtract(domain.max, domain.min)))
    bounds = np.array([emitter.shape.bounds() for emitter in emitters])
    return float(np.max(bounds[:, 1].max(axis=0) - bounds[:, 0].min(axis=0)))
