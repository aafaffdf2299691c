"""Puts rendered frames together: a contact sheet and a GIF."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

_MARGIN = 8


def contact_sheet(frames: Sequence[Path], numbers: Sequence[int], target: Path, *, columns: int = 2) -> None:
    """Write pictures of one size side by side, each with the number of its frame in the lower left corner."""
    pictures = [_opened(path) for path in frames]
    width, height = pictures[0].size
    rows = -(-len(pictures) // columns)
    sheet = Image.new("RGB", (columns * width, rows * height))
    for place, (picture, number) in enumerate(zip(pictures, numbers, strict=True)):
        row, column = divmod(place, columns)
        sheet.paste(picture, (column * width, row * height))
        at = (column * width + _MARGIN, (row + 1) * height - _MARGIN)
        ImageDraw.Draw(sheet).text(at, f"frame {number}", font=ImageFont.load_default(16), anchor="lb", fill="white")
    sheet.save(target, optimize=True)


def animation(frames: Sequence[Path], target: Path, *, seconds_per_frame: float) -> None:
    """Write pictures as a GIF that repeats for ever, all in the same 256 colours, so that what rests does not flicker."""
    pictures = [_opened(path) for path in frames]
    width, height = pictures[0].size
    strip = Image.new("RGB", (width, len(pictures) * height))
    for number, picture in enumerate(pictures):
        strip.paste(picture, (0, number * height))
    palette = strip.quantize(256, method=Image.Quantize.MAXCOVERAGE)
    indexed = [picture.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG) for picture in pictures]
    indexed[0].save(target, save_all=True, append_images=indexed[1:], duration=round(1000 * seconds_per_frame), loop=0)


def write_small(source: Path, target: Path, *, quality: int, size: tuple[int, int] | None = None) -> None:
    """Write a picture as a JPEG for a page."""
    target.parent.mkdir(parents=True, exist_ok=True)
    picture = _opened(source)
    picture = picture if size is None else picture.resize(size, Image.Resampling.LANCZOS)
    picture.save(target, quality=quality, optimize=True)


def _opened(path: Path) -> Image.Image:
    with Image.open(path) as picture:
        return picture.convert("RGB")
