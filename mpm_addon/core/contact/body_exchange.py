"""The exchange of momentum between a rigid body and the material around it, solved so that light bodies remain stable.

On the grid, a rigid body acts on the material as any moving collider does, and it receives exactly the momentum that the nodes lose. Its
velocity depends on that exchange, and the exchange on its velocity: u = contact(W (p - J(u))), with p the body's momentum after gravity,
W its inverse mass, and J(u) the momentum that the nodes gain from a body with velocity u. J is evaluated by applying contact to the nodes
and then restoring them. Broyden's method (1965) finds u, starting as if the surrounding material were fixed to the body, an upper bound of
its added mass. See docs/rigid_bodies.md.
"""

from collections.abc import Callable

import numpy as np

from ..geometry.rotation import Floats
from ..transfer.particle_store import ParticleStore
from .broyden import TOLERANCE, Broyden, inertia_matrix
from .exchange import sum_momenta
from .obstacles import ObstacleGroup
from .rigid_body import RigidBody

# the largest number of evaluations of the exchange
EVALUATIONS = 8


class BodyExchange:
    """The exchange of one body in one substep.

    Args:
        body: with its velocity after gravity; group: its obstacle group.
        store: the particles and nodes.
        meet: the velocities (6,) that it has after its contacts with colliders and other bodies, from those before.
    """

    def __init__(self, body: RigidBody, group: ObstacleGroup, store: ParticleStore, meet: Callable[[Floats], Floats]) -> None:
        self._body, self._group, self._store, self._meet = body, group, store, meet
        self._blocks = group.touched_blocks(store)

    def solve(self, trial: Floats, known: Floats | None, negligible: float) -> Floats | None:
        """Exchange momentum between the body and the nodes.

        Args:
            trial: the velocities to begin with (6,).
            known: the inverse Jacobian of an earlier exchange (6, 6), or None.
            negligible: the greatest mismatch that need not be reduced [m/s].

        Returns:
            The inverse Jacobian for the next exchange; None without convergence.
        """
        body, group, store, blocks = self._body, self._group, self._store, self._blocks
        if not len(blocks):
            return known
        saved, free = store.nodes[blocks], body.velocities
        weight = np.zeros((6, 6))
        weight[:3, :3], weight[3:, 3:] = np.diag(body.inverse_mass), body.inverse_inertia
        # scales angular velocities to speeds [m/s], so that rotation counts as much as translation
        unit = np.array([1.0] * 3 + [body.gyration] * 3)
        impulse, is_found = np.zeros(6), False
        solver: Broyden | None = None
        for evaluation in range(EVALUATIONS):
            if evaluation:
                store.nodes[blocks] = saved
            impulse = self._impulse(trial)
            mismatch = unit * (self._meet(free - weight @ impulse) - trial)
            if solver is None:
                if known is None:
                    touched = inertia_matrix(group.touched_inertia(store, body.center))
                    known = np.linalg.inv(np.eye(6) + (unit[:, None] * weight) @ touched / unit)
                solver = Broyden(known, mismatch)
            change = float(np.linalg.norm(unit * (weight @ impulse)))
            is_found = solver.is_done(mismatch, max(TOLERANCE * change, negligible))
            if is_found:
                break
            if evaluation < EVALUATIONS - 1:
                trial = trial + solver.change(mismatch) / unit
        body.push(-impulse)
        return solver.inverse if solver is not None and is_found else None

    def _impulse(self, velocity: Floats) -> Floats:
        """Apply the body with this velocity to the nodes; returns the momentum and angular momentum that they gain, shape (6,)."""
        group, store, blocks = self._group, self._store, self._blocks
        spacing, center = group.spacing, self._body.center
        group.take_velocity(velocity)
        sums = np.empty((2, len(blocks), 6))
        coordinates = store.layout.node_coordinates
        sum_momenta(store.nodes, blocks, coordinates, spacing, center, sums[0])
        group.apply_initial_impulses(store)
        for _ in range(2):
            group.apply_contact_impulses(store)
        sum_momenta(store.nodes, blocks, coordinates, spacing, center, sums[1])
        return (sums[1] - sums[0]).sum(axis=0)
