"""What matter looks like until an artist chooses: a surface, how it is shown best, and a color. Knows nothing of Blender."""

import math
import zlib
from typing import NamedTuple

Color = tuple[float, float, float, float]

POINTS, SPHERES, GRAINS, SURFACE, HIDDEN = "points", "spheres", "grains", "surface", "hidden"


class Finish(NamedTuple):
    """A surface, in the terms of Blender's Principled BSDF.

    Attributes:
        mode: how renders show it.
        roughness, coat: the gloss; `coat` is the weight of a clear coat.
        transmission, ior: how much light goes through, and how it is bent.
        subsurface: how much light is scattered inside.
        metallic, emission: weight of a metal, and strength of its glow.
        variation: how much grains differ in brightness.
        flatness: of grains: 0 stones, 0.7 flakes.
        bump: strength of small bumps on a surface.
    """

    mode: str = SURFACE
    roughness: float = 0.5
    coat: float = 0.0
    transmission: float = 0.0
    ior: float = 1.45
    subsurface: float = 0.0
    metallic: float = 0.0
    emission: float = 0.0
    variation: float = 0.0
    flatness: float = 0.0
    bump: float = 0.0


PLAIN = Finish(mode=SPHERES)
JELLY = Finish(roughness=0.12, transmission=0.55, ior=1.36, subsurface=0.35, coat=0.3)


def color_of_name(name: str) -> Color:
    """A color made from a name, linear RGBA: always the same, and another for another name."""
    turn = zlib.crc32(name.encode()) / 2**32
    red, green, blue = (0.4 + 0.35 * math.cos(2.0 * math.pi * (turn + third)) for third in (0.0, 1.0 / 3.0, 2.0 / 3.0))
    return red, green, blue, 1.0
