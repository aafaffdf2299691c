"""Wraps texts to the width of the region that is being drawn."""

import re
from collections.abc import Iterator

import bpy

from .blender_types import Context

# Widths in pixels of an unscaled screen. Of a text if the region's width is unknown, at least, and at most.
_USUAL, _LEAST, _MOST = 312.0, 60.0, 600.0
# Of icon, frame and tabs together.
_MARGIN = 85.0
# Of frame and tabs together, in the sidebar and elsewhere.
_SIDEBAR_FRAME, _FRAME = 50.0, 28.0
# Of a text at the left of its column.
_INDENT = 8.0
# Of letters in Blender's interface font; all others are as wide as digits.
_WIDTHS = (
    {
        letter: width
        for width, letters in {
            3.0: "ijl .,:;'!·",
            4.0: "frt|()[]/\\",
            5.0: 'I_"²³',
            6.0: "acekLsvxyzJ?",
            8.0: "ACDGHNOQUVX",
            9.0: "w",
        }.items()
        for letter in letters
    }
    | dict.fromkeys("mM", 10.0)
    | dict.fromkeys("W%@", 11.0)
)
_DIGIT = 7.0
# Where a word that is too long may end a line, from the best place on.
_PIECES = tuple(re.compile(pattern) for pattern in (r"[^/\\]*[/\\]*", r"[^_]*_*", r"."))


def wrapped(text: str, start: float = 0.0) -> list[str]:
    """The lines of a text in the region that is being drawn; none if it is empty.

    Args:
        start: where they begin, as a share of the panel's width; 0 or 1 for its left edge.
    """
    if 0.0 < start < 1.0:
        return list(_lines(text, max(_LEAST, (1.0 - start) * panel_width() - _INDENT)))
    context: Context = bpy.context
    if context.region is None or context.region.width <= 1:
        return list(_lines(text, _USUAL))
    return list(_lines(text, room_in(context.region.width / context.preferences.system.ui_scale)))


def panel_width() -> float:
    """The width inside a panel of the region that is being drawn, in pixels of an unscaled screen."""
    context: Context = bpy.context
    if context.region is None or context.region.width <= 1:
        return _USUAL - _SIDEBAR_FRAME
    frame = _SIDEBAR_FRAME if context.region.type == "UI" else _FRAME
    return max(_LEAST, context.region.width / context.preferences.system.ui_scale - frame)


def room_in(width: float) -> float:
    """The width of a label beside its icon in a region, both in pixels of an unscaled screen."""
    return min(_MOST, max(_LEAST, width - _MARGIN))


def width_of(text: str) -> float:
    """The width of a text in Blender's interface font, in pixels of an unscaled screen."""
    return sum(_WIDTHS.get(letter, _DIGIT) for letter in text)


def _lines(text: str, room: float) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and width_of(f"{line} {word}") <= room:
            line += f" {word}"
            continue
        for number, piece in enumerate(_pieces(word, room)):
            if line and (not number or width_of(line + piece) > room):
                yield line
                line = ""
            line += piece
    if line:
        yield line


def _pieces(word: str, room: float) -> Iterator[str]:
    """A word that fits; otherwise the folders of a path, parts between underscores, or letters, whichever fit."""
    found = [word]
    for pattern in _PIECES:
        found = [part for piece in found for part in ([piece] if width_of(piece) <= room else filter(None, pattern.findall(piece)))]
    yield from found
