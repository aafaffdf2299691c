"""An outline in the plane y = 0: the section of a mesh, or of any solid without a closed form.

Plain numpy until a distance is needed.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..errors import SceneError
from .mesh_topology import Floats, Integers
from .overlap import Excess, excess
from .shapes.arrays import ArrayEquality
from .shapes.closed_form import ClosedForm


@dataclass(frozen=True, eq=False)
class Outline(ArrayEquality, ClosedForm):
    """Closed loops of segments in the x-z plane; y is ignored. Overlapping parts are inside, and what they share counts once.

    Attributes:
        segments: start x, z and end x, z [m], shape (n, 4), with the inside to the left. A point shared by segments has exactly the same
            coordinates in all of them.
        cap_count: the number of segments, at the end, that close holes of a mesh.
        words: the outline's name in messages.
    """

    kind: ClassVar[str] = "outline"

    segments: Floats
    cap_count: int = 0
    words: str = "the shape"

    def check_inside(self, subject: str) -> None:
        size = float(np.diff(self.bounds()[:, [0, 2]], axis=0).max())
        if not self.volume() > 1e-9 * self.length() * size:
            raise SceneError(
                f"{self.words} encloses {max(self.volume(), 0.0):g} m^2 in the plane y = 0",
                "close it, or move it so that the plane cuts it",
                subject=subject,
            )

    def bounds(self) -> Floats:
        ends = self.segments.reshape(-1, 2)
        (x0, z0), (x1, z1) = ends.min(axis=0), ends.max(axis=0)
        return np.array([[x0, -0.5, z0], [x1, 0.5, z1]])

    def volume(self) -> float:
        """The area of the inside [m^2]: by the shoelace formula, the sum of (x0 z1 - x1 z0) / 2, minus what is enclosed too often."""
        return self._volume

    @cached_property
    def _volume(self) -> float:
        return self._enclosed() - self.excess.volume

    def _enclosed(self) -> float:
        x0, z0, x1, z1 = (self.segments - np.tile(self.bounds().mean(axis=0)[[0, 2]], 2)).T
        return 0.5 * float((x0 * z1 - x1 * z0).sum())

    @cached_property
    def excess(self) -> Excess:
        """What is enclosed too often, relative to the middle of the bounds, per meter of depth."""
        vertices, triangles = self.extruded(has_caps=True)
        depth = float(np.ptp(vertices[:, 1]))
        found = excess(vertices, triangles, self._enclosed() * depth)
        return found._replace(weight=found.weight / depth)

    def length(self) -> float:
        """The length of all segments except the caps [m]."""
        return float(np.linalg.norm(self._own[:, 2:] - self._own[:, :2], axis=1).sum())

    def opening(self) -> float:
        """The length of the caps relative to that of the other segments; 0 for a closed outline."""
        caps = self.segments[len(self._own) :]
        return float(np.linalg.norm(caps[:, 2:] - caps[:, :2], axis=1).sum()) / self.length()

    def distance_and_normal(self, points: Floats) -> tuple[Floats, Floats]:
        return self._query(self._tree, points, is_solid=True)

    def distance_from_sheet(self, points: Floats) -> tuple[Floats, Floats]:
        """The unsigned distance [m] from the segments that are not caps (n,), and its gradient (n, 3)."""
        return self._query(self._sheet_tree, points, is_solid=False)

    @cached_property
    def cells(self) -> Any:
        """The outline extruded along y, in cells (a `mesh_cells.MeshCells`), relative to the middle of the bounds."""
        from .mesh_cells import build_cells

        return build_cells(*self.extruded(has_caps=True), is_flat=True)

    def extruded(self, *, has_caps: bool) -> tuple[Floats, Integers]:
        """The outline extruded along y, farther than it is wide: vertices (n, 3), from the middle of the bounds, and triangles."""
        middle, half = self.bounds().mean(axis=0), float(np.diff(self.bounds(), axis=0).sum())
        segments = self.segments if has_caps else self._own
        ends = np.repeat(segments.reshape(-1, 2) - middle[[0, 2]], 2, axis=0)
        vertices = np.column_stack([ends[:, 0], np.tile([-half, half], len(segments) * 2), ends[:, 1]])
        first = 4 * np.arange(len(segments))[:, None]
        return vertices, np.concatenate([first + np.array(half) for half in ([0, 3, 2], [0, 1, 3])])

    @property
    def _own(self) -> Floats:
        return self.segments[: len(self.segments) - self.cap_count]

    @cached_property
    def _tree(self) -> Any:
        from .segment_tree import build_segment_tree

        return build_segment_tree(self.segments)

    @cached_property
    def _sheet_tree(self) -> Any:
        from .segment_tree import build_segment_tree

        return build_segment_tree(self._own)

    @staticmethod
    def _query(tree: Any, points: Floats, *, is_solid: bool) -> tuple[Floats, Floats]:
        from .segment_tree import query_outline

        distance, normal = np.empty(len(points)), np.zeros((len(points), 3))
        flat = np.empty((len(points), 2))
        query_outline(tree, np.ascontiguousarray(points[:, [0, 2]]), is_solid, distance, flat)
        normal[:, [0, 2]] = flat
        return distance, normal


def cut_mesh(vertices: Floats, triangles: Integers) -> tuple[Floats, Integers]:
    """The section of triangles with the plane y = 0.

    A vertex in the plane counts as above it, so that each triangle is cut once or not at all and a closed mesh gives closed loops. If
    nothing is cut this way, it counts as below, so that a mesh standing on the plane is cut, too.

    Args:
        vertices: [m], shape (n, 3).
        triangles: vertex indices, shape (m, 3), counterclockwise seen from outside.

    Returns:
        segments: start x, z and end x, z [m], shape (k, 4), with the inside to the left.
        triangle: the triangle of each segment, ascending, shape (k,).
    """
    segments, triangle = _cut(vertices, triangles, vertices[:, 1] >= 0.0)
    return (segments, triangle) if len(segments) else _cut(vertices, triangles, vertices[:, 1] > 0.0)


def _cut(vertices: Floats, triangles: Integers, is_above: np.ndarray) -> tuple[Floats, Integers]:
    above = is_above[triangles]
    cut = np.flatnonzero(above.any(axis=1) & ~above.all(axis=1))
    above = above[cut]
    # rotate the corners so that the one alone on its side comes first
    is_lone_above = above.sum(axis=1) == 1
    lone = np.where(is_lone_above, above.argmax(axis=1), above.argmin(axis=1))
    corners = triangles[cut[:, None], (lone[:, None] + np.arange(3)) % 3]
    first, second, third = np.moveaxis(vertices[corners], 1, 0)
    is_up = is_lone_above[:, None]
    to_second = _crossing(np.where(is_up, first, second), np.where(is_up, second, first))
    to_third = _crossing(np.where(is_up, first, third), np.where(is_up, third, first))
    segments = np.where(is_up, np.hstack([to_third, to_second]), np.hstack([to_second, to_third]))
    has_length = (segments[:, :2] != segments[:, 2:]).any(axis=1)
    return segments[has_length], cut[has_length]


def _crossing(above: Floats, below: Floats) -> Floats:
    """Where edges cross the plane (n, 2), computed from their upper ends, so that both triangles of an edge find the same point."""
    share = above[:, 1] / (above[:, 1] - below[:, 1])
    return (above + share[:, None] * (below - above))[:, [0, 2]]
