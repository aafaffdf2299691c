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
                before, wanted = getattr(owner, viewport), getattr(owner, render)
                if before != wanted:
                    setattr(owner, viewport, wanted)
                    changed.append((owner, viewport, before))
        yield
    finally:
        for owner, viewport, before in reversed(changed):
            with suppress(ReferenceError):  # deleted meanwhile
                setattr(owner, viewport, before)


def _differences(item: BlenderObject) -> Iterator[tuple[Any, str, str]]:
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
