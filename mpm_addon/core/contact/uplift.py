"""Uplift: the pressure of a fluid in the gap between a rigid body and what it lies on or leans against.

A gap of less than a cell holds no particles, so nothing would push a crate off the floor when water comes. But water does get there, and it
is at rest in a gap so narrow. So the piezometric pressure p - rho g . x is harmonic in it, and follows from that along its rim: where
particles touch the body, their mean; where nothing does, p = 0 if that lets the fluid out. The weights are the inverse distances to the
rim, squared in 3D, which is Poisson's formula for a disk, and in 2D solves the gap between two ends. Engineers design dams for
this pressure. Particles that are in a gap all the same act by themselves, the more so the wider it is. Fluid that must flow in as fast as
the gap opens has less pressure (Bernoulli).

Only bodies lighter than the fluid are lifted: a heavier one would rest for long on the layer that it squeezes, and bounce. See
docs/rigid_bodies.md for what this leaves wrong.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..transfer.blocks import BLOCK
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import MASS, POSITION, STRESS, VOLUME
from .gap_kernels import fill_gaps, find_rim, mean_heads, spread_heads
from .obstacle import MOST_WAY, Floats, Ints
from .rigid_body import RigidBody
from .rigid_surfaces import FACING, DeformingSurface, RigidSurface, Surface

# a gap is narrower than this [cells]
NARROW = 1.0
# particles no farther than this from a point of the rim wet it, and those near the body tell the pressure in it as far as that [cells]
WET, AVERAGED = 1.25, 4.0
# elements are at the rim if their distance from the gap is no greater than this [spacing of the elements]
BESIDE = 1.5
# the way from the rim into a gap is looked at so far from the body [spacing of the elements], at so many places
MOUTH, STEPS = 0.05, 16
# the number of points that stand for a longer rim
MOST_RIM = 256
# fluid flows into a gap as if it were no narrower than this [cells]
LEAST_WIDTH = 0.1


class _Gap(NamedTuple):
    """The gaps between the elements of a body and another rigid surface, measured in one pose.

    Attributes:
        linear, origin: of that pose, the other's coordinates from the body's, (3, 3) and (3,).
        widths: [m], shape (elements,); infinite where the surfaces do not face each other. None if all are wide.
        room: how far they may move before they are measured again [m].
    """

    linear: Floats
    origin: Floats
    widths: Floats | None
    room: float


class _Narrow(NamedTuple):
    """The elements of a body at narrow gaps, with the elements at their rim, and what is on the other side.

    Attributes:
        closed, rim: numbers of elements.
        widths: of the gaps [m], shape (closed,).
        partners: indices of the surfaces on the other side, shape (closed,).
    """

    closed: Ints
    rim: Ints
    widths: Floats
    partners: Ints


class _Fluid(NamedTuple):
    """The particles of fluid near the surface of a body: positions (n, 3), pressures, volumes and densities (n,)."""

    positions: Floats
    pressures: Floats
    volumes: Floats
    densities: Floats


class Uplift:
    """The uplift of the rigid bodies of a scene.

    Args:
        spacing: cell size [m].
        dimension: 2 or 3.
        fluids: the instances that are fluids.
    """

    def __init__(self, spacing: float, dimension: int, fluids: Ints) -> None:
        self._spacing, self._dimension, self._fluids = spacing, dimension, fluids
        self._gaps: dict[tuple[RigidSurface, Surface], _Gap] = {}
        self._rims: dict[RigidSurface, tuple[Ints, Ints]] = {}

    def forget(self) -> None:
        """Measure all gaps again at the next moment, so that nothing depends on when this was last done."""
        self._gaps, self._rims = {}, {}

    def push(
        self,
        bodies: Sequence[RigidBody],
        surface: RigidSurface,
        others: Sequence[Surface],
        store: ParticleStore,
        gravity: Floats,
        dt: float,
    ) -> None:
        """Apply the impulses of uplift to a body, and the opposite ones to bodies on the other side of its gaps.

        Args:
            bodies: all rigid bodies.
            surface: of the body.
            others: what it may lie on or lean against, all in their poses.
            store: the particles.
            gravity: acceleration [m/s^2], shape (3,).
            dt: [s].
        """
        narrow = self._narrow(surface, others)
        if narrow is None:
            return
        body = bodies[surface.body]
        obstacle, elements = surface.obstacle, surface.elements
        points, outward = obstacle.world(elements.points[narrow.closed]), obstacle.rotated(elements.normals[narrow.closed])
        opening = -(obstacle.velocity_at(points) * outward).sum(axis=1)
        for number in np.unique(narrow.partners):
            its = narrow.partners == number
            opening[its] += (others[number].obstacle.velocity_at(points[its]) * outward[its]).sum(axis=1)
        gaps = np.column_stack([points, outward, narrow.widths, np.maximum(opening, 0.0)])
        rim = np.hstack([obstacle.world(elements.points[narrow.rim]), obstacle.rotated(elements.normals[narrow.rim])])
        density = body.mass / (surface.volume * obstacle.scale**self._dimension)
        pressure = self._pressure(surface, gaps, rim, store, gravity, density)
        areas = obstacle.rotated(elements.areas[narrow.closed]) * obstacle.scale ** (self._dimension - 1)
        impulses = -dt * pressure[:, None] * areas
        for number in np.unique(narrow.partners):
            other, its = others[number], narrow.partners == number
            if other.body >= 0:
                # of two bodies, the elements of the smaller one count, once
                if (other.size, other.body) < (surface.size, surface.body):
                    continue
                _push(bodies[other.body], gaps[its, :3], -impulses[its])
            _push(body, gaps[its, :3], impulses[its])

    def _narrow(self, surface: RigidSurface, others: Sequence[Surface]) -> _Narrow | None:
        """The narrow gaps of a body, if it has some, and a rim."""
        found = {number: its for number, other in enumerate(others) if (its := self._widths(surface, other)) is not None}
        if not found:
            return None
        widths = np.full(len(surface.elements.points), math.inf)
        partners = np.zeros(len(widths), np.int64)
        for number, its in found.items():
            is_nearer = its < widths
            widths[is_nearer], partners[is_nearer] = its[is_nearer], number
        closed = np.flatnonzero(widths < NARROW * self._spacing)
        if len(closed) in (0, len(widths)):
            return None
        known = self._rims.get(surface)
        if known is None or not np.array_equal(known[0], closed):
            known = self._rims[surface] = closed, _rim(surface, closed)
        return _Narrow(closed, known[1], widths[closed], partners[closed])

    def _widths(self, surface: RigidSurface, other: Surface) -> Floats | None:
        """The widths of the gaps between the elements of a body and another surface [m], or None if all are wide."""
        if isinstance(other, DeformingSurface):
            return self._measured(surface, other)[0]
        (linear, origin), (its_linear, its_origin) = surface.obstacle.pose, other.obstacle.pose
        back = np.linalg.inv(its_linear)
        linear, origin = back @ linear, back @ (origin - its_origin)
        known = self._gaps.get((surface, other))
        if known is not None:
            turn = linear - known.linear
            way = np.linalg.norm(turn) * surface.radius + np.linalg.norm(turn @ surface.middle[0] + origin - known.origin)
            if way * other.obstacle.scale <= known.room:
                return known.widths
        widths, room = self._measured(surface, other)
        self._gaps[surface, other] = _Gap(linear, origin, widths, max(room, MOST_WAY * self._spacing))
        return widths

    def _measured(self, surface: RigidSurface, other: Surface) -> tuple[Floats | None, float]:
        """The widths of gaps as in `_widths`, and how far the surfaces may move until one can become narrow [m]."""
        obstacle, limit = surface.obstacle, NARROW * self._spacing
        middle, reach = obstacle.world(surface.middle), surface.radius * obstacle.scale + limit
        if not other.may_touch(middle, reach)[0]:
            return None, 0.0
        room = float(other.distance(middle)[0][0]) - reach
        if room > 0.0:
            return None, room
        widths, normal = other.distance(obstacle.world(surface.elements.points))
        room = float(widths.min(initial=math.inf)) - limit
        if room > 0.0:
            return None, room
        is_facing = (normal * obstacle.rotated(surface.elements.normals)).sum(axis=1) < FACING
        return np.where(is_facing, np.maximum(widths, 0.0), math.inf), 0.0

    def _pressure(self, surface: RigidSurface, gaps: Floats, rim: Floats, store: ParticleStore, gravity: Floats, own: float) -> Floats:
        """The pressure in narrow gaps [Pa]; rim: (k, 6) points of the rim and normals; own: density of the body [kg/m^3]."""
        spread, heads, full = np.zeros((len(gaps), 2)), np.empty(len(rim)), np.empty(len(gaps))
        fluid = self._fluid(surface, store, np.concatenate([gaps[:, :3], rim[:, :3]]))
        # relative to a place nearby, so that fluids of two densities do not depend on where the origin is
        middle = gaps[:, :3].mean(axis=0)
        hydrostatic = fluid.densities * ((fluid.positions - middle) @ gravity)
        mean_heads(rim, fluid.positions, fluid.pressures - hydrostatic, fluid.volumes, WET * self._spacing, AVERAGED * self._spacing, heads)
        is_wet = np.isfinite(heads)
        # a heavier body sinks to the floor without it; with it, it would rest on the squeezed layer for long, and bounce
        if not is_wet.any() or own >= fluid.densities.mean():
            return spread[:, 0]
        # where the rim is dry, fluid flows out if the place is low enough
        density = float(fluid.densities.mean())
        at_rest = -density * ((rim[:, :3] - middle) @ gravity)
        heads[~is_wet] = at_rest[~is_wet]
        counts = is_wet | (heads < heads[is_wet].max())
        spread_heads(gaps, rim[counts], heads[counts], float(self._dimension - 1), spread)
        low, high = gaps[:, :3].min(axis=0) - self._spacing, gaps[:, :3].max(axis=0) + self._spacing
        is_close = ((fluid.positions > low) & (fluid.positions < high)).all(axis=1)
        fill_gaps(gaps, fluid.positions[is_close], fluid.volumes[is_close], self._spacing, self._dimension, full)
        # fluid that flows in as fast as a gap opens has less pressure (Bernoulli), so that no shock at the rim throws a body off the floor
        inflow = gaps[:, 7] * spread[:, 1] / np.maximum(gaps[:, 6], LEAST_WIDTH * self._spacing)
        pressure = spread[:, 0] + density * ((gaps[:, :3] - middle) @ gravity - 0.5 * inflow**2)
        return np.maximum(pressure, 0.0) * (1.0 - full * gaps[:, 6] / (NARROW * self._spacing))

    def _fluid(self, surface: RigidSurface, store: ParticleStore, points: Floats) -> _Fluid:
        """The fluid that touches a body near some points (n, 3)."""
        axes = [0, 2] if self._dimension == 2 else [0, 1, 2]
        margin = AVERAGED * self._spacing
        low, high = points.min(axis=0)[axes] - margin, points.max(axis=0)[axes] + margin
        slots, blocks = self._slots_near(store, low, high, axes)
        table = store.table
        positions = (table[POSITION : POSITION + 3, slots].T + BLOCK * store.layout.coordinates[blocks].astype(np.float64)) * self._spacing
        if self._dimension == 2:
            positions[:, 1] = 0.0
        is_near = ((positions[:, axes] > low) & (positions[:, axes] < high)).all(axis=1)
        is_near[is_near] = surface.obstacle.distance(positions[is_near])[0] < WET * self._spacing
        slots, positions = slots[is_near], np.ascontiguousarray(positions[is_near])
        mass, volumes = table[MASS, slots].astype(np.float64), table[VOLUME, slots].astype(np.float64)
        stress = table[[STRESS, STRESS + 5] if self._dimension == 2 else [STRESS, STRESS + 3, STRESS + 5]][:, slots]
        return _Fluid(positions, -stress.mean(axis=0, dtype=np.float64), volumes, mass / volumes)

    def _slots_near(self, store: ParticleStore, low: Floats, high: Floats, axes: list[int]) -> tuple[Ints, Ints]:
        """The slots of fluid in blocks that may reach into a box [m], and their blocks."""
        layout, size = store.layout, BLOCK * self._spacing
        # particles may have left their block by less than one since the sort
        is_near = (layout.coordinates[:, axes] >= low / size - 2.0) & (layout.coordinates[:, axes] <= high / size + 1.0)
        blocks = np.flatnonzero(is_near.all(axis=1))
        runs = (blocks[:, None] * store.instance_count + self._fluids).ravel()
        begin, counts = layout.first[runs], layout.first[runs + 1] - layout.first[runs]
        slots = np.repeat(begin - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        is_live = store.ids[slots] >= 0
        return slots[is_live], np.repeat(np.repeat(blocks, len(self._fluids)), counts)[is_live]


def _rim(surface: RigidSurface, closed: Ints) -> Ints:
    """The elements beside closed ones, from which a way leads into the gap that does not cross the body."""
    points, normals, spacing = surface.elements.points, surface.elements.normals, surface.elements.spacing
    nearest, reach = np.full(len(points), -1), BESIDE * spacing
    low, high = points[closed].min(axis=0) - reach, points[closed].max(axis=0) + reach
    near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    found = np.empty(len(near), np.int64)
    find_rim(points, near, closed, reach, found)
    nearest[near] = found
    nearest[closed] = -1
    rim = np.flatnonzero(nearest >= 0)
    its = nearest[rim]
    start = points[rim] + MOUTH * spacing * normals[rim]
    depth = ((points[rim] - points[its]) * normals[its]).sum(axis=1)
    way = (MOUTH * spacing - np.minimum(depth, 0.0))[:, None] * normals[its]
    is_open = np.ones(len(rim), np.bool_)
    for share in np.linspace(0.0, 1.0, STEPS):
        is_open &= surface.shape_distance(start + share * way)[0] > 0.0
    rim = rim[is_open]
    return rim[:: max(1, math.ceil(len(rim) / MOST_RIM))]


def _push(body: RigidBody, points: Floats, impulses: Floats) -> None:
    """Apply impulses (n, 3) at points (n, 3) to a body."""
    body.push(np.concatenate([impulses.sum(axis=0), np.cross(points - body.center, impulses).sum(axis=0)]))
