"""Kernels of uplift: the rim of a narrow gap, the piezometric pressure along it and in the gap, and how full of particles the gap is."""

import math

from ..compilation.kernel import kernel

# particles in front of an element, as near to its line as this, fill its gap [cells]
BESIDE_LINE = 0.5
# prevents a division by zero where a point of the rim is one of the gap [m^2]
LEAST_SQUARE = 1e-24


@kernel
def find_rim(points, near, closed, reach, nearest):
    """Find the closed element nearest to each of some elements.

    Args:
        points: (n, 3) the elements; near: (m,) the numbers of some; closed: (k,) the numbers of the closed ones.
        nearest: (m,) result; -1 where none is within `reach`.
    """
    for index in range(near.size):
        least, nearest[index] = reach * reach, -1
        for place in range(closed.size):
            squared = squared_distance(points, near[index], points, closed[place])
            if squared <= least:
                least, nearest[index] = squared, closed[place]


@kernel
def mean_heads(rim, positions, heads, volumes, wet, far, means):
    """The mean piezometric pressure of the particles in front of points of a rim, NaN for a point that no particle wets.

    What is behind the surface there, such as the content of a mug, does not count.

    Args:
        rim: (k, 6) the points [m] and the normals of the body there.
        positions, heads, volumes: of the particles (n, 3), (n,), (n,).
        wet: how near a particle wets a point [m]; far: how near it counts.
        means: (k,) result [Pa].
    """
    for point in range(rim.shape[0]):
        total, volume, nearest = 0.0, 0.0, math.inf
        for particle in range(positions.shape[0]):
            if ahead_of(rim, point, positions, particle) <= 0.0:
                continue
            squared = squared_distance(rim, point, positions, particle)
            nearest = min(nearest, squared)
            if squared < far * far:
                total += volumes[particle] * heads[particle]
                volume += volumes[particle]
        means[point] = total / volume if nearest < wet * wet else math.nan


@kernel
def spread_heads(gaps, rim, heads, power, spread):
    """The piezometric pressure in gaps, from that along their rim.

    Args:
        gaps: (n, 8) the points [m], the normals of the body there, the widths [m], and the speeds at which they open [m/s].
        rim: (k, 6) points of the rim [m] and normals; heads: (k,) piezometric pressures there [Pa].
        power: of the inverse distance.
        spread: (n, 2) result: it [Pa], and the distance to the rim [m].
    """
    for gap in range(gaps.shape[0]):
        total, weights, nearest = 0.0, 0.0, math.inf
        for point in range(rim.shape[0]):
            squared = max(squared_distance(gaps, gap, rim, point), LEAST_SQUARE)
            nearest = min(nearest, squared)
            weight = squared ** (-0.5 * power)
            total += weight * heads[point]
            weights += weight
        spread[gap, 0], spread[gap, 1] = total / weights, math.sqrt(nearest)


@kernel
def fill_gaps(gaps, positions, volumes, spacing, dimension, full):
    """How full of particles gaps are, from 0 to 1.

    Args:
        gaps: as in `spread_heads`.
        positions, volumes: of the particles (n, 3), (n,).
        spacing: cell size [m].
        full: (n,) result.
    """
    radius = BESIDE_LINE * spacing
    across = 2.0 * radius if dimension == 2 else math.pi * radius * radius
    for gap in range(gaps.shape[0]):
        volume, depth = 0.0, max(gaps[gap, 6], radius)
        for particle in range(positions.shape[0]):
            ahead = ahead_of(gaps, gap, positions, particle)
            aside = squared_distance(gaps, gap, positions, particle) - ahead * ahead
            if 0.0 < ahead < depth and aside < radius * radius:
                volume += volumes[particle]
        full[gap] = min(volume / (across * depth), 1.0)


@kernel
def ahead_of(points, point, others, other):
    """How far another point is in front of a point, from columns of that: its position and normal."""
    x, y, z = others[other, 0] - points[point, 0], others[other, 1] - points[point, 1], others[other, 2] - points[point, 2]
    return x * points[point, 3] + y * points[point, 4] + z * points[point, 5]


@kernel
def squared_distance(points, point, others, other):
    """The squared distance of two points of arrays, from their first three columns."""
    x, y, z = points[point, 0] - others[other, 0], points[point, 1] - others[other, 1], points[point, 2] - others[other, 2]
    return x * x + y * y + z * z
