"""The section of a mesh whose vertices move with the plane y = 0: an outline, cut again in each pose, and its velocity."""

import numpy as np

from ..errors import SceneError
from .deforming import DeformingMesh
from .distance import outline_distance
from .mesh_topology import Floats, Integers
from .outline import Outline, cut_mesh
from .thickness import thickening

# lower bound on the component of a surface's normal in the plane: the section of a nearly parallel surface moves arbitrarily fast
LEAST_SLOPE = 0.1


class DeformingSection:
    """The section of a mesh in one of its poses; what it blocks follows the rules of `distance` in each pose.

    Args: see `DeformingMesh`; subject: the owner's name in messages.

    Attributes:
        offset: distance of the blocking surface outside the section's own in the current pose [m].

    Raises:
        SceneError: the plane does not cut the mesh in any pose.
    """

    def __init__(self, poses: Floats, triangles: Integers, spacing: float, subject: str) -> None:
        self._mesh = DeformingMesh(poses, triangles, spacing)
        self._closed, self._own_count = self._mesh.closing.triangles, len(triangles)
        self._spacing = spacing
        reaches = np.array([[np.min(pose[:, 1]), np.max(pose[:, 1])] for pose in poses])
        if (reaches[:, 0] > 0.0).all() or (reaches[:, 1] < 0.0).all():
            low, high = reaches[:, 0].min(), reaches[:, 1].max()
            raise SceneError(
                f"the mesh reaches from y = {low:g} m to {high:g} m at all frames",
                "in 2D it is cut by the plane y = 0, so move it there",
                subject=subject,
            )
        self.move_to(poses[0], np.zeros_like(poses[0]))

    def move_to(self, vertices: Floats, velocities: Floats) -> None:
        """Set the pose: vertices (n, 3) [m] and their velocities (n, 3) [m/s]."""
        self._mesh.move_to(vertices, velocities)
        segments, triangle = cut_mesh(self._mesh.closing.extended(vertices), self._closed)
        cap_count = int(np.count_nonzero(triangle >= self._own_count))
        outline = Outline(segments, cap_count, "the mesh") if len(segments) > cap_count else None
        self._ends = np.unique(segments.reshape(-1, 2), axis=0)
        self._query = outline_distance(outline, self._spacing) if outline is not None else None
        self.offset = 0.5 * thickening(outline, self._spacing) if outline is not None else 0.0

    def bounds(self) -> Floats:
        """The box around the mesh [m], shape (2, 3)."""
        return self._mesh.bounds()

    def corners(self) -> Floats:
        """The ends of the section's segments [m], shape (n, 3)."""
        return np.column_stack([self._ends[:, 0], np.zeros(len(self._ends)), self._ends[:, 1]])

    def __call__(self, points: Floats) -> tuple[Floats, Floats, Floats]:
        """The signed distance [m] in the plane, its unit gradient and the velocity of the section [m/s], as `DeformingMesh`.

        The section's velocity is the velocity of the mesh in the plane, plus v_y n_y / |(n_x, n_z)| along the normal, which comes from
        the slope of a surface that moves through the plane. If the plane misses the mesh, the distance is infinite.
        """
        if self._query is None:
            return np.full(len(points), np.inf), np.tile([0.0, 0.0, 1.0], (len(points), 1)), np.zeros((len(points), 3))
        flat = points * [1.0, 0.0, 1.0]
        distance, normal = self._query(flat)
        velocity, own_normal = self._mesh.surface_at(flat - (distance + self.offset)[:, None] * normal)
        slope = np.linalg.norm(own_normal[:, [0, 2]], axis=1)
        through = velocity[:, 1] * own_normal[:, 1] / np.maximum(slope, LEAST_SLOPE)
        # the mesh's normal points out of a solid, and to either side of a sheet
        side = np.sign(np.einsum("nd,nd->n", own_normal[:, [0, 2]], normal[:, [0, 2]]))
        velocity[:, 1] = 0.0
        return distance, normal, velocity + (side * through)[:, None] * normal
