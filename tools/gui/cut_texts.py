"""Finds texts that Blender has cut in a picture of its window: they end with an ellipsis."""

import numpy as np
from PIL import Image
from scipy import ndimage

# Of a dot and of the distance between two dots, in pixels at an interface scale of 1.
_DOT = 2.6
_PITCH = (2.4, 5.6)
# The least difference in brightness between a dot and what is behind it, of 255.
_CONTRAST = 45
_EDGE = 8


def cut_texts(picture: Image.Image, scale: float) -> list[tuple[int, int]]:
    """Returns the places of ellipses, in pixels from the top left corner of the picture.

    Args:
        scale: the scale of the interface.
    """
    gray = np.asarray(picture.convert("L"), np.int16)
    behind = ndimage.median_filter(gray, size=2 * round(6 * scale) + 1)
    marked = np.abs(gray - behind) > _CONTRAST
    labels = np.zeros(gray.shape, np.int32)
    ndimage.label(marked, output=labels)
    boxes = ndimage.find_objects(labels)
    largest = _DOT * scale + 1.0
    dots: dict[int, list[float]] = {}
    for rows, columns in boxes:
        height, width = rows.stop - rows.start, columns.stop - columns.start
        if max(height, width) <= largest:
            dots.setdefault(rows.stop, []).append((columns.start + columns.stop) / 2.0)
    near = {(round(x), y) for y, places in dots.items() for x in places}
    found = []
    for y, places in dots.items():
        for chain in _chains(sorted(places), scale):
            # the handle of a panel is a grid of dots
            alone = not any((round(x) + dx, y + dy) in near for x in chain for dx in (-1, 0, 1) for dy in _offsets(scale))
            # pictures of a scrolled region end in the middle of a text
            is_whole = _EDGE * scale < y < gray.shape[0] - _EDGE * scale
            # icons may have dots, but they go on behind them
            right = round(chain[-1] + largest / 2.0 + 1.0)
            is_end = not marked[max(0, y - round(8 * scale)) : y, right : right + round(3 * scale)].any()
            if len(chain) == 3 and alone and is_whole and is_end:
                found.append((round(chain[0]), y))
    return sorted(found, key=lambda place: (place[1], place[0]))


def _chains(places: list[float], scale: float) -> list[list[float]]:
    """Runs of dots at equal distances."""
    low, high = (scale * pitch for pitch in _PITCH)
    chains: list[list[float]] = []
    for x in places:
        last = chains[-1] if chains else []
        if last and low <= x - last[-1] <= high and (len(last) < 2 or abs((x - last[-1]) - (last[-1] - last[-2])) <= 1.0):
            last.append(x)
        else:
            chains.append([x])
    return chains


def _offsets(scale: float) -> list[int]:
    reach = round(8 * scale)
    return [dy for dy in range(-reach, reach + 1) if dy]
