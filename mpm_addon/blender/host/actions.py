"""Animation across versions of Blender: actions have layers and slots since 4.4, and only those since 5.0."""

from collections.abc import Iterator
from typing import Any

from .blender_types import BlenderObject


def is_animated(block: Any) -> bool:
    """Whether a data-block has its own action, drivers or NLA strips."""
    animation = None if block is None else block.animation_data
    return animation is not None and bool(animation.action or animation.drivers or animation.nla_tracks)


def animated_paths(block: Any) -> set[str]:
    """The data paths that a data-block's F-curves and drivers animate."""
    animation = block.animation_data
    if animation is None:
        return set()
    actions = [animation.action, *(strip.action for track in animation.nla_tracks for strip in track.strips)]
    collections = [curves for action in actions if action is not None for curves in curve_collections(action)]
    return {curve.data_path for curves in (*collections, animation.drivers) for curve in curves}


def curve_collections(action: Any) -> Iterator[Any]:
    """The F-curve collections of an action."""
    if not hasattr(action, "layers"):
        yield action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            for bag in strip.channelbags:
                yield bag.fcurves


def own_curves(item: BlenderObject) -> Iterator[Any]:
    """The F-curve collections of an object's action that animate this object."""
    animation = item.animation_data
    action = None if animation is None else animation.action
    if animation is None or action is None:
        return
    if not hasattr(action, "layers"):
        yield action.fcurves
    elif animation.action_slot is not None:
        bags = [strip.channelbag(animation.action_slot) for layer in action.layers for strip in layer.strips]
        yield from (bag.fcurves for bag in bags if bag is not None)


def make_action_single_user(item: BlenderObject) -> None:
    """Give an object whose action others use, too, a copy of it."""
    animation = item.animation_data
    action = None if animation is None else animation.action
    if animation is None or action is None or action.users - action.use_fake_user < 2:
        return
    slot = animation.action_slot.identifier if hasattr(action, "layers") and animation.action_slot is not None else None
    animation.action = action.copy()
    if slot is not None:
        animation.action_slot = animation.action.slots[slot]


def new_curve(action: Any, item: BlenderObject, data_path: str, index: int) -> Any:
    """A new F-curve in an object's action."""
    if hasattr(action, "fcurve_ensure_for_datablock"):
        return action.fcurve_ensure_for_datablock(item, data_path, index=index)
    return action.fcurves.new(data_path, index=index)
