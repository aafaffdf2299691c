"""Whole bodies of brittle material: which of them are rigid until something could break them, and how their particles return to the store.

As matter, a body that falls freely or lies at rest takes hundreds of substeps per frame, although it moves as a rigid body does. What can
break it are impacts, at a speed v with a stress of up to `BENDING` rho c v, and what its own weight and its turning pull it with. So it is
rigid as long as neither reaches its strength. See docs/solver.md.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contact.coupling import RigidBodies
from ..contact.coverage import COVER_REACH
from ..contact.foresight import LONGEST_STEP, Foresight
from ..contact.nearness import cubes_of, near_cubes
from ..contact.rigid_body import RigidBody
from ..contact.rigid_contact import Contacts
from ..forecast.brittle_bodies import BENDING, greatest_gravity, may_be_held
from ..scene.description import Scene
from ..transfer.blocks import BLOCK
from ..transfer.particle_store import MaterialPoints, NewParticles, ParticleStore, joined, new_particles
from ..transfer.rows import DEFORMATION, STATE
from .body_strength import bears_turning, bears_weight, elastic_energy, strength_left, strengths, turning_of
from .breaking import LEAST_CORE, Breaking, Fragments
from .held_particles import Held
from .material_instances import MaterialInstance
from .rigid_fragments import EASE, Piece, RigidFragments, swing
from .tearing import Tearing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

# the distance of an obstacle at which its nodes begin to act [cells]
CONTACT_REACH = 2.0
# steps from a block to those around it
AROUND = np.stack(np.meshgrid(*[np.arange(-1, 2)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
# any speed at all [m/s]
ANY = 1e-9


class Arrival(NamedTuple):
    """What the length of substeps depends on, of particles that return: the name of their material, and their greatest speeds."""

    name: str
    wave_speed: float
    speed: float
    gradient: float


def struck(contacts: Contacts, velocities: Floats, seconds: float, gravity: float, spacing: float) -> tuple[Ints, Ints, Floats]:
    """The contacts that may close within a time [s].

    Args:
        velocities: of the bodies, (bodies, 6); gravity: [m/s^2]; spacing: cell size [m].

    Returns:
        Their first and second bodies, (n,), and the speeds at which they close [m/s], (n,): those after this time, but no more than what
        is reached by a fall over the gap, sqrt(v^2 + 2 g d).
    """
    now = -contacts.approach(velocities)
    later = now + gravity * seconds
    its = np.flatnonzero(contacts.gap < later * seconds + CONTACT_REACH * spacing)
    fallen = np.sqrt(np.maximum(now[its], 0.0) ** 2 + 2.0 * gravity * np.maximum(contacts.gap[its], 0.0))
    # what its weight could break is broken by whatever supports it, also without a fall
    return contacts.first[its], contacts.second[its], np.minimum(later[its], np.maximum(fallen, 2.0 * ANY))


def returned(
    rows: Held, bodies: Sequence[RigidBody], instances: Sequence[MaterialInstance], store: ParticleStore, spacing: float
) -> tuple[NewParticles, list[Arrival]]:
    """The particles of bodies that are matter again, for the next sort.

    They move as the body does: v = V + w x r, grad v = [w], and their deformation turns with it, F = R F.

    Args:
        rows: the particles; `fragment` is the number of each one's body.
    """
    rotation = np.array([body.rotation for body in bodies])[rows.fragment]
    velocities = np.array([body.velocities for body in bodies])[rows.fragment]
    arms = np.einsum("nij,nj->ni", rotation, rows.place)
    x, y, z = velocities[:, 3:].T
    nothing = np.zeros_like(x)
    points = MaterialPoints(
        np.array([body.center for body in bodies])[rows.fragment] + arms,
        velocities[:, :3] + np.cross(velocities[:, 3:], arms),
        np.stack([nothing, -z, y, z, nothing, -x, -y, x, nothing], axis=1),
        rows.mass,
        rows.volume,
    )
    names = [f'Material "{instances[number].name}"' for number in np.unique(rows.instance)]
    particles = new_particles(
        points, spacing=spacing, dtype=store.dtype, first_id=0, instances=rows.instance, subject=names[0], row_count=store.row_count
    )
    particles.table[STATE] = rows.damage
    turned = np.einsum("nij,njk->nik", rotation, rows.deformation.reshape(-1, 3, 3))
    particles.table[DEFORMATION : DEFORMATION + 9] = turned.reshape(-1, 9).T
    arrivals = []
    for number in np.unique(rows.instance):
        its = np.flatnonzero(rows.instance == number)
        table = particles.table[:, its]
        wave_speed, gradient = instances[number].renew(table)
        particles.table[:, its] = table
        fastest = float(np.linalg.norm(points.velocity[its], axis=1).max())
        arrivals.append(Arrival(instances[number].name, wave_speed, fastest, gradient))
    return particles._replace(ids=rows.id.copy()), arrivals


class WholeBodies:
    """The whole bodies among the rigid fragments of a simulation.

    Args:
        fragments: the rigid fragments, where they are added and removed.

    Attributes:
        is_due: whether some must become matter at the next sort.
    """

    def __init__(
        self,
        scene: Scene,
        instances: Sequence[MaterialInstance],
        store: ParticleStore,
        breaking: Breaking,
        tearing: Tearing,
        rigid: RigidBodies,
        fragments: RigidFragments,
    ) -> None:
        may = may_be_held(scene)
        self._may = np.array([may[each.material_index] and not each.has_melted for each in instances], np.bool_)
        self._scene, self._instances, self._store = scene, instances, store
        self._breaking, self._tearing, self._rigid, self._fragments = breaking, tearing, rigid, fragments
        self._gravity, self._spacing = greatest_gravity(scene), scene.solver.grid_spacing
        self._strength, self._speed = strengths(instances)
        self._known: Held | None = None
        # the rigid fragments at the last sort, the speed at which an impact may break each [m/s], infinite if nothing can, and which must
        # become matter
        self._bodies: list[RigidBody] = []
        self._limits, self._due = np.zeros(0), np.zeros(0, np.bool_)

    @property
    def is_due(self) -> bool:
        return bool(self._due.any())

    def begin(self) -> None:
        """Start from the rigid fragments right after a sort."""
        held = self._fragments.held
        if self._known is not held:
            self._known, self._limits = held, self._speeds(held)
            self._rigid.foresight = self._foresight(LONGEST_STEP, self._limits) if np.isfinite(self._limits).any() else Foresight()
        self._bodies = list(self._rigid.added)
        # a take may continue with whole bodies that were rigid and may not be any more
        self._due = self._limits == 0.0

    def _speeds(self, held: Held) -> Floats:
        """The speed at which an impact may break each fragment [m/s], (fragments,): infinite for those that have broken off."""
        count = len(self._rigid.added)
        result = np.full(count, np.inf)
        may = np.ones(count, np.bool_)
        may[held.fragment[~self._may[held.instance]]] = False
        is_broken = np.zeros(count, np.bool_)
        is_broken[held.fragment[self._is_parted()[held.id]]] = True
        for number in np.flatnonzero(~is_broken):
            result[number] = self._breaking_speed(held.rows(held.fragment == number)) if may[number] else 0.0
        return result

    def _breaking_speed(self, rows: Held) -> float:
        """The speed of an impact that may break a body as damaged as it is [m/s]: any, if whatever supports it may."""
        left = strength_left(rows)
        if not bears_weight(rows, left * float(self._strength[rows.instance].min()), self._gravity):
            return ANY
        return left * float(self._speed[rows.instance].min()) / BENDING

    def _foresight(self, seconds: float, limits: Floats) -> Foresight:
        # what closes faster than a limit, of two surfaces
        return Foresight(seconds, CONTACT_REACH * self._spacing, 0.5 * float(limits.min()))

    def _is_parted(self) -> Mask:
        """Whether each particle ever emitted has lost a bond, (ids,)."""
        bonds, parted = self._tearing.bonds, np.zeros(self._tearing.particle_count, np.bool_)
        parted[bonds.pairs[~bonds.is_whole]] = True
        return parted

    def look_ahead(self) -> None:
        """Find those that must become matter before the first substep of a frame, from which on what touches them may be faster."""
        if self._rigid.foresight != Foresight():
            self._due |= self._struck(*self._rigid.contacts_ahead(), 2.0 * LONGEST_STEP, self._limits)

    def watch(self, dt: float) -> None:
        """Find those that must become matter before the next substep, after the contacts of this one of dt [s]."""
        rigid, count = self._rigid, len(self._limits)
        if rigid.foresight == Foresight() or rigid.is_still:
            return
        self._due = rigid.is_near[len(rigid.bodies) - count :] & np.isfinite(self._limits)
        if rigid.touching is not None:
            self._due |= self._struck(rigid.touching.contacts, rigid.before, dt + LONGEST_STEP, self._limits)

    def _struck(self, contacts: Contacts, velocities: Floats, seconds: float, limits: Floats) -> Mask:
        result, first = np.zeros(len(limits), np.bool_), len(self._rigid.bodies) - len(limits)
        *both, speed = struck(contacts, velocities, seconds, self._gravity, self._spacing)
        for bodies in both:
            its = np.flatnonzero(bodies >= first)
            result[bodies[its][speed[its] > limits[bodies[its] - first]] - first] = True
        return result

    def release(self, new: NewParticles | None, take_in: Callable[[str, float, float, float], None]) -> NewParticles | None:
        """Let those that are due become matter.

        Args:
            new: particles for the next sort.
            take_in: called with what the length of substeps depends on, see `Arrival`.

        Returns:
            The new particles and theirs.
        """
        if not self.is_due:
            return new
        due = {id(body) for body, is_due in zip(self._bodies, self._due, strict=True) if is_due}
        # at a frame, others have become rigid or left since they were found
        is_due = np.array([id(body) in due for body in self._rigid.added], np.bool_)
        bodies = [body for body, is_its in zip(self._rigid.added, is_due, strict=True) if is_its]
        if not bodies:
            return new
        rows = self._fragments.remove(~is_due)
        rows = rows._replace(fragment=(np.cumsum(is_due) - 1)[rows.fragment])
        self._due = self._due[:0]
        released, arrivals = returned(rows, bodies, self._instances, self._store, self._spacing)
        for arrival in arrivals:
            take_in(*arrival)
        return released if new is None else joined([new, released])

    def hold(self, pinned: NDArray[np.int32]) -> bool:
        """Let whole bodies that are at ease become rigid, right after a sort; returns whether any did, which asks for another sort."""
        if not self._may.any():
            return False
        present = self._breaking.fragments()
        pieces = self._candidates(present, pinned)
        made = []
        for piece in self._apart(pieces):
            strength = strength_left(piece.rows) * float(self._strength[piece.rows.instance].min())
            # surfaces are made only of those that need them
            if bears_turning(piece.rows, turning_of(piece), strength) and (body := self._fragments.body_for(piece)) is not None:
                made.append((piece, body))
        while made:
            is_safe = ~self._struck_at_once(made)
            apart = {id(piece) for piece in self._apart([piece for (piece, _), is_here in zip(made, is_safe, strict=True) if is_here])}
            kept = [each for each in made if id(each[0]) in apart]
            if len(kept) == len(made):
                break
            made = kept
        self._fragments.add(made, are_whole=True)
        return bool(made)

    def _struck_at_once(self, made: list[tuple[Piece, RigidBody]]) -> Mask:
        """Which of these pieces something would strike within two substeps, if they were rigid."""
        rigid, added, before = self._rigid, list(self._rigid.added), self._rigid.foresight
        limits = np.append(np.full(len(added), np.inf), [self._breaking_speed(piece.rows) for piece, _ in made])
        rigid.set_added([*added, *(body for _, body in made)])
        rigid.foresight = self._foresight(2.0 * LONGEST_STEP, limits)
        contacts, velocities = rigid.contacts_ahead()
        result = self._struck(contacts, velocities, 2.0 * LONGEST_STEP, limits)[len(added) :]
        rigid.foresight = before
        rigid.set_added(added)
        return result

    def _candidates(self, present: Fragments, pinned: NDArray[np.int32]) -> list[Piece]:
        """The pieces that are whole and at ease."""
        if not len(present.ids):
            return []
        excluded = self._is_parted()
        excluded[pinned] = True
        number, count = present.number, int(present.number.max()) + 1
        is_out = np.bincount(number, excluded[present.ids] | ~self._may[present.instances], count) > 0
        is_out |= np.bincount(number, minlength=count) < LEAST_CORE
        pieces = [self._fragments.piece(present, each) for each in np.flatnonzero(~is_out)]
        return [
            piece
            for piece in pieces
            if swing(piece, elastic_energy(piece.rows, self._instances)) <= EASE * self._speed[piece.rows.instance].min()
        ]

    def _apart(self, pieces: list[Piece]) -> list[Piece]:
        """Those of the pieces that no other matter is near, as `RigidBodies.find_near` would see it."""
        if not pieces:
            return []
        is_other = self._store.live.copy()
        is_other[np.concatenate([piece.slots for piece in pieces])] = False
        cells = self._store.positions(self._spacing)[is_other] / self._spacing
        # the node blocks that particles reach before the next sort
        blocks = np.unique(np.floor(cells / BLOCK).astype(np.int64), axis=0)
        around = (blocks[:, None] + AROUND[None]).reshape(-1, 3)
        cubes, seconds = cubes_of(around, self._spacing), self._scene.time.frame_seconds
        reach = []
        for piece in pieces:
            radius, mass = float(np.linalg.norm(piece.rows.place, axis=1).max()) + self._spacing, piece.rows.mass.sum()
            speed = float(np.linalg.norm(piece.momentum)) / mass + radius * turning_of(piece)
            reach.append(radius + (COVER_REACH + 1.0) * self._spacing + seconds * speed)
        close = near_cubes(np.array([piece.center for piece in pieces]), np.array(reach), cubes, self._spacing, 3)
        return [piece for piece, is_close in zip(pieces, close, strict=True) if not is_close]
