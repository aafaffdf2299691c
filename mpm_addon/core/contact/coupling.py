"""Rigid bodies in material: the exchange of momentum in a substep, solved so that light bodies remain stable.

On the grid, a rigid body acts on the material as any moving collider does, and it receives exactly the momentum that the nodes lose. Its
velocity depends on that exchange, and the exchange on its velocity: u = contact(W (p - J(u))), with p the body's momentum after gravity,
W its inverse mass, and J(u) the momentum that the nodes gain from a body with velocity u. J is evaluated by applying contact to the nodes
and then restoring them. Broyden's method (1965) finds u, starting as if the surrounding material were fixed to the body, an upper bound of
its added mass. See docs/rigid_bodies.md.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..particles import Piece
from ..scene.description import Scene
from ..transfer.blocks import BLOCK
from ..transfer.particle_store import ParticleStore
from .breaking import Breaking
from .exchange import sum_momenta, sum_moments
from .impacts import Impact, approach_speed, impacts_of
from .obstacle import Floats
from .obstacles import Fields, ObstacleGroup
from .rigid_body import STATE_SIZE, RigidBody
from .rigid_contact import Contacts, find_contacts, rigid_surface, surface_of
from .rigid_impulses import SolverBodies

# the tolerated mismatch, relative to the change of velocity, and the largest number of evaluations of the exchange
TOLERANCE = 0.02
EVALUATIONS = 8
# a mismatch that moves a body by less than this in a substep is negligible [cells]
NEGLIGIBLE = 1e-7
# the search distance for contacts, relative to how far bodies can move in a substep
FORESIGHT = 1.5


class RigidBodies:
    """The rigid bodies of a scene.

    Args:
        scene: the scene.
        passive: the other colliders.
        fields: see `ObstacleGroup`.

    Attributes:
        bodies: in the order of the scene's colliders.
        groups: an obstacle group for each body.
        breaking: the bodies that may break; None if none may.
    """

    def __init__(self, scene: Scene, passive: list[ObstacleGroup], fields: Fields) -> None:
        dynamic = [collider for collider in scene.colliders if collider.dynamic and collider.is_ever_enabled]
        self.bodies = [RigidBody(collider, scene) for collider in dynamic]
        self.breaking = Breaking(self.bodies, scene) if scene.breaks else None
        self._impacts: list[Impact] = []
        self._scene, self._fields = scene, fields
        self.groups = [ObstacleGroup([body.obstacle], scene, fields) for body in self.bodies]
        self._spacing = scene.solver.grid_spacing
        others = [obstacle for group in passive for obstacle in group.obstacles] if self.bodies else []
        self._others = [surface_of(obstacle, scene) for obstacle in others]
        self._surfaces = [rigid_surface(body.obstacle, scene, number) for number, body in enumerate(self.bodies)]
        self._saved = self.state()
        self._saved_breaking = None if self.breaking is None else self.breaking.state()
        self._contacts: Contacts | None = None
        self._least = np.zeros(0)
        # each body's inverse Jacobian from the last substep
        self._inverses: list[Floats | None] = [None] * len(self.bodies)

    def poses(self) -> dict[str, Floats]:
        """World from local (4, 4) of each body, by name."""
        return {body.name: body.pose for body in self.bodies}

    def new_pieces(self) -> dict[str, Piece]:
        """The pieces, by name, that have formed since the last call."""
        return {} if self.breaking is None else self.breaking.new_pieces()

    def state(self) -> Floats:
        """The state of all bodies, shape (bodies, 18)."""
        return np.array([body.state() for body in self.bodies]).reshape(-1, STATE_SIZE)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as arrays for a checkpoint."""
        return {"rigid_bodies": self.state(), **({} if self.breaking is None else self.breaking.arrays())}

    def load_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `arrays` returned."""
        if self.breaking is not None:
            self.breaking.load(arrays)
            self._take_members(self.breaking)
        self.load(arrays["rigid_bodies"])

    def load(self, state: Floats) -> None:
        """Restore a state that `state` returned."""
        for body, its in zip(self.bodies, state, strict=True):
            body.set_state(its)

    def save(self) -> None:
        """Save the state for `restore`, and reset everything else that later substeps depend on."""
        self._saved = self.state()
        self._saved_breaking = None if self.breaking is None else self.breaking.state()
        self._inverses = [None] * len(self.bodies)

    def restore(self) -> None:
        """Return to the last saved state."""
        if self.breaking is not None and self._saved_breaking is not None:
            self.breaking.restore(self._saved_breaking)
            self._take_members(self.breaking)
        self.load(self._saved)

    def _take_members(self, breaking: Breaking) -> None:
        """Take over the bodies after some have broken."""
        known = {id(body): place for place, body in enumerate(self.bodies)}
        places = [known.get(id(member.body)) for member in breaking.members]
        groups, inverses, surfaces = self.groups, self._inverses, self._surfaces
        self.bodies = [member.body for member in breaking.members]
        self.groups = [
            ObstacleGroup([body.obstacle], self._scene, self._fields) if place is None else groups[place]
            for body, place in zip(self.bodies, places, strict=True)
        ]
        self._inverses = [None if place is None else inverses[place] for place in places]
        self._surfaces = [
            rigid_surface(body.obstacle, self._scene) if place is None else surfaces[place]
            for body, place in zip(self.bodies, places, strict=True)
        ]
        for number, surface in enumerate(self._surfaces):
            surface.body = number
        self._contacts = None

    def place(self) -> None:
        """Move the colliders to the poses of the bodies."""
        for body in self.bodies:
            body.place()

    def exchange_momentum(self, store: ParticleStore, gravity: Floats, dt: float) -> None:
        """Exchange momentum with nodes, colliders and one another, which gives the velocities with which the bodies then move.

        Args:
            gravity: acceleration [m/s^2], shape (3,).
            dt: [s].
        """
        if not self.bodies:
            return
        self._contacts = self._find_contacts(gravity, dt)
        before = np.array([body.velocities for body in self.bodies])
        accelerations = np.array([gravity * (body.inverse_mass > 0.0) * body.obstacle.is_present for body in self.bodies])
        free = before + dt * np.hstack([accelerations, np.zeros_like(accelerations)])
        self._least = self._contacts.least_velocities(free, accelerations, dt)
        if self.breaking is not None:
            self._note_impacts(self.breaking, before, dt)
        for number, (body, group) in enumerate(zip(self.bodies, self.groups, strict=True)):
            if body.obstacle.is_present:
                body.push(np.concatenate([body.mass * dt * gravity, np.zeros(3)]))
                self._exchange(number, body, group, before, store, dt)
        velocities = np.array([body.velocities for body in self.bodies])
        self._contacts.solve(SolverBodies(velocities, *self._inverse(None)), self._least)
        for body, group, its in zip(self.bodies, self.groups, velocities, strict=True):
            if body.obstacle.is_present and len(self._contacts.first):
                body.set_velocities(its)
            body.place()
            group.move_to(0.0)

    def _note_impacts(self, breaking: Breaking, before: Floats, dt: float) -> None:
        """Find the impacts of a substep that may break bodies, from the velocities before."""
        contacts, breakables = self._contacts, breaking.breakables
        assert contacts is not None
        self._impacts = []
        least = min((piece.least_speed for piece in breakables if piece is not None), default=math.inf)
        if approach_speed(contacts, before, dt) >= least:
            bodies = SolverBodies(before.copy(), *self._inverse(None))
            self._impacts = impacts_of(breakables, self._surfaces, self._others, contacts, bodies, dt)

    def _find_contacts(self, gravity: Floats, dt: float) -> Contacts:
        # an infinite collider counts with its speed near the bodies
        around = np.floor([body.center / (BLOCK * self._spacing) for body in self.bodies]).astype(np.int64)
        fastest = sum(sorted(surface.speed(around) for surface in self._surfaces)[-2:])
        fastest += max((other.speed(around) for other in self._others), default=0.0)
        way = dt * (fastest + dt * float(np.linalg.norm(gravity)))
        return find_contacts(self._surfaces, self._others, FORESIGHT * way + 1e-3 * self._spacing)

    def _inverse(self, alone: int | None) -> tuple[Floats, Floats]:
        """Inverse masses (bodies, 3) and inertias (bodies, 3, 3); if `alone` is given, zero for all other bodies."""
        masses = np.array([body.inverse_mass for body in self.bodies])
        inertias = np.array([body.inverse_inertia for body in self.bodies])
        for number, body in enumerate(self.bodies):
            if not body.obstacle.is_present or alone not in (None, number):
                masses[number], inertias[number] = 0.0, 0.0
        return masses, inertias

    def _exchange(self, number: int, body: RigidBody, group: ObstacleGroup, before: Floats, store: ParticleStore, dt: float) -> None:
        """Exchange momentum between one body and the nodes."""
        blocks = group.touched_blocks(store)
        if not len(blocks):
            return
        saved = store.nodes[blocks]
        free = body.velocities
        weight = np.zeros((6, 6))
        weight[:3, :3], weight[3:, 3:] = np.diag(body.inverse_mass), body.inverse_inertia
        # scales angular velocities to speeds [m/s], so that rotation counts as much as translation
        unit = np.array([1.0] * 3 + [body.gyration] * 3)
        inverse = self._inverse(number)
        trial = before[number]
        impulse, is_found = np.zeros(6), False
        solver: Broyden | None = None
        for evaluation in range(EVALUATIONS):
            if evaluation:
                store.nodes[blocks] = saved
            impulse = self._impulse(group, trial, blocks, body.center, store)
            outcome = before.copy()
            outcome[number] = free - weight @ impulse
            assert self._contacts is not None
            self._contacts.solve(SolverBodies(outcome, *inverse), self._least)
            mismatch = unit * (outcome[number] - trial)
            if solver is None:
                known = self._inverses[number]
                if known is None:
                    touched = _matrix(group.touched_inertia(store, body.center))
                    known = np.linalg.inv(np.eye(6) + (unit[:, None] * weight) @ touched / unit)
                solver = Broyden(known, mismatch)
            change = float(np.linalg.norm(unit * (weight @ impulse)))
            is_found = solver.is_done(mismatch, max(TOLERANCE * change, NEGLIGIBLE * self._spacing / dt))
            if is_found:
                break
            if evaluation < EVALUATIONS - 1:
                trial = trial + solver.change(mismatch) / unit
        # without convergence the inverse is discarded
        self._inverses[number] = solver.inverse if solver is not None and is_found else None
        body.push(-impulse)

    def _impulse(self, group: ObstacleGroup, velocity: Floats, blocks: np.ndarray, center: Floats, store: ParticleStore) -> Floats:
        """Apply a body with this velocity to the nodes; returns the momentum and angular momentum that they gain, shape (6,)."""
        group.take_velocity(velocity)
        sums = np.empty((2, len(blocks), 6))
        coordinates = store.layout.node_coordinates
        sum_momenta(store.nodes, blocks, coordinates, self._spacing, center, sums[0])
        group.apply_initial_impulses(store)
        for _ in range(2):
            group.apply_contact_impulses(store)
        sum_momenta(store.nodes, blocks, coordinates, self._spacing, center, sums[1])
        return (sums[1] - sums[0]).sum(axis=0)

    def push_particles(self, store: ParticleStore, dt: float, drift: float) -> float:
        """Push particles out and the bodies back, so that their common center of mass and angular momentum stay the same.

        Returns:
            The greatest distance that particles were pushed, summed over the bodies [cells].
        """
        farthest = 0.0
        for body, group in zip(self.bodies, self.groups, strict=True):
            blocks = group.due
            if not len(blocks):
                continue
            before = self._moments(blocks, body.center, store)
            pushed = group.push_particles(store, dt, drift + farthest)
            farthest += pushed
            if pushed > 0.0:
                change = self._moments(blocks, body.center, store) - before
                shift = -body.inverse_mass * change[:3]
                # the body's own angular momentum changes by m dX × V, which is -sum m dx × V
                body.push(np.concatenate([np.zeros(3), np.cross(change[:3], body.velocity) - change[3:]]))
                body.move(shift, np.zeros(3))
        return farthest

    def _moments(self, blocks: np.ndarray, origin: Floats, store: ParticleStore) -> Floats:
        sums = np.empty((len(blocks), 6))
        layout = store.layout
        sum_moments(store.table, layout.first, store.instance_count, blocks, layout.coordinates, self._spacing, origin, sums)
        return sums.sum(axis=0)

    def advance(self, dt: float) -> str | None:
        """Move the bodies by a substep; returns the name of what became unstable, or None."""
        if not self.bodies:
            return None
        contacts = self._contacts
        moves = np.zeros((len(self.bodies), 6)) if contacts is None else contacts.separation(*self._inverse(None))
        for body, move in zip(self.bodies, moves, strict=True):
            if not body.obstacle.is_present:
                continue
            if not np.isfinite(body.state()).all():
                return f'Collider "{body.name}"'
            body.advance(dt)
            if move.any():
                body.move(move[:3], move[3:])
        if self.breaking is not None and self._impacts:
            self.place()
            if self.breaking.strike(self._impacts):
                self._take_members(self.breaking)
            self._impacts = []
        return None


class Broyden:
    """Broyden's method for a root of a mismatch of six velocities.

    Args:
        inverse: the inverse of minus the first derivative, (6, 6).
        mismatch: the mismatch of the first trial.

    Attributes:
        inverse: the current estimate.
    """

    def __init__(self, inverse: Floats, mismatch: Floats) -> None:
        self.inverse = inverse
        self._first = float(np.linalg.norm(mismatch))
        self._last = mismatch
        self._step = np.zeros(6)

    def is_done(self, mismatch: Floats, negligible: float) -> bool:
        return float(np.linalg.norm(mismatch)) <= max(TOLERANCE * self._first, negligible)

    def change(self, mismatch: Floats) -> Floats:
        """The next change of the velocities, after the derivative is corrected by the effect of the last change."""
        fallen = self._last - mismatch
        reached = self.inverse @ fallen
        along = float(self._step @ reached)
        if abs(along) > 1e-12 * float(self._step @ self._step):
            self.inverse = self.inverse + np.outer(self._step - reached, self._step @ self.inverse) / along
        self._last = mismatch
        self._step = self.inverse @ mismatch
        return self._step


def _matrix(moments: Floats) -> Floats:
    """The momentum that material fixed to a body gains per unit velocity, (6, 6), from the moments of its mass (10,)."""
    mass, x, y, z, xx, yy, zz, xy, yz, zx = moments
    first = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
    inertia = np.array([[yy + zz, -xy, -zx], [-xy, xx + zz, -yz], [-zx, -yz, xx + yy]])
    return np.block([[mass * np.eye(3), first], [first.T, inertia]])
