"""How each material preset looks in its picture. Knows nothing of Blender."""

from __future__ import annotations

from dataclasses import dataclass

Color = tuple[float, float, float]


@dataclass(frozen=True)
class Look:
    """A look.

    Attributes:
        color: linear RGB.
        tone: of the floor: dark, middle or light.
        grain: radius of a particle that is shown as a grain [cells]; 0 shows the surface around all particles.
        smoothing: how often the surface is smoothed.
        transmission, absorption: light that goes through, and the density of the colour inside [1/m].
        spots, glow, glowing: a second colour in spots; the colour of cracks, and how bright they are.
        light: brightness of the lamps.
    """

    color: Color
    tone: str = "middle"
    roughness: float = 0.5
    coat: float = 0.0
    metallic: float = 0.0
    transmission: float = 0.0
    absorption: float = 0.0
    subsurface: float = 0.0
    refraction: float = 1.45
    grain: float = 0.0
    smoothing: int = 10
    bump: float = 0.0
    bump_scale: float = 60.0
    spots: Color | None = None
    glow: Color = (0.0, 0.0, 0.0)
    glowing: float = 0.0
    light: float = 1.0


def _snow(color: Color, grain: float) -> Look:
    return Look(color, "dark", roughness=0.8, subsurface=0.4, grain=grain)


LOOKS: dict[str, Look] = {
    "water": Look((0.25, 0.62, 0.88), "light", 0.02, transmission=1.0, absorption=9.0, refraction=1.33, smoothing=6),
    "honey": Look((0.95, 0.50, 0.02), "light", 0.06, transmission=0.8, absorption=14.0, refraction=1.2, coat=0.6, smoothing=40),
    "ketchup": Look((0.52, 0.015, 0.008), "light", 0.16, coat=0.7, subsurface=0.15, smoothing=8),
    "cream": Look((0.93, 0.87, 0.74), "middle", 0.4, subsurface=0.5, smoothing=6),
    "foam": Look((0.85, 0.92, 0.97), "middle", 0.75, subsurface=0.6, bump=0.25, bump_scale=140.0, smoothing=4),
    "mud": Look((0.13, 0.075, 0.035), "light", 0.3, coat=0.5, bump=0.25, bump_scale=50.0),
    "lava": Look((0.03, 0.02, 0.018), "dark", 0.8, glow=(1.0, 0.16, 0.01), glowing=7.0, spots=(1.0, 0.2, 0.0), bump_scale=22.0, light=0.6),
    "fresh_concrete": Look((0.36, 0.36, 0.35), "light", 0.7, bump=0.7, bump_scale=70.0, spots=(0.22, 0.22, 0.21), smoothing=3),
    "dough": Look((0.86, 0.68, 0.42), "middle", 0.6, subsurface=0.35, smoothing=16),
    "clay": Look((0.50, 0.19, 0.09), "light", 0.65, bump=0.15, bump_scale=30.0, smoothing=12),
    "metal": Look((0.50, 0.52, 0.56), "middle", 0.28, metallic=1.0, smoothing=14),
    "sponge": Look((0.92, 0.68, 0.08), "middle", 0.9, bump=1.0, bump_scale=42.0, spots=(0.42, 0.25, 0.02), smoothing=6),
    "jelly": Look((0.95, 0.05, 0.07), "light", 0.05, transmission=0.85, absorption=9.0, refraction=1.25, smoothing=14),
    "gelatin": Look((0.22, 0.86, 0.14), "light", 0.05, transmission=0.85, absorption=9.0, refraction=1.25, smoothing=14),
    "rubber": Look((0.018, 0.018, 0.02), "light", 0.45, smoothing=14, light=1.5),
    "dry_sand": Look((0.74, 0.50, 0.22), "dark", 0.9, grain=0.36),
    "fine_sand": Look((0.88, 0.76, 0.52), "dark", 0.9, grain=0.28),
    "wet_sand": Look((0.34, 0.20, 0.09), "light", 0.7, grain=0.36, coat=0.1),
    "gravel": Look((0.42, 0.40, 0.37), "dark", 0.8, grain=0.95),
    "snow": _snow((0.90, 0.94, 1.0), 0.42),
    "powder_snow": _snow((0.95, 0.97, 1.0), 0.33),
    "wet_snow": Look((0.86, 0.91, 0.97), "dark", 0.45, subsurface=0.4, coat=0.3, bump=0.5, bump_scale=70.0, smoothing=3),
    "icy_snow": Look((0.62, 0.84, 0.98), "dark", 0.15, transmission=0.35, subsurface=0.2, coat=0.6, grain=0.5),
}
