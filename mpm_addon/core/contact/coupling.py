"""The rigid bodies of a scene: what acts on them in a substep, in which order, and their state. See docs/rigid_bodies.md."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..geometry.rotation import Floats
from ..particles import Piece
from ..scene.description import Scene
from ..transfer.blocks import BLOCK
from ..transfer.particle_store import ParticleStore
from .body_exchange import BodyExchange
from .breaking import Breaking
from .contact_groups import settle
from .contact_search import NEAREST, ContactSearch, Touching
from .coverage import COVER_REACH
from .exchange import moments_of
from .foresight import LONGEST_STEP, Foresight
from .impacts import Impact, approach_speed, impacts_of
from .nearness import cubes_of, near_cubes
from .obstacles import Fields, ObstacleGroup
from .rigid_body import RigidBody
from .rigid_contact import Contacts, while_moving
from .rigid_impulses import SolverBodies
from .rigid_surfaces import RigidSurface, surface_of
from .rigid_table import VELOCITY, RigidTable
from .standstill import Standstill
from .uplift import Uplift
from .warm_start import PLACE, REACH, SIZE, forces_of, renumbered, table_of

# a mismatch that moves a body by less than this in a substep is negligible [cells]
NEGLIGIBLE = 1e-7
RESTING = 2e-3  # bodies at rest have less than this share of the speed that gravity adds in a substep


class RigidBodies:
    """The rigid bodies of a scene.

    Args:
        scene: the scene.
        passive: the other colliders.
        fields: see `ObstacleGroup`.

    Attributes:
        bodies: in the order of the scene's colliders; the pieces of a body take its place. Those that were added come last.
        added: bodies that are no colliders of the scene.
        groups: an obstacle group for each body; surfaces: their surfaces, in the same order.
        breaking: the bodies that may break; None if none may.
        foresight: how far ahead of a substep contacts are found.
        touching: the contacts of the last substep, or None; before: the velocities at its begin, (bodies, 6); is_still: whether it was
            not computed, because nothing moves.
        near: the groups of the bodies that may reach nodes; the others need no surfaces. is_near: which bodies these are, (bodies,).
    """

    def __init__(self, scene: Scene, passive: list[ObstacleGroup], fields: Fields) -> None:
        self._scene, self._fields = scene, fields
        self._spacing = scene.solver.grid_spacing
        dynamic = [collider for collider in scene.colliders if collider.dynamic and collider.is_ever_enabled]
        self.bodies: list[RigidBody] = []
        self.added: list[RigidBody] = []
        self.groups: list[ObstacleGroup] = []
        self.near: list[ObstacleGroup] = []
        self.foresight, self.before = Foresight(), np.zeros((0, 6))
        self.surfaces: list[RigidSurface] = []
        groups = passive if dynamic or scene.has_rigid_fragments else []
        self._others = [surface_of(obstacle, scene) for group in groups for obstacle in group.obstacles]
        self.touching: Touching | None = None
        self._least = np.zeros(0)
        # the contacts of the last substep, see `warm_start`
        self._kept = np.zeros((0, SIZE))
        self._standstill, self.is_still = Standstill(), False
        # the mean velocities of their centers in the substep [m/s]
        self._means = np.zeros((0, 3))
        self._uplift = Uplift(self._spacing, scene.solver.dimension, fields.fluids) if len(fields.fluids) else None
        self._is_driven = any(surface.obstacle.is_moving or surface.obstacle.collider.animation is not None for surface in self._others)
        # each body's inverse Jacobian from the last substep
        self._inverses: list[Floats | None] = []
        self._blocks: tuple[object, Floats] | None = None
        self.take([RigidBody(collider, scene) for collider in dynamic])
        self.breaking = Breaking(self.bodies, scene) if scene.breaks else None
        self._impacts: list[Impact] = []
        self.save()

    def take(self, bodies: Sequence[RigidBody]) -> None:
        """Replace the bodies, between two substeps.

        Those that remain keep their state and their contacts; their order must not change. New ones have the state that they were given.
        """
        known = {id(body): place for place, body in enumerate(self.bodies)}
        places, groups, surfaces, inverses = [known.get(id(body), -1) for body in bodies], self.groups, self.surfaces, self._inverses
        self._kept = renumbered(self._kept, np.array(places, np.int64), len(self.bodies))
        self.bodies = list(bodies)
        self.groups = [self._group_of(body) if place < 0 else groups[place] for body, place in zip(bodies, places, strict=True)]
        self.surfaces = [
            RigidSurface(body.obstacle, self._scene) if place < 0 else surfaces[place] for body, place in zip(bodies, places, strict=True)
        ]
        self._inverses = [None if place < 0 else inverses[place] for place in places]
        for number, (surface, body) in enumerate(zip(self.surfaces, self.bodies, strict=True)):
            surface.body = number
            body.place()
        near = {id(group) for group in self.near}
        self._close = [number for number, group in enumerate(self.groups) if id(group) in near]
        self.near = [self.groups[number] for number in self._close]
        self._table = RigidTable([body.row for body in self.bodies])
        # of all points from the center of mass; in the pose at the start, so that the last bit does not depend on when this is called
        self._reach = np.array(
            [
                body.start_scale * (surface.radius + float(np.linalg.norm(surface.middle - surface.obstacle.pivot)))
                for body, surface in zip(self.bodies, self.surfaces, strict=True)
            ]
        )
        self._search = ContactSearch(self.surfaces, self._others, self._table, self._spacing)
        self._animated = [
            group for body, group in zip(self.bodies, self.groups, strict=True) if body.obstacle.collider.animation is not None
        ]
        self._is_present = np.array([body.obstacle.is_present for body in self.bodies], np.bool_)
        self.is_near = np.array([id(group) in near for group in self.groups], np.bool_)
        self.touching = None
        self._standstill.forget()

    def _group_of(self, body: RigidBody) -> ObstacleGroup:
        return ObstacleGroup([body.obstacle], self._scene, self._fields)

    def set_added(self, bodies: Sequence[RigidBody]) -> None:
        """Replace the added bodies, between two substeps, as in `take`."""
        own, self.added = self.bodies[: len(self.bodies) - len(self.added)], list(bodies)
        self.take([*own, *bodies])

    @property
    def longest_step(self) -> float:
        """The longest substep [s]; infinite without bodies."""
        return LONGEST_STEP if self.bodies else math.inf

    def poses(self) -> dict[str, Floats]:
        """World from local (4, 4) of each body, by name."""
        return dict(zip((body.name for body in self.bodies[: len(self.bodies) - len(self.added)]), self._table.matrices, strict=False))

    def state(self) -> Floats:
        """The state of all bodies, shape (bodies, 18)."""
        return self._table.state.copy()

    def new_pieces(self) -> dict[str, Piece]:
        """The pieces, by name, that have formed since the last call."""
        return {} if self.breaking is None else self.breaking.new_pieces()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state, with the contacts of the last substep (see `warm_start`), as arrays for a checkpoint."""
        pieces = {} if self.breaking is None else self.breaking.arrays()
        kept = {"rigid_contacts": self._kept} if self.bodies or self._scene.has_rigid_fragments else {}
        return {"rigid_bodies": self.state(), **kept, **pieces}

    def load_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `arrays` returned."""
        if self.breaking is not None:
            self.breaking.load(arrays)
            self.take([*(member.body for member in self.breaking.members), *self.added])
        self.load(arrays["rigid_bodies"], arrays.get("rigid_contacts"))

    def load(self, state: Floats, kept: Floats | None = None) -> None:
        """Restore the state of the bodies and the contacts of the last substep, or leave these as they are."""
        self._table.state[:] = state
        self._kept = self._kept if kept is None else kept

    def save(self) -> None:
        """Save the state for `restore`, and reset everything else that later substeps depend on."""
        self._saved = self.state()
        self._saved_bodies, self._saved_added, self._saved_kept = list(self.bodies), list(self.added), self._kept
        self._saved_breaking = None if self.breaking is None else self.breaking.state()
        self._inverses = [None] * len(self.bodies)
        if self._uplift is not None:
            self._uplift.forget()

    def restore(self) -> None:
        """Return to the last saved state."""
        if self.breaking is not None and self._saved_breaking is not None:
            self.breaking.restore(self._saved_breaking)
        if self.bodies != self._saved_bodies:
            self.added = list(self._saved_added)
            self.take(self._saved_bodies)
        self.load(self._saved, self._saved_kept)

    def place(self) -> None:
        """Move all colliders to the poses of the bodies."""
        for body, matrix, velocities in zip(self.bodies, self._table.matrices, self._table.velocities, strict=True):
            body.obstacle.place(matrix, velocities[:3], velocities[3:])

    def find_near(self, store: ParticleStore, seconds: float) -> None:
        """Find the bodies that may reach nodes within a time [s], see `near`, and move their colliders to their poses."""
        if not self.bodies:
            return
        if self._blocks is None or self._blocks[0] is not store.layout:
            self._blocks = store.layout, cubes_of(store.layout.node_coordinates, self._spacing)
        speeds = self._speeds(self._table.velocities)
        reach = self._reach + (COVER_REACH + 1.0) * self._spacing + seconds * speeds
        close = near_cubes(self._table.centers, reach, self._blocks[1], self._spacing, self._scene.solver.dimension)
        # once more after it has left, which empties its surfaces
        found = close | self.is_near
        self.is_near = close
        self._close = np.flatnonzero(found).tolist()
        self.near = [self.groups[number] for number in self._close]
        for number in self._close:
            self.bodies[number].place()

    def take_values(self, frame: float) -> None:
        """Update the animated values of all bodies for a time, in frames."""
        for group in self._animated:
            group.take_values(frame)
        if self._animated:
            self._is_present = np.array([body.obstacle.is_present for body in self.bodies])

    def _speeds(self, velocities: Floats) -> Floats:
        """Bounds on the speeds of the points of each body [m/s]."""
        return np.linalg.norm(velocities[:, :3], axis=1) + np.linalg.norm(velocities[:, 3:], axis=1) * self._reach

    def exchange_momentum(self, store: ParticleStore, gravity: Floats, dt: float) -> None:
        """Exchange momentum with nodes, colliders and one another, which gives the velocities with which the bodies then move.

        Args:
            gravity: acceleration [m/s^2], shape (3,).
            dt: [s].
        """
        if not self.bodies:
            return
        table, is_present = self._table, self._is_present
        is_alone = not (self._is_driven or self._animated or self.near)
        self.is_still = self._standstill.begin(table.state, self._kept, gravity, np.array(dt), is_present) and is_alone
        if self.is_still:
            return
        if not is_alone:
            self._standstill.forget()
        before = self.before = table.velocities
        found = self.touching = self._find_contacts(before, gravity, dt)
        accelerations = gravity * (table.inverse_mass > 0.0) * is_present[:, None]
        free = before + dt * np.hstack([accelerations, np.zeros_like(accelerations)])
        self._least = found.contacts.least_velocities(free, accelerations, dt)
        if self.breaking is not None:
            self._note_impacts(self.breaking, found.contacts, before, dt)
        table.state[:, VELOCITY] += dt * accelerations
        if self._uplift is not None:
            self._lift(self._uplift, store, gravity, dt)
        for number in self._close:
            if is_present[number]:
                self._exchange(number, before, store, dt)
        is_held = self.is_near.copy()
        if len(found.contacts.first):
            is_held |= self._solve(found, table.velocities, gravity, dt, was_still=not before.any())
        else:
            self._kept = np.zeros((0, SIZE))
        # in free flight, the velocity is that at the end of the substep; what contact allows is how bodies move within it
        self._means = table.state[:, VELOCITY] - 0.5 * dt * accelerations * ~is_held[:, None]
        for number in self._close:
            self.bodies[number].place()
            self.groups[number].move_to(0.0)

    def _lift(self, uplift: Uplift, store: ParticleStore, gravity: Floats, dt: float) -> None:
        """Let fluids press on the bodies near nodes in the gaps below and beside them."""
        passive = [surface for surface in self._others if surface.obstacle.is_present]
        centers, room = self._table.centers, self._reach + self._spacing
        for number in self._close:
            if self._is_present[number]:
                is_near = np.linalg.norm(centers - centers[number], axis=1) < room + self._reach[number]
                near = [self.surfaces[other] for other in np.flatnonzero(is_near & self._is_present) if other != number]
                uplift.push(self.bodies, self.surfaces[number], [*near, *passive], store, gravity, dt)

    def _note_impacts(self, breaking: Breaking, contacts: Contacts, before: Floats, dt: float) -> None:
        """Find the impacts of a substep that may break bodies, from the velocities before."""
        breakables = breaking.breakables
        self._impacts = []
        least = min((piece.least_speed for piece in breakables if piece is not None), default=math.inf)
        if approach_speed(contacts, before, dt) >= least:
            bodies = SolverBodies(before.copy(), *self._inverse())
            self._impacts = impacts_of(breakables, self.surfaces, self._others, contacts, bodies, self._table.centers, dt)

    def _solve(self, found: Touching, velocities: Floats, gravity: Floats, dt: float, *, was_still: bool) -> NDArray[np.bool_]:
        """Apply the impulses of all contacts, and let bodies rest whose velocities would be noise; returns which bodies contacts hold."""
        contacts, table = found.contacts, self._table
        first, reach = contacts.first, REACH * table.gyration
        forces = forces_of(first, found.partner, found.places, reach, self._kept)
        bodies = SolverBodies(velocities, *self._inverse())
        gained, count = dt * float(np.linalg.norm(gravity)), len(velocities)
        impulses, noise = contacts.solve(bodies, self._least, dt * forces, while_moving(gained))
        limits, resting = np.full(count, RESTING * gained), np.zeros(count, np.bool_)
        settle(contacts, impulses, noise, bodies, table.gyration, limits, resting)
        velocities[resting] = 0.0
        table.set_velocities(velocities, self._is_present)
        kept = table_of(first, found.partner, found.places, impulses / dt)
        # forces that hold all bodies where they are need not become better
        if not (was_still and resting.all() and np.array_equal(kept[:, : PLACE.stop], self._kept[:, : PLACE.stop])):
            self._kept = kept
        # not what rebounds, and what is so near that a body on its parabola could overlap it
        is_close = contacts.gap + dt * contacts.approach(velocities) < 0.5 * dt * gained
        holding = np.flatnonzero((self._least <= 0.0) & ((impulses[:, 0] > 0.0) | is_close))
        is_held = np.zeros(count + 1, np.bool_)
        is_held[contacts.first[holding]] = is_held[contacts.second[holding]] = True
        return is_held[:count]

    def _find_contacts(self, velocities: Floats, gravity: Floats, dt: float) -> Touching:
        # an infinite collider counts with its speed near the bodies
        around = np.floor(self._table.centers / (BLOCK * self._spacing)).astype(np.int64)
        ways = self._speeds(velocities) + dt * float(np.linalg.norm(gravity))
        others = np.array([other.speed(around) for other in self._others], np.float64)
        margins = self.foresight.margins(np.concatenate([ways, others]), dt)
        margins[: len(self.bodies)] += NEAREST * self._table.gyration
        return self._search.find(margins, velocities)

    def contacts_ahead(self) -> tuple[Contacts, Floats]:
        """The contacts within the `foresight`, and the velocities of the bodies, between two substeps."""
        velocities = self._table.velocities
        return self._find_contacts(velocities, np.zeros(3), 0.0).contacts, velocities

    def _inverse(self, alone: int | None = None) -> tuple[Floats, Floats]:
        """Inverse masses (bodies, 3) and inertias (bodies, 3, 3); if `alone` is given, zero for all other bodies."""
        masses, inertias = self._table.inverse_mass.copy(), self._table.inverse_inertia
        fixed = ~self._is_present if alone is None else np.arange(len(masses)) != alone
        masses[fixed], inertias[fixed] = 0.0, 0.0
        return masses, inertias

    def _exchange(self, number: int, before: Floats, store: ParticleStore, dt: float) -> None:
        """Exchange momentum between one body and the nodes."""
        assert self.touching is not None
        contacts, inverse = self.touching.contacts, self._inverse(number)
        its = np.flatnonzero((contacts.first == number) | (contacts.second == number))
        contacts, least = contacts.rows(its), self._least[its]

        def meet(velocities: Floats) -> Floats:
            outcome = before.copy()
            outcome[number] = velocities
            contacts.solve(SolverBodies(outcome, *inverse), least)
            return outcome[number]

        exchange = BodyExchange(self.bodies[number], self.groups[number], store, meet)
        self._inverses[number] = exchange.solve(before[number], self._inverses[number], NEGLIGIBLE * self._spacing / dt)

    def push_particles(self, store: ParticleStore, dt: float, drift: float) -> float:
        """Push particles out and the bodies back, so that their common center of mass and angular momentum stay the same.

        Returns:
            The greatest distance that particles were pushed, summed over the bodies [cells].
        """
        farthest = 0.0
        for number in self._close:
            body, group = self.bodies[number], self.groups[number]
            blocks = group.due
            if not len(blocks):
                continue
            before = moments_of(store, blocks, self._spacing, body.center)
            pushed = group.push_particles(store, dt, drift + farthest)
            farthest += pushed
            if pushed > 0.0:
                change = moments_of(store, blocks, self._spacing, body.center) - before
                shift = -body.inverse_mass * change[:3]
                # the body's own angular momentum changes by m dX × V, which is -sum m dx × V
                body.push(np.concatenate([np.zeros(3), np.cross(change[:3], body.velocity) - change[3:]]))
                body.move(shift, np.zeros(3))
        return farthest

    def advance(self, dt: float) -> str | None:
        """Move the bodies by a substep; returns the name of what became unstable, or None."""
        if not self.bodies or self.is_still:
            return None
        table = self._table
        unstable = np.flatnonzero(~np.isfinite(table.state).all(axis=1) & self._is_present)
        if len(unstable):
            return f'Collider "{self.bodies[unstable[0]].name}"'
        moves = np.zeros((len(self.bodies), 6))
        if self.touching is not None:
            moves = self.touching.contacts.separation(*self._inverse(), table.gyration)
        table.advance(dt, self._means, moves, self._is_present)
        self._standstill.end(table.state, self._kept)
        if self.breaking is not None and self._impacts:
            self._standstill.forget()
            self.place()
            if self.breaking.strike(self._impacts):
                self.take([*(member.body for member in self.breaking.members), *self.added])
            self._impacts = []
        return None
