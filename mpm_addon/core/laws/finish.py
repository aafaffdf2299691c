"""The default look of a law: surface, display mode and color. Knows nothing of Blender."""

import math
import zlib
from typing import NamedTuple

Color = tuple[float, float, float, float]

POINTS, SPHERES, GRAINS, SURFACE, HIDDEN = "points", "spheres", "grains", "surface", "hidden"


class Finish(NamedTuple):
    """A surface, in the terms of Blender's Principled BSDF.

    Attributes:
        mode: how it is rendered.
        roughness, coat: roughness, and weight of a clear coat.
        transmission, ior: weight of transmission, and index of refraction.
        subsurface: weight of subsurface scattering.
        metallic, emission: weight of metal, and strength of emission.
        variation: how much grains differ in brightness.
        flatness: flatness of grains (stones 0, flakes 0.7).
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
    """A color derived from a name, linear RGBA: the same name always gives the same color."""
    turn = zlib.crc32(name.encode()) / 2**32
    red, green, blue = (0.4 + 0.35 * math.cos(2.0 * math.pi * (turn + third)) for third in (0.0, 1.0 / 3.0, 2.0 / 3.0))
    return red, green, blue, 1.0
