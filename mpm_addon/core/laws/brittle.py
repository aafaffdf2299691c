"""Brittle elasticity: material that cracks where it is pulled too hard (glass, ice, ceramic, concrete, wood).

On Hencky strain, with the criterion of Rankine (1858): material cracks across its largest principal stress. The strength that is left falls
linearly with the opening of the crack, until the energy of fracture per area is spent (Hillerborg, Modeer and Petersson 1976). The opening
is spread over the width of a cell, so that this energy is the same for any cell size (crack band, Bazant and Oh 1983); cells too large to
hold the energy of fracture at full strength crack at a lower stress. Only tension is limited: compression neither cracks the material
nor is it weakened by cracks.

Fibers make it weaker across their direction than along it, by the formula of Hankinson (1921).
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..arithmetic.operations import constant, exp, generic, maximum, minimum, select
from ..errors import SceneError
from ..parameters import parameter
from .elasticity import LEAST_VOLUME_RATIO, ElasticLaw
from .factors import Factors
from .finish import Finish
from .hencky import hencky_strain, principal_energy, principal_stress, wave_speed_squared
from .law import DirectedLaw

# The width of the strip that takes the energy of a crack [cells]. The strain around a crack between two nodes is that of a hat as wide as
# two cells; once the first particles are cracked, all have taken as much as a strip of 1.25 to 1.56 cells.
BAND_WIDTH = 1.4
# The least opening at which a crack is free of stress, over the strain at full strength times the width: softening faster than this is
# unstable, because what is around the crack returns more energy than it takes.
LEAST_OPENING = 2.0


class BrittleConstants(NamedTuple):
    mu: float
    lam: float
    density: float
    strength: float
    softening: float
    across: float
    fiber_x: float
    fiber_y: float
    fiber_z: float
    trace_share: float
    depth: float


@generic
def project(constants: BrittleConstants, s: Any, alignment: Any, state: Any, dt: Any) -> Any:
    """Limit principal stresses to what is left of the strength; the state is the damage, the share of the opening of a complete crack.

    With an excess x of the trial stress over the limit f (1 - d), the damage grows by x / (E k - f), where k is the strain of a complete
    crack, so that the limit is met at its end. Components below the limit keep their stress.
    """
    (damage,) = state
    zero, one = constant(0.0, damage), constant(1.0, damage)
    e0, e1, e2 = hencky_strain(s)
    pressure, twice = constants.lam * (e0 + e1 + e2), 2.0 * constants.mu
    t0, t1, t2 = twice * e0 + pressure, twice * e1 + pressure, twice * e2 + pressure
    w0, w1, w2 = strength_shares(constants, alignment)
    # in 2D nothing cracks along y
    peak = maximum(maximum(t0 / w0, t1 / w1), select(constants.depth + zero > 0.0, t2 / w2, t0 / w0))
    excess = peak - constants.strength * (1.0 - damage)
    is_elastic = excess <= 0.0
    damage = select(is_elastic, damage, minimum(damage + constants.softening * excess, one))
    limit = constants.strength * (1.0 - damage)
    c0, c1, c2 = minimum(t0, w0 * limit), minimum(t1, w1 * limit), minimum(t2, w2 * limit)
    volumetric, compliance = constants.lam * constants.trace_share * (c0 + c1 + constants.depth * c2), 1.0 / twice
    s0, s1, s2 = s
    return (
        select(is_elastic, s0, exp(compliance * (c0 - volumetric))),
        select(is_elastic, s1, exp(compliance * (c1 - volumetric))),
        select(is_elastic, s2, exp(constants.depth * compliance * (c2 - volumetric))),
    ), (damage,)


@generic
def strength_shares(constants: BrittleConstants, alignment: Any) -> Any:
    """The strengths along the principal axes over that along the fibers: 1 / (cos^2 + sin^2 / across) (Hankinson 1921)."""
    across = constants.across
    a0, a1, a2 = alignment
    return across / (across * a0 + (1.0 - a0)), across / (across * a1 + (1.0 - a1)), across / (across * a2 + (1.0 - a2))


@dataclass(frozen=True)
class Brittle(DirectedLaw, ElasticLaw):
    """Parameters of brittle solids.

    Attributes:
        cell_size: the cells over which cracks are spread [m]; `on_grid` sets it.
    """

    name = "brittle"
    label = "Brittle Solid"
    help = "Cracks and shatters into pieces (glass, ice, ceramic, concrete, wood)"
    state_names = ("damage",)
    virgin_state = (0.0,)
    scalable = ("density", "stiffness", "strength")
    least_volume_ratio = LEAST_VOLUME_RATIO
    family = "Brittle"
    color = (0.75, 0.72, 0.66, 1.0)
    finish = Finish(own_mesh=True, roughness=0.4)
    constants_type = BrittleConstants
    project = staticmethod(project)
    principal_stress = staticmethod(principal_stress)
    principal_energy = staticmethod(principal_energy)
    wave_speed_squared = staticmethod(wave_speed_squared)

    cell_size: float = field(default=0.01, kw_only=True)

    density: float = parameter(2400.0, unit="kg/m^3", above=0.0, help="Mass per volume (wood 600, ice 917, concrete 2400, glass 2500)")
    young_modulus: float = parameter(
        2.0e7,
        unit="Pa",
        above=0.0,
        help="Stiffness; higher values bake slower, and with the same strength crack at less strain (biscuit 3e6, glass 2e7)",
    )
    poisson_ratio: float = parameter(0.2, minimum=0.0, below=0.5, help="How much the material bulges sideways under compression (0.2)")
    tensile_strength: float = parameter(
        3.0e5,
        unit="Pa",
        above=0.0,
        help="Tension at which the material cracks; higher values survive harder impacts (biscuit 3e4, glass 4e5)",
    )
    fracture_energy: float = parameter(
        100.0,
        unit="J/m^2",
        above=0.0,
        help="Energy per area of a crack; higher values give fewer and larger pieces (biscuit 10, glass 110, wood 1300)",
    )
    grain_strength: float = parameter(
        1.0, above=0.0, maximum=1.0, help="Strength across the grain, relative to that along it (1 has no grain, wood 0.1)"
    )
    grain_direction: tuple[float, float, float] = parameter(
        (0.0, 0.0, 1.0), help="Direction of the grain where the material is emitted, if it has one; any length (0, 0, 1 is up)"
    )
    rigid_share: float = parameter(
        0.8,
        minimum=0.0,
        maximum=1.0,
        help="Pieces up to this share of their body become rigid once they have broken off and no longer vibrate, and whole emitters are "
        "rigid until something could break them, which bakes much faster; rigid pieces break no further (0 keeps everything soft)",
    )
    restitution: float = parameter(
        0.3, minimum=0.0, maximum=1.0, help="Bounciness of rigid pieces: speed after an impact over that before (wood 0.3, glass 0.5)"
    )

    def check(self, subject: str) -> None:
        super().check(subject)
        if math.hypot(*self.grain_direction) == 0.0:
            raise SceneError("`grain_direction` has no length", "use a direction such as (0, 0, 1)", subject=subject)

    @classmethod
    def idle(cls, values: Any) -> frozenset[str]:
        grain = {"grain_direction"} if values.grain_strength == 1.0 else set()
        return frozenset(grain | ({"restitution"} if values.rigid_share == 0.0 else set()))

    @property
    def breaks(self) -> bool:
        return True

    def scaled(self, factors: Factors) -> "Brittle":
        """Strength scales the tensile strength, but not the energy of fracture."""
        return replace(self, tensile_strength=factors.strength * self.tensile_strength)

    def on_grid(self, spacing: float) -> "Brittle":
        return replace(self, cell_size=spacing)

    def strength_in_cells(self, stiffness_scale: float = 1.0) -> float:
        """The strength of material in cells of this size [Pa]: at most sqrt(E G / h), where a crack opens as steeply as possible."""
        greatest = 2.0 * self.young_modulus * stiffness_scale * self.fracture_energy / (LEAST_OPENING * BAND_WIDTH * self.cell_size)
        return min(self.tensile_strength, math.sqrt(greatest))

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> BrittleConstants:
        mu, lam = self.lame(stiffness_scale)
        strength = self.strength_in_cells(stiffness_scale)
        # that of a bar whose sides are free, in plane strain if in 2D
        modulus = 4.0 * mu * (lam + mu) / (lam + 2.0 * mu) if dimension == 2 else self.young_modulus * stiffness_scale
        opening = 2.0 * self.fracture_energy / (strength * BAND_WIDTH * self.cell_size)
        length = math.hypot(*self.grain_direction)
        fiber_x, fiber_y, fiber_z = (part / length for part in self.grain_direction)
        return BrittleConstants(
            mu,
            lam,
            self.density,
            strength,
            1.0 / (modulus * opening - strength),
            self.grain_strength,
            fiber_x,
            fiber_y,
            fiber_z,
            1.0 / (2.0 * mu + dimension * lam),
            float(dimension == 3),
        )
