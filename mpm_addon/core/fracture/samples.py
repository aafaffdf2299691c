"""Sample points of a solid shape, from which its tetrahedra are made: its corners, its sharp edges, its faces and its inside."""

import math

import numpy as np

from ..geometry.mesh_topology import Floats, Integers
from ..geometry.rotation import euler_matrix
from ..geometry.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from ..geometry.shapes.box import CUBE_TRIANGLES
from ..scene.shape import Shape

# an edge is sharp if its faces differ by more than this angle, and a sharp edge has a corner if it bends by more
_SHARP = math.cos(math.radians(30.0))
# the least distances between samples: of corners, on edges, on faces and inside [mean distances]
_APART = (0.2, 0.6, 0.75, 0.75)
# samples inside are no nearer to the surface than this [mean distances]
_DEPTH = 0.5
# random candidates for each sample of a face, and the random way of samples inside and on edges [mean distances]
_CANDIDATES, _SHIFT = 8, 0.2
_SEGMENTS = 24


def triangulated(shape: Shape) -> Mesh:
    """A closed triangle mesh of a shape with an inside; a round one has 24 segments around."""
    if isinstance(shape, Mesh):
        return shape.closed
    if isinstance(shape, Box):
        return Mesh(shape.corners(), CUBE_TRIANGLES)
    if isinstance(shape, Cylinder):
        half = 0.5 * shape.height
        profile = np.array([[0.0, -half], [shape.radius, -half], [shape.radius, half], [0.0, half]])
        return _turned(profile, euler_matrix(shape.rotation), np.asarray(shape.center))
    if isinstance(shape, Sphere):
        return _turned(_half_circle(shape.radius, 0.0), np.eye(3), np.asarray(shape.center))
    if isinstance(shape, Capsule):
        start, end = np.asarray(shape.start), np.asarray(shape.end)
        along = end - start
        length = float(np.linalg.norm(along))
        axis = along / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
        across = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
        across /= np.linalg.norm(across)
        turn = np.stack([across, np.cross(axis, across), axis], axis=1)
        return _turned(_half_circle(shape.radius, 0.5 * length), turn, 0.5 * (start + end))
    raise TypeError(f"no triangles for a shape of kind {shape.kind!r}")


def _half_circle(radius: float, half: float) -> Floats:
    """The profile (r, z) of a ball, or of a capsule whose cylinder has this half length, from bottom to top."""
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, _SEGMENTS // 2 + 1)
    profile = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    profile[[0, -1], 0] = 0.0
    profile[:, 1] += np.where(angles < 0.0, -half, half) * (np.abs(angles) > 1e-9)
    if half > 0.0:
        middle = len(profile) // 2
        return np.concatenate([profile[:middle], [[radius, -half], [radius, half]], profile[middle + 1 :]])
    return profile


def _turned(profile: Floats, turn: Floats, center: Floats) -> Mesh:
    """The surface that a profile (k, 2) of (r, z), which begins and ends on the axis, makes when it is turned about z."""
    angles = 2.0 * np.pi * np.arange(_SEGMENTS) / _SEGMENTS
    rings = profile[1:-1]
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = np.concatenate([rings[:, None, :1] * around, np.broadcast_to(rings[:, None, 1:], (len(rings), _SEGMENTS, 1))], axis=2)
    vertices = np.concatenate([points.reshape(-1, 3), [[0.0, 0.0, profile[0, 1]], [0.0, 0.0, profile[-1, 1]]]])
    here, after = np.arange(_SEGMENTS), (np.arange(_SEGMENTS) + 1) % _SEGMENTS
    bottom, top = len(vertices) - 2, len(vertices) - 1
    triangles = [np.column_stack([np.full(_SEGMENTS, bottom), after, here])]
    for ring in range(len(rings) - 1):
        low, high = ring * _SEGMENTS, (ring + 1) * _SEGMENTS
        triangles += [np.column_stack([low + here, low + after, high + after]), np.column_stack([low + here, high + after, high + here])]
    last = (len(rings) - 1) * _SEGMENTS
    triangles.append(np.column_stack([last + here, last + after, np.full(_SEGMENTS, top)]))
    return Mesh(vertices @ turn.T + center, np.concatenate(triangles))


def samples_of(mesh: Mesh, spacing: float, random: np.random.Generator) -> Floats:
    """Points of a closed mesh about `spacing` [m] apart, on its surface and inside, shape (n, 3)."""
    corners, edges = _sharp(mesh, spacing, random)
    sets = [corners, edges, _on_faces(mesh, spacing, random), _inside(mesh, spacing, random)]
    kept = np.zeros((0, 3))
    for points, apart in zip(sets, _APART, strict=True):
        kept = _added(kept, points, apart * spacing)
    return kept


def _added(kept: Floats, points: Floats, apart: float) -> Floats:
    """The kept points and those points, in order, that are no nearer than `apart` [m] to any before."""
    found = np.concatenate([kept, np.empty_like(points)])
    count = len(kept)
    for point in points:
        if not count or ((found[:count] - point) ** 2).sum(axis=1).min() >= apart**2:
            found[count] = point
            count += 1
    return found[:count]


def _sharp(mesh: Mesh, spacing: float, random: np.random.Generator) -> tuple[Floats, Floats]:
    """The corners of a mesh, and points on its sharp edges."""
    vertices, triangles = mesh.vertices, mesh.triangles
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    edges, where = _edges(triangles)
    first = np.full(len(edges), -1)
    is_sharp = np.zeros(len(edges), np.bool_)
    for edge, row in zip(where, np.repeat(np.arange(len(triangles)), 3), strict=True):
        if first[edge] < 0:
            first[edge] = row
        else:
            is_sharp[edge] |= normals[first[edge]] @ normals[row] < _SHARP
    sharp = edges[is_sharp]
    ends = vertices[sharp]
    along = ends[:, 1] - ends[:, 0]
    along /= np.maximum(np.linalg.norm(along, axis=1), 1e-300)[:, None]
    directions: dict[int, list[Floats]] = {}
    for (low, high), way in zip(sharp.tolist(), along, strict=True):
        directions.setdefault(low, []).append(way)
        directions.setdefault(high, []).append(-way)
    corners = [vertex for vertex, ways in sorted(directions.items()) if len(ways) != 2 or ways[0] @ ways[1] > -_SHARP]
    points = []
    for start, end in ends:
        parts = max(1, round(float(np.linalg.norm(end - start)) / spacing))
        share = np.arange(parts + 1.0)[:, None]
        share[1:-1] += _SHIFT * random.uniform(-1.0, 1.0, (parts - 1, 1))
        share /= parts
        points.append((1.0 - share) * start + share * end)
    return vertices[corners], np.concatenate(points) if points else np.zeros((0, 3))


def _edges(triangles: Integers) -> tuple[Integers, Integers]:
    """The edges (e, 2) of triangles, and that of each side of each triangle, shape (3 m,)."""
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    edges, where = np.unique(sides, axis=0, return_inverse=True)
    return edges, where.ravel()


def _on_faces(mesh: Mesh, spacing: float, random: np.random.Generator) -> Floats:
    """Random points of the faces, far more than are kept."""
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    count = math.ceil(_CANDIDATES * float(areas.sum()) / spacing**2)
    row = np.searchsorted(np.cumsum(areas), random.random(count) * areas.sum()).clip(max=len(areas) - 1)
    u, v = np.sqrt(random.random(count))[:, None], random.random(count)[:, None]
    return (1.0 - u) * a[row] + u * (1.0 - v) * b[row] + u * v * c[row]


def _inside(mesh: Mesh, spacing: float, random: np.random.Generator) -> Floats:
    """Points inside, on a body-centered cubic lattice, each moved by a random way."""
    low, high = mesh.bounds()
    # two points in each cube
    step = spacing * 2.0 ** (1.0 / 3.0)
    counts = np.ceil((high - low) / step).astype(np.int64) + 1
    cubes = np.stack(np.meshgrid(*[np.arange(count) for count in counts], indexing="ij"), axis=-1).reshape(-1, 3)
    offset = 0.5 * (high + low) - 0.5 * step * (counts - 0.5)
    points = (cubes[:, None] + np.array([[0.0, 0.0, 0.0], [0.5, 0.5, 0.5]])).reshape(-1, 3) * step + offset
    points = points + _SHIFT * spacing * random.uniform(-1.0, 1.0, points.shape)
    return points[mesh.signed_distance(points) < -_DEPTH * spacing]
