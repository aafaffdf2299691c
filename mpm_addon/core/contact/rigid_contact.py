"""Contacts of rigid bodies with walls, colliders and one another; `contact_search` finds them, and `rigid_impulses` the impulses.

A contact lets a gap close within a substep, but not turn into an overlap, unless the pair has restitution; bodies that still overlap are
moved apart without gaining velocity.
"""

from typing import NamedTuple

import numpy as np

from .obstacle import Floats, Ints
from .rigid_impulses import SolverBodies, SweepLimits, solve_contacts

# how long contacts are solved: in general, while bodies move, and to move them apart, which the next substep goes on with
AFFORDABLE, MOST, ENOUGH = 8_000, 500_000, 1e-4
PRECISE = SweepLimits(AFFORDABLE, MOST, MOST, ENOUGH, 0.0)
MOVING, VISIBLE = 50_000, 1e-2
APART = SweepLimits(0, 30_000, 30_000, 1e-2, 0.0)
# the share of an overlap that is corrected in a substep, and the overlap that is left, relative to the radius of gyration: bodies at rest
# would otherwise move forever
RECOVERY, SLACK = 0.2, 1e-4
# the gaps that are kept open meanwhile, relative to the greatest correction
NEIGHBORS = 10.0


def while_moving(gained: float) -> SweepLimits:
    """How long contacts are solved in a substep in which gravity adds a speed [m/s]."""
    return SweepLimits(AFFORDABLE, MOVING, MOST, ENOUGH, VISIBLE * gained)


class Contacts(NamedTuple):
    """Contacts of rigid bodies, n of them.

    Attributes:
        first, second: the bodies, shape (n,); second is -1 where a body touches a collider that is not a rigid body.
        arms: from the centers of mass of the first and the second body to the contact [m], shape (n, 6).
        normals: unit, from the second to the first, shape (n, 3).
        others: velocity at the contact of a collider that is not a rigid body [m/s], shape (n, 3).
        gap: distance [m], negative where they overlap, shape (n,).
        friction: Coulomb coefficients, shape (n,).
        restitution: the normal speed after an impact over the one before it, shape (n,).
    """

    first: Ints
    second: Ints
    arms: Floats
    normals: Floats
    others: Floats
    gap: Floats
    friction: Floats
    restitution: Floats

    def least_velocities(self, free: Floats, accelerations: Floats, dt: float) -> Floats:
        """The least relative velocity along its normal that each contact requires [m/s], shape (n,).

        Across a gap it is minus the gap over the substep. With an impact within the substep it is the velocity of the rebound, as if the
        bodies met and separated under constant acceleration: bodies with a gap before still rebound with the energy that they would have
        at the surface.

        Args:
            free: the velocities that the bodies would have without contact, shape (bodies, 6).
            accelerations: the accelerations included in `free` [m/s^2], shape (bodies, 3).
            dt: [s].
        """
        gap = np.maximum(self.gap, 0.0)
        least = -gap / dt
        bouncing = np.flatnonzero(self.restitution > 0.0)
        if not len(bouncing):
            return least
        gap, normals = gap[bouncing], self.normals[bouncing]
        approach = ((self._velocities(free)[bouncing] - self.others[bouncing]) * normals).sum(axis=1)
        pull = (self._velocities(np.hstack([accelerations, np.zeros_like(accelerations)]))[bouncing] * normals).sum(axis=1)
        # velocities are those at the end of the substep; this one is at its start, at the height of the gap
        before = approach - dt * pull
        squared = self.restitution[bouncing] ** 2 * np.maximum(before**2 - 2.0 * pull * gap, 0.0) + 2.0 * pull * gap
        rebound = dt * pull + np.sqrt(np.maximum(squared, 0.0))
        meets = (approach < 0.0) & (gap + dt * approach < 0.0) & (rebound > 0.0)
        least[bouncing[meets]] = rebound[meets]
        return least

    def approach(self, velocities: Floats) -> Floats:
        """The relative velocity along the normal at each contact [m/s], shape (n,), negative where they meet, from those of bodies."""
        return ((self._velocities(velocities) - self.others) * self.normals).sum(axis=1)

    def _velocities(self, velocities: Floats) -> Floats:
        """The velocities of the first bodies at the contacts relative to the second (n, 3), from those of bodies (bodies, 6)."""
        # body -1 stands for a collider that is not a rigid body
        known = np.concatenate([velocities, np.zeros((1, 6))])
        first, second = known[self.first], known[self.second]
        mine = first[:, :3] + np.cross(first[:, 3:], self.arms[:, :3])
        return mine - second[:, :3] - np.cross(second[:, 3:], self.arms[:, 3:])

    def solve(
        self, bodies: SolverBodies, least: Floats, impulses: Floats | None = None, limits: SweepLimits = PRECISE
    ) -> tuple[Floats, Floats]:
        """Change the velocities to those that the contacts allow; see `least_velocities`.

        Args:
            impulses: to begin with, (n, 4): normal [kg m/s], and friction as a vector; by default none.
            limits: how long contacts are solved.

        Returns:
            The impulses, as above, and the noise of each contact, see `solve_contacts`.
        """
        found, noise = np.zeros((len(self.first), 4)) if impulses is None else impulses.copy(), np.zeros(len(self.first))
        if len(self.first):
            solve_contacts(self, least, bodies, limits, found, noise)
        return found, noise

    def rows(self, chosen: Ints) -> "Contacts":
        """Some of the contacts."""
        return Contacts._make(values[chosen] for values in self)

    def separation(self, inverse_mass: Floats, inverse_inertia: Floats, gyration: Floats) -> Floats:
        """The displacements and rotations that separate overlapping bodies [m, rad], shape (bodies, 6)."""
        moves = np.zeros((len(inverse_mass), 6))
        deepest = float((-self.gap - SLACK * gyration[self.first]).max(initial=0.0))
        if deepest > 0.0:
            # what is farther apart than this does not come to overlap
            its = self.rows(np.flatnonzero(self.gap < NEIGHBORS * RECOVERY * deepest))
            least = np.where(its.gap < 0.0, RECOVERY * np.maximum(-its.gap - SLACK * gyration[its.first], 0.0), -its.gap)
            still = its._replace(others=np.zeros_like(its.others), friction=np.zeros_like(its.friction))
            still.solve(SolverBodies(moves, inverse_mass, inverse_inertia), least, limits=APART)
        return moves
