"""The surface of each named material, else of its law. Knows nothing of Blender."""

from ...core.laws import LAWS
from ...core.laws.finish import PLAIN, Finish

_SAND, _SNOW = LAWS["sand"].finish, LAWS["snow"].finish

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
    known = LAWS.get(law)
    return _BY_PRESET.get(material) or (PLAIN if known is None else known.finish)
