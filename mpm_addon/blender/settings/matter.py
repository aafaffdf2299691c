"""What matter looks like: the surface of each named material, else of its law, and how it is shown best. Knows nothing of Blender."""

from typing import NamedTuple

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


_PLAIN = Finish(mode=SPHERES)
_SAND = Finish(mode=GRAINS, roughness=0.95, variation=0.55)
_SNOW = Finish(mode=GRAINS, roughness=0.75, subsurface=0.6, variation=0.08, flatness=0.45)
_JELLY = Finish(roughness=0.12, transmission=0.55, ior=1.36, subsurface=0.35, coat=0.3)

_BY_LAW = {
    "water": Finish(roughness=0.02, transmission=1.0, ior=1.333),
    "snow": _SNOW,
    "sand": _SAND,
    "neo_hookean": _JELLY,
    "corotated": _JELLY,
    "damped_elastic": _JELLY,
    "von_mises": Finish(roughness=0.6, bump=0.2),
    "viscoplastic": Finish(roughness=0.3, coat=0.4),
    "stress_free": _PLAIN,
}
_BY_PRESET = {
    "honey": Finish(roughness=0.04, transmission=0.75, ior=1.49, subsurface=0.25, coat=0.5),
    "wet_snow": _SNOW._replace(roughness=0.5, flatness=0.3),
    "icy_snow": _SNOW._replace(roughness=0.35, flatness=0.2, coat=0.3),
    "wet_sand": _SAND._replace(roughness=0.6, variation=0.35),
    "gravel": _SAND._replace(roughness=0.8, variation=0.7),
    "rubber": Finish(roughness=0.55),
    "sponge": Finish(roughness=0.95, bump=0.8),
    "metal": Finish(roughness=0.28, metallic=1.0),
    "lava": Finish(roughness=0.7, emission=6.0, bump=0.5),
    "mud": Finish(roughness=0.35, coat=0.3, bump=0.4),
    "fresh_concrete": Finish(roughness=0.7, bump=0.5),
    "cream": Finish(roughness=0.35, subsurface=0.5),
    "foam": Finish(roughness=0.8, subsurface=0.6),
    "ketchup": Finish(roughness=0.18, subsurface=0.15, coat=0.5),
    "clay": Finish(roughness=0.75, bump=0.3),
    "dough": Finish(roughness=0.6, subsurface=0.25, bump=0.1),
}


def finish_of(law: str, material: str) -> Finish:
    """The finish of a named material, else of its law; a plain one where neither is known."""
    return _BY_PRESET.get(material) or _BY_LAW.get(law, _PLAIN)
