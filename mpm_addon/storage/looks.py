"""What a material preset looks like in pictures: declared once, read from its file."""

from dataclasses import dataclass

from ..core.parameters import parameter

Rgb = tuple[float, float, float]
GROUNDS = {"dark": "almost black", "middle": "gray", "light": "almost white"}


@dataclass(frozen=True)
class Look:
    """A surface in the terms of Blender's Principled BSDF, and how it is shown best."""

    label = "The look of a preset"

    color: tuple[float, float, float] = parameter(minimum=0.0, maximum=1.0, help="Linear RGB; the preset's color where it is left out")
    roughness: float = parameter(0.5, minimum=0.0, maximum=1.0, help="0 mirrors, 1 is dull")
    coat: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Weight of a clear coat: wet matter has one")
    metallic: float = parameter(0.0, minimum=0.0, maximum=1.0, help="1 for metals")
    transmission: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Share of the light that goes through: 1 is clear")
    absorption: float = parameter(0.0, minimum=0.0, maximum=1e4, unit="1/m", help="How fast light that goes through takes on the color")
    subsurface: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Share of the light that is scattered inside: snow, wax, skin")
    ior: float = parameter(1.45, minimum=1.0, maximum=4.0, help="Index of refraction: 1.33 for water")
    grain: float = parameter(
        0.0, minimum=0.0, maximum=4.0, unit="cells", help="Radius of a grain, for matter that is shown as grains; 0 for one with a surface"
    )
    smoothing: int = parameter(10, minimum=0, maximum=200, help="How often the surface is smoothed")
    bump: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Strength of small bumps on the surface")
    bump_scale: float = parameter(60.0, above=0.0, maximum=1e4, unit="1/m", help="How many bumps or spots there are on a length")
    spots: tuple[float, float, float] | None = parameter(None, minimum=0.0, maximum=1.0, help="Color of spots: pores of a sponge")
    glow: tuple[float, float, float] | None = parameter(None, minimum=0.0, maximum=1.0, help="Color of cracks that glow in the crust")
    emission: float = parameter(0.0, minimum=0.0, maximum=1e3, help="Brightness of these cracks")
    variation: float | None = parameter(None, minimum=0.0, maximum=1.0, help="Variation of the brightness of grains; the law's if not set")
    flatness: float | None = parameter(None, minimum=0.0, maximum=1.0, help="Shape of grains: 0 stones, 0.7 flakes; the law's if not set")
    ground: str = parameter("middle", choices=GROUNDS, help="How bright the ground is before which it shows best")
    light: float = parameter(1.0, above=0.0, maximum=10.0, help="Brightness of the lamps in which it shows best")
