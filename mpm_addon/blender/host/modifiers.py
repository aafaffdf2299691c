"""Evaluates meshes with the render settings of modifiers, levels and resolutions instead of the viewport's."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import bpy

from .blender_types import BlenderObject, Depsgraph

# Settings that differ between viewport and renders: owner, viewport property, render property.
_LEVELS = {"SUBSURF": ("levels", "render_levels"), "MULTIRES": ("levels", "render_levels")}
_CURVE_RESOLUTIONS = [("resolution_u", "render_resolution_u"), ("resolution_v", "render_resolution_v")]


@contextmanager
def render_modifiers(depsgraph: Depsgraph) -> Iterator[None]:
    """Evaluate all objects of a dependency graph with render modifiers inside the block.

    All settings are restored afterwards, even after an exception.
    """
    changed: list[tuple[Any, str, Any]] = []
    try:
        # the first change rebuilds the graph, so list its objects before
        for item in [block.original for block in depsgraph.ids if isinstance(block, bpy.types.Object)]:
            for owner, viewport, render in _differences(item):
                before = getattr(owner, viewport)
                setattr(owner, viewport, getattr(owner, render))
                changed.append((owner, viewport, before))
        yield
    finally:
        for owner, viewport, before in reversed(changed):
            with suppress(ReferenceError):  # deleted meanwhile
                setattr(owner, viewport, before)


def differs_in_renders(item: BlenderObject) -> bool:
    """Whether an object has another shape in renders than in the viewport."""
    return any(True for _ in _differences(item))


def _differences(item: BlenderObject) -> Iterator[tuple[Any, str, str]]:
    """The settings that are not the same in both: owner, viewport property, render property."""
    return (each for each in _pairs(item) if getattr(each[0], each[1]) != getattr(each[0], each[2]))


def _pairs(item: BlenderObject) -> Iterator[tuple[Any, str, str]]:
    for modifier in item.modifiers:
        yield modifier, "show_viewport", "show_render"
        if modifier.type in _LEVELS:
            yield modifier, *_LEVELS[modifier.type]
    if item.type == "META":
        yield item.data, "resolution", "render_resolution"
    if item.type in ("CURVE", "SURFACE", "FONT"):
        for viewport, render in _CURVE_RESOLUTIONS:
            if getattr(item.data, render):  # 0 means the viewport's value
                yield item.data, viewport, render
