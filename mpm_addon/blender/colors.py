"""The colours in which materials are shown until the artist chooses. Linear RGBA."""

import zlib

import numpy as np

Color = tuple[float, float, float, float]

_BY_PRESET: dict[str, Color] = {
    "honey": (0.85, 0.40, 0.03, 1.0),
    "mud": (0.16, 0.08, 0.04, 1.0),
    "lava": (0.90, 0.12, 0.01, 1.0),
}
_BY_LAW: dict[str, Color] = {
    "water": (0.05, 0.25, 0.80, 1.0),
    "neo_hookean": (0.10, 0.55, 0.12, 1.0),
    "corotated": (0.75, 0.05, 0.06, 1.0),
    "snow": (0.86, 0.90, 0.95, 1.0),
    "sand": (0.70, 0.48, 0.22, 1.0),
}


def material_color(law: str, preset: str = "") -> Color:
    """The colour of a preset, else of its law; a law that is not in the table gets one made from its name."""
    for word, colors in ((preset, _BY_PRESET), (law, _BY_LAW)):
        if word in colors:
            return colors[word]
    turn = 2.0 * np.pi * (zlib.crc32(law.encode()) / 2**32 + np.array([0.0, 1.0 / 3.0, 2.0 / 3.0]))
    red, green, blue = (float(value) for value in 0.4 + 0.35 * np.cos(turn))
    return red, green, blue, 1.0
