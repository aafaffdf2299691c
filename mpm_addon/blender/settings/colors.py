"""The colours in which materials are shown until the artist chooses. Linear RGBA."""

import zlib

import numpy as np

Color = tuple[float, float, float, float]

_BY_LAW: dict[str, Color] = {
    "water": (0.05, 0.25, 0.80, 1.0),
    "neo_hookean": (0.10, 0.55, 0.12, 1.0),
    "corotated": (0.75, 0.05, 0.06, 1.0),
    "snow": (0.86, 0.90, 0.95, 1.0),
    "sand": (0.70, 0.48, 0.22, 1.0),
}


def material_color(law: str) -> Color:
    """The colour of a law, of materials without one of their own; a law that is not in the table gets one made from its name."""
    if law in _BY_LAW:
        return _BY_LAW[law]
    turn = 2.0 * np.pi * (zlib.crc32(law.encode()) / 2**32 + np.array([0.0, 1.0 / 3.0, 2.0 / 3.0]))
    red, green, blue = (float(value) for value in 0.4 + 0.35 * np.cos(turn))
    return red, green, blue, 1.0
