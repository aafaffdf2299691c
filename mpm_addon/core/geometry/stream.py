"""An endless pattern of points that flows through a shape: the particles of a steady inflow, and when they enter.

The pattern repeats along the flow after a period and moves with the flow. Its points inside the shape at the start fill the shape; later,
each point enters once, where its line first enters the shape. Nothing is sampled again over time: along each line, the points of the
pattern follow one another at known distances, so sorting the lines by the distance to their next entry gives the points that enter
during any part of the flow.
"""

import math
from collections.abc import Callable

import numpy as np

from ..scene.shape import Shape
from .distance_field import build_field, query_field
from .inside import inside_test
from .mesh_topology import Floats
from .outline import Outline
from .poisson import periodic_poisson_disk
from .rotation import euler_matrix
from .sampling import DISK_PACKING
from .shadow import shadow
from .shapes import Mesh

# the pattern repeats after at least this many point spacings along the flow, and at least the shape's length
LEAST_PERIOD = 16.0
# number of lines that measure the cross section of a shape without a formula
SECTION_LINES = {2: 4096, 3: 64**2}
# the least step along a line, relative to the point spacing: shorter chords may be missed, and entries are late by up to this
STEPS_PER_SPACING = 32.0
# at this many times a shape's size, the distance to the shape gives its extent
FAR = 1e5


class Stream:
    """A pattern of points that flows through a shape.

    Distances along the flow are measured from the start, when the shape is filled.

    Args:
        shape: closed form, closed mesh, or section.
        direction: of the flow, a unit vector (3,); in 2D with y = 0.
        spacing: between points of a lattice [m]; the other samplings have as many points.
        sampling: "poisson", "lattice" (along the flow and, if possible, the shape's own axes; stretched to divide the shape's extents
            evenly) or "random".
        seed: the same seed gives the same points.
        dimension: 3 or 2.

    Attributes:
        cross_section: of the shape, across the flow [m^(d-1)].
        particle_volume: of each point that enters [m^d], chosen so that the flow rate is the cross section times the speed.
        filling: the points inside at the start [m], shape (n, 3).
    """

    def __init__(self, shape: Shape, direction: Floats, spacing: float, *, sampling: str, seed: int, dimension: int) -> None:
        self._axes = _axes_along(direction, shape, dimension)
        self._origin = shape.bounds().mean(axis=0)
        self._rough_distance_to = _rough_distance(shape, 0.5 * spacing)
        self._are_inside = inside_test(shape)
        self._spacing = spacing
        self._low, self._high = self._extent(shape, dimension)
        points, self._period = _pattern(self._low, self._high, spacing, sampling, seed, dimension)
        entries = self._entries(points * [0.0, 1.0, 1.0] + [self._low[0] - 0.5 * spacing, 0.0, 0.0])
        is_hit = np.isfinite(entries)
        points, entries = points[is_hit], entries[is_hit]
        is_simple = not isinstance(shape, Mesh | Outline)
        self.cross_section = shadow(shape, direction) if is_simple else self._measure_cross_section(dimension)
        self.particle_volume = self.cross_section * self._period / len(points) if len(points) else 0.0
        phases = (entries - points[:, 0]) % self._period
        order = np.argsort(phases, kind="stable")
        self._phases, self._entries_by_phase = phases[order], entries[order]
        self._lines = points[order]
        self.filling = self._fill(points, entries, may_reenter=not is_simple)

    def entering(self, before: float, after: float) -> Floats:
        """The points that enter while the flow advances from one distance to another [m], at their positions then; shape (n, 3)."""
        parts = []
        for turn in range(math.floor(before / self._period), math.floor(after / self._period) + 1):
            first, last = np.searchsorted(self._phases, [before - turn * self._period, after - turn * self._period], side="right")
            points = self._lines[first:last].copy()
            points[:, 0] = self._entries_by_phase[first:last] + (after - turn * self._period - self._phases[first:last])
            parts.append(points)
        first, last = np.searchsorted(self._late_distances, [before, after], side="right")
        parts.append(self._late_points[first:last] + np.array([after, 0.0, 0.0]))
        return self._world(np.concatenate(parts))

    def _world(self, points: Floats) -> Floats:
        """World positions of points with coordinates along and across the flow."""
        return self._origin + points @ self._axes

    def _extent(self, shape: Shape, dimension: int) -> tuple[Floats, Floats]:
        """The extents of the shape along and across the flow, from its distance to far points, which is that to its extreme plane."""
        far = FAR * float(np.linalg.norm(np.diff(shape.bounds(), axis=0)))
        reach = [far - shape.signed_distance(self._origin + side * far * self._axes) for side in (-1.0, 1.0)]
        low, high = -reach[0], reach[1]
        if dimension == 2:
            low[1], high[1] = -0.5, 0.5
        return low, high

    def _entries(self, starts: Floats) -> Floats:
        """Where lines along the flow first enter the shape (n,), from starts (n, 3) outside; infinite if they do not.

        Each step is as long as the distance to the shape, so that it cannot pass the surface (Hart 1996).
        """
        at, entry = starts[:, 0].copy(), np.full(len(starts), np.inf)
        active = np.arange(len(starts))
        least, error = self._spacing / STEPS_PER_SPACING, 0.5 * self._spacing
        while len(active):
            distance = self._rough_distance_to(self._along(starts[active], at[active]))
            is_in = distance < 0.0
            entry[active[is_in]] = at[active[is_in]]
            active, distance = active[~is_in], distance[~is_in]
            at[active] += np.maximum(np.where(distance > error, distance - error, distance), least)
            active = active[at[active] <= self._high[0]]
        return entry

    def _along(self, points: Floats, along: Floats) -> Floats:
        """World positions of points moved along the flow to these distances (n,)."""
        return self._world(np.column_stack([along, points[:, 1:]]))

    def _measure_cross_section(self, dimension: int) -> float:
        """The area (in 2D width) of the shape's shadow along the flow, by lines through the centers of equal cells."""
        extents = (self._high - self._low)[1:]
        if dimension == 2:
            counts = np.array([1, SECTION_LINES[2]])
        else:
            share = math.sqrt(SECTION_LINES[3] / (extents[0] * extents[1]))
            counts = np.maximum(np.round(extents * share), 8).astype(np.int64)
        across = [self._low[1 + axis] + (np.arange(counts[axis]) + 0.5) * extents[axis] / counts[axis] for axis in range(2)]
        lines = np.stack(np.meshgrid([self._low[0] - 0.5 * self._spacing], *across, indexing="ij"), axis=-1).reshape(-1, 3)
        share = np.isfinite(self._entries(lines)).mean()
        return float(share * (extents.prod() if dimension == 3 else extents[1]))

    def _fill(self, points: Floats, entries: Floats, *, may_reenter: bool) -> Floats:
        """The points inside at the start; those between two parts of the shape enter the second part later."""
        copies = math.ceil((self._high[0] - self._low[0]) / self._period) + 1
        first = np.floor((self._low[0] - points[:, 0]) / self._period)
        turns = first + np.arange(copies)[:, None]
        places = np.broadcast_to(points, (copies, *points.shape)).copy()
        places[..., 0] += turns * self._period
        # points upstream of their first entry flow in later
        is_past = (places[..., 0] >= entries) & (places[..., 0] <= self._high[0])
        places = places[is_past]
        is_in = self._are_inside(self._world(places))
        between = places[~is_in] if may_reenter else np.empty((0, 3))
        distances = self._entries(between) - between[:, 0]
        order = np.argsort(distances, kind="stable")[: np.count_nonzero(np.isfinite(distances))]
        self._late_distances, self._late_points = distances[order], between[order]
        return self._world(places[is_in])


def _rough_distance(shape: Shape, step: float) -> Callable[[Floats], Floats]:
    """A function of points (n, 3) [m] that returns their distance from a shape [m], shape (n,), with an error below `step` [m].

    A mesh, which must be closed, is sampled into a field; other shapes are exact.
    """
    if not isinstance(shape, Mesh):
        return shape.signed_distance
    field = build_field(shape.surface.tree, shape.cells, shape.surface.center, step, step)

    def distance_to(points: Floats) -> Floats:
        points = np.ascontiguousarray(points)
        distance, normal = np.empty(len(points)), np.empty((len(points), 3))
        query_field(field, points, 0.0, distance, normal)
        return distance

    return distance_to


def _axes_along(direction: Floats, shape: Shape, dimension: int) -> Floats:
    """Three orthogonal unit vectors as rows: the flow, then y in 2D; the axes of the world or the shape if the flow is along one."""
    if dimension == 2:
        return np.array([direction, [0.0, 1.0, 0.0], [-direction[2], 0.0, direction[0]]])
    for frame in (np.eye(3), euler_matrix(getattr(shape, "rotation", (0.0, 0.0, 0.0))).T):
        along = int(np.argmax(np.abs(frame @ direction)))
        if abs(frame[along] @ direction) > 1.0 - 1e-12:
            return np.array([direction, *np.delete(frame, along, axis=0)])
    across = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    across /= np.linalg.norm(across)
    return np.array([direction, across, np.cross(direction, across)])


def _pattern(low: Floats, high: Floats, spacing: float, sampling: str, seed: int, dimension: int) -> tuple[Floats, float]:
    """The points of one period, along and across the flow [m], shape (n, 3), and the period [m]."""
    extents, middle = high - low, 0.5 * (low + high)
    if sampling == "lattice":
        counts = np.maximum(np.round(extents / spacing), 1).astype(np.int64)
        counts[1] = 1 if dimension == 2 else counts[1]
        across = [low[axis] + (np.arange(counts[axis]) + 0.5) * extents[axis] / counts[axis] for axis in (1, 2)]
        period = float(extents[0] / counts[0])
        return np.stack(np.meshgrid([low[0] + 0.5 * period], *across, indexing="ij"), axis=-1).reshape(-1, 3), period
    least = max(LEAST_PERIOD * spacing, float(extents[0]))
    if sampling == "random":
        generator = np.random.default_rng(seed)
        count = max(1, round(least * float(extents[1:].prod()) / spacing**dimension))
        points = generator.random((count, 3)) * [least, extents[1], extents[2]] + [0.0, low[1], low[2]]
        return points * [1.0, dimension - 2.0, 1.0], least
    radius = spacing * DISK_PACKING[dimension] ** (1.0 / dimension)
    # points are denser at the boundary of the pattern, which therefore lies outside of the shape
    width = (float(extents[1]) + 4.0 * radius, float(extents[2]) + 4.0 * radius)
    points, period = periodic_poisson_disk(least, width, radius, seed, dimension=dimension)
    return points + np.array([0.0, middle[1] if dimension == 3 else 0.0, middle[2]]), period
