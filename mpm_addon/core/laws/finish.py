"""The default look of a law: surface, display mode and color. Knows nothing of Blender."""

import math
import zlib
from dataclasses import dataclass

from ..parameters import parameter

Color = tuple[float, float, float, float]

POINTS, SPHERES, GRAINS, SURFACE, MESH, HIDDEN = "points", "spheres", "grains", "surface", "mesh", "hidden"


@dataclass(frozen=True)
class Finish:
    """The surface of particles in Blender, in the terms of its Principled BSDF."""

    label = "The finish of a preset"

    mode: str = parameter(
        SURFACE,
        choices={POINTS: "Points", SPHERES: "Spheres", GRAINS: "Grains that turn and stretch", SURFACE: "One smooth surface"},
        help="How the particles are rendered",
    )
    own_mesh: bool = parameter(False, help="Whether the emitter's own mesh, where it can follow the particles, is rendered instead")
    roughness: float = parameter(0.5, minimum=0.0, maximum=1.0, help="Roughness (mirror 0, dull 1)")
    coat: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Weight of a clear coat, for wet materials")
    transmission: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Weight of transmission (1 is clear)")
    absorption_depth: float = parameter(
        0.0,
        unit="m",
        minimum=0.0,
        maximum=1e3,
        help="Depth over which light takes on the color of a clear material; 0 colors its surface instead (water 0.7)",
    )
    ior: float = parameter(1.45, minimum=1.0, maximum=4.0, help="Index of refraction (water 1.33)")
    subsurface: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Weight of subsurface scattering (snow, wax, skin)")
    metallic: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Weight of metal (1 for metals)")
    emission: float = parameter(0.0, minimum=0.0, maximum=1e3, help="Strength of emission in the material's color")
    crust: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Fraction of a glowing surface that has cooled to a dark crust (lava 0.5)")
    variation: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Variation of the brightness of grains")
    grain_size: float = parameter(
        0.0,
        unit="m",
        minimum=0.0,
        maximum=1.0,
        help="Size of the grains that a surface shows as bumps and brightness (0 shows none, damp sand 0.004), or smallest size of those "
        "that are shown one by one (0 sets no limit, gravel 0.012)",
    )
    flatness: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Flatness of grains (stones 0, flakes 0.7)")
    bump: float = parameter(0.0, minimum=0.0, maximum=1.0, help="Strength of small bumps on the surface")
    inside_roughness: float = parameter(
        0.85, minimum=0.0, maximum=1.0, help="Roughness of faces where the material has torn or broken (glass 0.03, ice 0.45, stone 1)"
    )
    inside_brightness: float = parameter(
        0.85,
        minimum=0.0,
        maximum=4.0,
        help="Brightness of these faces relative to the outside (raw clay below a white glaze 0.6, a toasted biscuit 1.4)",
    )

    @property
    def is_textured(self) -> bool:
        """Whether a surface shows a texture that moves with the material."""
        return max(self.bump, self.crust, self.texture_size) > 0.0

    @property
    def texture_size(self) -> float:
        """The size of the grains that a surface shows as a texture [m]; 0 for material whose grains are shown one by one."""
        return self.grain_size if self.mode == SURFACE else 0.0


PLAIN = Finish(mode=SPHERES)
# Wet outside, and cloudy inside: light that passes is bent at a rough face, and reflections are those of a smooth coat.
JELLY = Finish(
    own_mesh=True,
    roughness=0.38,
    coat=0.8,
    transmission=0.85,
    absorption_depth=0.03,
    ior=1.36,
    subsurface=1.0,
    inside_roughness=0.6,
    inside_brightness=1.0,
)


def color_of_name(name: str) -> Color:
    """A color derived from a name, linear RGBA: the same name always gives the same color."""
    turn = zlib.crc32(name.encode()) / 2**32
    red, green, blue = (0.4 + 0.35 * math.cos(2.0 * math.pi * (turn + third)) for third in (0.0, 1.0 / 3.0, 2.0 / 3.0))
    return red, green, blue, 1.0
