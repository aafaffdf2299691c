"""Poisson-disk samples: random points that keep a distance from each other and leave no gap.

Space is divided into cubic blocks that are filled independently: a few darts begin, and every point that is placed throws darts
evenly in all directions, just beyond the distance (Bridson 2007, with darts near the inner radius, which packs closer). Blocks that
touch are filled one after another, in eight turns, so that each takes the points around it into account; blocks of one turn are filled
in parallel. Every dart is a hash of the seed, of its block and of its number, so that the same seed gives the same points on any
number of threads.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.operations import any_of, generic
from ..arithmetic.vector import load
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..scene.shape import Shape
from .inside import inside_of, is_inside
from .mesh_topology import Floats
from .mesh_tree import search_stack
from .region import region_of
from .section import section_of
from .shapes import Box

# The greatest edge of a block, in distances, and the number of parts along it that darts are thrown into: inside and at the surface.
EDGE, PARTS_INSIDE = 4.6, 4
PARTS_AT_SURFACE = {2: 8, 3: 5}
# The blocks are filled in stages, each of which adds a generation of points to all of them: filled completely one after another, they
# would be too dense at their faces. In the first stage, one in SEED_SHARE darts is thrown.
STAGES, SEED_SHARE = 4, 3
# The least number of darts thrown into a shape, however small it is.
LEAST_DARTS = 2**15
# Darts thrown from each point, between one and this many distances away.
DARTS, OUTER_RADIUS = 24, 1.05
# Capacity for the points of a block, and for those of a block and around it: more could not be packed.
BLOCK_ROOM, ROOM = 160, 1024
# Points that are compared at once, and the coordinate of the points that pad a list to whole vectors.
LANES, FAR_AWAY = 16, 1e9
# The least distance that is accepted in float32, and the reach around a block within which other points count, both in distances.
LEAST_DISTANCE, REACH = 1.0 + 5e-6, 1.01
# Golden angles spread directions evenly, and golden sections distances.
GOLDEN_SECTION = 0.5 * (5.0**0.5 - 1.0)
COSINES, SINES = (turn(2.0 * math.pi * GOLDEN_SECTION * np.arange(DARTS)) for turn in (np.cos, np.sin))
# One in this many points of each block, the last ones, comes at the end of the result, shuffled.
LAST = 16


class Blocks(NamedTuple):
    """The blocks of a region. Positions in a block are measured from its corner, in units of the distance.

    Attributes:
        edge: of a block [distances].
        distance: [m].
        period: number of blocks along x after which the points repeat, 0 without repetition.
        table: row of each block, or -1 outside the shape, shape (bx, by, bz).
        blocks: indices of the block of each row, shape (k, 3).
        is_inside: whether the whole block is inside the shape, shape (k,).
        low: corner of block (0, 0, 0) relative to the shape's center [m], shape (3,).
    """

    edge: float
    distance: float
    period: int
    table: NDArray[np.int32]
    blocks: NDArray[np.int64]
    is_inside: NDArray[np.bool_]
    low: Floats


class Darts(NamedTuple):
    """How darts are thrown into blocks.

    Attributes:
        dimension: 3 or 2.
        seed: the same seed gives the same points.
        parts: number of parts along the edge of a block at the surface.
        rounds: number of darts thrown into each of these parts.
    """

    dimension: int
    seed: np.uint64
    parts: int
    rounds: int


class Samples(NamedTuple):
    """The points of each block.

    Attributes:
        counts: number of points, shape (k,).
        thrown: number of them that have thrown darts, shape (k,).
        places: positions in the block [distances], shape (k, 3, BLOCK_ROOM).
    """

    counts: NDArray[np.int64]
    thrown: NDArray[np.int64]
    places: NDArray[np.float32]


def poisson_disk(shape: Shape, distance: float, seed: int, *, dimension: int = 3) -> Floats:
    """Random points inside a shape, none nearer than `distance` [m] to another, shape (n, 3).

    No place inside is more than 1.3 times the distance away from a point. The last points fill the smallest gaps, all
    over the shape: up to a twentieth of the points can be cut off the end without leaving visible gaps. In 2D the shape is a section and
    all points have y = 0.
    """
    radius = _safe_radius(distance, float(np.abs(shape.bounds()).max()))
    return _fill(shape, radius, EDGE * radius, seed, dimension, period=0)


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
    # an even number, so that blocks filled in parallel do not touch across the end of the period either
    count = 2 * math.ceil(least_length / (2.0 * EDGE * radius))
    edge = max(least_length / count, 2.0 * radius)
    # rounding must not make the period shorter than the required length
    period = max(count * edge, least_length)
    # slightly shorter than the period, so that rounding does not add a block
    beam = Box(center=(0.5 * period, 0.0, 0.0), size=(period * (1.0 - 1e-12), width[0], width[1]))
    return _fill(beam if dimension == 3 else section_of(beam), radius, edge, seed, dimension, period=count), period


def _safe_radius(distance: float, size: float) -> float:
    """A little more than the distance [m], so that rounding at coordinates of a size [m] does not undercut it."""
    return distance * (1.0 + 1e-9) + 8.0 * float(np.finfo(np.float64).eps) * size


def _fill(shape: Shape, radius: float, edge: float, seed: int, dimension: int, *, period: int) -> Floats:
    region, inside = region_of(shape, edge, dimension), inside_of(shape)
    table = np.full(region.blocks.max(axis=0) + 1, -1, dtype=np.int32)
    table[tuple(region.blocks.T)] = np.arange(len(region.blocks))
    places = np.ascontiguousarray(region.blocks)
    blocks = Blocks(region.edge / radius, radius, period, table, places, region.is_inside, region.low - inside.center)
    count, parts = len(region.blocks), PARTS_AT_SURFACE[dimension]
    samples = Samples(np.zeros(count, np.int64), np.zeros(count, np.int64), np.empty((count, 3, BLOCK_ROOM), np.float32))
    darts = Darts(dimension, np.uint64(seed % 2**32), parts, math.ceil(LEAST_DARTS / (count * parts**dimension)))
    turn = (region.blocks % 2) @ [4, 2, 1]
    for stage in range(STAGES):
        # back and forth, so that no block always precedes its neighbors
        for number in range(8)[:: 1 if stage % 2 else -1]:
            _fill_blocks(blocks, inside, np.flatnonzero(turn == number), darts, stage, samples)
    # the last points of each block come last, shuffled
    first_counts = samples.counts - (samples.counts + LAST - 1) // LAST
    positions, first = np.empty((int(samples.counts.sum()), 3)), int(first_counts.sum())
    _write(blocks, region.low, samples, first_counts, first, positions)
    if dimension == 2:
        positions[:, 1] = 0.0
    positions[first:] = np.random.default_rng(seed % 2**32).permutation(positions[first:])
    return positions


@kernel
def _mixed(number):
    """A 64-bit hash (Steele, Lea and Flood 2014, SplitMix64)."""
    number += np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@kernel
def _three(key):
    """Three random numbers in [0, 1)."""
    number, mask = _mixed(key), np.uint64(2**21 - 1)
    first, second, third = number & mask, (number >> np.uint64(21)) & mask, (number >> np.uint64(42)) & mask
    return np.int64(first) * 2.0**-21, np.int64(second) * 2.0**-21, np.int64(third) * 2.0**-21


@parallel_kernel(allocates=True)
def _fill_blocks(tickets, blocks, inside, rows, darts, stage, samples):
    """Add points to the blocks `rows` (n,), which do not touch each other.

    In each stage, the points of earlier stages throw darts; in the last stage the new ones do too, until the blocks are full.
    """
    dimension, (counts, thrown, places) = darts.dimension, samples
    form, cells, tree = inside.form, inside.cells, inside.tree
    for index in shared(tickets[0], len(rows), 1):
        row, is_cut = rows[index], not blocks.is_inside[rows[index]]
        points, near, scratch = np.full(3 * ROOM, FAR_AWAY, np.float32), np.empty(3 * ROOM, np.float32), search_stack()
        squared, found, darts_around = np.empty(ROOM, np.float32), np.empty(ROOM, np.uint32), np.empty(3 * DARTS, np.float32)
        first = _gather(blocks, row, samples, points)
        count = first
        for point in range(counts[row]):
            count = _add(points, count, places[row, 0, point], places[row, 1, point], places[row, 2, point])
        key = _mixed(_mixed(darts.seed << np.uint64(32) | np.uint64(row)) + np.uint64(stage))
        along = darts.parts if is_cut else PARTS_INSIDE
        layers = along if dimension == 3 else 1
        is_last, before = stage == STAGES - 1, count
        total = along * layers * along * (darts.rounds if is_cut else 1)
        for dart in range(0, total, 1 if is_last else (SEED_SHARE if stage == 0 else total)):
            key += np.uint64(1)
            x, y, z = _three(key)
            px = np.float32((dart // (along * layers) % along + x) * blocks.edge / along)
            py = np.float32((dart // along % layers + y) * blocks.edge / along if dimension == 3 else 0.5 * blocks.edge)
            pz = np.float32((dart % along + z) * blocks.edge / along)
            is_free = count - first < BLOCK_ROOM and _is_free(points, count, px, py, pz)
            if is_free and _is_inside(blocks, form, cells, tree, row, px, py, pz, scratch):
                count = _add(points, count, px, py, pz)
        # points around a block that the surface cuts throw darts, too: random ones may miss the small part of it that is inside
        thrower = 0 if is_cut and is_last else first + thrown[row]
        while thrower < (count if is_last else before):
            key += np.uint64(1)
            near_count = _find_near(points, count, thrower, near, squared, found)
            _aim(points, thrower, dimension, key, darts_around)
            # half the darts are enough for points around the block
            step = 1 if thrower >= first else 2
            dart_count = _find_within(darts_around, thrower % step, step, np.float32(blocks.edge), found)
            for dart in found[:dart_count]:
                px, py, pz = darts_around[dart], darts_around[DARTS + dart], darts_around[2 * DARTS + dart]
                is_free = count - first < BLOCK_ROOM and _is_free(near, near_count, px, py, pz)
                if is_free and _is_inside(blocks, form, cells, tree, row, px, py, pz, scratch):
                    count, near_count = _add(points, count, px, py, pz), _add(near, near_count, px, py, pz)
            thrower = max(thrower + 1, first + thrown[row]) if thrower >= first - 1 else thrower + 1
        thrown[row] = max(thrower - first, thrown[row])
        for axis in range(3):
            places[row, axis, : count - first] = points[axis * ROOM + first : axis * ROOM + count]
        counts[row] = count - first


@kernel
def _gather(blocks, row, samples, points):
    """Copy the points around a block that its own points must keep away from; returns how many."""
    count, nx, counts, places = 0, blocks.table.shape[0], samples.counts, samples.places
    reach, edge = np.float32(REACH), np.float32(blocks.edge)
    for around in range(27):
        if around == 13:
            continue
        di, dj, dk = around // 9 - 1, around // 3 % 3 - 1, around % 3 - 1
        i, j, k = blocks.blocks[row, 0] + di, blocks.blocks[row, 1] + dj, blocks.blocks[row, 2] + dk
        if blocks.period > 0:
            i %= blocks.period
        if i < 0 or j < 0 or k < 0 or i >= nx or j >= blocks.table.shape[1] or k >= blocks.table.shape[2] or blocks.table[i, j, k] < 0:
            continue
        other = blocks.table[i, j, k]
        for point in range(counts[other]):
            x, y, z = places[other, 0, point] + di * edge, places[other, 1, point] + dj * edge, places[other, 2, point] + dk * edge
            if min(x, y, z) > -reach and max(x, y, z) < edge + reach:
                count = _add(points, count, x, y, z)
    return count


@kernel
def _add(points, count, x, y, z):
    points[count], points[ROOM + count], points[2 * ROOM + count] = x, y, z
    return count + 1


@generic
def are_near(points, place, x, y, z, squared_reach):
    """Whether each point of a vector is nearer to (x, y, z) than a reach."""
    dx = load(points, place, LANES) - x
    dy = load(points, ROOM + place, LANES) - y
    dz = load(points, 2 * ROOM + place, LANES) - z
    return dx * dx + dy * dy + dz * dz < squared_reach


@kernel
def _is_free(points, count, x, y, z):
    """Whether none of the points is too near."""
    accepted = np.float32(LEAST_DISTANCE * LEAST_DISTANCE)
    is_free, place = True, 0
    while is_free and place < count:
        is_free = not any_of(are_near(points, place, x, y, z, accepted))
        place += LANES
    return is_free


@kernel
def _is_inside(blocks, form, cells, tree, row, x, y, z, scratch):
    """Whether a place in a block is inside the shape."""
    if blocks.is_inside[row]:
        return True
    block, low, distance = blocks.blocks[row], blocks.low, blocks.distance
    x, y, z = (x + block[0] * blocks.edge) * distance, (y + block[1] * blocks.edge) * distance, (z + block[2] * blocks.edge) * distance
    return is_inside(form, cells, tree, low[0] + x, low[1] + y, low[2] + z, scratch)


@kernel
def _aim(points, thrower, dimension, key, darts):
    """Write the positions of darts around a point, evenly in all directions; without branches, so that they are computed as vectors."""
    x, y, z = points[thrower], points[ROOM + thrower], points[2 * ROOM + thrower]
    turn, up, away = _three(key)
    cosine, sine = math.cos(2.0 * math.pi * turn), math.sin(2.0 * math.pi * turn)
    for dart in range(DARTS):
        share = away + dart * GOLDEN_SECTION
        radius = LEAST_DISTANCE + (OUTER_RADIUS - LEAST_DISTANCE) * (share - math.floor(share))
        height = 1.0 - (2.0 / DARTS) * (dart + up) if dimension == 3 else 0.0
        across = radius * math.sqrt(1.0 - height * height)
        other = across * (sine * COSINES[dart] + cosine * SINES[dart])
        darts[dart] = x + across * (cosine * COSINES[dart] - sine * SINES[dart])
        darts[DARTS + dart] = y + other if dimension == 3 else y
        darts[2 * DARTS + dart] = z + radius * height if dimension == 3 else z + other


@kernel
def _find_within(darts, start, step, edge, found):
    """Write the numbers of the darts within the block, among those from `start` on in steps of `step`; returns how many."""
    count = 0
    for dart in range(start, DARTS, step):
        x, y, z = darts[dart], darts[DARTS + dart], darts[2 * DARTS + dart]
        found[count] = dart
        count += (min(x, y, z) >= 0.0) & (max(x, y, z) < edge)
    return count


@kernel
def _find_near(points, count, thrower, near, squared, found):
    """Copy the points to which darts around one of them may come too near, leaving space for those darts; returns how many."""
    x, y, z, reach = points[thrower], points[ROOM + thrower], points[2 * ROOM + thrower], np.float32((OUTER_RADIUS + REACH) ** 2)
    for point in range(count):
        dx, dy, dz = points[point] - x, points[ROOM + point] - y, points[2 * ROOM + point] - z
        squared[point] = dx * dx + dy * dy + dz * dz
    near_count = 0
    for point in range(count):
        found[near_count] = point
        near_count += squared[point] < reach
    for place in range(near_count):
        _add(near, place, points[found[place]], points[ROOM + found[place]], points[2 * ROOM + found[place]])
    for place in range(near_count, near_count + DARTS + LANES):
        _add(near, place, FAR_AWAY, FAR_AWAY, FAR_AWAY)
    return near_count


@kernel
def _write(blocks, low, samples, first_counts, last, positions):
    """Write the positions [m]: the first points of each block in order, and the remaining ones of all blocks from number `last` on."""
    first, counts, places = 0, samples.counts, samples.places
    for row in range(len(counts)):
        for point in range(counts[row]):
            is_first = point < first_counts[row]
            at = first if is_first else last
            first, last = (first + 1, last) if is_first else (first, last + 1)
            for axis in range(3):
                place = blocks.blocks[row, axis] * blocks.edge + places[row, axis, point]
                positions[at, axis] = low[axis] + place * blocks.distance
