"""Retiming: which frame of its cache an object shows, and how fast that changes. The properties for it, on `Object.mpm`.

Objects show the scene's frame unless *Retime* is enabled; then the frame advances at a speed of its own, or is keyframed.
"""

from typing import Any, NamedTuple

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..host.blender_types import BlenderObject
from .listeners import playback_changed

_KEYED = "mpm.playback_frame"
# The slope of a keyframed frame is measured over this distance to both sides [frames].
_REACH = 0.05


PROPERTIES: dict[str, Any] = {
    "use_retime": BoolProperty(name="Retime", description="Play the cache at its own time and speed", update=playback_changed),
    "retime_mode": EnumProperty(
        name="Mode",
        description="How to choose the frame of the cache to display",
        items=[
            ("speed", "Speed", "Play the cache from its first frame at its own speed", 1),
            ("frame", "Frame", "Keyframe the displayed frame", 2),
        ],
        default="speed",
        update=playback_changed,
    ),
    "playback_speed": FloatProperty(
        name="Speed",
        description="Playback speed of the cache (0.25 is slow motion, -1 plays backward)",
        default=1.0,
        soft_min=0.0,
        soft_max=4.0,
        step=5,
        precision=3,
        options=set(),
        update=playback_changed,
    ),
    "playback_offset": FloatProperty(
        name="Offset",
        description="Number of frames to delay playback by",
        step=100,
        options=set(),
        update=playback_changed,
    ),
    "playback_frame": FloatProperty(
        name="Frame",
        description="Frame of the cache to display (12.5 is halfway between frames 12 and 13)",
        default=1.0,
        step=100,
        precision=3,
        update=playback_changed,
    ),
}


class Position(NamedTuple):
    """The displayed fractional frame of the cache, and its change per frame of the scene."""

    frame: float
    rate: float


def position(item: BlenderObject, settings: Any, frame: float, first: int) -> Position:
    """The position that an object shows.

    Args:
        item: the object, for the keyframes of its playback frame.
        settings: its `mpm`, evaluated at the frame.
        frame: the scene's fractional frame.
        first: the first frame of the cache.
    """
    if not settings.use_retime:
        return Position(frame, 1.0)
    if settings.retime_mode == "frame":
        return Position(settings.playback_frame, _slope(item, frame))
    return Position(first + (frame - first - settings.playback_offset) * settings.playback_speed, settings.playback_speed)


def _slope(item: BlenderObject, frame: float) -> float:
    """The change of the playback frame per frame of the scene; 1 for drivers and strips, whose slope is unknown."""
    animation = item.animation_data
    if animation is None:
        return 0.0
    for curve in _curves(animation):
        if curve.data_path == _KEYED:
            return (curve.evaluate(frame + _REACH) - curve.evaluate(frame - _REACH)) / (2.0 * _REACH)
    is_driven = any(driver.data_path == _KEYED for driver in animation.drivers) or bool(animation.nla_tracks)
    return 1.0 if is_driven else 0.0


def _curves(animation: Any) -> list[Any]:
    """The F-curves of an owner in some animation data."""
    action = animation.action
    if action is None:
        return []
    if bpy.app.version < (4, 4, 0):
        return list(action.fcurves)
    bags = [strip.channelbag(animation.action_slot) for layer in action.layers for strip in layer.strips if animation.action_slot]
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]
