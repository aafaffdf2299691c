"""Wraps texts to the width of the region that is being drawn."""

import textwrap

import bpy

from .blender_types import Context

# Letters per line if the region's width is unknown, at least, and at most.
_USUAL, _LEAST, _MOST = 52, 20, 100
# Widths in a region [pixels] at normal interface scale: icon, frame and tabs together, and one letter.
_MARGIN, _LETTER = 85.0, 6.0


def wrapped(text: str) -> list[str]:
    """The lines of a text in the region that is being drawn; none if it is empty."""
    context: Context = bpy.context
    if context.region is None or context.region.width <= 1:
        return textwrap.wrap(text, _USUAL)
    return textwrap.wrap(text, letters_in(context.region.width / context.preferences.system.ui_scale))


def letters_in(width: float) -> int:
    """How many letters of a label fit beside its icon in a region of this width, in pixels of an unscaled screen."""
    return min(_MOST, max(_LEAST, int((width - _MARGIN) / _LETTER)))
