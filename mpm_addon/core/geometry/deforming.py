"""The distance from a mesh whose vertices move while its triangles stay the same, and the velocity of its surface.

The search tree is refitted to each pose, not rebuilt, and every distance is exact, not sampled. What such a mesh blocks follows the
rules of `distance`, applied to all its poses at once: the first pose decides whether it is a solid, and a solid that is thinner than a
grid spacing in any pose is thickened by the same amount in all of them. Caps of holes follow their rims.
"""

import math
from typing import NamedTuple

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
from .mesh_tree import MeshTree, build_tree, refit, search_stack
from .shapes import Mesh
from .thickness import is_solid
from .winding import FAR_FOR_SIGNS, winding_at

QUERIES_PER_TASK = 256
LATTICES_PER_TASK = 16
# points along the edge of each cube of points that is measured at once
CUBE = 2
# relative to a triangle's size: nearer than this to the surface, the triangle's normal is more accurate than the direction to it
ON_SURFACE = 1e-9


class MeshPose(NamedTuple):
    """A mesh in one pose, for kernels.

    Attributes:
        tree: its m triangles.
        corners: vertex indices of the tree's triangles, shape (m, 3).
        velocities: of the vertices [m/s], shape (n, 3).
        is_solid: whether the distance inside is negative.
        offset: distance of the blocking surface outside the mesh's own [m].
    """

    tree: MeshTree
    corners: Integers
    velocities: Floats
    is_solid: bool
    offset: float


class SurfaceSamples(NamedTuple):
    """Samples of a surface at n points.

    Attributes:
        distance: signed distance from the surface [m], positive outside, shape (n,).
        normal: its unit gradient, shape (n, 3).
        velocity: of the surface at the nearest point [m/s], shape (n, 3).
    """

    distance: Floats
    normal: Floats
    velocity: Floats


class DeformingMesh:
    """A mesh in one of its poses.

    Args:
        poses: the vertices [m] in all known poses of the mesh, shape (k, n, 3); it starts in the first, at rest.
        triangles: vertex indices, shape (m, 3).
        spacing: the simulation's grid spacing [m].

    Attributes:
        is_solid: whether the mesh blocks its inside, or is a sheet.
        offset: distance of the blocking surface outside the mesh's own [m].
        closing: the triangles, followed by those that close holes.
    """

    def __init__(self, poses: Floats, triangles: Integers, spacing: float) -> None:
        mesh = Mesh(poses[0], triangles)
        self.is_solid = is_solid(mesh)
        self.closing = mesh_topology.closing(mesh.vertices, mesh.triangles)
        if mesh.is_inverted:
            self.closing = self.closing._replace(triangles=np.ascontiguousarray(self.closing.triangles[:, ::-1]))
        # kernels are compiled for writable arrays
        self._triangles = np.array(self.closing.triangles if self.is_solid else mesh.triangles)
        self.offset = max(0.0, 0.5 * (spacing - self._least_thickness(poses, len(mesh.triangles))))
        self.center = mesh_topology.center(mesh.vertices, mesh.triangles)
        self._tree = build_tree(self.closing.extended(mesh.vertices) - self.center, self._triangles, keeps_all=True)
        self._corners = np.ascontiguousarray(self._triangles[self._tree.numbers])
        self.move_to(poses[0], np.zeros_like(poses[0]))

    def _least_thickness(self, poses: Floats, own_count: int) -> float:
        """Twice the volume over the area without caps, of the thinnest pose [m]; 0 for a sheet."""
        if not self.is_solid:
            return 0.0
        volumes, areas = np.empty(len(poses)), np.empty(len(poses))
        for number, pose in enumerate(poses):
            vertices = np.array(self.closing.extended(np.asarray(pose, np.float64)))
            volumes[number], areas[number] = _volume_and_area(vertices, self._triangles, own_count)
        return float((2.0 * np.maximum(volumes, 0.0) / np.maximum(areas, 1e-300)).min())

    def move_to(self, vertices: ArrayLike, velocities: ArrayLike) -> None:
        """Set the pose: vertices (n, 3) [m] and their velocities (n, 3) [m/s]."""
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
        """Its vertices, including the apexes of its caps [m], shape (n, 3)."""
        return self._places

    def __call__(self, points: ArrayLike) -> SurfaceSamples:
        """The signed distance, its gradient and the velocity of the blocking surface at points (n, 3) [m], as `SurfaceSamples`.

        All are exact.
        """
        local = np.ascontiguousarray(np.asarray(points, np.float64).reshape(-1, 3) - self.center)
        samples = _room_for(len(local))
        _query_points(self._pose(), local, samples)
        return samples

    def _pose(self) -> MeshPose:
        return MeshPose(self._tree, self._corners, self.velocities, self.is_solid, self.offset)

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
        """The signed distance, its gradient and the velocity at the points of cubic lattices.

        Args:
            first: the lowest point of each lattice [m], shape (k, 3).
            size: points along an edge, even.
            spacing: between points [m].
            reach: distance from the blocking surface up to which everything is exact [m]. Beyond it, the distance is a bound with the
                right sign and at least this magnitude; normal and velocity are those of some point of the mesh, or 0 for lattices far
                outside.

        Returns:
            The distance (k, size^3), its gradient (k, size^3, 3) and the velocity (k, size^3, 3), z fastest.
        """
        local = np.ascontiguousarray(first - self.center)
        shape = (len(local), size**3)
        samples = _room_for(len(local) * size**3)
        _query_lattices(self._pose(), local, size, spacing, reach + self.offset, samples)
        return samples.distance.reshape(shape), samples.normal.reshape(*shape, 3), samples.velocity.reshape(*shape, 3)


def _room_for(count: int) -> SurfaceSamples:
    return SurfaceSamples(np.empty(count), np.empty((count, 3)), np.empty((count, 3)))


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
def _sample(pose, triangle, point, signed, index, samples):
    """Write the samples of a point, given its nearest triangle and its signed distance from the mesh [m]."""
    x, y, z = point
    row = pose.tree.triangles[triangle]
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
    samples.distance[index] = signed - pose.offset
    samples.normal[index, 0], samples.normal[index, 1], samples.normal[index, 2] = nx / length, ny / length, nz / length
    velocities = pose.velocities
    a, b, c = pose.corners[triangle]
    for axis in range(3):
        samples.velocity[index, axis] = (1.0 - s - t) * velocities[a, axis] + s * velocities[b, axis] + t * velocities[c, axis]


@parallel_kernel(allocates=True)
def _query_points(tickets, pose, points, samples):
    """Write the samples of points (n, 3) [m], relative to the center of the mesh."""
    tree = pose.tree
    for task in shared(tickets[0], (len(points) + QUERIES_PER_TASK - 1) // QUERIES_PER_TASK, 1):
        stack = search_stack()
        found, sign, last = 0, 1.0, -1
        px = py = pz = before = 0.0
        for query in range(task * QUERIES_PER_TASK, min((task + 1) * QUERIES_PER_TASK, len(points))):
            x, y, z = points[query]
            squared, found = nearest(tree, x, y, z, found, stack)
            away = math.sqrt(squared)
            # no surface lies between two points whose distances from it add up to more than the distance between them
            way = math.sqrt((x - px) ** 2 + (y - py) ** 2 + (z - pz) ** 2)
            if pose.is_solid and (last < 0 or away + before <= way * SAFE):
                sign = -1.0 if winding_at(tree, x, y, z, FAR_FOR_SIGNS, stack.nodes) >= 0.5 else 1.0
            px, py, pz, before, last = x, y, z, away, query
            _sample(pose, found, (x, y, z), sign * away, query, samples)


@parallel_kernel(allocates=True)
def _query_lattices(tickets, pose, first, size, spacing, exact, samples):
    """Write the samples of lattices, one after another; see `DeformingMesh.at_lattices`.

    Args:
        first: the lowest point of each lattice, relative to the center of the mesh [m], shape (k, 3).
        exact: distance from the mesh's own surface up to which everything is exact [m].
    """
    tree = pose.tree
    for task in shared(tickets[0], (len(first) + LATTICES_PER_TASK - 1) // LATTICES_PER_TASK, 1):
        scratch = lattice_scratch()
        nodes = scratch.stack.nodes
        signed, triangle = np.empty((size, size, size)), np.empty((size, size, size), np.int64)
        # the last point of the previous lattice, which is next to the first point of a lattice above it
        px = py = pz = before = 0.0
        guess, is_first = 0, True
        for lattice in range(task * LATTICES_PER_TASK, min((task + 1) * LATTICES_PER_TASK, len(first))):
            x, y, z = first[lattice]
            half = 0.5 * (size - 1) * spacing
            is_near = may_reach(tree, x + half, y + half, z + half, exact + half * DIAGONAL, nodes)
            if is_near:
                guess = measure_lattice(tree, (x, y, z), spacing, CUBE, exact, guess, scratch, signed, triangle)
            else:
                signed[:] = exact
                triangle[:] = guess
            if pose.is_solid:
                way = math.sqrt((x - px) ** 2 + (y - py) ** 2 + (z - pz) ** 2)
                sign = math.copysign(1.0, before) if not is_first and signed[0, 0, 0] + abs(before) > way * SAFE else 0.0
                if is_near:
                    sign_lattice(tree, (x, y, z), spacing, sign, nodes, signed)
                elif sign < 0.0 or (sign == 0.0 and winding_at(tree, x, y, z, FAR_FOR_SIGNS, nodes) >= 0.5):
                    signed[:] = -exact
                px, py, pz, before, is_first = x, y, z + (size - 1) * spacing, signed[0, 0, size - 1], False
            start, end = lattice * size**3, (lattice + 1) * size**3
            if not is_near and signed[0, 0, 0] > 0.0:
                samples.distance[start:end] = exact - pose.offset
                samples.normal[start:end] = 0.0
                samples.velocity[start:end] = 0.0
                continue
            for point in range(size**3):
                i, j, k = point // (size * size), point // size % size, point % size
                place = x + i * spacing, y + j * spacing, z + k * spacing
                _sample(pose, triangle[i, j, k], place, signed[i, j, k], start + point, samples)
