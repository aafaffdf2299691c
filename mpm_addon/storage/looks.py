"""The look of a material preset in pictures, read from its file."""

from dataclasses import dataclass

from ..core.parameters import parameter

Rgb = tuple[float, float, float]
GROUNDS = {"dark": "almost black", "middle": "gray", "light": "almost white"}


@dataclass(frozen=True)
class Look:
    """A surface, in the terms of Blender's Principled BSDF, and its lighting."""

    label = "The look of a preset"

    color: tuple[float, float, float] = parameter(minimum=0.0, maximum=1.0, help="Linear RGB; the preset's color if not set")
    roughness: float = parameter(0.5, minimum=0.0, maximum=1.0, help="Roughness (mirror 0, dull 1)")
    coat: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Weight of a clear coat, for wet materials")
    metallic: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Weight of metal (1 for metals)")
    transmission: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Weight of transmission (1 is clear)")
    absorption: float = parameter(0.0, minimum=0.0, maximum=1e4, unit="1/m", help="How quickly transmitted light takes on the color")
    subsurface: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Weight of subsurface scattering (snow, wax, skin)")
    ior: float = parameter(1.45, minimum=1.0, maximum=4.0, help="Index of refraction (water 1.33)")
    grain: float = parameter(0.0, minimum=0.0, maximum=4.0, unit="cells", help="Radius of the grains; 0 for materials with a surface")
    smoothing: int = parameter(10, minimum=0, maximum=200, help="Smoothing iterations of the surface")
    bump: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Strength of small bumps on the surface")
    bump_scale: float = parameter(60.0, above=0.0, maximum=1e4, unit="1/m", help="Number of bumps or spots per length")
    spots: tuple[float, float, float] | None = parameter(
        None, minimum=0.0, maximum=1.0, help="Color of spots, such as the pores of a sponge"
    )
    glow: tuple[float, float, float] | None = parameter(None, minimum=0.0, maximum=1.0, help="Color of glowing cracks in the crust")
    emission: float = parameter(0.0, minimum=0.0, maximum=1e3, help="Brightness of the cracks")
    ground: str = parameter("middle", choices=GROUNDS, help="Brightness of the background")
    light: float = parameter(1.0, above=0.0, maximum=10.0, help="Brightness of the lights")
