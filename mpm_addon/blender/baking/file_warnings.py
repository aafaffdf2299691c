"""Warnings before a bake that only the open file can give: its folder, its units, its time, and how objects move and are rendered."""

import math
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from ...core.messages import Message, SceneWarning, Topic
from ..host.actions import animated_paths, is_animated
from ..host.blender_types import BlenderObject, BlenderScene, Context
from ..host.meshes import world_bounds
from ..host.modifiers import differs_in_renders
from ..playback.particle_objects import suspended
from ..reading.extract import frame_kept, scene_time
from ..reading.motion import may_move
from ..reading.simulated_objects import meters, scene_gravity

# What a falling scene is taken to mean [m/s^2], and how far from it a gravity may be to be taken for it, relatively.
_EARTH, _TOLERANCE = 9.81, 0.1
# At how many frames a domain is looked at, and how far it may move [its size].
_LOOKS, _STILL = 9, 1e-3


def file_warnings(context: Context, cache: str) -> Iterator[SceneWarning]:
    """The warnings about the scene of `context`; `cache` is its cache folder."""
    scene = context.scene
    if not bpy.data.filepath:
        message = Message(f"The file is not saved, so frames go to a temporary folder ({cache})", ("save it before the bake",))
        yield SceneWarning(Topic.UNSAVED_FILE, message)
    yield from scaled_gravity(scene)
    yield from _stretched_time(scene)
    yield from _viewport_shapes(scene)
    yield from _moving_domain(context)
    yield from _rendered_emitters(scene)


def scaled_gravity(scene: BlenderScene) -> Iterator[SceneWarning]:
    """Earth's gravity in meters, in a scene whose unit is not a meter."""
    units, effective = meters(scene), math.hypot(*scene_gravity(scene))
    if not scene.mpm.solver.use_scene_gravity or math.isclose(units, 1.0, rel_tol=_TOLERANCE):
        return
    if math.isclose(effective, _EARTH * units, rel_tol=_TOLERANCE):
        message = Message(
            f"a Blender unit is {units:g} m (Unit Scale), so its gravity is {effective:.3g} m/s^2, {units:g} times Earth's: "
            f"everything falls {'in slow motion' if units < 1.0 else 'too fast'}",
            (f"multiply the scene's gravity by {1.0 / units:g} (Scene properties > Gravity), or use a Unit Scale of 1",),
            f'Scene "{scene.name}"',
        )
        yield SceneWarning(Topic.SCALED_GRAVITY, message)


def _stretched_time(scene: BlenderScene) -> Iterator[SceneWarning]:
    """Blender's Time Stretching, which neither the simulation nor its playback follows."""
    old, new = scene.render.frame_map_old, scene.render.frame_map_new
    if old != new:
        message = Message(
            f"its Time Stretching ({old} to {new}) is ignored: the bake and the display of its frames follow the timeline",
            (
                "set Old and New to the same number (Output properties > Frame Range), "
                f"and use Retime with Speed {old / new:.4g} on the particles",
            ),
            f'Scene "{scene.name}"',
        )
        yield SceneWarning(Topic.TIME_STRETCHING, message)


def _viewport_shapes(scene: BlenderScene) -> Iterator[SceneWarning]:
    """Colliders that the bake reads as the viewport shows them, but that are rendered with other modifiers or levels."""
    if scene.mpm.use_render_modifiers:
        return
    for item in scene.objects:
        if item.mpm.type == "collider" and differs_in_renders(item):
            message = Message(
                "its shape in renders differs from the one in the viewport, which is baked: surfaces will not meet it in renders",
                ("turn on Render Modifiers",),
                f'Collider "{item.name}"',
            )
            yield SceneWarning(Topic.VIEWPORT_SHAPE, message)


def _moving_domain(context: Context) -> Iterator[SceneWarning]:
    """A domain object that moves or changes its size, which only counts at the first frame."""
    scene = context.scene
    domain, item = scene.mpm.domain, scene.mpm.domain.object
    if domain.kind == "unbounded" or item is None or not (may_move(item) or is_animated(item.data) or _has_animated_keys(item)):
        return
    time = scene_time(scene)
    frames = np.unique(np.linspace(time.frame_start, time.frame_end, _LOOKS).round().astype(int)).tolist()
    first: Any = None
    with suspended(), frame_kept(scene, time.frame_start):
        for frame in frames:
            scene.frame_set(frame)
            bounds = world_bounds(item.evaluated_get(context.evaluated_depsgraph_get()))
            first = bounds if first is None else first
            if np.abs(bounds - first).max() > _STILL * np.ptp(first, axis=0).max():
                message = Message(
                    f"it moves or changes its size by frame {frame}, but its bounds at frame {frames[0]} are the domain at every frame",
                    ("make it large enough for the whole motion, and move colliders instead",),
                    f'Domain "{item.name}"',
                )
                yield SceneWarning(Topic.MOVING_DOMAIN, message)
                return


def _has_animated_keys(item: BlenderObject) -> bool:
    keys = getattr(item.data, "shape_keys", None)
    return keys is not None and is_animated(keys)


def _rendered_emitters(scene: BlenderScene) -> Iterator[SceneWarning]:
    """Emitters that fill their volume at the first frame and are rendered all the same, in front of their particles.

    Whatever may be meant to be seen is left out: a coat's object, a nozzle, what is pinned, what emits later, and keyed visibility.
    """
    first = scene_time(scene).frame_start
    for item in scene.objects:
        emitter = item.mpm.emitter
        if item.mpm.type != "emitter" or item.type == "EMPTY" or item.hide_render or not item.visible_camera or not emitter.enabled:
            continue
        is_later = emitter.use_frame_start and emitter.frame_start > first
        is_pinned = emitter.goal > 0.0 or emitter.goal_attribute
        is_keyed = any(path.startswith(("hide_render", "mpm.")) for path in animated_paths(item))
        if emitter.mode != "once" or emitter.source != "volume" or is_later or is_pinned or is_keyed:
            continue
        message = Message(
            "it is rendered together with its own particles, which begin inside it",
            ("hide it in renders (Object properties > Visibility > Show In > Renders), unless you want to see both",),
            f'Emitter "{item.name}"',
        )
        yield SceneWarning(Topic.RENDERED_EMITTER, message)
