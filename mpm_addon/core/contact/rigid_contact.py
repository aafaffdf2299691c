"""Contacts of rigid bodies with walls, colliders and one another; `rigid_impulses` finds the impulses.

Points on each body's surface are tested for their distance from all other surfaces, and points of those for their distance from the body.
A contact lets a gap close within a substep, but not turn into an overlap, unless the pair has restitution; bodies that still overlap are
moved apart without gaining velocity.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..geometry.contact_points import ContactPoints, contact_points
from ..geometry.section import section_of
from ..scene.description import Scene
from .deforming_obstacle import DeformingObstacle
from .obstacle import AnimatedObstacle, Floats, Ints, Obstacle
from .rigid_impulses import SolverBodies, solve_contacts

# limits on the sweeps over the contacts, and on the solutions of single contacts in all sweeps, which a large pile may exceed
FEWEST_SWEEPS, MOST_SWEEPS, MOST_SOLUTIONS = 200, 2000, 200_000
# the share of an overlap that is corrected in a substep
RECOVERY = 0.2
# greatest dot product of two normals in contact: a point of a face touches what is in front of the face, not beside it
FACING = -0.3
# factor by which a point just outside a corner is farther from the middle, minus one
OUTSIDE = 1e-4
# distance that a vertex of a deforming mesh is moved toward a body, to test whether it leaves its own surface [cells]
WAY_OUT = 1e-3
# of the vertices of a deforming mesh in a cube of this size, only the nearest counts [cells]
CLOSEST = 0.5
# normals of one face have at least this dot product; gaps of a flat face differ from a plane by less than this share of its size
ALIKE, FLAT = 1.0 - 1e-9, 1e-6
# directions in which the outermost contacts of a face are used; none is along an edge of an axis-aligned box
_ANGLES = 2.0 * np.pi * (np.arange(16) + 0.37) / 16
_OUTWARD = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)
_NOTHING = np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)
# the least friction of sticky colliders
STICKY_FRICTION = 1.0


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

    def impulses(self, bodies: SolverBodies, least: Floats) -> Floats:
        """Solve the contacts; returns the impulses [kg m/s]: along the normal, and the friction, shape (n, 4)."""
        return self._solve(least, bodies)

    def _velocities(self, velocities: Floats) -> Floats:
        """The velocities of the first bodies at the contacts relative to the second (n, 3), from those of bodies (bodies, 6)."""
        # body -1 stands for a collider that is not a rigid body
        known = np.concatenate([velocities, np.zeros((1, 6))])
        first, second = known[self.first], known[self.second]
        mine = first[:, :3] + np.cross(first[:, 3:], self.arms[:, :3])
        return mine - second[:, :3] - np.cross(second[:, 3:], self.arms[:, 3:])

    def solve(self, bodies: SolverBodies, least: Floats) -> None:
        """Change the velocities to those that the contacts allow; see `least_velocities`."""
        if len(self.first):
            self._solve(least, bodies)

    def separation(self, inverse_mass: Floats, inverse_inertia: Floats) -> Floats:
        """The displacements and rotations that separate overlapping bodies [m, rad], shape (bodies, 6)."""
        moves = np.zeros((len(inverse_mass), 6))
        if (self.gap < 0.0).any():
            least = np.where(self.gap < 0.0, -RECOVERY * self.gap, -self.gap)
            still = self._replace(others=np.zeros_like(self.others), friction=np.zeros_like(self.friction))
            still._solve(least, SolverBodies(moves, inverse_mass, inverse_inertia))
        return moves

    def _solve(self, least: Floats, bodies: SolverBodies) -> Floats:
        sweeps = max(FEWEST_SWEEPS, min(MOST_SWEEPS, MOST_SOLUTIONS // max(1, len(self.first))))
        impulses = np.zeros((len(self.first), 4))
        solve_contacts(self, least, bodies, impulses, sweeps)
        return impulses


class RigidSurface:
    """The surface of a rigid collider, for contact with rigid bodies.

    Args:
        obstacle: the collider, with its pose, velocity and distance.
        points: on its surface, in its own coordinates.

    Attributes:
        body: the number of the rigid body, or -1 for any other collider.
        middle: of the points, in the shape's coordinates [m].
        radius: of the bounding ball about `middle` [m]; infinite for an infinite shape.
    """

    def __init__(self, obstacle: Obstacle, points: ContactPoints, body: int = -1) -> None:
        self.obstacle = obstacle
        self.points = points
        self.body = body
        self.middle, self.radius = np.zeros((1, 3)), math.inf
        if len(points.points):
            self.middle = 0.5 * (points.points.min(axis=0) + points.points.max(axis=0))[None]
            self.radius = float(np.linalg.norm(points.points - self.middle, axis=1).max()) + points.radius
        # a corner has a normal just outside of it, between those of its faces
        _, self._outward = obstacle.shape_distance(points.points + OUTSIDE * (points.points - self.middle))

    def speed(self, around: Ints) -> float:
        """A bound on its speed [m/s]; for an infinite shape, at the node blocks `around` (n, 3)."""
        return self.obstacle.speed(around)

    def distance(self, points: Floats) -> tuple[Floats, Floats]:
        """The signed distance [m] of points (n, 3), shape (n,), and its gradient (n, 3), both exact."""
        return self.obstacle.distance(points, is_exact=True)

    def may_touch(self, points: Floats, reach: float) -> NDArray[np.bool_]:
        """Whether points (n, 3) may be nearer than `reach` [m]; a cheap bound."""
        if self.radius == math.inf:
            return np.ones(len(points), np.bool_)
        reach = self.radius * self.obstacle.scale + reach
        return ((points - self.obstacle.world(self.middle)) ** 2).sum(axis=1) < reach**2

    def near(self, other: "Surface", margin: float) -> tuple[Floats, Floats, Floats]:
        """The points of this surface nearer to another one than `margin` [m]: their positions, normals (k, 3) and gaps (k,)."""
        obstacle, mine = self.obstacle, self.points
        scale = obstacle.scale
        if not len(mine.points) or other.distance(obstacle.world(self.middle))[0][0] > self.radius * scale + margin:
            return _NOTHING
        points, outward = obstacle.world(mine.points), obstacle.rotated(self._outward)
        is_near = other.may_touch(points, margin + mine.radius * scale)
        points, outward = points[is_near], outward[is_near]
        gap, normal = other.distance(points)
        if mine.radius == 0.0:
            is_facing = (outward * normal).sum(axis=1) < FACING
            points, gap, normal = points[is_facing], gap[is_facing], normal[is_facing]
        gap = gap - mine.radius * scale
        points = points - mine.radius * scale * normal
        if len(mine.rolls):
            axis_points, axis = obstacle.world(mine.rolls), obstacle.rotated(mine.axis[None])[0]
            _, out = other.distance(axis_points)
            across = out - (out @ axis)[:, None] * axis
            length = np.linalg.norm(across, axis=1)
            facing = length > 1e-3
            rolling = axis_points[facing] - mine.roll_radius * scale * across[facing] / length[facing, None]
            roll_gap, roll_normal = other.distance(rolling)
            points, gap, normal = np.concatenate([points, rolling]), np.concatenate([gap, roll_gap]), np.concatenate([normal, roll_normal])
        is_near = gap < margin
        return points[is_near], normal[is_near], gap[is_near]


class DeformingSurface:
    """The surface of a deforming collider, as `RigidSurface`; its points are its vertices in the current pose."""

    body = -1

    def __init__(self, obstacle: DeformingObstacle, spacing: float) -> None:
        self.obstacle = obstacle
        self._spacing = spacing

    def speed(self, around: Ints) -> float:
        return self.obstacle.fastest

    def distance(self, points: Floats) -> tuple[Floats, Floats]:
        return self.obstacle.distance(points)

    def may_touch(self, points: Floats, reach: float) -> NDArray[np.bool_]:
        low, high = self.obstacle.bounds()
        return ((points > low - reach) & (points < high + reach)).all(axis=1)

    def near(self, other: RigidSurface, margin: float) -> tuple[Floats, Floats, Floats]:
        corners, offset = self.obstacle.corners()
        corners = corners[other.may_touch(corners, margin + offset)]
        gap, normal = other.distance(corners)
        gap = gap - offset
        near = np.flatnonzero(gap < margin)
        if not len(near):
            return _NOTHING
        way = WAY_OUT * self._spacing
        out = self.obstacle.distance(corners[near] - way * normal[near])[0] + offset
        near = near[out > -FACING * way]
        # of vertices close together, only the one nearest to the body
        near = near[np.argsort(gap[near], kind="stable")]
        _, first = np.unique(np.floor(corners[near] / (CLOSEST * self._spacing)), axis=0, return_index=True)
        near = near[np.sort(first)]
        return corners[near] - offset * normal[near], normal[near], gap[near]


Surface = RigidSurface | DeformingSurface
# a body, the surface that it touches, and the positions (k, 3), normals (k, 3) and gaps (k,) of the contacts
Part = tuple[RigidSurface, Surface, Floats, Floats, Floats]


def pair_friction(first: Surface, second: Surface) -> float:
    """The friction coefficient of two surfaces: the geometric mean, so that one without friction slides on everything."""
    return math.sqrt(_friction(first.obstacle) * _friction(second.obstacle))


def _friction(obstacle: AnimatedObstacle) -> float:
    friction, _ = obstacle.frictions
    return max(friction, STICKY_FRICTION) if obstacle.collider.surface == "sticky" else friction


def pair_restitution(first: Surface, second: Surface) -> float:
    """The restitution of two surfaces: the product for two rigid bodies, as in Blender; with any other collider the greater one."""
    mine, its = first.obstacle.collider.restitution, second.obstacle.collider.restitution
    return mine * its if first.body >= 0 and second.body >= 0 else max(mine, its)


def find_contacts(bodies: list[RigidSurface], others: list[Surface], margin: float) -> Contacts:
    """The contacts of rigid bodies with each other and with other colliders, nearer than `margin` [m]."""
    parts: list[Part] = []
    for number, body in enumerate(bodies):
        for other in [*others, *bodies[number + 1 :]]:
            if not (body.obstacle.is_present and other.obstacle.is_present):
                continue
            middle = body.obstacle.world(body.middle)
            if not other.may_touch(middle, body.radius * body.obstacle.scale + margin)[0]:
                continue
            points, normals, gaps = body.near(other, margin)
            # the points of a round body, with their radius, are exact for any surface
            if body.points.radius == 0.0:
                its_points, its_normals, its_gaps = other.near(body, margin)
                # moved to the body's side of the gap, with the normal toward the body
                points, normals = (
                    np.concatenate([points, its_points - its_gaps[:, None] * its_normals]),
                    np.concatenate([normals, -its_normals]),
                )
                gaps = np.concatenate([gaps, its_gaps])
            kept = _supporting(points, normals, gaps)
            parts.append((body, other, points[kept], normals[kept], gaps[kept]))
    return _joined(parts)


def _supporting(points: Floats, normals: Floats, gaps: Floats) -> Ints:
    """The contacts of a pair that imply all others, in order: for two faces that lie on each other, the outermost ones.

    If all normals are equal and the gap is an affine function of the position, so is the velocity that a contact requires. Sweeps
    over fewer contacts converge sooner; without this, a stack of many bodies leans.
    """
    every = np.arange(len(gaps))
    if len(gaps) <= 4:
        return every
    normal = normals[0]
    if ((normals @ normal) < ALIKE).any():
        return every
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first /= np.linalg.norm(first)
    flat = (points - points.mean(axis=0)) @ np.stack([first, np.cross(normal, first)], axis=1)
    plane = np.hstack([flat, np.ones((len(flat), 1))])
    size = float(np.abs(flat).max())
    if np.abs(plane @ np.linalg.lstsq(plane, gaps, rcond=None)[0] - gaps).max() > FLAT * size:
        return every
    return np.unique((flat @ _OUTWARD.T).argmax(axis=0))


def _joined(parts: list[Part]) -> Contacts:
    parts = [part for part in parts if len(part[4])]
    if not parts:
        nothing = np.zeros(0, np.int64)
        return Contacts(nothing, nothing, np.zeros((0, 6)), np.zeros((0, 3)), np.zeros((0, 3)), *np.zeros((3, 0)))
    counts = [len(part[4]) for part in parts]

    def repeated(values: list[int]) -> Ints:
        return np.repeat(np.array(values, np.int64), counts)

    arms = [np.hstack([points - body.obstacle.center, points - _center(other)]) for body, other, points, _, _ in parts]
    others = [np.zeros_like(points) if other.body >= 0 else other.obstacle.velocity_at(points) for _, other, points, _, _ in parts]
    return Contacts(
        repeated([body.body for body, *_ in parts]),
        repeated([other.body for _, other, *_ in parts]),
        np.concatenate(arms),
        np.concatenate([part[3] for part in parts]),
        np.concatenate(others),
        np.concatenate([part[4] for part in parts]),
        np.repeat([pair_friction(body, other) for body, other, *_ in parts], counts),
        np.repeat([pair_restitution(body, other) for body, other, *_ in parts], counts),
    )


def _center(surface: Surface) -> Floats:
    """The center of mass of a rigid body [m], shape (3,); zero for other colliders, where it is not used."""
    return surface.obstacle.center if isinstance(surface, RigidSurface) else np.zeros(3)


def surface_of(obstacle: Obstacle | DeformingObstacle, scene: Scene) -> Surface:
    """The surface of a collider of a scene, for contact with rigid bodies."""
    if isinstance(obstacle, DeformingObstacle):
        return DeformingSurface(obstacle, scene.solver.grid_spacing)
    return rigid_surface(obstacle, scene)


def rigid_surface(obstacle: Obstacle, scene: Scene, body: int = -1) -> RigidSurface:
    """The surface of a rigid collider of a scene; see `RigidSurface`."""
    collider, spacing = obstacle.collider, max(scene.solver.grid_spacing, obstacle.point_spacing)
    shape = section_of(collider.shape) if scene.solver.dimension == 2 else collider.shape
    return RigidSurface(obstacle, contact_points(shape, spacing), body)
