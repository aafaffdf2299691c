"""Contacts between two convex polyhedra: the separating axis test, and clipping of faces.

The axis along which the hulls are farthest apart, or overlap least, is the normal of a face of either or the product of an edge of each;
only those pairs of edges count whose arcs cross on the unit sphere (Gregorius 2013). On a face, contacts are the corners of the facing face
of the other hull, clipped to the prism over it (Ericson 2005, section 5.4).
"""

import math

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from .hulls import MOST_CONTACTS, add_contact, along, closest_on_lines, cross, dot, minus, row

# a face is preferred to a pair of edges, and a face of the first hull to one of the second, unless the other axis is this much better,
# relative to the gap and to the margin: the kind of a contact should not change from substep to substep
PREFERENCE = 0.05
# edges whose angle has a smaller sine are parallel
PARALLEL = 1e-4
# A corner this near to a side of the prism lies on it, and of corners this near to each other one is left, relative to the side and to the
# face: where two faces nearly match, each of their corners would otherwise be two contacts, which change from substep to substep.
ON_PLANE, MERGED = 1e-3, 0.02
# the most corners of a face that is clipped
MOST_CORNERS = 96


@kernel
def best_face(hulls, a, b, margin):
    """The face of hull a that hull b is farthest outside of, and how far [m]; stops at the first that is farther than the margin."""
    best, found = -math.inf, -1
    for face in range(hulls.first_face[a], hulls.first_face[a + 1]):
        x, y, z = row(hulls.normals, face)
        lowest = math.inf
        for vertex in range(hulls.first_vertex[b], hulls.first_vertex[b + 1]):
            lowest = min(lowest, x * hulls.vertices[vertex, 0] + y * hulls.vertices[vertex, 1] + z * hulls.vertices[vertex, 2])
        gap = lowest - hulls.heights[face]
        if gap > best:
            best, found = gap, face
            if gap > margin:
                break
    return best, found


@kernel
def best_edges(hulls, a, b, margin):
    """The edges of both hulls whose product is the axis along which they are farthest apart, and how far [m]."""
    best, first, second = -math.inf, -1, -1
    middle = row(hulls.middles, a)
    for i in range(hulls.first_edge[a], hulls.first_edge[a + 1]):
        start = row(hulls.vertices, hulls.edges[i, 0])
        u = minus(row(hulls.vertices, hulls.edges[i, 1]), start)
        na, nb = row(hulls.normals, hulls.edges[i, 2]), row(hulls.normals, hulls.edges[i, 3])
        size = dot(u, u)
        for j in range(hulls.first_edge[b], hulls.first_edge[b + 1]):
            # the arcs from na to nb and from -nc to -nd cross
            nc, nd = row(hulls.normals, hulls.edges[j, 2]), row(hulls.normals, hulls.edges[j, 3])
            c, d = -dot(nc, u), -dot(nd, u)
            if c * d >= 0.0:
                continue
            its = row(hulls.vertices, hulls.edges[j, 0])
            v = minus(row(hulls.vertices, hulls.edges[j, 1]), its)
            p, q = dot(na, v), dot(nb, v)
            # the products are taken with edges that run around each hull, which the faces of both are ordered by
            if p * q >= 0.0 or c * q <= 0.0:
                continue
            axis = cross(u, v)
            length = math.sqrt(dot(axis, axis))
            if length * length < PARALLEL * PARALLEL * size * dot(v, v):
                continue
            gap = dot(axis, minus(its, start)) / length
            if dot(axis, minus(start, middle)) < 0.0:
                gap = -gap
            if gap > best:
                best, first, second = gap, i, j
                if gap > margin:
                    return best, first, second
    return best, first, second


@kernel
def clip(scratch, source, count, point, normal):
    """Clip a polygon to the half-space behind a plane, from one half of `scratch` (2, MOST_CORNERS, 3) to the other; the new count."""
    target, kept = 1 - source, 0
    slack = ON_PLANE * dot(normal, normal)
    for corner in range(count):
        following = corner + 1 if corner + 1 < count else 0
        p, q = row(scratch[source], corner), row(scratch[source], following)
        here, there = dot(minus(p, point), normal), dot(minus(q, point), normal)
        if here <= slack and kept < MOST_CORNERS:
            scratch[target, kept, 0], scratch[target, kept, 1], scratch[target, kept, 2] = p
            kept += 1
        if min(here, there) < -slack and max(here, there) > slack and kept < MOST_CORNERS:
            scratch[target, kept, 0], scratch[target, kept, 1], scratch[target, kept, 2] = along(p, here / (here - there), minus(q, p))
            kept += 1
    return kept


@kernel
def merge_corners(scratch, half, count):
    """Drop corners of a polygon that nearly coincide with the last one kept or the first; returns how many are left."""
    size = 0.0
    for corner in range(1, count):
        way = minus(row(scratch[half], corner), row(scratch[half], 0))
        size = max(size, dot(way, way))
    kept = 0
    for corner in range(count):
        p = row(scratch[half], corner)
        to_last, to_first = minus(p, row(scratch[half], max(kept - 1, 0))), minus(p, row(scratch[half], 0))
        if kept > 0 and min(dot(to_last, to_last), dot(to_first, to_first)) < MERGED * MERGED * size:
            continue
        scratch[half, kept, 0], scratch[half, kept, 1], scratch[half, kept, 2] = p
        kept += 1
    return kept


@generic
def is_new(scratch, half, chosen, corner):
    """Whether a corner of a polygon is not among those chosen before, whose numbers are in `chosen[1:]`; their count is `chosen[0]`."""
    is_known = False
    for other in range(chosen[0]):
        is_known |= chosen[1 + other] == corner
    return not is_known


@kernel
def choose_corners(scratch, half, count, gaps, margin, normal, chosen):
    """Choose the corners of a polygon that are near enough, or the outermost of these in eight directions if there are many."""
    chosen[0] = 0
    near = 0
    for corner in range(count):
        near += gaps[corner] <= margin
    if near <= MOST_CONTACTS:
        for corner in range(count):
            if gaps[corner] <= margin:
                chosen[0] += 1
                chosen[chosen[0]] = corner
        return
    first = cross(normal, (1.0, 0.0, 0.0) if abs(normal[0]) < 0.6 else (0.0, 1.0, 0.0))
    second = cross(normal, first)
    for direction in range(MOST_CONTACTS):
        angle = 2.0 * math.pi * (direction + 0.37) / MOST_CONTACTS
        c, s = math.cos(angle), math.sin(angle)
        best, found = -math.inf, -1
        for corner in range(count):
            p = row(scratch[half], corner)
            reach = c * dot(p, first) + s * dot(p, second)
            if gaps[corner] <= margin and reach > best:
                best, found = reach, corner
        if is_new(scratch, half, chosen, found):
            chosen[0] += 1
            chosen[chosen[0]] = found


@kernel
def touch_faces(hulls, pair, face, b, margin, sign, work, found, count):
    """Add the contacts of hull b with a face of another hull; returns the number of contacts.

    Args:
        sign: 1 if b is the first hull of the pair, else -1.
        work: the arrays `scratch` (2, MOST_CORNERS, 3), `gaps` (MOST_CORNERS,) and `chosen` (MOST_CORNERS,).
        found, count: see `Found`.
    """
    scratch, gaps, chosen = work
    normal = row(hulls.normals, face)
    least, facing = math.inf, -1
    for other in range(hulls.first_face[b], hulls.first_face[b + 1]):
        product = dot(normal, row(hulls.normals, other))
        if product < least:
            least, facing = product, other
    size = 0
    for at in range(hulls.first_corner[facing], hulls.first_corner[facing + 1]):
        scratch[0, size, 0], scratch[0, size, 1], scratch[0, size, 2] = row(hulls.vertices, hulls.corners[at])
        size += 1
    half, begin, end = 0, hulls.first_corner[face], hulls.first_corner[face + 1]
    for at in range(begin, end):
        start = row(hulls.vertices, hulls.corners[at])
        stop = row(hulls.vertices, hulls.corners[at + 1 if at + 1 < end else begin])
        size = clip(scratch, half, size, start, cross(minus(stop, start), normal))
        half = 1 - half
    size = merge_corners(scratch, half, size)
    for corner in range(size):
        gaps[corner] = dot(row(scratch[half], corner), normal) - hulls.heights[face]
    choose_corners(scratch, half, size, gaps, margin, normal, chosen)
    for at in range(chosen[0]):
        corner = chosen[1 + at]
        point = along(row(scratch[half], corner), -0.5 * gaps[corner], normal)
        count = add_contact(found, count, pair, point, (sign * normal[0], sign * normal[1], sign * normal[2]), gaps[corner])
    return count


@kernel
def touch_edges(hulls, pair, a, edges, gap, found, count):
    """Add the contact of an edge of hull a with one of another hull; returns the number of contacts."""
    start, its = row(hulls.vertices, hulls.edges[edges[0], 0]), row(hulls.vertices, hulls.edges[edges[1], 0])
    u = minus(row(hulls.vertices, hulls.edges[edges[0], 1]), start)
    v = minus(row(hulls.vertices, hulls.edges[edges[1], 1]), its)
    axis = cross(u, v)
    length = math.sqrt(dot(axis, axis))
    # from the second hull to the first
    scale = -1.0 / length if dot(axis, minus(start, row(hulls.middles, a))) >= 0.0 else 1.0 / length
    s, t = closest_on_lines(start, u, its, v)
    p, q = along(start, s, u), along(its, t, v)
    middle = 0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), 0.5 * (p[2] + q[2])
    return add_contact(found, count, pair, middle, (scale * axis[0], scale * axis[1], scale * axis[2]), gap)


@kernel
def touch_polyhedra(hulls, pair, a, b, work, found, count):
    """Add the contacts of two polyhedra; returns the number of contacts. Arguments as for `touch_faces`."""
    margin = hulls.margins[a] + hulls.margins[b]
    gap_a, face_a = best_face(hulls, a, b, margin)
    if gap_a > margin:
        return count
    gap_b, face_b = best_face(hulls, b, a, margin)
    if gap_b > margin:
        return count
    gap_edges, first, second = best_edges(hulls, a, b, margin)
    if gap_edges > margin:
        return count
    gap = max(gap_a, gap_b)
    if gap_edges > gap + PREFERENCE * (abs(gap) + margin):
        return touch_edges(hulls, pair, a, (first, second), gap_edges, found, count)
    if gap_b > gap_a + PREFERENCE * (abs(gap_a) + margin):
        return touch_faces(hulls, pair, face_b, a, margin, 1.0, work, found, count)
    return touch_faces(hulls, pair, face_a, b, margin, -1.0, work, found, count)
