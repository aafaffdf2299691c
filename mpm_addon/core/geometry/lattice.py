"""The distance from a mesh at the points of a small cubic lattice: exact near the surface, bounded elsewhere.

The triangles that can be nearest to any point of a lattice are found by one search. The lattice is cut into cubes of a few points; those
triangles that, by the balls around them, can be nearest to a point of a cube are compared with all its points at once, eight to a
vector. Where there are too many of them, cubes or points search for themselves.
"""

import math

import numpy as np

from ..arithmetic.operations import any_of, clamp, constant, generic, minimum, select, sqrt
from ..arithmetic.vector import load, store
from ..compilation.kernel import kernel
from .mesh_distance import nearest, squared_distance_to_box, squared_distance_to_triangle
from .mesh_tree import STACK_SIZE

DIAGONAL = 3**0.5
# float64 numbers in a vector, and the points of a cube of 3^3, filled up to whole vectors
LANES = 8
ROOM = 32
# with more triangles than these, searches by points are faster
MOST_TRIANGLES = 512
# triangles that are listed for a lattice
MOST_LISTED = 2048
# a way is taken for this much longer than it is, against rounding
SAFE = 1.0 + 1e-9
# what is known of each listed triangle: corner, edges u and v, u.u, u.v, v.v, inverses (see `_describe_all`), and the unit normal
FACTS = 19


@kernel
def lattice_scratch():
    """The arrays that `measure_lattice` works with: a stack, its distances; listed triangles, their distances, facts and balls; those
    near a group of cubes, and their balls; those picked for a cube; points, and what is found for them."""
    return (
        np.empty(STACK_SIZE, np.int64), np.empty(STACK_SIZE), np.empty(MOST_LISTED, np.int64), np.empty(MOST_LISTED),
        np.empty((MOST_LISTED, FACTS)), np.empty((4, MOST_LISTED)), np.empty(MOST_LISTED, np.int64), np.empty((4, MOST_LISTED)),
        np.empty(MOST_LISTED, np.int64), np.empty(3 * ROOM), np.empty(2 * ROOM),
    )  # fmt: skip


@kernel
def measure_lattice(tree, x0, y0, z0, spacing, edge, exact, guess, scratch, distance, triangle):
    """The unsigned distances [m] of a lattice's points, exact up to `exact`, beyond it a lower bound that is no less.

    Args:
        tree: the triangles; x0, y0, z0: the first point, in the tree's coordinates [m].
        spacing: between points [m]; edge: points along a cube's edge, 2 or 3.
        guess: a triangle that may be near; scratch: from `lattice_scratch`.
        distance: (n, n, n) result [m], with n a multiple of `edge`.
        triangle: (n, n, n) result: the nearest triangle where the distance is exact.

    Returns:
        A triangle that may be near to whatever follows the lattice.
    """
    stack, stack_distance, listed, listed_away, _, _, _, _, _, points, _ = scratch
    size = distance.shape[0]
    _spread_points(edge, spacing, points)
    middle = 0.5 * (size - 1) * spacing
    x, y, z, radius = x0 + middle, y0 + middle, z0 + middle, 0.5 * (edge - 1) * DIAGONAL * spacing
    count, guess = _find_triangles(tree, x, y, z, middle * DIAGONAL, exact, guess, stack, stack_distance, listed, listed_away)
    is_listed = count < MOST_LISTED
    if is_listed:
        _describe_all(tree, x, y, z, count, scratch)
    # of a group of cubes what is near is looked for first
    along = 2 if size % (2 * edge) == 0 else 1
    group_radius, near_count = 0.5 * (along * edge - 1) * DIAGONAL * spacing, 0
    for cube in range((size // edge) ** 3):
        i, j, k = _place_of(cube, size // edge, along)
        i, j, k = i * edge, j * edge, k * edge
        if is_listed and cube % along**3 == 0:
            half = 0.5 * (along * edge - 1) * spacing - middle
            dx, dy, dz = i * spacing + half, j * spacing + half, k * spacing + half
            near_count = _narrow(dx, dy, dz, group_radius, exact, count, scratch)
        half = 0.5 * (edge - 1) * spacing - middle
        dx, dy, dz = i * spacing + half, j * spacing + half, k * spacing + half
        if not is_listed:
            few = listed[:MOST_TRIANGLES]
            count, guess = _find_triangles(tree, x + dx, y + dy, z + dz, radius, exact, guess, stack, stack_distance, few, listed_away)
            if count < MOST_TRIANGLES:
                _describe_all(tree, x, y, z, count, scratch)
                near_count = _narrow(dx, dy, dz, radius, exact, count, scratch)
        part_distance = distance[i : i + edge, j : j + edge, k : k + edge]
        part_triangle = triangle[i : i + edge, j : j + edge, k : k + edge]
        if is_listed or count < MOST_TRIANGLES:
            guess = _compare_all(dx, dy, dz, radius, exact, near_count, guess, scratch, part_distance, part_triangle)
        else:
            guess = _search_each(tree, x + dx, y + dy, z + dz, guess, scratch, part_distance, part_triangle)
    return guess


@kernel
def _place_of(cube, cubes, along):
    """The place of a cube among `cubes` along each axis, in groups of `along` one after another."""
    group, within, groups = cube // along**3, cube % along**3, cubes // along
    i, j, k = group // (groups * groups), group // groups % groups, group % groups
    return i * along + within // (along * along), j * along + within // along % along, k * along + within % along


@kernel
def _spread_points(edge, spacing, points):
    """The points of a cube relative to its middle, x, y and z one after another; the last is repeated to fill the vectors."""
    for place in range(ROOM):
        point = min(place, edge**3 - 1)
        points[place] = (point // (edge * edge) - 0.5 * (edge - 1)) * spacing
        points[ROOM + place] = (point // edge % edge - 0.5 * (edge - 1)) * spacing
        points[2 * ROOM + place] = (point % edge - 0.5 * (edge - 1)) * spacing


@kernel
def _find_triangles(tree, x, y, z, radius, exact, guess, stack, stack_distance, picked, away):
    """The triangles that can be nearest to a point of a cube and nearer than `exact`; returns how many, and the nearest found.

    With m the distance of the cube's middle, no such triangle is farther from it than m + 2 radius, nor than exact + radius. As many as
    `picked` has room for are too many.
    """
    first_leaf = len(tree.leaf_starts) - 2
    middle = math.sqrt(squared_distance_to_triangle(tree.triangles[guess], x, y, z))
    reach = min(middle + 2.0 * radius, exact + radius)
    count, top = 0, 1
    stack[0], stack_distance[0] = 0, 0.0
    while top > 0:
        top -= 1
        node = stack[top]
        if stack_distance[top] > reach * reach:
            continue
        if node < first_leaf:
            near, far_node = 2 * node + 1, 2 * node + 2
            near_distance = squared_distance_to_box(tree.boxes[near], x, y, z)
            far_distance = squared_distance_to_box(tree.boxes[far_node], x, y, z)
            if far_distance < near_distance:
                near, far_node = far_node, near
                near_distance, far_distance = far_distance, near_distance
            if far_distance <= reach * reach:
                stack[top], stack_distance[top] = far_node, far_distance
                top += 1
            if near_distance <= reach * reach:
                stack[top], stack_distance[top] = near, near_distance
                top += 1
            continue
        for triangle in range(tree.leaf_starts[node - first_leaf], tree.leaf_starts[node - first_leaf + 1]):
            far = math.sqrt(squared_distance_to_triangle(tree.triangles[triangle], x, y, z))
            if far > reach:
                continue
            if far < middle:
                middle, guess = far, triangle
                reach = min(middle + 2.0 * radius, exact + radius)
            picked[count], away[count] = triangle, far
            count += 1
            if count == len(picked):
                count = _keep_near(reach, count, picked, away)
                if count > len(picked) // 2:
                    return len(picked), guess
    return _keep_near(reach, count, picked, away), guess


@kernel
def _keep_near(reach, count, picked, away):
    """Drop triangles that turned out too far; returns how many stay."""
    kept = 0
    for index in range(count):
        if away[index] <= reach:
            picked[kept], away[kept] = picked[index], away[index]
            kept += 1
    return kept


@kernel
def _describe_all(tree, x, y, z, count, scratch):
    """Write the facts of the listed triangles, and the balls around them: their middles, and how far their corners are from these.

    All is relative to (x, y, z). The inverse of a determinant 0 is not a number; the normal then is 0.
    """
    listed, every, balls = scratch[2], scratch[4], scratch[5]
    for number in range(count):
        row, facts = tree.triangles[listed[number]], every[number]
        ux, uy, uz, vx, vy, vz = row[3], row[4], row[5], row[6], row[7], row[8]
        facts[0], facts[1], facts[2] = row[0] - x, row[1] - y, row[2] - z
        facts[3], facts[4], facts[5], facts[6], facts[7], facts[8] = ux, uy, uz, vx, vy, vz
        uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
        facts[9], facts[10], facts[11] = uu, uv, vv
        determinant, ww = uu * vv - uv * uv, uu - 2.0 * uv + vv
        facts[12] = 1.0 / determinant if determinant > 0.0 else math.nan
        facts[13] = 1.0 / uu if uu > 0.0 else 0.0
        facts[14] = 1.0 / vv if vv > 0.0 else 0.0
        facts[15] = 1.0 / ww if ww > 0.0 else 0.0
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        length = math.sqrt(nx * nx + ny * ny + nz * nz)
        inverse = 1.0 / length if length > 0.0 else 0.0
        facts[16], facts[17], facts[18] = nx * inverse, ny * inverse, nz * inverse
        balls[0, number] = facts[0] + (ux + vx) / 3.0
        balls[1, number] = facts[1] + (uy + vy) / 3.0
        balls[2, number] = facts[2] + (uz + vz) / 3.0
        # 3 times the way from the middle to each corner is minus u + v, 2 u - v and 2 v - u
        farthest = max(uu + 2.0 * uv + vv, 4.0 * uu - 4.0 * uv + vv, uu - 4.0 * uv + 4.0 * vv)
        balls[3, number] = math.sqrt(farthest) / 3.0 * SAFE


@kernel
def _narrow(x, y, z, radius, exact, listed_count, scratch):
    """Copy the balls of those listed triangles that can be nearest to a point within `radius` of (x, y, z); returns how many."""
    away, balls, near, near_balls = scratch[3], scratch[5], scratch[6], scratch[7]
    reach, _ = _reach_of(x, y, z, radius, exact, listed_count, balls, away)
    count = 0
    for k in range(listed_count):
        near[count] = k
        for row in range(4):
            near_balls[row, count] = balls[row, k]
        count += away[k] - balls[3, k] <= reach
    return count


@kernel
def _reach_of(x, y, z, radius, exact, count, balls, away):
    """How far from (x, y, z) triangles may be that are nearest to a point within `radius` of it, as `_find_triangles` has it.

    A triangle is no farther than the middle of its ball, and no nearer than the ball. Writes how far the middles are.

    Returns:
        that distance [m], and the ball whose middle is nearest.
    """
    for k in range(count):
        dx, dy, dz = balls[0, k] - x, balls[1, k] - y, balls[2, k] - z
        away[k] = math.sqrt(dx * dx + dy * dy + dz * dz)
    nearest, first = math.inf, 0
    for k in range(count):
        if away[k] < nearest:
            nearest, first = away[k], k
    return min(nearest + 2.0 * radius, exact + radius), first


@kernel
def _pick(x, y, z, radius, exact, near_count, scratch):
    """Those of the near triangles that `_find_triangles` would find. Returns how many, and the one whose middle is nearest."""
    away, near, balls, picked = scratch[3], scratch[6], scratch[7], scratch[8]
    reach, first = _reach_of(x, y, z, radius, exact, near_count, balls, away)
    count = 0
    for k in range(near_count):
        picked[count] = near[k]
        count += away[k] - balls[3, k] <= reach
    return count, near[first]


@generic
def squared_distances(facts, k, x, y, z):
    """The squared distances of points from a triangle, for vectors; the same as `mesh_distance.nearest_on_triangle` without branches."""
    px, py, pz = x - facts[k, 0], y - facts[k, 1], z - facts[k, 2]
    up = px * facts[k, 3] + py * facts[k, 4] + pz * facts[k, 5]
    vp = px * facts[k, 6] + py * facts[k, 7] + pz * facts[k, 8]
    uu, uv, vv = facts[k, 9], facts[k, 10], facts[k, 11]
    s = clamp(up * facts[k, 13], 0.0, 1.0)
    t = constant(0.0, s)
    value = s * (s * uu - 2.0 * up)
    # on the edge v
    other = clamp(vp * facts[k, 14], 0.0, 1.0)
    other_value = other * (other * vv - 2.0 * vp)
    is_less = other_value < value
    s, t, value = select(is_less, constant(0.0, s), s), select(is_less, other, t), select(is_less, other_value, value)
    # on the edge from u to v: s = 1 - t
    other = clamp((vp - up + (uu - uv)) * facts[k, 15], 0.0, 1.0)
    rest = 1.0 - other
    other_value = rest * (rest * uu - 2.0 * up) + other * (other * vv - 2.0 * vp) + rest * other * (2.0 * uv)
    is_less = other_value < value
    s, t = select(is_less, rest, s), select(is_less, other, t)
    inner_s, inner_t = (up * vv - vp * uv) * facts[k, 12], (vp * uu - up * uv) * facts[k, 12]
    is_inner = (inner_s >= 0.0) & (inner_t >= 0.0) & (inner_s + inner_t <= 1.0)
    s, t = select(is_inner, inner_s, s), select(is_inner, inner_t, t)
    dx = px - s * facts[k, 3] - t * facts[k, 6]
    dy = py - s * facts[k, 4] - t * facts[k, 7]
    dz = pz - s * facts[k, 5] - t * facts[k, 8]
    return dx * dx + dy * dy + dz * dz


@generic
def may_be_nearer(facts, balls, k, x, y, z, limit):
    """Whether a triangle's disk, the part of its plane in its ball, is nearer to points than the squared distances `limit`.

    With d the way from the disk's middle, d = h + a across the disk and along it, and R the radius, the squared distance is
    h^2 + (a - R)^2, or h^2 where a < R. No root is taken: it is less than the limit where 2 a R > d^2 + R^2 - limit.
    """
    dx, dy, dz = x - balls[0, k], y - balls[1, k], z - balls[2, k]
    radius = balls[3, k] * balls[3, k]
    height = dx * facts[k, 16] + dy * facts[k, 17] + dz * facts[k, 18]
    squared = dx * dx + dy * dy + dz * dz
    along = squared - height * height
    rest = squared + radius - limit
    return (rest <= 0.0) | (along * (4.0 * radius) > rest * rest) | ((along <= radius) & (height * height <= limit))


@generic
def nearest_of_all(facts, balls, picked, count, first, middle, reach, points, place, found):
    """Compare the points of one vector with the picked triangles; writes squared distances and numbers of the nearest into `found`.

    Args:
        facts, balls, picked: from the scratch; count: of the picked triangles; first: one that is near.
        middle: from which the points are given, three coordinates [m].
        reach: distance from it within which all triangles are picked [m].
        points, place: the vector's points; found: results.
    """
    x, y, z = load(points, place, LANES), load(points, ROOM + place, LANES), load(points, 2 * ROOM + place, LANES)
    bound = reach - sqrt(x * x + y * y + z * z)
    x, y, z = x + middle[0], y + middle[1], z + middle[2]
    best = squared_distances(facts, first, x, y, z)
    which = constant(1.0 * first, best)
    limit = minimum(best, bound * bound)
    for index in range(count):
        k = picked[index]
        if any_of(may_be_nearer(facts, balls, k, x, y, z, limit)):
            squared = squared_distances(facts, k, x, y, z)
            is_less = squared < best
            best = select(is_less, squared, best)
            limit = minimum(best, limit)
            which = select(is_less, constant(1.0 * k, best), which)
    # a triangle that was left out may be no nearer than the bound
    store(found, place, minimum(sqrt(best), bound))
    store(found, ROOM + place, which)


@kernel
def _compare_all(x, y, z, radius, exact, near_count, guess, scratch, distance, triangle):
    """Distances of a cube's points around (x, y, z), relative to the lattice's middle, from the triangles that are near.

    Returns the triangle that is nearest to one of the points, or `guess` where none is near.
    """
    _, _, listed, _, facts, balls, _, _, picked, points, found = scratch
    edge = distance.shape[0]
    count, first = _pick(x, y, z, radius, exact, near_count, scratch)
    if count == 0:
        for point in range(edge**3):
            i, j, k = point // (edge * edge), point // edge % edge, point % edge
            away = math.sqrt(points[point] ** 2 + points[ROOM + point] ** 2 + points[2 * ROOM + point] ** 2)
            distance[i, j, k], triangle[i, j, k] = exact + radius - away, guess
        return guess
    for place in range(0, edge**3, LANES):
        nearest_of_all(facts, balls, picked, count, first, (x, y, z), exact + radius, points, place, found)
    for point in range(edge**3):
        i, j, k = point // (edge * edge), point // edge % edge, point % edge
        distance[i, j, k] = found[point]
        triangle[i, j, k] = listed[int(found[ROOM + point])]
    return listed[first]


@kernel
def _search_each(tree, x, y, z, guess, scratch, distance, triangle):
    stack, stack_distance, _, _, _, _, _, _, _, points, _ = scratch
    edge = distance.shape[0]
    for point in range(edge**3):
        px, py, pz = x + points[point], y + points[ROOM + point], z + points[2 * ROOM + point]
        squared, guess = nearest(tree, px, py, pz, guess, stack, stack_distance)
        i, j, k = point // (edge * edge), point // edge % edge, point % edge
        distance[i, j, k] = math.sqrt(squared)
        triangle[i, j, k] = guess
    return guess
