"""The generalized winding number: how often a mesh, which may have holes, encloses a point.

w(q) = 1 / (4 pi) * sum over triangles of the solid angle that the triangle subtends at q (Jacobson, Kavan and
Sorkine-Hornung 2013, eq. 5). It is 1 inside and 0 outside a closed mesh. Distant groups of triangles count by the first two terms of
their Taylor series (Barill et al. 2018, eq. 12 and 13), near ones exactly.
"""

import math

import numpy as np

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .mesh_tree import STACK_SIZE

QUERIES_PER_TASK = 256
# a group is far if it is more than this many of its radii away; signs only need to distinguish 0 from 1
FAR_FOR_SIGNS = 2.0
FAR_FOR_NUMBERS = 6.0


@parallel_kernel(allocates=True)
def winding_numbers(tickets, tree, points, far, winding):
    """Write the winding number of each point (n, 3) into winding (n,); `far` is one of the constants above."""
    for task in shared(tickets[0], (len(points) + QUERIES_PER_TASK - 1) // QUERIES_PER_TASK, 1):
        stack = np.empty(STACK_SIZE, np.int64)
        for query in range(task * QUERIES_PER_TASK, min((task + 1) * QUERIES_PER_TASK, len(points))):
            x, y, z = points[query]
            winding[query] = winding_at(tree, x, y, z, far, stack)


@kernel
def winding_at(tree, x, y, z, far, stack):
    """The winding number at (x, y, z). `stack` is scratch, shape (STACK_SIZE,)."""
    first_leaf = len(tree.leaf_starts) - 2
    squared_far = far * far
    total = 0.0
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        moment = tree.moments[node]
        dx, dy, dz = moment[0] - x, moment[1] - y, moment[2] - z
        squared = dx * dx + dy * dy + dz * dz
        if squared > squared_far * moment[3]:
            total += _far_solid_angle(moment, dx, dy, dz, squared)
        elif node < first_leaf:
            stack[top] = 2 * node + 1
            stack[top + 1] = 2 * node + 2
            top += 2
        else:
            for triangle in range(tree.leaf_starts[node - first_leaf], tree.leaf_starts[node - first_leaf + 1]):
                total += _solid_angle(tree.triangles[triangle], x, y, z)
    return total / (4.0 * math.pi)


@kernel
def _far_solid_angle(moment, dx, dy, dz, squared):
    """N . d / |d|^3 + M : (I / |d|^3 - 3 d d^T / |d|^5), with d from the query to the group's center."""
    cubed = squared * math.sqrt(squared)
    dipole = moment[4] * dx + moment[5] * dy + moment[6] * dz
    trace = moment[7] + moment[8] + moment[9]
    along = moment[7] * dx * dx + moment[8] * dy * dy + moment[9] * dz * dz
    along += 2.0 * (moment[10] * dx * dy + moment[11] * dx * dz + moment[12] * dy * dz)
    return (dipole + trace - 3.0 * along / squared) / cubed


@kernel
def _solid_angle(triangle, x, y, z):
    """The signed solid angle of a triangle (Van Oosterom and Strackee 1983, eq. 8)."""
    ax, ay, az = triangle[0] - x, triangle[1] - y, triangle[2] - z
    bx, by, bz = ax + triangle[3], ay + triangle[4], az + triangle[5]
    cx, cy, cz = ax + triangle[6], ay + triangle[7], az + triangle[8]
    a = math.sqrt(ax * ax + ay * ay + az * az)
    b = math.sqrt(bx * bx + by * by + bz * bz)
    c = math.sqrt(cx * cx + cy * cy + cz * cz)
    triple = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    rest = a * b * c + (ax * bx + ay * by + az * bz) * c
    rest += (bx * cx + by * cy + bz * cz) * a + (cx * ax + cy * ay + cz * az) * b
    return 2.0 * math.atan2(triple, rest)
