"""How long substeps may be for the viscosity of bodies whose forces come from their rest state.

At rest, viscosity changes the velocities of rest nodes by M dv/dt = -A v, and substeps of forward Euler are stable while dt times the
greatest eigenvalue of M^-1 A is less than 2. It depends on where the particles lie among the nodes, which never changes, so it is
measured once, with the kernel of the substeps itself (power iteration): 1.5 / h^2 times the kinematic viscosity of compression waves
inside of a body, 3 to 4.5 at its surface, where nodes are light, and 4 d only for particles that are alone in d dimensions.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..transfer.blocks import NODE, Grid
from ..transfer.rest_grid import RestGrid
from ..transfer.rest_strain import LINEAR_SHARE, MOST_VISCOUS, ONSET, QUADRATIC_SHARE, Strain
from .material_instances import MaterialInstance

Floats = NDArray[np.float64]
# Steps of the power iteration; after 24, it is within a twentieth of the greatest eigenvalue.
ROUNDS = 24
# A substep may be as long as this over the greatest eigenvalue; at 2, it would be unstable.
STABLE = 1.75
# The speed of the modes that are measured, times density and spacing [Pa s]: so slow that viscosity in compression is negligible.
SLOW = 1e-6
# The share of elasticity in materials that are measured, which must be negligible, too.
SOFT = 1e-9


class Response(NamedTuple):
    """The greatest values among the particles of an instance: wave speed [m/s], |L| [1/s], and J / s^2 with the least stretch s."""

    wave_speed: float
    gradient: float
    crowding: float


class ViscousModes:
    """The fastest modes of the viscosity of each part of the bodies.

    Attributes:
        shear: (parts,) the greatest eigenvalues with tau = D [Pa], that is, with a shear viscosity of half a Pa s [1/s].
        bulk: (parts,) those with tau = tr(D) I [Pa].
    """

    def __init__(self, spacing: float, shear: Floats, bulk: Floats) -> None:
        self._spacing, self.shear, self.bulk = spacing, shear, bulk

    @classmethod
    def of(cls, grid: RestGrid, instances: Sequence[MaterialInstance], strain: Callable[[Strain, Any, Grid], Any]) -> "ViscousModes":
        """Measure them.

        Args:
            grid: the nodes; what is in the table of its particles is lost.
            instances: the material instances in the world.
            strain: called for each instance of the bodies with what to do, its constants and its nodes; scatters forces.
        """
        none = np.zeros(len(grid.parts))
        ours = [(number, instances[world]) for number, world in enumerate(grid.parts.instances) if instances[world].law.uses_rest_state]
        # the bodies may be yet to come, or gone
        if not len(grid.mass) or not any(max(instance.law.viscosities()) > 0.0 for _, instance in ours):
            return cls(grid.spacing, none, none)
        mass, part = grid.mass[..., None], grid.store.layout.node_fields
        resting, moving = np.zeros_like(grid.store.nodes), np.zeros_like(grid.store.nodes)
        motion = moving[: len(mass)].reshape(len(mass), -1, NODE)[..., :3]
        heaviest = max(instance.law.density for _, instance in ours)

        def size(mode: Floats) -> Floats:
            """The root of the kinetic energy of each part, up to a factor."""
            return np.sqrt(np.bincount(part, (mass * mode * mode).sum(axis=(1, 2)), len(none)))

        def fastest(mu: float, lam: float) -> Floats:
            # always the same, so that a resumed bake has the same substeps
            mode, rate = np.random.default_rng(0).normal(size=motion.shape), none
            for _ in range(ROUNDS):
                mode *= np.divide(1.0, size(mode), where=size(mode) > 0.0, out=np.zeros(len(none)))[part, None, None]
                scale = SLOW / (heaviest * grid.spacing * max(np.abs(mode).max(initial=0.0), 1e-300))
                motion[:] = scale * mode
                for number, instance in ours:
                    nodes = grid.strain_grid(grid.store.field_of_instance[number])._replace(nodes=resting, nodes_before=moving)
                    strain(Strain(number, 0.0, is_shown=False), _viscous(instance.constants, mu, lam), nodes)
                mode = grid.summed()[..., :3] / scale
                rate = size(mode)
            return rate

        return cls(grid.spacing, fastest(0.5 * SOFT, 0.0), fastest(0.0, SOFT))

    def longest_step(self, part: int, instance: MaterialInstance, response: Response) -> float:
        """The longest stable substep of an instance [s]; infinite without viscosity.

        Matter that is compressed to a stretch s is J / s^2 times as viscous at the rest nodes, up to `MOST_VISCOUS`, and viscosity in
        compression adds to that of the law; see `rest_strain`. With elastic modes of the frequency w, symplectic Euler is stable while
        r dt + (w dt)^2 / 2 < 2 for damping at the rate r.
        """
        law, spacing = instance.law, self._spacing
        shear, bulk = law.viscosities(instance.stiffness_scale)
        if shear <= 0.0 and bulk <= 0.0:
            return math.inf
        wave_speed, gradient, crowding = response
        fastest = max(self.shear[part], self.bulk[part])
        closing = spacing * gradient
        cushion = law.density * spacing * (min(LINEAR_SHARE * wave_speed, ONSET * closing) + QUADRATIC_SHARE * closing)
        rate = min(crowding, MOST_VISCOUS) * (2.0 * shear * self.shear[part] + bulk * self.bulk[part]) + fastest * cushion
        if rate <= 0.0:
            return math.inf
        squared = fastest * law.density * wave_speed**2
        return 2.0 * STABLE / (rate + math.sqrt(rate**2 + 2.0 * STABLE * squared))


def _viscous(constants: Any, mu: float, lam: float) -> Any:
    """The constants of a law with other viscosities [Pa s], and hardly any elasticity; the same for a law without viscosity."""
    if not hasattr(constants, "damping_time"):
        return constants
    return constants._replace(mu=mu, lam=lam, damping_time=1.0 / SOFT)
