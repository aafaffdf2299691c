"""The distance from a mesh whose vertices move and whose triangles stay, and how its surface moves.

For each pose the search tree is fitted anew, not built: every distance is exact, none is sampled. What such a mesh blocks follows
the rules of `distance`, which are applied to all its poses at once: whether it is a solid is told by the first, and a solid that is
thinner than a grid spacing in any pose is as thick as that one needs in all of them. Caps of holes follow their rims.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from . import mesh_topology
from .lattice import DIAGONAL, SAFE, lattice_scratch, measure_lattice
from .lattice_signs import sign_lattice
from .mesh_distance import find_closest, may_reach, nearest, nearest_on_triangle
from .mesh_topology import Floats, Integers
from .mesh_tree import STACK_SIZE, build_tree, refit
from .shapes import Mesh
from .thickness import is_solid
from .winding import FAR_FOR_SIGNS, winding_at

QUERIES_PER_TASK = 256
LATTICES_PER_TASK = 16
# points along the edge of the cubes that are measured at once
CUBE = 2
# of a triangle's size: nearer than this to the surface, its own normal is more exact than the way to it
ON_SURFACE = 1e-9


class DeformingMesh:
    """A mesh in one of its poses.

    Args:
        poses: the vertices [m] in all poses that the mesh is known in, shape (k, n, 3); it starts in the first, at rest.
        triangles: vertex indices, shape (m, 3).
        spacing: the simulation's grid spacing [m].

    Attributes:
        is_solid: whether the mesh blocks its inside, or is a sheet.
        offset: how far the blocking surface lies outside the mesh's own [m].
        closing: the triangles with those that close holes.
    """

    def __init__(self, poses: Floats, triangles: Integers, spacing: float) -> None:
        mesh = Mesh(poses[0], triangles)
        self.is_solid = is_solid(mesh)
        self.closing = mesh_topology.closing(mesh.vertices, mesh.triangles)
        if mesh.is_inverted:
            self.closing = self.closing._replace(triangles=np.ascontiguousarray(self.closing.triangles[:, ::-1]))
        # kernels are compiled for arrays that may be written
        self._triangles = np.array(self.closing.triangles if self.is_solid else mesh.triangles)
        self.offset = max(0.0, 0.5 * (spacing - self._least_thickness(poses, len(mesh.triangles))))
        self.center = mesh_topology.center(mesh.vertices, mesh.triangles)
        self._tree = build_tree(self.closing.extended(mesh.vertices) - self.center, self._triangles, keeps_all=True)
        self._corners = np.ascontiguousarray(self._triangles[self._tree.numbers])
        self.move_to(poses[0], np.zeros_like(poses[0]))

    def _least_thickness(self, poses: Floats, own_count: int) -> float:
        """2 volume / area of the thinnest pose [m], the area without the caps'; 0 for a sheet."""
        if not self.is_solid:
            return 0.0
        volumes, areas = np.empty(len(poses)), np.empty(len(poses))
        for number, pose in enumerate(poses):
            vertices = self.closing.extended(np.asarray(pose, np.float64))
            volumes[number], areas[number] = _volume_and_area(vertices, self._triangles, own_count)
        return float((2.0 * np.maximum(volumes, 0.0) / np.maximum(areas, 1e-300)).min())

    def move_to(self, vertices: ArrayLike, velocities: ArrayLike) -> None:
        """Take a pose: vertices (n, 3) [m] and their velocities (n, 3) [m/s]."""
        places = self.closing.extended(np.asarray(vertices, np.float64))
        self.velocities = np.ascontiguousarray(self.closing.extended(np.asarray(velocities, np.float64)))
        low, high = (np.array([pick(column) for column in places.T]) for pick in (np.min, np.max))
        self.center = 0.5 * (low + high)
        self._places = places
        refit(self._tree, places - self.center, self._corners)

    def bounds(self) -> Floats:
        """The box around the mesh [m], shape (2, 3)."""
        return self._tree.boxes[0].reshape(2, 3) + self.center

    def corners(self) -> Floats:
        """Its vertices with those of its caps [m], shape (n, 3)."""
        return self._places

    def __call__(self, points: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """What the mesh is like at points.

        Args:
            points: [m], shape (n, 3).

        Returns:
            the signed distance [m] of the blocking surface, shape (n,), positive outside; its unit gradient, shape (n, 3); the
            velocity [m/s] of the mesh at the nearest point, shape (n, 3). All are exact.
        """
        local = np.ascontiguousarray(np.asarray(points, np.float64).reshape(-1, 3) - self.center)
        result = np.empty(len(local)), np.empty((len(local), 3)), np.empty((len(local), 3))
        _query_points(self._tree, self._corners, self.velocities, local, self.is_solid, self.offset, *result)
        return result

    def surface_at(self, points: Floats) -> tuple[Floats, Floats]:
        """The velocity [m/s] and the unit normal of the triangle that is nearest to points (n, 3), shapes (n, 3)."""
        found, weights = np.empty(len(points), np.int64), np.empty((len(points), 3))
        find_closest(self._tree, np.ascontiguousarray(points - self.center), found, weights)
        corners = self._triangles[found]
        a, b, c = np.moveaxis(self._places[corners], 1, 0)
        normal = np.cross(b - a, c - a)
        normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
        return np.einsum("nk,nkd->nd", weights, self.velocities[corners]), normal

    def at_lattices(self, first: Floats, size: int, spacing: float, reach: float) -> tuple[Floats, Floats, Floats]:
        """The same at the points of cubic lattices.

        Args:
            first: the lowest point of each lattice [m], shape (k, 3).
            size: points along an edge, even.
            spacing: between points [m].
            reach: distance [m] from the blocking surface up to which everything is exact. Beyond, the distance is a bound of the
                right sign that is no less, and the rest is that of some point of the mesh; 0 for lattices that lie outside and far.

        Returns:
            as for points, shapes (k, size^3), (k, size^3, 3) and (k, size^3, 3), z fastest.
        """
        local = np.ascontiguousarray(first - self.center)
        shape = (len(local), size**3)
        result = np.empty(shape), np.empty((*shape, 3)), np.empty((*shape, 3))
        _query_lattices(
            self._tree, self._corners, self.velocities, local, size, spacing, reach + self.offset, self.is_solid, self.offset, *result
        )
        return result


@kernel
def _volume_and_area(vertices, triangles, own_count):
    """The volume [m^3] that closed triangles enclose, and the area [m^2] of the first `own_count`."""
    volume = area = 0.0
    ox, oy, oz = vertices[triangles[0, 0]]
    for row in range(len(triangles)):
        ax, ay, az = vertices[triangles[row, 0]]
        bx, by, bz = vertices[triangles[row, 1]]
        cx, cy, cz = vertices[triangles[row, 2]]
        ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        volume += ((ax - ox) * nx + (ay - oy) * ny + (az - oz) * nz) / 6.0
        if row < own_count:
            area += 0.5 * math.sqrt(nx * nx + ny * ny + nz * nz)
    return volume, area


@kernel
def _answer(tree, found, corners, velocities, x, y, z, signed, offset, distance, normal, velocity, index):
    """Write what a point is told whose nearest triangle and signed distance from the mesh are known."""
    row = tree.triangles[found]
    s, t = nearest_on_triangle(row, x, y, z)
    nx = x - row[0] - s * row[3] - t * row[6]
    ny = y - row[1] - s * row[4] - t * row[7]
    nz = z - row[2] - s * row[5] - t * row[8]
    away = math.sqrt(nx * nx + ny * ny + nz * nz)
    size = math.sqrt(row[3] ** 2 + row[4] ** 2 + row[5] ** 2 + row[6] ** 2 + row[7] ** 2 + row[8] ** 2)
    if away <= ON_SURFACE * size:
        nx, ny, nz = row[4] * row[8] - row[5] * row[7], row[5] * row[6] - row[3] * row[8], row[3] * row[7] - row[4] * row[6]
    elif signed < 0.0:
        nx, ny, nz = -nx, -ny, -nz
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    if length == 0.0:
        nz = length = 1.0
    distance[index] = signed - offset
    normal[index, 0], normal[index, 1], normal[index, 2] = nx / length, ny / length, nz / length
    a, b, c = corners[found]
    for axis in range(3):
        velocity[index, axis] = (1.0 - s - t) * velocities[a, axis] + s * velocities[b, axis] + t * velocities[c, axis]


@parallel_kernel
def _query_points(tickets, tree, corners, velocities, points, is_solid, offset, distance, normal, velocity):
    for task in shared(tickets[0], (len(points) + QUERIES_PER_TASK - 1) // QUERIES_PER_TASK, 1):
        stack, stack_distance = np.empty(STACK_SIZE, np.int64), np.empty(STACK_SIZE)
        found, sign, last = 0, 1.0, -1
        px = py = pz = before = 0.0
        for query in range(task * QUERIES_PER_TASK, min((task + 1) * QUERIES_PER_TASK, len(points))):
            x, y, z = points[query]
            squared, found = nearest(tree, x, y, z, found, stack, stack_distance)
            away = math.sqrt(squared)
            # no surface lies between this point and the one before it where their distances sum to more than the way
            way = math.sqrt((x - px) ** 2 + (y - py) ** 2 + (z - pz) ** 2)
            if is_solid and (last < 0 or away + before <= way * SAFE):
                sign = -1.0 if winding_at(tree, x, y, z, FAR_FOR_SIGNS, stack) >= 0.5 else 1.0
            px, py, pz, before, last = x, y, z, away, query
            _answer(tree, found, corners, velocities, x, y, z, sign * away, offset, distance, normal, velocity, query)


@parallel_kernel
def _query_lattices(tickets, tree, corners, velocities, first, size, spacing, exact, is_solid, offset, distance, normal, velocity):
    for task in shared(tickets[0], (len(first) + LATTICES_PER_TASK - 1) // LATTICES_PER_TASK, 1):
        scratch = lattice_scratch()
        signed, triangle = np.empty((size, size, size)), np.empty((size, size, size), np.int64)
        # the last lattice's point that lies next to the first of one above it
        px = py = pz = before = 0.0
        guess, is_first = 0, True
        for lattice in range(task * LATTICES_PER_TASK, min((task + 1) * LATTICES_PER_TASK, len(first))):
            x, y, z = first[lattice]
            half = 0.5 * (size - 1) * spacing
            is_near = may_reach(tree, x + half, y + half, z + half, exact + half * DIAGONAL, scratch[0])
            if is_near:
                guess = measure_lattice(tree, x, y, z, spacing, CUBE, exact, guess, scratch, signed, triangle)
            else:
                signed[:] = exact
                triangle[:] = guess
            if is_solid:
                way = math.sqrt((x - px) ** 2 + (y - py) ** 2 + (z - pz) ** 2)
                sign = math.copysign(1.0, before) if not is_first and signed[0, 0, 0] + abs(before) > way * SAFE else 0.0
                if is_near:
                    sign_lattice(tree, x, y, z, spacing, sign, 0, scratch[0], signed)
                elif sign < 0.0 or (sign == 0.0 and winding_at(tree, x, y, z, FAR_FOR_SIGNS, scratch[0]) >= 0.5):
                    signed[:] = -exact
                px, py, pz, before, is_first = x, y, z + (size - 1) * spacing, signed[0, 0, size - 1], False
            if not is_near and signed[0, 0, 0] > 0.0:
                distance[lattice] = exact - offset
                normal[lattice] = 0.0
                velocity[lattice] = 0.0
                continue
            for point in range(size**3):
                i, j, k = point // (size * size), point // size % size, point % size
                _answer(
                    tree, triangle[i, j, k], corners, velocities, x + i * spacing, y + j * spacing, z + k * spacing, signed[i, j, k],
                    offset, distance[lattice], normal[lattice], velocity[lattice], point,
                )  # fmt: skip
