"""A strip below the numbers of the timeline and the dope sheet: baked, outdated and missing frames."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy

from ...storage.overview import Overview, Span, spans
from ..baking.bake_facts import shown_overview, wanted_frames
from ..host.blender_types import Context
from ..host.registrar import Registrar
from ..host.runtime import OfFile, runtime

# Pixels at normal interface scale: the header with the numbers, and the strip below.
_NUMBERS = 23
_HEIGHT = 4

BAKED, OUTDATED, MISSING = "baked", "outdated", "missing"
COLORS = {
    BAKED: (0.26, 0.59, 0.98, 0.9),
    OUTDATED: (0.95, 0.55, 0.15, 0.9),
    MISSING: (0.0, 0.0, 0.0, 0.5),
}
_MODES = ("TIMELINE", "DOPESHEET", "ACTION")


@dataclass
class Drawn(OfFile):
    """The runs of frames that were last drawn."""

    runs: tuple[Overview, list[Span]] | None = None


class Strip(NamedTuple):
    """A run of frames, first and last, and its kind."""

    first: int
    last: int
    kind: str


class Rectangle(NamedTuple):
    """A rectangle in pixels of the region, and its color."""

    left: float
    bottom: float
    right: float
    top: float
    kind: str


def strips(overview: Overview, wanted: Span, *, is_outdated: bool) -> list[Strip]:
    """The strips of a cache: first the wanted frames, then the cached ones on top."""
    there = OUTDATED if is_outdated else BAKED
    return [Strip(*wanted, MISSING), *(Strip(first, last, there) for first, last in _runs_of(overview))]


def _runs_of(overview: Overview) -> list[Span]:
    drawn = runtime.of(Drawn)
    if drawn.runs is None or drawn.runs[0] is not overview:
        drawn.runs = overview, spans(overview.rows)
    return drawn.runs[1]


def rectangles(found: list[Strip], region: Any, scale: float) -> list[Rectangle]:
    """The rectangles of strips in a region of the timeline, leaving out those outside.

    Args:
        found: the strips.
        region: the region, with its `view2d`, `width` and `height`.
        scale: interface scale.
    """
    top = region.height - _NUMBERS * scale
    drawn = []
    for strip in found:
        left = region.view2d.view_to_region(strip.first - 0.5, 0.0, clip=False)[0]
        right = region.view2d.view_to_region(strip.last + 0.5, 0.0, clip=False)[0]
        if right >= 0 and left <= region.width:
            # a frame is at least one pixel wide
            drawn.append(Rectangle(max(left, 0), top - _HEIGHT * scale, max(min(right, region.width), left + 1), top, strip.kind))
    return drawn


def _draw() -> None:
    """Called by Blender whenever it draws such an editor."""
    context: Context = bpy.context
    scene, space = context.scene, context.space_data
    if scene is None or space is None or getattr(space, "mode", "") not in _MODES:
        return
    found = shown_overview(scene)
    if found is None:
        return
    overview, is_outdated = found
    drawn = rectangles(strips(overview, wanted_frames(scene), is_outdated=is_outdated), context.region, context.preferences.system.ui_scale)
    _draw_rectangles(drawn)


def _draw_rectangles(drawn: list[Rectangle]) -> None:
    # without a window, there is no GPU to draw with
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    # missing frames are drawn below cached ones
    for kind in (MISSING, OUTDATED, BAKED):
        color = COLORS[kind]
        corners: list[tuple[float, float]] = []
        for left, bottom, right, top, own in drawn:
            if own == kind:
                corners += [(left, bottom), (right, bottom), (right, top), (left, bottom), (right, top), (left, top)]
        if corners:
            shader.uniform_float("color", color)
            batch_for_shader(shader, "TRIS", {"pos": corners}).draw(shader)
    gpu.state.blend_set("NONE")


def register(registrar: Registrar) -> None:
    if not bpy.app.background:
        handle = bpy.types.SpaceDopeSheetEditor.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL")
        registrar.on_removal(bpy.types.SpaceDopeSheetEditor.draw_handler_remove, handle, "WINDOW")
