"""Turns recorded objects into the description's materials, emitters, colliders and outflows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import SceneError
from ...core.geometry.shapes.mesh import Mesh
from ...core.geometry.shapes.points import Points
from ...core.laws import LAWS
from ...core.scene.animation import Animation, Motion
from ...core.scene.description import Collider, Emitter, Material, Outflow
from ...core.scene.fracture import Fracture
from ...core.scene.randomness import UNIFORM, Randomness
from ...storage.presets import material_preset
from ..host.blender_types import BlenderObject
from ..host.meshes import Floats
from ..settings.declarations import values_of
from ..settings.heat import heat_of
from ..settings.properties import own_randomness
from .motion import placed
from .painting import painting_of
from .sampling import Track, Values, animated, filled, hide_where_disabled


class Placement(NamedTuple):
    """An object in world space: its shape at the first sample, how it moves, and its values, some of them animated."""

    shape: Mesh
    motion: Motion | None
    values: Values
    animation: Animation | None


def emitters_of(
    tracks: Sequence[tuple[str, Track]], materials: dict[str, Track], frames: Floats, scale_length: float
) -> tuple[dict[str, Material], tuple[Emitter, ...]]:
    """The emitters and their materials. Raises SceneError for invalid values."""
    found: dict[str, Material] = {}
    emitters = []
    for name, track in tracks:
        placement = _placement(track, frames, scale_length)
        if placement is None:
            continue
        shape, motion, values, animation = placement
        material, color = _material(name, track.block, materials.get(name), frames)
        found.setdefault(material.name, material)
        if values["particle_count"] is not None:
            values["particles_per_cell"] = None
        if not track.block.mpm.emitter.use_color:
            values["color"] = color
        emitted = _points(track, shape, motion, scale_length) if track.surface is not None and track.surface.is_cloud else shape
        painting = None if track.surface is None else painting_of(track.surface.painting, is_mirrored=track.is_mirrored)
        values |= {"painting": painting, "randomness": _randomness(track.block, material, scale_length)}
        emitters.append(Emitter(name=name, shape=emitted, material=material.name, motion=motion, animation=animation, **values))
    if tracks and not emitters:
        raise SceneError("it is disabled in viewports at every frame, as is every emitter", "enable one", subject=tracks[0][1].subject)
    return found, tuple(emitters)


def colliders_of(tracks: Sequence[tuple[str, Track]], frames: Floats, scale_length: float) -> tuple[Collider, ...]:
    """The colliders. Raises SceneError for invalid values."""
    settings = {name: track.block.mpm.collider for name, track in tracks}
    found = _solids(tracks, Collider, frames, scale_length)
    return tuple(_breaking(collider, settings[collider.name], scale_length) for collider in found)


def _breaking(collider: Collider, settings: Any, scale_length: float) -> Collider:
    """A collider with the fracture of its settings, which only a dynamic one has."""
    if not (settings.use_fracture and collider.dynamic):
        return collider
    return replace(collider, fracture=Fracture(**values_of(settings.fracture, Fracture, scale_length=scale_length)))


def outflows_of(tracks: Sequence[tuple[str, Track]], frames: Floats, scale_length: float) -> tuple[Outflow, ...]:
    """The outflows. Raises SceneError for invalid values."""
    return tuple(_solids(tracks, Outflow, frames, scale_length))


def _solids(tracks: Sequence[tuple[str, Track]], owner: type, frames: Floats, scale_length: float) -> list[Any]:
    found = []
    for name, track in tracks:
        hide_where_disabled(track)
        placement = _placement(track, frames, scale_length)
        if placement is None:
            continue
        shape, motion, values, animation = placement
        shape.check(track.subject)
        if values.get("dynamic") and motion is not None:
            _refuse_motion(track, motion)
        found.append(owner(name=name, shape=shape, motion=motion, animation=animation, **values))
    return found


def _placement(track: Track, frames: Floats, scale_length: float) -> Placement | None:
    """The place of an object; None if Blender evaluates it at no sample."""
    matrices, shapes = filled(track.matrices), filled(track.shapes)
    if matrices is None or shapes is None or track.surface is None:
        return None
    times = frames[: len(matrices)]
    values, animation = animated(track.values, times, track.subject)
    shape, motion = placed(shapes, track.surface.triangles, np.array(matrices), times, track.subject, scale_length=scale_length)
    return Placement(shape, motion, dict(values), animation)


def _points(track: Track, mesh: Mesh, motion: Motion | None, scale_length: float) -> Points:
    """An emitter's vertices without a surface, with their velocities at the first sample."""
    if motion is not None and motion.vertices is not None:
        remedy = "move only the whole object without changing its scale, or apply its modifiers"
        raise SceneError(
            "its points move relative to each other, but points that emit must move as a whole", f"{remedy}", subject=track.subject
        )
    velocity = None if track.surface is None else track.surface.velocity
    if velocity is not None:
        matrix = next(each for each in track.matrices if each is not None)
        velocity = velocity.astype(np.float64) @ matrix[:3, :3].T * scale_length
    return Points(mesh.vertices, velocity)


def _refuse_motion(track: Track, motion: Motion) -> None:
    """Refuse motion of a dynamic collider: it starts where it is at the first sample, and the simulation moves it from there."""
    what = "is animated" if motion.matrices is not None else "is deformed"
    raise SceneError(
        f"it is dynamic, so the simulation moves it, but it {what} too", "remove that, or turn Dynamic off", subject=track.subject
    )


def _material(name: str, item: BlenderObject, track: Track | None, frames: Floats) -> tuple[Material, tuple[float, ...]]:
    """An emitter's material, and its display color. A custom material is named after its emitter."""
    settings = item.mpm.material
    if track is None:
        if not settings.preset:
            raise SceneError("its material preset is not available in this version", "choose another preset", subject=f'Emitter "{name}"')
        preset = material_preset(settings.preset)
        color = preset.law.color if preset.color is None else (*preset.color, 1.0)
        return Material(settings.preset, preset.law, thermal=preset.thermal, curves=preset.curves, melts_into=preset.melts_into), color
    values, animation = animated(track.values, frames, track.subject)
    law = LAWS[settings.law](**values)
    return Material(f"{name} (custom)", law, animation, **heat_of(settings, law, is_animated=animation is not None)), law.color


def _randomness(item: BlenderObject, material: Material, scale_length: float) -> Randomness:
    """An emitter's own randomness, or that of its preset. A custom material without any is uniform."""
    settings = item.mpm.emitter
    if not settings.use_randomness:
        return material_preset(item.mpm.material.preset).randomness if item.mpm.material.source == "preset" else UNIFORM
    return own_randomness(settings, material.law, scale_length=scale_length)
