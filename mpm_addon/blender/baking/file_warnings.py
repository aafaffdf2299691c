"""Warnings before a bake that only the open file can give: its folder, its units, its time, and objects that look different in renders."""

import math
from collections.abc import Iterator

import bpy

from ...core.messages import Message, SceneWarning, Topic
from ..host.blender_types import BlenderScene
from ..host.modifiers import differs_in_renders
from ..reading.simulated_objects import meters, scene_gravity

# What a falling scene is taken to mean [m/s^2], and how far from it a gravity may be to be taken for it, relatively.
_EARTH, _TOLERANCE = 9.81, 0.1


def file_warnings(scene: BlenderScene, cache: str) -> Iterator[SceneWarning]:
    """The warnings about a scene of the open file; `cache` is its cache folder."""
    if not bpy.data.filepath:
        message = Message(f"The file is not saved, so frames go to a temporary folder ({cache})", ("save it before the bake",))
        yield SceneWarning(Topic.UNSAVED_FILE, message)
    yield from scaled_gravity(scene)
    yield from _stretched_time(scene)
    yield from _viewport_shapes(scene)


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
