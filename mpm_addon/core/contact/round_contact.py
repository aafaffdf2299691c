"""Contacts of spheres and capsules with each other and with convex polyhedra: the nearest points of their points and lines, exactly."""

import math

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from .hulls import add_contact, along, closest_on_lines, cross, dot, minus, row

# nearest points this close to the end of a line are the end, relative to the line
AT_END = 1e-6
# directions shorter than this have no direction [m]
TINY = 1e-12


@kernel
def from_face(hulls, face, point):
    """The nearest point of a face to a point in front of it, and its squared distance [m^2]."""
    normal = row(hulls.normals, face)
    height = dot(normal, point) - hulls.heights[face]
    begin, end = hulls.first_corner[face], hulls.first_corner[face + 1]
    best, nearest, is_over = math.inf, point, True
    for at in range(begin, end):
        start = row(hulls.vertices, hulls.corners[at])
        side = minus(row(hulls.vertices, hulls.corners[at + 1 if at + 1 < end else begin]), start)
        if dot(minus(point, start), cross(side, normal)) <= 0.0:
            continue
        is_over = False
        share = min(max(dot(minus(point, start), side) / dot(side, side), 0.0), 1.0)
        on_side = along(start, share, side)
        away = minus(point, on_side)
        if dot(away, away) < best:
            best, nearest = dot(away, away), on_side
    if is_over:
        return along(point, -height, normal), height * height
    return nearest, best


@kernel
def from_polyhedron(hulls, b, point):
    """The signed distance [m] of a point from a polyhedron, and the unit normal there, toward the point."""
    highest, above = -math.inf, hulls.first_face[b]
    for face in range(hulls.first_face[b], hulls.first_face[b + 1]):
        height = dot(row(hulls.normals, face), point) - hulls.heights[face]
        if height > highest:
            highest, above = height, face
    normal = row(hulls.normals, above)
    if highest <= TINY:
        return highest, normal
    best, nearest = math.inf, point
    for face in range(hulls.first_face[b], hulls.first_face[b + 1]):
        if dot(row(hulls.normals, face), point) - hulls.heights[face] > 0.0:
            on_face, squared = from_face(hulls, face, point)
            if squared < best:
                best, nearest = squared, on_face
    distance = math.sqrt(best)
    if distance <= TINY:
        return highest, normal
    away = minus(point, nearest)
    return distance, (away[0] / distance, away[1] / distance, away[2] / distance)


@generic
def add_sphere(hulls, a, pair, point, distance, normal, sign, found, count):
    """Add the contact of a point of hull a, at a distance along a normal toward the point; see `touch_faces` for the rest."""
    gap = distance - hulls.radius[a]
    middle = along(point, -(hulls.radius[a] + 0.5 * gap), normal)
    return add_contact(found, count, pair, middle, (sign * normal[0], sign * normal[1], sign * normal[2]), gap)


@kernel
def touch_round(hulls, pair, a, b, margin, sign, found, count):
    """Add the contacts of a sphere or capsule a with a polyhedron b; returns the number of contacts.

    Args:
        sign: 1 if a is the first of the pair, else -1. The rest as for `touch_faces`.
    """
    begin, end = hulls.first_vertex[a], hulls.first_vertex[a + 1]
    for vertex in range(begin, end):
        point = row(hulls.vertices, vertex)
        distance, normal = from_polyhedron(hulls, b, point)
        if distance - hulls.radius[a] <= margin:
            count = add_sphere(hulls, a, pair, point, distance, normal, sign, found, count)
    if end - begin < 2:
        return count
    start = row(hulls.vertices, begin)
    line = minus(row(hulls.vertices, begin + 1), start)
    for edge in range(hulls.first_edge[b], hulls.first_edge[b + 1]):
        its = row(hulls.vertices, hulls.edges[edge, 0])
        side = minus(row(hulls.vertices, hulls.edges[edge, 1]), its)
        s, t = closest_on_lines(start, line, its, side)
        if not (AT_END < s < 1.0 - AT_END and AT_END < t < 1.0 - AT_END):
            continue
        point = along(start, s, line)
        away = minus(point, along(its, t, side))
        length = math.sqrt(dot(away, away))
        if length <= TINY or length - hulls.radius[a] > margin:
            continue
        normal = away[0] / length, away[1] / length, away[2] / length
        # the nearest point of the polyhedron is on this edge if both faces look away from the line beside it
        one, other = row(hulls.normals, hulls.edges[edge, 2]), row(hulls.normals, hulls.edges[edge, 3])
        along_one, along_other = cross(side, one), cross(other, side)
        if dot(normal, along_one) >= -TINY and dot(normal, along_other) >= -TINY and dot(normal, one) + dot(normal, other) > 0.0:
            count = add_sphere(hulls, a, pair, point, length, normal, sign, found, count)
    return count


@kernel
def touch_lines(hulls, pair, a, b, margin, found, count):
    """Add the contacts of two spheres or capsules; returns the number of contacts."""
    begin_a, end_a = hulls.first_vertex[a], hulls.first_vertex[a + 1]
    begin_b, end_b = hulls.first_vertex[b], hulls.first_vertex[b + 1]
    start_a, start_b = row(hulls.vertices, begin_a), row(hulls.vertices, begin_b)
    line_a, line_b = minus(row(hulls.vertices, end_a - 1), start_a), minus(row(hulls.vertices, end_b - 1), start_b)
    s, t = closest_on_lines(start_a, line_a, start_b, line_b)
    count = add_between(hulls, pair, (a, b), along(start_a, s, line_a), along(start_b, t, line_b), margin, found, count)
    turn = cross(line_a, line_b)
    # side by side, the ends of each touch the other
    if dot(turn, turn) > 1e-4 * dot(line_a, line_a) * dot(line_b, line_b) or dot(line_a, line_a) == 0.0 or dot(line_b, line_b) == 0.0:
        return count
    for end in range(2):
        share = closest_on_lines(along(start_a, 1.0 * end, line_a), (0.0, 0.0, 0.0), start_b, line_b)[1]
        if abs(end - s) > AT_END and AT_END < share < 1.0 - AT_END:
            count = add_between(hulls, pair, (a, b), along(start_a, 1.0 * end, line_a), along(start_b, share, line_b), margin, found, count)
        share = closest_on_lines(start_a, line_a, along(start_b, 1.0 * end, line_b), (0.0, 0.0, 0.0))[0]
        if abs(end - t) > AT_END and AT_END < share < 1.0 - AT_END:
            count = add_between(hulls, pair, (a, b), along(start_a, share, line_a), along(start_b, 1.0 * end, line_b), margin, found, count)
    return count


@kernel
def add_between(hulls, pair, both, p, q, margin, found, count):
    """Add the contact of spheres about p, of the first of two hulls, and q, of the second."""
    away = minus(p, q)
    length = math.sqrt(dot(away, away))
    gap = length - hulls.radius[both[0]] - hulls.radius[both[1]]
    if gap > margin:
        return count
    normal = (away[0] / length, away[1] / length, away[2] / length) if length > TINY else (0.0, 0.0, 1.0)
    return add_contact(found, count, pair, along(q, hulls.radius[both[1]] + 0.5 * gap, normal), normal, gap)


@kernel
def touch_plane(hulls, pair, a, plane, margin, work, found, count):
    """Add the contacts of hull a with a half-space; returns the number of contacts. The work arrays as for `touch_faces`."""
    chosen = work[2]
    face = hulls.first_face[plane]
    normal, height = row(hulls.normals, face), hulls.heights[face]
    begin, end = hulls.first_vertex[a], hulls.first_vertex[a + 1]
    near = 0
    for vertex in range(begin, end):
        near += dot(normal, row(hulls.vertices, vertex)) - height - hulls.radius[a] <= margin
    first = cross(normal, (1.0, 0.0, 0.0) if abs(normal[0]) < 0.6 else (0.0, 1.0, 0.0))
    second = cross(normal, first)
    chosen[0] = 0
    for direction in range(8 if near > 8 else 0):
        angle = 2.0 * math.pi * (direction + 0.37) / 8.0
        c, s = math.cos(angle), math.sin(angle)
        best, outermost = -math.inf, -1
        for vertex in range(begin, end):
            point = row(hulls.vertices, vertex)
            reach = c * dot(point, first) + s * dot(point, second)
            if dot(normal, point) - height - hulls.radius[a] <= margin and reach > best:
                best, outermost = reach, vertex
        chosen[0] += 1
        chosen[chosen[0]] = outermost
    for vertex in range(begin, end):
        point = row(hulls.vertices, vertex)
        distance = dot(normal, point) - height
        if distance - hulls.radius[a] > margin:
            continue
        is_chosen = near <= 8
        for at in range(chosen[0]):
            is_chosen |= chosen[1 + at] == vertex
        if is_chosen:
            count = add_sphere(hulls, a, pair, point, distance, normal, 1.0, found, count)
    return count
