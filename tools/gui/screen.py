"""Reads the virtual screen, which Xvfb writes to a file in xwd format."""

import struct
from pathlib import Path

from PIL import Image

_HEADER = struct.Struct(">25I")


def read_screen(path: Path) -> Image.Image:
    """Returns the picture in an xwd file of 32 bits a pixel. Raises ValueError for other formats."""
    content = path.read_bytes()
    fields = _HEADER.unpack_from(content)
    header_size, version, width, height = fields[0], fields[1], fields[4], fields[5]
    bits, line_bytes, color_count = fields[11], fields[12], fields[19]
    if version != 7 or bits != 32:
        raise ValueError(f"{path.name}: xwd version {version} with {bits} bits a pixel; expected 7 and 32")
    start = header_size + 12 * color_count
    return Image.frombuffer("RGB", (width, height), content[start : start + line_bytes * height], "raw", "BGRX", line_bytes, 1)
