"""Contacts of rigid bodies with walls, colliders and one another; `contact_search` finds them, and `rigid_impulses` the impulses.

A contact lets a gap close within a substep, but not turn into an overlap, unless the pair has restitution; bodies that still overlap are
moved apart without gaining velocity.
"""

from typing import NamedTuple

import numpy as np

from .obstacle import Floats, Ints
from .rigid_impulses import SolverBodies, SweepLimits, impulses_in_world, solve_contacts, tangents_of

# limits on the sweeps over the contacts, and on the contacts of all sweeps: those that are affordable in each substep, and the most
FEWEST_SWEEPS, MOST_SWEEPS = 5, 400
AFFORDABLE_CONTACTS, MOST_CONTACTS = 8_000, 500_000
# the share of an overlap that is corrected in a substep, and the overlap that is left, relative to the radius of gyration: bodies at rest
# would otherwise move forever
RECOVERY, SLACK = 0.2, 1e-4


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
        # velocities are those at the middle of the substep; this one is at its start, at the height of the gap
        before = approach - 0.5 * dt * pull
        squared = self.restitution[bouncing] ** 2 * np.maximum(before**2 - 2.0 * pull * gap, 0.0) + 2.0 * pull * gap
        rebound = 0.5 * dt * pull + np.sqrt(np.maximum(squared, 0.0))
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

    def solve(self, bodies: SolverBodies, least: Floats, impulses: Floats | None = None) -> tuple[Floats, Floats]:
        """Change the velocities to those that the contacts allow; see `least_velocities`.

        Args:
            impulses: to begin with, (n, 4): normal [kg m/s], and friction as a vector; by default none.

        Returns:
            The impulses, as above, and the noise of each contact, see `solve_contacts`.
        """
        if not len(self.first):
            return np.zeros((0, 4)), np.zeros(0)
        tangents = tangents_of(self.normals)
        along = np.zeros((len(self.first), 3))
        if impulses is not None:
            along[:, 0] = impulses[:, 0]
            along[:, 1:] = np.einsum("nki,ni->nk", tangents, impulses[:, 1:])
        noise = np.zeros(len(self.first))
        solve_contacts(self, tangents, least, bodies, self.sweeps, along, noise)
        return impulses_in_world(along, tangents), noise

    @property
    def sweeps(self) -> SweepLimits:
        affordable, most = (
            max(FEWEST_SWEEPS, min(MOST_SWEEPS, limit // len(self.first))) for limit in (AFFORDABLE_CONTACTS, MOST_CONTACTS)
        )
        return SweepLimits(affordable, most)

    def rows(self, chosen: Ints) -> "Contacts":
        """Some of the contacts."""
        return Contacts._make(values[chosen] for values in self)

    def separation(self, inverse_mass: Floats, inverse_inertia: Floats, gyration: Floats) -> Floats:
        """The displacements and rotations that separate overlapping bodies [m, rad], shape (bodies, 6)."""
        moves = np.zeros((len(inverse_mass), 6))
        left = SLACK * gyration[self.first]
        if (self.gap < -left).any():
            least = np.where(self.gap < 0.0, RECOVERY * np.maximum(-self.gap - left, 0.0), -self.gap)
            still = self._replace(others=np.zeros_like(self.others), friction=np.zeros_like(self.friction))
            still.solve(SolverBodies(moves, inverse_mass, inverse_inertia), least)
        return moves
