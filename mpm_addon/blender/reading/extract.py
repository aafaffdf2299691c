"""Turns the open file into a `Scene` that is independent of Blender. Main thread only.

World space and SI: a Blender unit is `scale_length` meters, also in velocities and gravity.
Meshes are taken as Blender evaluates them at the first frame, and their motion at every frame.
"""

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np

from ...core.errors import SceneError
from ...core.scene.description import Collider, Emitter, Scene
from ...core.scene.force import Force
from ...core.scene.settings import SIDES, CacheSettings, Domain, Side, Solver, Time
from ..host.blender_types import BlenderObject, BlenderScene, Context
from ..host.meshes import Floats, world_bounds
from ..host.modifiers import render_modifiers
from ..playback.particle_objects import frame_rate, suspended
from ..settings.declarations import decimal, values_of
from .descriptions import colliders_of, emitters_of, outflows_of
from .forces import force_of
from .motion import metric
from .sampling import Track, animated, filled, hide_where_disabled, record
from .simulated_objects import SimulatedObjects, meters, simulated_objects


def extract_scene(context: Context, *, object_name: str = "") -> Scene:
    """The scene of `context` as the solver's description; see `extraction`."""
    steps = extraction(context, object_name=object_name)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def extraction(context: Context, *, object_name: str = "") -> Generator[float, None, Scene]:
    """Read the scene of `context`, one frame per step.

    However it ends, including by `close`, the file is left unchanged and at its original frame.

    Args:
        object_name: the only emitter to read, with all colliders, outflows and forces; all emitters if empty.

    Yields:
        progress, 0 to 1.

    Returns:
        The solver's description.

    Raises:
        SceneError: there is nothing to simulate, or a value or a mesh is invalid; the message names the object.
    """
    scene = context.scene
    time, units = scene_time(scene), meters(scene)
    frames = sample_frames(time, scene.mpm.motion_samples)
    with suspended(), frame_kept(scene, time.frame_start), _meshes_of(context):
        found = simulated_objects(context, object_name, units)
        domain = _domain(context, units)
        yield from record(context, found.tracks, frames)
    return _described(scene, found, time, domain, frames, units)


def _described(scene: BlenderScene, found: SimulatedObjects, time: Time, domain: Domain, frames: Floats, units: float) -> Scene:
    materials, emitters = emitters_of(found.emitters, found.materials, frames, units)
    colliders = colliders_of(found.colliders, frames, units)
    return Scene(
        name=scene.name,
        time=time,
        solver=_solver(scene, found.solver, frames, domain, emitters, colliders),
        domain=domain,
        materials=materials,
        emitters=emitters,
        colliders=colliders,
        outflows=outflows_of(found.outflows, frames, units),
        cache=CacheSettings(**values_of(scene.mpm.cache_settings, CacheSettings)),
        forces=tuple(force for name, track in found.forces if (force := _force(name, track, frames, units)) is not None),
    )


def scene_time(scene: BlenderScene) -> Time:
    """The frames to simulate. Raises SceneError if the last is before the first."""
    frames = scene.mpm if scene.mpm.use_frame_range else scene
    return Time(
        fps=frame_rate(scene),
        frame_start=frames.frame_start,
        frame_end=frames.frame_end,
        time_scale=decimal(scene.mpm.time_scale),
        subframes=scene.mpm.subframes,
    )


def sample_frames(time: Time, samples: int) -> Floats:
    """The frames at which moving objects are sampled: `samples` per frame, including the last frame, shape (k,)."""
    count = (time.frame_end - time.frame_start) * samples + 1
    return time.frame_start + np.arange(count, dtype=np.float64) / samples


def _meshes_of(context: Context) -> AbstractContextManager[None]:
    """Use render or viewport modifiers inside the block, as the scene says."""
    if context.scene.mpm.use_render_modifiers:
        return render_modifiers(context.evaluated_depsgraph_get())
    return nullcontext()


@contextmanager
def frame_kept(scene: BlenderScene, frame: int) -> Iterator[None]:
    """Evaluate the scene at `frame` inside the block, and at the original frame afterwards."""
    before, fraction = scene.frame_current, scene.frame_subframe
    scene.frame_set(frame)
    try:
        yield
    finally:
        scene.frame_set(before, subframe=fraction)


def _force(name: str, track: Track, frames: Floats, units: float) -> Force | None:
    matrices = filled(track.matrices)
    if matrices is None:
        return None
    hide_where_disabled(track)
    times = frames[: len(matrices)]
    values, animation = animated(track.values, times, track.subject)
    return force_of(name, values, metric(matrices, units), times, animation)


def _domain(context: Context, units: float) -> Domain:
    settings = context.scene.mpm.domain
    values = values_of(settings, Domain, scale_length=units)
    if settings.kind == "unbounded":
        return Domain(kind="unbounded")
    if settings.object is not None:
        evaluated: BlenderObject = settings.object.evaluated_get(context.evaluated_depsgraph_get())
        low, high = world_bounds(evaluated) * units
        flat = [axis for axis, is_extended in zip("XYZ", low < high, strict=True) if not is_extended]
        if flat:
            raise SceneError(
                f"it has no extent along {', '.join(flat)}",
                "use an object that has one along every axis, such as a cube",
                subject=f'Domain "{settings.object.name}"',
            )
        values["min"], values["max"] = tuple(low.tolist()), tuple(high.tolist())
    sides = {name: Side(**values_of(getattr(settings, name), Side)) for name in SIDES}
    return Domain(sides=sides, **values)


def _solver(
    scene: BlenderScene, track: Track, frames: Floats, domain: Domain, emitters: tuple[Emitter, ...], colliders: tuple[Collider, ...]
) -> Solver:
    values, animation = animated(track.values, frames, track.subject)
    settings = scene.mpm.solver
    if settings.spacing == "resolution":
        values["grid_spacing"] = longest_side(domain, emitters, colliders) / settings.resolution
    return Solver(animation=animation, **values)


def longest_side(domain: Domain, emitters: tuple[Emitter, ...], colliders: tuple[Collider, ...] = ()) -> float:
    """The longest side [m] of the box domain; if it is unbounded, of the bounding box of all emitters, else of all rigid bodies."""
    if domain.min is not None and domain.max is not None:
        return float(np.max(np.subtract(domain.max, domain.min)))
    bounds = np.array([each.shape.bounds() for each in emitters or [each for each in colliders if each.dynamic]])
    return float(np.max(bounds[:, 1].max(axis=0) - bounds[:, 0].min(axis=0)))
