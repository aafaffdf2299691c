"""Fragments that have become rigid: pieces of brittle material that are at ease turn into rigid bodies, which their particles follow.

What has broken off and swings no more is rigid for the eye, but as matter its stiffness limits the substep, it comes to rest on nodes
instead of its faces, and it creeps. So its particles leave the store, and a rigid body with their mass, momentum and angular momentum
takes their place, whose shape is their surface. See docs/solver.md.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contact.coupling import RigidBodies
from ..contact.rigid_body import RigidBody
from ..geometry.distance import exact_query
from ..geometry.mass import MassProperties
from ..geometry.particle_surface import particle_surface
from ..geometry.rotation import quaternion_of, quaternion_products
from ..geometry.shapes import Mesh, Sphere
from ..laws.brittle import Brittle
from ..particles import AGE, BIRTH, DAMAGE, Frame
from ..scene.description import Collider, Scene
from ..scene.shape import Shape
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import DEFORMATION, MASS, STATE, VELOCITY, VELOCITY_GRADIENT, VOLUME
from .breaking import LEAST_CORE, Breaking, Fragments
from .deformation import deformations
from .held_particles import PREFIX, Held, nothing_held
from .material_instances import MaterialInstance
from .resumption import wrong
from .tearing import Tearing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

# A fragment is at ease once hardly any of its bonds, relative to its particles, have parted while waves crossed it this many times,
CROSSINGS, LATE = 5.0, 0.02
# and it swings no faster than this share of the speed at which waves would have the stress of its strength.
EASE = 0.15
# the distance of the points that stand for its surface in contacts [cells]
POINT_SPACING = 2.0
# levels of fullness that are tried for the surface, and how far its volume may be from that of the particles
LEVELS = (0.5, 0.35, 0.25)
LEAST_RATIO, GREATEST_RATIO = 0.7, 1.3


class Limits(NamedTuple):
    """Of the instances, n of them, what decides which fragments become rigid.

    Attributes:
        body: the body of each; volume: of its body [m^3], (n,).
        share: of it that a piece may have, (n,).
        wave_speed: [m/s]; speed: at which waves have the stress of its strength [m/s], (n,).
    """

    body: list[str | int]
    volume: Floats
    share: Floats
    wave_speed: Floats
    speed: Floats


class Piece(NamedTuple):
    """A fragment that may become rigid.

    Attributes:
        slots: of its particles in the store; rows: what is kept of them.
        center: of mass [m], (3,).
        momentum: sum m v [kg m/s], (3,).
        spin: sum m (r x v + s^2 / 12 curl v) of the particles as cubes of the edge s [kg m^2/s], (3,).
        energy: their kinetic energy, sum m (v^2 + s^2 / 12 |grad v|^2) / 2 [J].
    """

    slots: Ints
    rows: Held
    center: Floats
    momentum: Floats
    spin: Floats
    energy: float


class RigidFragments:
    """The rigid fragments of a simulation. Does nothing in scenes without.

    Attributes:
        is_used: whether fragments may become rigid.
        held: their particles.
    """

    def __init__(
        self,
        scene: Scene,
        instances: list[MaterialInstance],
        store: ParticleStore,
        breaking: Breaking,
        tearing: Tearing,
        rigid: RigidBodies,
    ) -> None:
        self.is_used = scene.has_rigid_fragments
        self._scene, self._instances, self._store = scene, instances, store
        self._breaking, self._tearing, self._rigid = breaking, tearing, rigid
        self.held = self._saved = nothing_held()

    def begin(self) -> None:
        """Save the state right after a sort."""
        self._saved = self.held

    def restore(self) -> None:
        """Return to the state at the last sort."""
        self.held = self._saved

    def harden(self, time: float, pinned: NDArray[np.int32]) -> None:
        """Turn fragments that are at ease into rigid bodies, right before a sort, which removes their particles from the store.

        Those of a body become rigid together, once all of them may: rigid bodies beside soft pieces would cost more than they spare.

        Args:
            time: [s since the first frame].
            pinned: ids of the particles that are pinned, whose fragments stay soft.
        """
        if not self.is_used or self._tearing.bonds.is_whole.all():
            return
        present = self._breaking.fragments()
        if not len(present.ids):
            return
        limits = self._limits()
        broken, is_large = self._broken(present, limits, pinned)
        bodies: dict[str | int, list[Piece]] = {}
        for number in np.flatnonzero(broken):
            piece = self.piece(present, number)
            bodies.setdefault(limits.body[piece.rows.instance[0]], []).append(piece)
        for instance in np.unique(present.instances[is_large[present.number]]):
            bodies.pop(limits.body[instance], None)
        late = self._late(present, limits, time)
        for pieces in bodies.values():
            if _is_at_ease(pieces, limits, late):
                self._take(pieces)

    def _take(self, pieces: list[Piece]) -> None:
        """Let pieces become rigid, except those that no surface describes."""
        self.add([(piece, body) for piece in pieces if (body := self.body_for(piece)) is not None])

    def body_for(self, piece: Piece) -> RigidBody | None:
        """A rigid body that moves as a piece does; None if no surface describes it."""
        body = self._body_of(piece.rows)
        if body is not None:
            body.center, body.velocity, body.spin = piece.center, piece.momentum / body.mass, piece.spin
        return body

    def add(self, made: list[tuple[Piece, RigidBody]], *, are_whole: bool = False) -> None:
        """Let rigid bodies take the place of pieces. Particles of whole bodies are shown where they are: none of them hang loosely."""
        held = [self.held]
        for number, (piece, body) in enumerate(made, len(self._rigid.added)):
            rows = piece.rows._replace(fragment=np.full_like(piece.rows.fragment, number))
            if not are_whole:
                rows = rows._replace(shown=_drawn_in(rows.place, body.obstacle.collider.shape, self._scene.solver.grid_spacing))
            held.append(rows)
            self._store.ids[piece.slots] = -1
        if made:
            self.held = Held._make(np.concatenate(parts) for parts in zip(*held, strict=True))
            self._rigid.set_added([*self._rigid.added, *(body for _, body in made)])

    def _broken(self, present: Fragments, limits: Limits, pinned: NDArray[np.int32]) -> tuple[Mask, Mask]:
        """Which of the fragments have broken off and may become rigid, and which have, but are too large."""
        bonds, count, its = self._tearing.bonds, int(present.number.max()) + 1, present.instances
        place = np.full(self._tearing.particle_count, -1)
        place[present.ids] = present.number
        volumes = self._store.table[VOLUME, present.slots].astype(np.float64)
        volume = np.bincount(present.number, volumes, count)
        share = np.bincount(present.number, volumes * limits.share[its] * limits.volume[its], count) / volume
        # one more, for particles that are not there
        may = np.zeros(count + 1, np.bool_)
        may[place[bonds.pairs[~bonds.is_whole]]] = True
        may[place[pinned]] = False
        return may[:-1] & (volume <= share), may[:-1] & (volume > share)

    def _late(self, present: Fragments, limits: Limits, time: float) -> Ints:
        """For each particle ever emitted, the number of its bonds that have parted while waves crossed its fragment a few times, (ids,)."""
        bonds, count = self._tearing.bonds, int(present.number.max()) + 1
        volumes = self._store.table[VOLUME, present.slots].astype(np.float64)
        crossing = np.zeros(self._tearing.particle_count)
        sizes = np.cbrt(np.bincount(present.number, volumes, count))
        crossing[present.ids] = sizes[present.number] / limits.wave_speed[present.instances]
        parted = np.flatnonzero(~bonds.is_whole)
        pairs = bonds.pairs[parted]
        is_late = bonds.parted[parted, None] > time - CROSSINGS * crossing[pairs]
        return np.bincount(pairs[is_late], minlength=len(crossing))

    def piece(self, present: Fragments, number: np.int64) -> Piece:
        """What a fragment consists of, and how it moves."""
        its = np.flatnonzero(present.number == number)
        slots, instances = present.slots[its], present.instances[its]
        table = self._store.table[:, slots].astype(np.float64)
        mass, volume, velocity = table[MASS], table[VOLUME], table[VELOCITY : VELOCITY + 3]
        position = self._store.positions(self._scene.solver.grid_spacing)[slots]
        center = mass @ position / mass.sum()
        volume_ratio, _, rotation, stretch = deformations(self._instances, self._store, slots, instances)
        fragment = np.zeros(len(its), np.int64)
        place = position - center
        deformation = table[DEFORMATION : DEFORMATION + 9].T
        shown = volume_ratio, rotation, stretch
        rows = Held(present.ids[its], instances, fragment, place, place, mass, volume, table[STATE], deformation, *shown)
        gradient, own = table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9], volume ** (2.0 / 3.0) / 12.0
        curl = np.stack([gradient[7] - gradient[5], gradient[2] - gradient[6], gradient[3] - gradient[1]], axis=1)
        spin = mass @ (np.cross(rows.place, velocity.T) + own[:, None] * curl)
        energy = 0.5 * float(mass @ ((velocity**2).sum(axis=0) + own * (gradient**2).sum(axis=0)))
        return Piece(slots, rows, center, mass @ velocity.T, spin, energy)

    def _limits(self) -> Limits:
        table, count = self._store.table, len(self._instances)
        slots = np.flatnonzero(self._store.live)
        volume = np.bincount(self._store.instances_of(slots), table[VOLUME, slots], count)
        volume += np.bincount(self.held.instance, self.held.volume, count)
        bodies = [each.body for each in self._instances]
        whole = np.array([sum(volume[number] for number, body in enumerate(bodies) if body == each) for each in bodies])
        values = np.zeros((3, count))
        for number, each in enumerate(self._instances):
            if isinstance(each.law, Brittle):
                speed = each.law.wave_speed(each.stiffness_scale, each.dimension)
                strength = each.law.strength_in_cells(each.stiffness_scale)
                values[:, number] = each.law.rigid_share, speed, strength / (each.law.density * speed)
        return Limits(bodies, whole, *values)

    def _body_of(self, rows: Held) -> RigidBody | None:
        """The rigid body of a fragment, at rest at the origin; None if no surface describes it."""
        shape = shape_of(rows.place, rows.volume)
        if shape is None:
            return None
        law = self._instances[int(rows.instance[0])].law
        assert isinstance(law, Brittle)
        mass = float(rows.mass.sum())
        collider = Collider(
            f"{self._instances[int(rows.instance[0])].name}/{int(rows.id[0])}",
            shape,
            friction=law.contact_friction,
            restitution=law.restitution,
            dynamic=True,
            mass=mass,
        )
        properties = MassProperties(1.0, np.zeros(3), inertia_of(rows) / mass)
        body = RigidBody(collider, self._scene, is_piece=True, properties=properties)
        body.obstacle.point_spacing = POINT_SPACING * self._scene.solver.grid_spacing
        return body

    def leave(self, limits: Floats) -> int:
        """Remove fragments whose centers are beyond open sides of the domain, (2, 3) [cells]; returns the number of their particles."""
        if not len(self.held.id):
            return 0
        centers = np.array([body.center for body in self._rigid.added]) / self._scene.solver.grid_spacing
        stays = ((centers >= limits[0]) & (centers <= limits[1])).all(axis=1)
        if stays.all():
            return 0
        return len(self.remove(stays).id)

    def remove(self, stays: Mask) -> Held:
        """Remove the fragments that do not stay (fragments,); returns their particles."""
        kept, number = stays[self.held.fragment], np.cumsum(stays) - 1
        left, self.held = self.held.rows(~kept), self.held.rows(kept)
        self.held = self.held._replace(fragment=number[self.held.fragment])
        self._rigid.set_added([body for body, is_here in zip(self._rigid.added, stays, strict=True) if is_here])
        return left

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as arrays for a checkpoint; that of the bodies is with the other rigid bodies."""
        return {f"{PREFIX}{name}": values for name, values in self.held._asdict().items()} if self.is_used else {}

    def load(self, arrays: Mapping[str, NDArray[Any]], numbers: Ints) -> None:
        """Restore what `arrays` returned, before the state of the rigid bodies is loaded; `numbers` are those of its instances now."""
        if f"{PREFIX}id" not in arrays:
            return
        self.held = Held._make(arrays[f"{PREFIX}{name}"] for name in Held._fields)
        self.held = self.held._replace(instance=numbers[self.held.instance])
        if not all(isinstance(self._instances[number].law, Brittle) for number in np.unique(self.held.instance)):
            raise wrong(f"{PREFIX}instance", "a material that does not break")
        count = int(self.held.fragment.max(initial=-1)) + 1
        bodies = [self._body_of(self.held.rows(self.held.fragment == number)) for number in range(count)]
        if any(body is None for body in bodies):
            raise wrong(f"{PREFIX}place", "no surface")
        self._rigid.set_added([body for body in bodies if body is not None])

    def motion(self) -> tuple[Floats, Floats, NDArray[np.float32]]:
        """Positions [m] and velocities [m/s] of the particles, (n, 3), and their rotations, (n, 4)."""
        number, bodies = self.held.fragment, self._rigid.added
        turns = np.array([body.rotation for body in bodies]).reshape(-1, 3, 3)
        centers = np.array([body.center for body in bodies]).reshape(-1, 3)
        velocities = np.array([body.velocities for body in bodies]).reshape(-1, 6)
        arms = np.einsum("nij,nj->ni", turns[number], self.held.shown)
        speed = velocities[number, :3] + np.cross(velocities[number, 3:], arms)
        quaternions = np.array([quaternion_of(turn) for turn in turns]).reshape(-1, 4)
        return (
            centers[number] + arms,
            speed,
            quaternion_products(quaternions[number], self.held.rotation.astype(np.float64)).astype(np.float32),
        )


def with_fragments(frame: Frame, fragments: RigidFragments, rigid: RigidBodies) -> Frame:
    """A frame of the soft particles with those of the rigid fragments added."""
    held = fragments.held
    if not len(held.id):
        return frame
    position, velocity, rotation = fragments.motion()
    ids = np.append(frame.arrays["id"], held.id)
    order = np.argsort(ids)
    ids = ids[order]
    own = {
        "position": position,
        "velocity": velocity,
        "id": held.id,
        "volume_ratio": held.volume_ratio,
        "density_ratio": np.ones(len(held.id)),
        "stress": np.zeros(len(held.id)),
        "rotation": rotation,
        "stretch": held.stretch,
        "scale": np.cbrt(held.volume),
        DAMAGE: np.maximum(held.damage, frame.bonds.damage(len(frame.births[BIRTH]))[held.id]) if frame.bonds is not None else held.damage,
        AGE: frame.time - frame.births[BIRTH][held.id],
    }
    arrays = {}
    for name, values in frame.arrays.items():
        added = own[name] if name in own else frame.births[name][held.id]
        arrays[name] = np.ascontiguousarray(np.concatenate([values, added.astype(values.dtype)])[order])
    before = frame.statistics
    momentum = np.array(before.momentum) + sum(body.mass * body.velocity for body in rigid.added)
    statistics = replace(
        before,
        particles=len(ids),
        kinetic_energy=before.kinetic_energy + sum(body.kinetic_energy for body in rigid.added),
        momentum=(float(momentum[0]), float(momentum[1]), float(momentum[2])),
        mass=before.mass + float(held.mass.sum()),
    )
    return replace(frame, arrays=arrays, statistics=statistics)


def shape_of(place: Floats, volumes: Floats) -> Mesh | Sphere | None:
    """The shape of a fragment: its surface; a ball for a crumb; None if there is no surface with nearly its volume.

    Args:
        place: of its particles, from their center of mass [m], (n, 3).
        volumes: of these [m^3], (n,).
    """
    volume = float(volumes.sum())
    if len(place) < LEAST_CORE:
        return Sphere(center=(0.0, 0.0, 0.0), radius=float(np.cbrt(0.75 * volume / math.pi)))
    for level in LEVELS:
        surface = particle_surface(place, volumes, level)
        if LEAST_RATIO * volume <= surface.volume <= GREATEST_RATIO * volume:
            return Mesh(surface.vertices, surface.triangles)
    return None


def _drawn_in(place: Floats, shape: Shape, spacing: float) -> Floats:
    """Places in a fragment [m], (n, 3), those outside of its shape drawn to its surface: they hang loosely, and no contact keeps them."""
    distance, outward = exact_query(shape, spacing)(place)
    return place - np.maximum(distance, 0.0)[:, None] * outward


def inertia_of(rows: Held) -> Floats:
    """About the center of mass [kg m^2], (3, 3): that of the particles as cubes, sum m ((r^2 + s^2 / 6) 1 - r r^T)."""
    own = rows.volume ** (2.0 / 3.0) / 6.0
    spread = rows.mass @ ((rows.place**2).sum(axis=1) + own)
    return spread * np.eye(3) - (rows.place * rows.mass[:, None]).T @ rows.place


def _is_at_ease(pieces: list[Piece], limits: Limits, late: Ints) -> bool:
    """Whether the pieces of a body hardly swing or crack; `late` counts the bonds of each particle that have parted lately."""
    masses = np.array([piece.rows.mass.sum() for piece in pieces])
    swings = np.array([swing(piece) / limits.speed[piece.rows.instance[0]] for piece in pieces])
    ids = np.concatenate([piece.rows.id for piece in pieces])
    return bool(late[ids].sum() <= LATE * len(ids) and masses @ swings**2 <= EASE**2 * masses.sum())


def swing(piece: Piece, elastic: float = 0.0) -> float:
    """The mean speed [m/s] of particles relative to a rigid body with their momentum and angular momentum.

    Of all rigid motions, that is the nearest to theirs, so the energies of this motion and of the rest add up. Elastic energy [J] counts
    as what it can become.
    """
    mass = float(piece.rows.mass.sum())
    turning = np.linalg.solve(inertia_of(piece.rows), piece.spin)
    rigid = 0.5 * float(piece.momentum @ piece.momentum) / mass + 0.5 * float(turning @ piece.spin)
    return math.sqrt(2.0 * (max(piece.energy - rigid, 0.0) + elastic) / mass)
