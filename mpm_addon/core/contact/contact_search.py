"""The contacts of all rigid bodies with each other and with other colliders.

Boxes around the surfaces are swept for pairs. Kernels find the contacts of all pairs of convex shapes (boxes, spheres, capsules, convex
meshes, planes) at once; other pairs, and sections in 2D, go to `rigid_surfaces.touching`, one after another.
"""

import math
from typing import NamedTuple

import numpy as np

from ..geometry.shapes import Plane
from .broad_phase import find_hull_contacts, sweep_boxes
from .deforming_obstacle import DeformingObstacle
from .hull_contact import MOST_CORNERS
from .hulls import Hulls, room_for
from .obstacle import Floats, Ints, Obstacle
from .rigid_contact import Contacts
from .rigid_surfaces import RigidSurface, Surface, friction_of, touching
from .rigid_table import RigidTable

# contacts of surfaces that are nearer than this are found even if nothing moves, relative to the body's radius of gyration
NEAREST = 2e-3
# pairs of a body for which there is room at first
PAIRS = 16


class Touching(NamedTuple):
    """Contacts, n of them, ascending by their surfaces.

    Attributes:
        contacts: see `Contacts`.
        partner: the number of the second body or, for another collider, -1 minus its number, shape (n,).
        places: in the first body's axes, from its center of mass [m], shape (n, 3).
    """

    contacts: Contacts
    partner: Ints
    places: Floats


class ContactSearch:
    """Finds the contacts of rigid bodies.

    Args:
        bodies: the surfaces of the rigid bodies, in the order of the table.
        others: those of other colliders.
        table: the bodies.
        spacing: cell size [m].
    """

    def __init__(self, bodies: list[RigidSurface], others: list[Surface], table: RigidTable, spacing: float) -> None:
        self.surfaces: list[Surface] = [*bodies, *others]
        self._count = len(bodies)
        self._table = table
        self._spacing = spacing
        self._hulls = _HullTable(self.surfaces)
        self._friction = np.array([friction_of(surface.obstacle) for surface in self.surfaces])
        self._restitution = np.array([surface.obstacle.collider.restitution for surface in self.surfaces])
        self._animated = [number for number, surface in enumerate(self.surfaces) if surface.obstacle.collider.animation is not None]
        self._room = PAIRS * self._count

    def find(self, margins: Floats, velocities: Floats) -> Touching:
        """The contacts of surfaces.

        Args:
            margins: contacts are nearer than those of both surfaces together [m], shape (surfaces,).
            velocities: of the bodies, (bodies, 6).
        """
        for number in self._animated:
            self._friction[number] = friction_of(self.surfaces[number].obstacle)
        linear, origins = self._poses()
        placing = _Placing(self.surfaces[: self._count], linear, origins, velocities)
        for number in self._hulls.others:
            placing.place(number)
        hulls = self._hulls.placed(linear, origins, margins)
        pairs = self._pairs(hulls)
        is_hull = self._hulls.is_hull[pairs].all(axis=1)
        parts = [self._between_hulls(hulls, pairs[is_hull])]
        parts += [part for pair in pairs[~is_hull] if len((part := self._between(pair, margins, placing))[0])]
        numbers, points, normals, gaps = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.lexsort((numbers[:, 1], numbers[:, 0]))
        return self._touching(numbers[order], points[order], normals[order], gaps[order])

    def _poses(self) -> tuple[Floats, Floats]:
        count = len(self.surfaces)
        linear, origins = np.zeros((count, 3, 3)), np.zeros((count, 3))
        linear[: self._count], origins[: self._count] = self._table.poses
        for number in range(self._count, count):
            obstacle = self.surfaces[number].obstacle
            if not isinstance(obstacle, DeformingObstacle):
                linear[number], origins[number] = obstacle.pose
        return linear, origins

    def _pairs(self, hulls: Hulls) -> Ints:
        """The pairs of surfaces whose boxes overlap, shape (n, 2), sorted."""
        boxes = self._boxes(hulls)
        present = np.flatnonzero([surface.obstacle.is_present for surface in self.surfaces])
        finite = boxes[present][np.isfinite(boxes[present]).all(axis=1)]
        axis = int(np.argmax(np.var(finite[:, :3], axis=0))) if len(finite) else 0
        order = present[np.argsort(boxes[present, axis], kind="stable")]
        while True:
            pairs = np.empty((self._room, 2), np.int64)
            count = sweep_boxes(boxes, order, axis, self._count, pairs)
            if count <= self._room:
                break
            self._room = 2 * count
        pairs = pairs[:count]
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def _boxes(self, hulls: Hulls) -> Floats:
        boxes = np.empty((len(self.surfaces), 6))
        boxes[:, :3], boxes[:, 3:] = -math.inf, math.inf
        low, high = self._hulls.boxes(hulls)
        boxes[self._hulls.bounded, :3], boxes[self._hulls.bounded, 3:] = low, high
        for number in self._hulls.others:
            reach = hulls.margins[number] + 0.5 * self._spacing
            low, high = self.surfaces[number].box()
            boxes[number, :3], boxes[number, 3:] = low - reach, high + reach
        return boxes

    def _between_hulls(self, hulls: Hulls, pairs: Ints) -> tuple[Ints, Floats, Floats, Floats]:
        found = room_for(len(pairs))
        scratch = np.empty((2, MOST_CORNERS, 3)), np.empty(MOST_CORNERS), np.empty(MOST_CORNERS, np.int64)
        count = find_hull_contacts(hulls, pairs, *scratch, found)
        return pairs[found.pairs[:count]], found.points[:count], found.normals[:count], found.gaps[:count]

    def _between(self, pair: Ints, margins: Floats, placing: "_Placing") -> tuple[Ints, Floats, Floats, Floats]:
        for number in pair:
            placing.place(number)
        first, second = self.surfaces[pair[0]], self.surfaces[pair[1]]
        assert isinstance(first, RigidSurface)
        points, normals, gaps = touching(first, second, float(margins[pair].sum()))
        return np.tile(pair, (len(gaps), 1)), points - 0.5 * gaps[:, None] * normals, normals, gaps

    def _touching(self, numbers: Ints, points: Floats, normals: Floats, gaps: Floats) -> Touching:
        table, count = self._table, self._count
        # kernels are compiled for contiguous arrays
        first, second = np.ascontiguousarray(numbers.T)
        is_body = second < count
        # two bodies meet in the middle of a gap, so that they keep their angular momentum; what is no body touches the body's own surface
        touched = points + np.where(is_body, 0.0, 0.5 * gaps)[:, None] * normals
        arms = touched - table.centers[first]
        centers = table.centers[np.where(is_body, second, 0)]
        others = np.zeros_like(points)
        for number in np.unique(second[~is_body]):
            its = second == number
            others[its] = self.surfaces[number].obstacle.velocity_at(points[its])
        mine, its = self._restitution[first], self._restitution[second]
        contacts = Contacts(
            first,
            np.where(is_body, second, -1),
            np.hstack([arms, np.where(is_body[:, None], points - centers, 0.0)]),
            normals,
            others,
            gaps,
            # the geometric mean, so that a surface without friction slides on everything
            np.sqrt(self._friction[first] * self._friction[second]),
            # the product for two rigid bodies, as in Blender; with any other collider the greater one
            np.where(is_body, mine * its, np.maximum(mine, its)),
        )
        places = np.einsum("nji,nj->ni", table.rotations[first], arms)
        return Touching(contacts, np.where(is_body, second, count - 1 - second), places)


class _Placing:
    """Moves the colliders of bodies to their poses, once in a search and only if that needs them."""

    def __init__(self, surfaces: list[Surface], linear: Floats, origins: Floats, velocities: Floats) -> None:
        self._surfaces, self._linear, self._origins, self._velocities = surfaces, linear, origins, velocities
        self._placed: set[int] = set()

    def place(self, number: int) -> None:
        if number >= len(self._surfaces) or number in self._placed:
            return
        self._placed.add(number)
        obstacle = self._surfaces[number].obstacle
        assert isinstance(obstacle, Obstacle)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = self._linear[number], self._origins[number]
        obstacle.place(pose, self._velocities[number, :3], self._velocities[number, 3:])


class _HullTable:
    """The hulls of surfaces in their own coordinates, one after another.

    Attributes:
        is_hull: which surfaces have a hull or are a plane, shape (n,).
        bounded: the surfaces with vertices; others: those without a hull, except planes.
    """

    def __init__(self, surfaces: list[Surface]) -> None:
        planes = [isinstance(surface, RigidSurface) and surface.is_half_space for surface in surfaces]
        hulls = [surface.hull if isinstance(surface, RigidSurface) else None for surface in surfaces]
        self.is_hull = np.array([hull is not None or is_plane for hull, is_plane in zip(hulls, planes, strict=True)])
        self.bounded = np.flatnonzero([hull is not None for hull in hulls])
        self.others = [number for number, is_hull in enumerate(self.is_hull) if not is_hull]
        vertices, normals, anchors, corners, edges, sizes = [], [], [], [], [], []
        first_corner, radius = [0], np.zeros(len(surfaces))
        counts = np.zeros((len(surfaces) + 1, 3), np.int64)
        for number, (surface, hull) in enumerate(zip(surfaces, hulls, strict=True)):
            begin = counts[number]
            counts[number + 1] = begin
            if planes[number]:
                shape = surface.obstacle.collider.shape
                assert isinstance(shape, Plane)
                normals.append(shape.distance_and_normal(np.zeros((1, 3)))[1])
                anchors.append(np.array([shape.point], np.float64))
                first_corner.append(first_corner[-1])
                counts[number + 1, 1] += 1
            elif hull is not None:
                vertices.append(hull.vertices)
                normals.append(hull.normals)
                sizes.append(len(hull.vertices))
                for loop in hull.loops:
                    corners.extend(begin[0] + vertex for vertex in loop)
                    first_corner.append(len(corners))
                    anchors.append(hull.vertices[loop[0]][None])
                edges.append(hull.edges + np.array([begin[0], begin[0], begin[1], begin[1]]))
                radius[number] = hull.radius
                counts[number + 1] += len(hull.vertices), len(hull.normals), len(hull.edges)
        self._vertices, self._normals = np.concatenate([np.zeros((0, 3)), *vertices]), np.concatenate([np.zeros((0, 3)), *normals])
        self._anchors = np.concatenate([np.zeros((0, 3)), *anchors])
        self._owners = np.repeat(np.arange(len(surfaces)), np.diff(counts[:, 0]))
        self._face_owners = np.repeat(np.arange(len(surfaces)), np.diff(counts[:, 1]))
        self._sizes = np.array(sizes, np.float64)[:, None]
        self._starts = counts[self.bounded, 0]
        self._radius = radius
        self._first = [np.ascontiguousarray(column) for column in counts.T]
        self._corners = np.array(first_corner, np.int64), np.array(corners, np.int64)
        self._edges = np.concatenate([np.zeros((0, 4), np.int64), *edges])

    def placed(self, linear: Floats, origins: Floats, margins: Floats) -> Hulls:
        """The hulls in the world, with the linear parts (n, 3, 3) and origins (n, 3) of the poses, and margins (n,) [m]."""
        scales = np.cbrt(np.abs(np.linalg.det(linear)))
        vertices = _moved(self._vertices, self._owners, linear) + origins[self._owners]
        normals = _moved(self._normals, self._face_owners, linear) / scales[self._face_owners, None]
        anchors = _moved(self._anchors, self._face_owners, linear) + origins[self._face_owners]
        middles = np.zeros_like(origins)
        if len(self.bounded):
            middles[self.bounded] = np.add.reduceat(vertices, self._starts) / self._sizes
        heights = (normals * anchors).sum(axis=1)
        first = self._first
        return Hulls(
            first[0],
            first[1],
            first[2],
            self._corners[0],
            self._corners[1],
            self._edges,
            self._radius * scales,
            margins,
            vertices,
            normals,
            heights,
            middles,
        )

    def boxes(self, hulls: Hulls) -> tuple[Floats, Floats]:
        """The lower and upper corners of the boxes around the bounded hulls, with their margins [m]."""
        if not len(self.bounded):
            return np.zeros((0, 3)), np.zeros((0, 3))
        reach = (hulls.radius + hulls.margins)[self.bounded, None]
        return np.minimum.reduceat(hulls.vertices, self._starts) - reach, np.maximum.reduceat(hulls.vertices, self._starts) + reach


def _moved(vectors: Floats, owners: Ints, linear: Floats) -> Floats:
    return np.einsum("nij,nj->ni", linear[owners], vectors)
