"""Poisson-disk samples: random points that keep a distance from each other and leave no gap.

Points grow from a front by darts thrown just beyond the distance (Bridson 2007, with darts near the inner radius,
which packs closer), many front points at a time; then darts into the cells that are still empty close the gaps and
reach parts that no front came to. A grid of cells that hold one point at most tells in constant time whether a dart
is free. Every dart is a hash of the seed and its number, and darts are placed in order, so that the same seed gives the
same points on any number of threads.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from ..description import Shape
from ..kernels.compilation import kernel
from .interior import interior_distance
from .mesh_topology import Floats
from .region import Region, region_of
from .section import section_of
from .shapes import Box

CELLS = 8
DARTS = 4
# A front point retires after this many rounds without a new neighbour.
PATIENCE = 3
# Darts land between one and this many distances from their front point.
OUTER_RADIUS = 1.15
DARTS_PER_GAP = 2
BLOCKS_PER_CHUNK = 4096
REJECTED, INSIDE, UNKNOWN, PLACED = 0, 1, 2, 3


class CellGrid(NamedTuple):
    """Cells of edge r / sqrt(d) in blocks of 8^3, which hold one point at most. In 2D one layer of cells is used.

    Attributes:
        squared_radius: squared least distance between points [m^2].
        cell: edge length of a cell [m].
        period: length after which everything repeats along x [m], that of all blocks; 0 where nothing does.
        table: row of each block, or -1 where the shape is not, shape (bx, by, bz).
        points: number of the point in each cell, or -1, shape (k, 512).
        is_inside: whether the whole block is inside the shape, shape (k,).
    """

    squared_radius: float
    cell: float
    period: float
    table: NDArray[np.int32]
    points: NDArray[np.int32]
    is_inside: NDArray[np.bool_]


def poisson_disk(shape: Shape, distance: float, seed: int, *, dimension: int = 3) -> Floats:
    """Random points inside a shape, none nearer than `distance` [m] to another, shape (n, 3).

    Nowhere inside is more than 1.2 times the distance away from a point. The last points close the smallest gaps, all
    over the shape: up to a twentieth of the points can be cut off the end without harm. In 2D the shape is a section and
    all points have y = 0.
    """
    radius = _safe_radius(distance, float(np.abs(shape.bounds()).max()))
    return _Growth(shape, radius, seed, dimension).run()


def periodic_poisson_disk(
    least_length: float, width: tuple[float, float], distance: float, seed: int, *, dimension: int = 3
) -> tuple[Floats, float]:
    """Random points in a beam along x, no two nearer than `distance` [m], that repeat after a period.

    Args:
        least_length: the period is at least this [m].
        width: of the beam along y (not used in 2D) and z, around 0 [m].
        distance: least distance, also between repetitions [m].
        seed: the same seed gives the same points.
        dimension: 3, or 2 for points with y = 0.

    Returns:
        positions [m], shape (n, 3), with 0 <= x < period, and the period [m].
    """
    radius = _safe_radius(distance, 2.0 * least_length + sum(width))
    edge = CELLS * radius / dimension**0.5
    period = math.ceil(least_length / edge) * edge
    # a little shorter, so that rounding does not ask for one more block
    beam = Box(center=(0.5 * period, 0.0, 0.0), size=(period * (1.0 - 1e-12), width[0], width[1]))
    points = _Growth(beam if dimension == 3 else section_of(beam), radius, seed, dimension, period=period).run()
    return points, period


def _safe_radius(distance: float, size: float) -> float:
    """A little more than the distance [m], so that rounding at coordinates of a size [m] does not undercut it."""
    return distance * (1.0 + 1e-9) + 8.0 * float(np.finfo(np.float64).eps) * size


class _Growth:
    """The points so far, relative to the region's corner, and the darts that were thrown."""

    def __init__(self, shape: Shape, radius: float, seed: int, dimension: int, *, period: float = 0.0) -> None:
        self.dimension = dimension
        self.distance_to = interior_distance(shape, 0.5 * radius)
        self.radius = radius
        self.region = region_of(shape, CELLS * radius / dimension**0.5, dimension)
        self.grid = _cell_grid(self.region, radius, period)
        # in 2D cubes are flat, and lie in the middle of their block
        self.extents = np.array([1.0, dimension - 2.0, 1.0])
        self.plane = np.array([0.0, 0.5 * (3 - dimension) * self.region.edge, 0.0])
        self.points = np.empty((16 + 64 * len(self.region.blocks), 3))
        self.count = 0
        self.seed = seed % 2**32
        self.round = 0

    def run(self) -> Floats:
        blocks = self.region.blocks
        self.grow(self.throw_into(np.repeat(blocks, 4, axis=0) * self.region.edge + self.plane, self.region.edge))
        gaps, edge = self.gaps_in_cells()
        first = self.count
        for _ in range(DARTS_PER_GAP):
            self.grow(self.throw_into(gaps, edge))
        last = self.points[first : self.count]
        last[:] = np.random.default_rng(self.seed).permutation(last)
        return self.points[: self.count] + self.region.low

    def grow(self, front: NDArray[np.int64]) -> None:
        """Throw darts around front points until none of them finds room."""
        failures = np.zeros(len(front), dtype=np.int64)
        while len(front):
            darts, states = np.empty((len(front) * DARTS, 3)), np.empty(len(front) * DARTS, dtype=np.int8)
            _throw_around(self.grid, self.points, front, self.radius, self.dimension, self.next_key(), darts, states)
            first = self.count
            self.place(darts, states)
            is_placed = (states == PLACED).reshape(-1, DARTS).any(axis=1)
            failures = np.where(is_placed, 0, failures + 1)
            is_active = failures < PATIENCE
            new = np.arange(first, self.count)
            front = np.concatenate([front[is_active], new])
            failures = np.concatenate([failures[is_active], np.zeros(len(new), dtype=np.int64)])

    def throw_into(self, corners: Floats, edge: float) -> NDArray[np.int64]:
        """Throw a dart into each cube given by its corner; the numbers of the points that were placed."""
        darts, states = np.empty((len(corners), 3)), np.empty(len(corners), dtype=np.int8)
        _throw_into_cubes(self.grid, self.points, corners, edge * self.extents, self.next_key(), darts, states)
        first = self.count
        self.place(darts, states)
        return np.arange(first, self.count)

    def place(self, darts: Floats, states: NDArray[np.int8]) -> None:
        """Keep the darts that are free and inside, in order."""
        unknown = np.flatnonzero(states == UNKNOWN)
        states[unknown] = np.where(self.is_inside(darts[unknown]), INSIDE, REJECTED)
        wanted = self.count + int(np.count_nonzero(states == INSIDE))
        if wanted > len(self.points):
            grown = np.empty((max(wanted, 2 * len(self.points)), 3))
            grown[: self.count] = self.points[: self.count]
            self.points = grown
        self.count = _place(self.grid, self.points, self.count, darts, states)

    def is_inside(self, local: Floats) -> NDArray[np.bool_]:
        if len(local) == 0:
            return np.zeros(0, dtype=bool)
        return self.distance_to(local + self.region.low) < 0.0

    def gaps_in_cells(self) -> tuple[Floats, float]:
        """The corners of the cubes, of half a cell, that no point covers and the shape reaches, and their edge."""
        counts = (CELLS, CELLS if self.dimension == 3 else 1, CELLS)
        cells = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3) * self.grid.cell
        gaps = [np.empty((0, 3))]
        for start in range(0, len(self.region.blocks), BLOCKS_PER_CHUNK):
            corners = self.region.blocks[start : start + BLOCKS_PER_CHUNK] * self.region.edge + self.plane
            gaps.append(self.gaps_in_cubes((corners[:, None] + cells).reshape(-1, 3), self.grid.cell))
        return np.concatenate(gaps), 0.5 * self.grid.cell

    def gaps_in_cubes(self, corners: Floats, edge: float) -> Floats:
        """The corners of the eighths (in 2D quarters) that no single point covers, of those cubes which the shape reaches."""
        open_eighths = np.empty((len(corners), 8), dtype=np.bool_)
        is_sure = np.empty(len(corners), dtype=np.bool_)
        _find_open_eighths(self.grid, self.points, corners, edge * self.extents, open_eighths, is_sure)
        asked = np.flatnonzero(~is_sure & open_eighths.any(axis=1))
        if len(asked):
            distance = self.distance_to(corners[asked] + (0.5 * edge * self.extents + self.region.low))
            open_eighths[asked[distance >= 0.5 * self.dimension**0.5 * edge]] = False
        cube, eighth = np.nonzero(open_eighths)
        return corners[cube] + _EIGHTHS[eighth] * (0.5 * edge * self.extents)

    def next_key(self) -> np.uint64:
        self.round += 1
        return np.uint64(_mixed(np.uint64(self.seed * 2**32 + self.round)))


def _cell_grid(region: Region, radius: float, period: float) -> CellGrid:
    table = np.full(region.blocks.max(axis=0) + 1, -1, dtype=np.int32)
    table[tuple(region.blocks.T)] = np.arange(len(region.blocks))
    points = np.full((len(region.blocks), CELLS**3), -1, dtype=np.int32)
    return CellGrid(radius * radius, region.edge / CELLS, period, table, points, region.is_inside)


_EIGHTHS = np.array([[i, j, k] for i in range(2) for j in range(2) for k in range(2)])
# The cells around a cell that can hold a point within the distance, nearest first: all of 5^3 but the corners.
_AROUND = np.array(
    sorted(
        ([i, j, k] for i in range(-2, 3) for j in range(-2, 3) for k in range(-2, 3) if abs(i * j * k) < 8),
        key=lambda cell: sum(c * c for c in cell),
    )
)


@kernel
def _mixed(number):
    """A 64-bit hash (Steele, Lea and Flood 2014, SplitMix64)."""
    number += np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@kernel
def _uniform(key, number):
    """A random number in [0, 1)."""
    return float(_mixed(key + np.uint64(number)) >> np.uint64(11)) * 2.0**-53


@kernel
def _row_and_cell(grid, i, j, k):
    """The block's row (-1: none) and the place in it of cell (i, j, k)."""
    if grid.period > 0.0:
        i %= CELLS * grid.table.shape[0]
    if i < 0 or j < 0 or k < 0:
        return -1, 0
    bi, bj, bk = i >> 3, j >> 3, k >> 3
    if bi >= grid.table.shape[0] or bj >= grid.table.shape[1] or bk >= grid.table.shape[2]:
        return -1, 0
    return grid.table[bi, bj, bk], (i & 7) << 6 | (j & 7) << 3 | k & 7


@kernel
def _shortest(grid, dx):
    """The distance along x to the nearest repetition."""
    return dx - grid.period * np.rint(dx / grid.period) if grid.period > 0.0 else dx


@kernel
def _state(grid, points, x, y, z):
    """REJECTED where a point is too near or no block is, else INSIDE or UNKNOWN."""
    i, j, k = math.floor(x / grid.cell), math.floor(y / grid.cell), math.floor(z / grid.cell)
    here, _ = _row_and_cell(grid, i, j, k)
    if here < 0:
        return REJECTED
    for around in range(len(_AROUND)):
        row, cell = _row_and_cell(grid, i + _AROUND[around, 0], j + _AROUND[around, 1], k + _AROUND[around, 2])
        if row < 0 or grid.points[row, cell] < 0:
            continue
        point = grid.points[row, cell]
        dx, dy, dz = _shortest(grid, points[point, 0] - x), points[point, 1] - y, points[point, 2] - z
        if dx * dx + dy * dy + dz * dz < grid.squared_radius:
            return REJECTED
    return INSIDE if grid.is_inside[here] else UNKNOWN


@kernel(parallel=True)
def _throw_around(grid, points, front, radius, dimension, key, darts, states):
    for member in prange(len(front)):
        x, y, z = points[front[member]]
        for dart in range(member * DARTS, (member + 1) * DARTS):
            # the turn is about z, and in 2D about y
            up = 2.0 * _uniform(key, 3 * dart) - 1.0 if dimension == 3 else 0.0
            turn = 2.0 * math.pi * _uniform(key, 3 * dart + 1)
            away = radius * (1.0 + (OUTER_RADIUS - 1.0) * _uniform(key, 3 * dart + 2))
            across = away * math.sqrt(max(0.0, 1.0 - up * up))
            darts[dart, 0] = x + across * math.cos(turn)
            if grid.period > 0.0:
                darts[dart, 0] %= grid.period
            darts[dart, 1] = y + (across * math.sin(turn) if dimension == 3 else 0.0)
            darts[dart, 2] = z + (away * up if dimension == 3 else across * math.sin(turn))
            states[dart] = _state(grid, points, darts[dart, 0], darts[dart, 1], darts[dart, 2])


@kernel(parallel=True)
def _throw_into_cubes(grid, points, corners, edges, key, darts, states):
    for dart in prange(len(corners)):
        for axis in range(3):
            darts[dart, axis] = corners[dart, axis] + edges[axis] * _uniform(key, 3 * dart + axis)
        states[dart] = _state(grid, points, darts[dart, 0], darts[dart, 1], darts[dart, 2])


@kernel
def _place(grid, points, count, darts, states):
    """Place the darts marked INSIDE that are still free; the new number of points."""
    for dart in range(len(darts)):
        if states[dart] != INSIDE:
            continue
        x, y, z = darts[dart]
        if _state(grid, points, x, y, z) == REJECTED:
            states[dart] = REJECTED
            continue
        i, j, k = math.floor(x / grid.cell), math.floor(y / grid.cell), math.floor(z / grid.cell)
        row, cell = _row_and_cell(grid, i, j, k)
        grid.points[row, cell] = count
        points[count, 0], points[count, 1], points[count, 2] = x, y, z
        states[dart] = PLACED
        count += 1
    return count


@kernel(parallel=True)
def _find_open_eighths(grid, points, corners, edges, open_eighths, is_sure):
    """Which eighths of cubes (n,) the ball of no single point covers, and whether the cube is inside for sure."""
    for cube in prange(len(corners)):
        x, y, z = corners[cube] + 0.5 * edges
        i, j, k = math.floor(x / grid.cell), math.floor(y / grid.cell), math.floor(z / grid.cell)
        row, _ = _row_and_cell(grid, i, j, k)
        is_sure[cube] = row >= 0 and grid.is_inside[row]
        covered = _covered_eighths(grid, points, i, j, k, x, y, z, edges) if row >= 0 else 255
        for eighth in range(8):
            open_eighths[cube, eighth] = covered >> eighth & 1 == 0


@kernel
def _covered_eighths(grid, points, i, j, k, x, y, z, edges):
    """The eighths of the cube around (x, y, z) that lie within the distance of one point, as bits of 4x + 2y + z.

    A flat cube has quarters: its eighths of the upper half count as covered.
    """
    covered = 0 if edges[1] > 0.0 else 0b11001100
    for around in range(len(_AROUND)):
        row, cell = _row_and_cell(grid, i + _AROUND[around, 0], j + _AROUND[around, 1], k + _AROUND[around, 2])
        if row < 0 or grid.points[row, cell] < 0:
            continue
        point = grid.points[row, cell]
        dx, dy, dz = _shortest(grid, x - points[point, 0]), y - points[point, 1], z - points[point, 2]
        for eighth in range(8):
            # The eighth's corner that is farthest from the point, from the eighth's middle.
            fx = abs(dx + (0.25 * edges[0] if eighth & 4 else -0.25 * edges[0])) + 0.25 * edges[0]
            fy = abs(dy + (0.25 * edges[1] if eighth & 2 else -0.25 * edges[1])) + 0.25 * edges[1]
            fz = abs(dz + (0.25 * edges[2] if eighth & 1 else -0.25 * edges[2])) + 0.25 * edges[2]
            if fx * fx + fy * fy + fz * fz < grid.squared_radius:
                covered |= 1 << eighth
        if covered == 255:
            break
    return covered
