"""Meshes as renders see them: modifiers, levels and resolutions of renders instead of the viewport's, for a while."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import bpy

from .blender_types import BlenderObject, Depsgraph

# Where the viewport and renders differ: what has both, the viewport's name, the renders' name.
_LEVELS = {"SUBSURF": ("levels", "render_levels"), "MULTIRES": ("levels", "render_levels")}
_CURVE_RESOLUTIONS = [("resolution_u", "render_resolution_u"), ("resolution_v", "render_resolution_v")]


@contextmanager
def render_modifiers(depsgraph: Depsgraph) -> Iterator[None]:
    """Evaluate all objects of a dependency graph with the modifiers of renders inside the block.

    Everything is as it was afterwards, whatever happens in the block.
    """
    changed: list[tuple[Any, str, Any]] = []
    try:
        # the graph is made anew by the first change, so its objects are listed before
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
            if getattr(item.data, render):  # 0 is the viewport's
                yield item.data, viewport, render
