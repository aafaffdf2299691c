"""The contact sheet of a wedge: one tile per variant, with its particles and values. Needs pillow."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import CacheError
from ..core.particles import Frame
from ..storage.atomic import write_atomically
from ..storage.cache import open_cache
from ..storage.installation import require
from .index import Index, Variant
from .points import View, draw_points, view_of

SHEET = "sheet.png"
_TILE = (360, 270)
_GAP = 6
_FONT_SIZE, _LINE = 15, 20
_BACKGROUND, _TILE_COLOR, _TEXT_COLOR, _BAD_COLOR = (24, 25, 28), (44, 47, 53), (232, 232, 232), (255, 150, 120)
_LONGEST_SIDE = 16_000

# One color per material, distinguishable with color blindness (Okabe and Ito 2008).
_COLORS = np.array(
    ((0.60, 0.80, 0.95), (0.90, 0.62, 0.0), (0.0, 0.62, 0.45), (0.94, 0.89, 0.26), (0.80, 0.47, 0.65), (0.84, 0.37, 0.0), (0.0, 0.45, 0.70))
)


@dataclass(frozen=True)
class Tile:
    """The contents of a tile: the particles of a frame, if there is one, the values, and a remark."""

    frame: Frame | None
    label: str
    remark: str
    dimension: int = 3


def draw_sheet(index: Index, variants: list[Variant], frame: int | None = None) -> Path:
    """Draw the variants of a wedge, in rows as long as the last key has values, and return the picture's path.

    Args:
        index: the index of the wedge.
        variants: the variants, in the order of the grid.
        frame: the frame to show; by default the last one of each.

    Raises:
        MpmError: pillow is missing, no variant has a frame, or the picture cannot be written.
    """
    image = require("PIL.Image", "pillow", "drawing it")
    tiles = [_tile(index, variant, frame) for variant in variants]
    shown = [tile for tile in tiles if tile.frame is not None and len(tile.frame.position)]
    if not shown:
        raise CacheError("no variant has a particle in the frame to show", "choose another --frame", subject=str(index.folder))
    frames = [tile.frame for tile in shown if tile.frame is not None]
    view = view_of([frame.position for frame in frames], max(tile.dimension for tile in shown), max(map(_radius, frames)))
    columns = _columns(variants)
    lines = max(tile.label.count("\n") + 1 for tile in tiles)
    pitch = (_TILE[0] + _GAP, _TILE[1] + _GAP + lines * _LINE)
    rows = -(-len(tiles) // columns)
    sheet = image.new("RGB", (columns * pitch[0] + _GAP, rows * pitch[1] + _GAP), _BACKGROUND)
    for number, tile in enumerate(tiles):
        row, column = divmod(number, columns)
        _paste(sheet, tile, (column * pitch[0] + _GAP, row * pitch[1] + _GAP), view, lines)
    if max(sheet.size) > _LONGEST_SIDE:
        sheet.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    content = io.BytesIO()
    sheet.save(content, "PNG", optimize=True)
    path = index.folder / SHEET
    try:
        write_atomically(path, lambda file: file.write(content.getvalue()))
    except OSError as error:
        raise CacheError(
            f"it cannot be written ({error.strerror})", "free disk space or check its permissions", subject=str(path)
        ) from error
    return path


def _columns(variants: list[Variant]) -> int:
    """The number of consecutive variants in which only the last key changes."""
    keys = list(variants[0].values)
    others = [[variant.values[key] for key in keys[:-1]] for variant in variants]
    return sum(values == others[0] for values in others) if len(keys) > 1 else min(len(variants), 5)


def _tile(index: Index, variant: Variant, wanted: int | None) -> Tile:
    remark = "" if variant.state == "done" else variant.state
    try:
        cache = open_cache(index.cache(variant))
        there = cache.frames
        number = there[-1] if wanted is None or wanted not in there else wanted
        frame = cache.frame(number)
        dimension = int(cache.manifest.get("dimension", 3))
    except (CacheError, IndexError):
        return Tile(None, variant.label, remark or "no frame")
    if remark or (wanted is not None and number != wanted):
        remark = f"{remark} frame {number}".strip()
    return Tile(frame, variant.label, remark, dimension)


def _paste(sheet: Any, tile: Tile, corner: tuple[int, int], view: View, lines: int) -> None:
    image, drawing, fonts = (require(f"PIL.{name}", "pillow", "drawing it") for name in ("Image", "ImageDraw", "ImageFont"))
    font, draw = fonts.load_default(_FONT_SIZE), drawing.Draw(sheet)
    sheet.paste(image.fromarray(_picture(tile, view)), corner)
    for number, line in enumerate(tile.label.split("\n")):
        place = (corner[0] + 2, corner[1] + _TILE[1] + number * _LINE)
        draw.text(place, _fitting(line, draw, font), font=font, fill=_TEXT_COLOR)
    if tile.remark:
        draw.text((corner[0] + 6, corner[1] + 4), tile.remark, font=font, fill=_BAD_COLOR)


def _fitting(text: str, draw: Any, font: Any) -> str:
    """The text, truncated at the front to the width of a tile, because the value is at its end."""
    full = text
    while text and draw.textlength(text if text == full else "..." + text, font=font) > _TILE[0]:
        text = text[1:]
    return text if text == full else "..." + text


def _picture(tile: Tile, view: View) -> NDArray[np.uint8]:
    if tile.frame is None:
        return np.full((_TILE[1], _TILE[0], 3), _TILE_COLOR, dtype=np.uint8)
    frame = tile.frame
    count = len(frame.position)
    material = frame.attribute("material_index") if "material_index" in frame.attributes else np.zeros(count, dtype=np.int32)
    return draw_points(frame.position, _COLORS[material % len(_COLORS)], _radius(frame), view, _TILE, _TILE_COLOR)


def _radius(frame: Frame) -> float:
    """The radius of a particle's ball [m]."""
    has_size = "scale" in frame.attributes and len(frame.position)
    return 0.7 * float(np.median(frame.attribute("scale"))) if has_size else 0.0
