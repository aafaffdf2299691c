"""Surface tension: a stress along the surface of a fluid, where the share of occupied space falls from 1 to 0.

The continuum surface stress (Brackbill, Kothe and Zemach 1992; Lafaurie et al. 1994) is

    T = sigma (|grad c| I - grad c (x) grad c / |grad c|),

whose divergence is the force of a surface with the tension sigma. It is symmetric and scattered with the other stress of the particles,
so momentum and angular momentum are conserved exactly. c is the mass around a particle over that of a full cell, in which colliders and
other materials count as full; so the surface is where the fluid meets nothing. What follows differs from the sources:

- Particles are only on the inner side of the surface, where c falls from 1 to 1/2. So T is twice as strong there. It begins where c is
  below 1 by `MARGIN`, because inside the fluid grad c is noise; its integral across a flat surface stays sigma.
- The stress also pulls along the normal, `COHERENCE` - 1 times as strongly as along the surface; pressure balances that. Without it,
  nothing pulls back particles that stick out of the surface by less than a cell.
- Relative motion in the surface is damped by a viscosity of `DAMPING` sqrt(rho sigma h) h |grad c|: otherwise ripples at the scale of the
  cells persist.
- In spray, where c does not even reach what it is at a flat surface, there is no surface tension, since no pressure could resist it.
"""

from typing import Any

from numba.extending import overload

from ..arithmetic.operations import constant, generic, maximum, minimum, sqrt
from ..laws.water import LEAST_FULLNESS, TRUSTED_FULLNESS
from .fullness import NOISE
from .scheme import dimension_of

MARGIN = 0.2
COHERENCE = 2.0
DAMPING = 0.35
# prevents a division by zero
LEAST_SQUARE = 1e-20


def with_surface_tension(constants: Any, scheme: Any, stress: Any, velocity_gradient: Any, fullness: Any, around: Any, spacing: Any) -> Any:
    """The stress of a particle with that of surface tension, if the law's constants contain one.

    Args:
        stress: of the law, 6 values [Pa].
        velocity_gradient: 9 values [1/s].
        fullness: see `fullness.fullness`.
        around: mass of the first fluid in the particle's rest volume, the mass that it gathers, its gradient times the cell size (3
            values), and the mass of a full cell [kg].
        spacing: cell size [m].

    Returns:
        Kirchhoff stress, 6 values [Pa].
    """
    raise TypeError("with_surface_tension is for kernels")


@overload(with_surface_tension, jit_options={"forceinline": True})
def _overload_with_surface_tension(constants, scheme, stress, velocity_gradient, fullness, around, spacing):
    def tense(constants, scheme, stress, velocity_gradient, fullness, around, spacing):
        return surface_stress(constants, scheme, stress, velocity_gradient, fullness, around, spacing)

    if "surface_tension" in constants.fields:
        return tense
    return lambda constants, scheme, stress, velocity_gradient, fullness, around, spacing: stress


@generic
def surface_stress(constants, scheme, stress, velocity_gradient, fullness, around, spacing):
    """The sum of the stress and that of surface tension, with the damping of the surface; arguments: see `with_surface_tension`."""
    a, b, c, d, e, f, g, h, i = velocity_gradient
    xx, xy, xz, yy, yz, zz = stress
    mass, mass_around, (x, y, z), full_mass = around
    zero, one = constant(0.0, mass), constant(1.0, mass)
    per_full_mass = 1.0 / full_mass
    occupied, x, y, z = per_full_mass * mass_around, per_full_mass * x, per_full_mass * y, per_full_mass * z
    squared = x * x + y * y + z * z
    slope = sqrt(maximum(zero, squared - (NOISE * per_full_mass) * mass * occupied))
    trusted = minimum(one, maximum(zero, (fullness - LEAST_FULLNESS) * (1.0 / (TRUSTED_FULLNESS - LEAST_FULLNESS))))
    share = minimum(one, maximum(zero, (1.0 - occupied) * (1.0 / MARGIN)))
    pull = (2.0 / (1.0 - MARGIN) * constants.surface_tension / spacing) * (trusted * share * slope)
    normal = pull / maximum(squared, constant(LEAST_SQUARE, mass))
    viscous = (DAMPING * (constants.density * constants.surface_tension * spacing) ** 0.5) * (trusted * slope)
    along = COHERENCE * pull - (2.0 / dimension_of(scheme)) * viscous * (a + e + i)
    return (
        xx + along + 2.0 * viscous * a - normal * x * x, xy + viscous * (b + d) - normal * x * y, xz + viscous * (c + g) - normal * x * z,
        yy + along + 2.0 * viscous * e - normal * y * y, yz + viscous * (f + h) - normal * y * z,
        zz + along + 2.0 * viscous * i - normal * z * z,
    )  # fmt: skip
