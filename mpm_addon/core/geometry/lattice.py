"""The distance from a mesh at the points of a small cubic lattice: exact near the surface, a bound elsewhere.

One search finds all triangles that could be nearest to a point of a lattice. The lattice is divided into cubes of a few points. The
triangles whose bounding balls allow them to be nearest to a point of a cube are compared with all its points at once, eight to a
vector. If there are too many triangles, each cube, or each point, gets a search of its own.
"""

import math
from typing import NamedTuple

import numpy as np

from ..arithmetic.operations import any_of, clamp, constant, generic, minimum, select, sqrt
from ..arithmetic.vector import load, store
from ..compilation.kernel import kernel
from .mesh_distance import nearest, squared_distance_to_box, squared_distance_to_triangle
from .mesh_topology import Floats, Integers
from .mesh_tree import SearchStack, search_stack

DIAGONAL = 3**0.5
# float64 numbers in a vector, and capacity for the 3^3 points of a cube in whole vectors
LANES, ROOM = 8, 32
# limits on the triangles listed for a lattice; beyond the first, one search per point is faster
MOST_TRIANGLES, MOST_LISTED = 512, 2048
# lengths are multiplied by this, so that rounding cannot make them too short
SAFE = 1.0 + 1e-9
# numbers per listed triangle: a corner, the edges u and v, u.u, u.v, v.v, their inverses (see `_describe_all`) and the unit normal
RECORD_SIZE = 19


class LatticeScratch(NamedTuple):
    """Working arrays of `measure_lattice`.

    Attributes:
        stack: nodes of the tree that remain to be visited.
        listed: (MOST_LISTED,) triangles listed for the lattice; away: (MOST_LISTED,) distances from a center [m].
        records: (MOST_LISTED, RECORD_SIZE) of the listed triangles; balls: (4, MOST_LISTED) their bounding balls, center and radius [m].
        near: (MOST_LISTED,) places in the list of the triangles near a group of cubes; near_balls: (4, MOST_LISTED) their balls.
        picked: (MOST_LISTED,) places in the list of the triangles picked for a cube.
        points: (5 * ROOM,) x, y and z of a cube's points relative to its center [m], then their distances [m] and the places in the
            list of their nearest triangles.
    """

    stack: SearchStack
    listed: Integers
    away: Floats
    records: Floats
    balls: Floats
    near: Integers
    near_balls: Floats
    picked: Integers
    points: Floats


@kernel(allocates=True)
def lattice_scratch():
    """New working arrays for `measure_lattice`."""
    return LatticeScratch(
        search_stack(),
        np.empty(MOST_LISTED, np.int64),
        np.empty(MOST_LISTED),
        np.empty((MOST_LISTED, RECORD_SIZE)),
        np.empty((4, MOST_LISTED)),
        np.empty(MOST_LISTED, np.int64),
        np.empty((4, MOST_LISTED)),
        np.empty(MOST_LISTED, np.int64),
        np.empty(5 * ROOM),
    )


@kernel
def measure_lattice(tree, corner, spacing, edge, exact, guess, scratch, distance, triangle):
    """The unsigned distances [m] of a lattice's points: exact up to `exact`, and beyond it a lower bound of at least `exact`.

    Args:
        tree: the triangles.
        corner: x, y and z of the first point, in the tree's coordinates [m].
        spacing: between points [m].
        edge: points along a cube's edge, 2 or 3.
        guess: a triangle that is probably near.
        scratch: from `lattice_scratch`.
        distance: (n, n, n) result [m], with n a multiple of `edge`.
        triangle: (n, n, n) result: the nearest triangle where the distance is exact.

    Returns:
        A triangle that is probably near the next lattice.
    """
    size = distance.shape[0]
    _spread_points(edge, spacing, scratch.points)
    half_size = 0.5 * (size - 1) * spacing
    x, y, z, radius = corner[0] + half_size, corner[1] + half_size, corner[2] + half_size, 0.5 * (edge - 1) * DIAGONAL * spacing
    count, guess = _find_triangles(tree, (x, y, z), half_size * DIAGONAL, exact, guess, MOST_LISTED, scratch)
    is_listed = count < MOST_LISTED
    if is_listed:
        _describe_all(tree, (x, y, z), count, scratch)
    # triangles near a group of cubes are found first
    along = 2 if size % (2 * edge) == 0 else 1
    group_radius, near_count = 0.5 * (along * edge - 1) * DIAGONAL * spacing, 0
    for cube in range((size // edge) ** 3):
        i, j, k = _place_of(cube, size // edge, along)
        i, j, k = i * edge, j * edge, k * edge
        if is_listed and cube % along**3 == 0:
            half = 0.5 * (along * edge - 1) * spacing - half_size
            center = i * spacing + half, j * spacing + half, k * spacing + half
            near_count = _narrow(center, group_radius, exact, count, scratch)
        half = 0.5 * (edge - 1) * spacing - half_size
        dx, dy, dz = i * spacing + half, j * spacing + half, k * spacing + half
        if not is_listed:
            count, guess = _find_triangles(tree, (x + dx, y + dy, z + dz), radius, exact, guess, MOST_TRIANGLES, scratch)
            if count < MOST_TRIANGLES:
                _describe_all(tree, (x, y, z), count, scratch)
                near_count = _narrow((dx, dy, dz), radius, exact, count, scratch)
        part_distance = distance[i : i + edge, j : j + edge, k : k + edge]
        part_triangle = triangle[i : i + edge, j : j + edge, k : k + edge]
        if is_listed or count < MOST_TRIANGLES:
            guess = _compare_all((dx, dy, dz), radius, exact, near_count, guess, scratch, part_distance, part_triangle)
        else:
            guess = _search_each(tree, (x + dx, y + dy, z + dz), guess, scratch, part_distance, part_triangle)
    return guess


@kernel
def _place_of(cube, cubes, along):
    """The indices of a cube, with `cubes` of them along each axis, visited in groups of `along` per axis."""
    group, within, groups = cube // along**3, cube % along**3, cubes // along
    i, j, k = group // (groups * groups), group // groups % groups, group % groups
    return i * along + within // (along * along), j * along + within // along % along, k * along + within % along


@kernel
def _spread_points(edge, spacing, points):
    """Write the points of a cube relative to its center: x, y, then z; the last point is repeated to fill the vectors."""
    for place in range(ROOM):
        point = min(place, edge**3 - 1)
        points[place] = (point // (edge * edge) - 0.5 * (edge - 1)) * spacing
        points[ROOM + place] = (point // edge % edge - 0.5 * (edge - 1)) * spacing
        points[2 * ROOM + place] = (point % edge - 0.5 * (edge - 1)) * spacing


@kernel
def _find_triangles(tree, center, radius, exact, guess, most, scratch):
    """List the triangles that can be nearest to a point of a cube, and nearer to it than `exact`.

    If the distance from the cube's center is m, no such triangle is farther from the center than m + 2 radius, nor than exact + radius.

    Returns:
        How many are listed, or `most` if there are too many; the nearest triangle found.
    """
    x, y, z = center
    listed, away = scratch.listed, scratch.away
    stack, stack_distances = scratch.stack.nodes, scratch.stack.distances
    first_leaf = len(tree.leaf_starts) - 2
    nearest_found = math.sqrt(squared_distance_to_triangle(tree.triangles[guess], x, y, z))
    reach = min(nearest_found + 2.0 * radius, exact + radius)
    count, top = 0, 1
    stack[0], stack_distances[0] = 0, 0.0
    while top > 0:
        top -= 1
        node = stack[top]
        if stack_distances[top] > reach * reach:
            continue
        if node < first_leaf:
            near, far_node = 2 * node + 1, 2 * node + 2
            near_distance = squared_distance_to_box(tree.boxes[near], x, y, z)
            far_distance = squared_distance_to_box(tree.boxes[far_node], x, y, z)
            if far_distance < near_distance:
                near, far_node = far_node, near
                near_distance, far_distance = far_distance, near_distance
            if far_distance <= reach * reach:
                stack[top], stack_distances[top] = far_node, far_distance
                top += 1
            if near_distance <= reach * reach:
                stack[top], stack_distances[top] = near, near_distance
                top += 1
            continue
        for triangle in range(tree.leaf_starts[node - first_leaf], tree.leaf_starts[node - first_leaf + 1]):
            far = math.sqrt(squared_distance_to_triangle(tree.triangles[triangle], x, y, z))
            if far > reach:
                continue
            if far < nearest_found:
                nearest_found, guess = far, triangle
                reach = min(nearest_found + 2.0 * radius, exact + radius)
            listed[count], away[count] = triangle, far
            count += 1
            if count == most:
                count = _keep_near(reach, count, listed, away)
                if count > most // 2:
                    return most, guess
    return _keep_near(reach, count, listed, away), guess


@kernel
def _keep_near(reach, count, listed, away):
    """Drop the triangles that turned out to be too far away; returns how many remain."""
    kept = 0
    for index in range(count):
        if away[index] <= reach:
            listed[kept], away[kept] = listed[index], away[index]
            kept += 1
    return kept


@kernel
def _describe_all(tree, center, count, scratch):
    """Write the records of the listed triangles and their bounding balls, all relative to `center`.

    The inverse of a zero determinant is NaN, and the normal is then zero.
    """
    x, y, z = center
    listed, records, balls = scratch.listed, scratch.records, scratch.balls
    for number in range(count):
        row, record = tree.triangles[listed[number]], records[number]
        ux, uy, uz, vx, vy, vz = row[3], row[4], row[5], row[6], row[7], row[8]
        record[0], record[1], record[2] = row[0] - x, row[1] - y, row[2] - z
        record[3], record[4], record[5], record[6], record[7], record[8] = ux, uy, uz, vx, vy, vz
        uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
        record[9], record[10], record[11] = uu, uv, vv
        determinant, ww = uu * vv - uv * uv, uu - 2.0 * uv + vv
        record[12] = 1.0 / determinant if determinant > 0.0 else math.nan
        record[13] = 1.0 / uu if uu > 0.0 else 0.0
        record[14] = 1.0 / vv if vv > 0.0 else 0.0
        record[15] = 1.0 / ww if ww > 0.0 else 0.0
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        length = math.sqrt(nx * nx + ny * ny + nz * nz)
        inverse = 1.0 / length if length > 0.0 else 0.0
        record[16], record[17], record[18] = nx * inverse, ny * inverse, nz * inverse
        balls[0, number] = record[0] + (ux + vx) / 3.0
        balls[1, number] = record[1] + (uy + vy) / 3.0
        balls[2, number] = record[2] + (uz + vz) / 3.0
        # three times the vectors from the center to the corners are -(u + v), 2 u - v and 2 v - u
        farthest = max(uu + 2.0 * uv + vv, 4.0 * uu - 4.0 * uv + vv, uu - 4.0 * uv + 4.0 * vv)
        balls[3, number] = math.sqrt(farthest) / 3.0 * SAFE


@kernel
def _narrow(center, radius, exact, listed_count, scratch):
    """Copy the balls of the listed triangles that can be nearest to a point within `radius` of `center`; returns how many."""
    away, balls, near, near_balls = scratch.away, scratch.balls, scratch.near, scratch.near_balls
    reach, _ = _reach_of(center, radius, exact, listed_count, balls, away)
    count = 0
    for k in range(listed_count):
        near[count] = k
        for row in range(4):
            near_balls[row, count] = balls[row, k]
        count += away[k] - balls[3, k] <= reach
    return count


@kernel
def _reach_of(center, radius, exact, count, balls, away):
    """How far from `center` a triangle may be that is nearest to a point within `radius` of it, as in `_find_triangles`.

    A triangle is no farther away than its ball's center, and no nearer than the ball. Writes the distances of the balls' centers.

    Returns:
        That distance [m], and the ball whose center is nearest.
    """
    x, y, z = center
    for k in range(count):
        dx, dy, dz = balls[0, k] - x, balls[1, k] - y, balls[2, k] - z
        away[k] = math.sqrt(dx * dx + dy * dy + dz * dz)
    nearest_center, first = math.inf, 0
    for k in range(count):
        if away[k] < nearest_center:
            nearest_center, first = away[k], k
    return min(nearest_center + 2.0 * radius, exact + radius), first


@kernel
def _pick(center, radius, exact, near_count, scratch):
    """Pick the near triangles that `_find_triangles` would find; returns how many, and the one whose ball's center is nearest."""
    away, near, balls, picked = scratch.away, scratch.near, scratch.near_balls, scratch.picked
    reach, first = _reach_of(center, radius, exact, near_count, balls, away)
    count = 0
    for k in range(near_count):
        picked[count] = near[k]
        count += away[k] - balls[3, k] <= reach
    return count, near[first]


@generic
def squared_distances(records, k, x, y, z):
    """The squared distances of points from a triangle, for vectors: `mesh_distance.nearest_on_triangle` without branches."""
    px, py, pz = x - records[k, 0], y - records[k, 1], z - records[k, 2]
    up = px * records[k, 3] + py * records[k, 4] + pz * records[k, 5]
    vp = px * records[k, 6] + py * records[k, 7] + pz * records[k, 8]
    uu, uv, vv = records[k, 9], records[k, 10], records[k, 11]
    s = clamp(up * records[k, 13], 0.0, 1.0)
    t = constant(0.0, s)
    value = s * (s * uu - 2.0 * up)
    # on the edge v
    other = clamp(vp * records[k, 14], 0.0, 1.0)
    other_value = other * (other * vv - 2.0 * vp)
    is_less = other_value < value
    s, t, value = select(is_less, constant(0.0, s), s), select(is_less, other, t), select(is_less, other_value, value)
    # on the edge from u to v: s = 1 - t
    other = clamp((vp - up + (uu - uv)) * records[k, 15], 0.0, 1.0)
    rest = 1.0 - other
    other_value = rest * (rest * uu - 2.0 * up) + other * (other * vv - 2.0 * vp) + rest * other * (2.0 * uv)
    is_less = other_value < value
    s, t = select(is_less, rest, s), select(is_less, other, t)
    inner_s, inner_t = (up * vv - vp * uv) * records[k, 12], (vp * uu - up * uv) * records[k, 12]
    is_inner = (inner_s >= 0.0) & (inner_t >= 0.0) & (inner_s + inner_t <= 1.0)
    s, t = select(is_inner, inner_s, s), select(is_inner, inner_t, t)
    dx = px - s * records[k, 3] - t * records[k, 6]
    dy = py - s * records[k, 4] - t * records[k, 7]
    dz = pz - s * records[k, 5] - t * records[k, 8]
    return dx * dx + dy * dy + dz * dz


@generic
def may_be_nearer(records, balls, k, x, y, z, limit):
    """Whether a triangle's disk, the part of its plane within its ball, is nearer to points than the squared distances `limit`.

    Let d be the distance from the disk's center, h and a its parts across and along the disk, and R the radius. The squared distance
    is h^2 + (a - R)^2, or h^2 if a < R. Without a root, it is below the limit if 2 a R > d^2 + R^2 - limit.
    """
    dx, dy, dz = x - balls[0, k], y - balls[1, k], z - balls[2, k]
    radius = balls[3, k] * balls[3, k]
    height = dx * records[k, 16] + dy * records[k, 17] + dz * records[k, 18]
    squared = dx * dx + dy * dy + dz * dz
    along = squared - height * height
    rest = squared + radius - limit
    return (rest <= 0.0) | (along * (4.0 * radius) > rest * rest) | ((along <= radius) & (height * height <= limit))


@generic
def nearest_of_all(scratch, count, first, center, reach, place):
    """Write the distances of one vector of points from the picked triangles, and which of these are nearest.

    Args:
        scratch: with the picked triangles and the points.
        count: of the picked triangles.
        first: a listed triangle that is near.
        center: x, y and z that the points are relative to [m].
        reach: distance from `center` within which all triangles are picked [m].
        place: of the vector's first point.
    """
    records, balls, points = scratch.records, scratch.balls, scratch.points
    x, y, z = load(points, place, LANES), load(points, ROOM + place, LANES), load(points, 2 * ROOM + place, LANES)
    bound = reach - sqrt(x * x + y * y + z * z)
    x, y, z = x + center[0], y + center[1], z + center[2]
    best = squared_distances(records, first, x, y, z)
    which = constant(1.0 * first, best)
    limit = minimum(best, bound * bound)
    for index in range(count):
        k = scratch.picked[index]
        if any_of(may_be_nearer(records, balls, k, x, y, z, limit)):
            squared = squared_distances(records, k, x, y, z)
            is_less = squared < best
            best = select(is_less, squared, best)
            limit = minimum(best, limit)
            which = select(is_less, constant(1.0 * k, best), which)
    # a triangle that was not picked is no nearer than the bound
    store(points, 3 * ROOM + place, minimum(sqrt(best), bound))
    store(points, 4 * ROOM + place, which)


@kernel
def _compare_all(center, radius, exact, near_count, guess, scratch, distance, triangle):
    """Measure the distances of a cube's points from the triangles that are near.

    Args:
        center: of the cube, relative to the center of the lattice [m]. The rest see `measure_lattice`.

    Returns:
        The triangle that is nearest to one of the points, or `guess` if none is near.
    """
    points = scratch.points
    edge = distance.shape[0]
    count, first = _pick(center, radius, exact, near_count, scratch)
    if count == 0:
        for point in range(edge**3):
            i, j, k = point // (edge * edge), point // edge % edge, point % edge
            away = math.sqrt(points[point] ** 2 + points[ROOM + point] ** 2 + points[2 * ROOM + point] ** 2)
            distance[i, j, k], triangle[i, j, k] = exact + radius - away, guess
        return guess
    for place in range(0, edge**3, LANES):
        nearest_of_all(scratch, count, first, center, exact + radius, place)
    for point in range(edge**3):
        i, j, k = point // (edge * edge), point // edge % edge, point % edge
        distance[i, j, k] = points[3 * ROOM + point]
        triangle[i, j, k] = scratch.listed[int(points[4 * ROOM + point])]
    return scratch.listed[first]


@kernel
def _search_each(tree, center, guess, scratch, distance, triangle):
    """Measure the distances of a cube's points by a search for each; returns the triangle that is nearest to the last."""
    x, y, z = center
    points = scratch.points
    edge = distance.shape[0]
    for point in range(edge**3):
        px, py, pz = x + points[point], y + points[ROOM + point], z + points[2 * ROOM + point]
        squared, guess = nearest(tree, px, py, pz, guess, scratch.stack)
        i, j, k = point // (edge * edge), point // edge % edge, point % edge
        distance[i, j, k] = math.sqrt(squared)
        triangle[i, j, k] = guess
    return guess
