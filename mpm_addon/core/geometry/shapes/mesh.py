"""A triangle mesh."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...errors import SceneError
from ...messages import Action
from ...scene.shape import Floats, Shape
from .. import mesh_topology
from ..overlap import inside_volume
from .arrays import ArrayEquality, frozen_array

# a mesh with openings larger than this, relative to its own surface, has no intended inside
LARGEST_OPENING = 0.8
# a mesh is flat if it is thinner than this, relative to its size: rotated planes are not exact
_FLATTEST = 1e-6


@dataclass(frozen=True, eq=False)
class Mesh(ArrayEquality, Shape):
    """A triangle mesh, closed or not.

    Triangles run counterclockwise seen from outside; a consistently inverted mesh is flipped. The inside of a mesh with holes is defined by
    the generalized winding number (`signed_distance`) or by closing the holes (`closed`, `volume`); both agree if a hole's rim is flat.

    Attributes:
        vertices: [m], shape (n, 3).
        triangles: vertex indices, shape (m, 3), of any integer type.
        source: where the mesh comes from, for messages.
    """

    kind: ClassVar[str] = "mesh"

    vertices: Floats
    triangles: np.ndarray[Any, np.dtype[np.int64]]
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", frozen_array(self.vertices, "fiu", np.float64))
        object.__setattr__(self, "triangles", frozen_array(self.triangles, "iu", np.int64))

    @property
    def words(self) -> str:
        """The mesh's name in messages."""
        return f'the mesh "{self.source}"' if self.source else "the mesh"

    def check(self, subject: str) -> None:
        """Check the arrays: shapes, finite coordinates, valid indices, and a surface with an area."""
        super().check(subject)
        if len(self.vertices) == 0:
            raise SceneError(f"{self.words} has no vertices", "add faces to it", subject=subject)
        if len(self.triangles) == 0:
            raise SceneError(f"{self.words} has no faces", "add faces, or remove the object from the simulation", subject=subject)
        for name, values, dtype in (("vertices", self.vertices, np.float64), ("triangles", self.triangles, np.int64)):
            if values.ndim != 2 or values.shape[1] != 3 or values.dtype != dtype:
                words = "numbers" if dtype is np.float64 else "whole numbers"
                raise SceneError(
                    f"{self.words} has {name} of shape {values.shape} and type {values.dtype}",
                    f"use {words} of shape (n, 3)",
                    subject=subject,
                )
        wrong = ~np.isfinite(self.vertices).all(axis=1)
        if wrong.any():
            index = int(np.argmax(wrong))
            raise SceneError(
                f"{self.words} has vertex {index} at {self.vertices[index]}",
                "move it to finite coordinates or delete it",
                subject=subject,
            )
        outside = (self.triangles < 0) | (self.triangles >= len(self.vertices))
        if outside.any():
            row = int(np.argmax(outside.any(axis=1)))
            raise SceneError(
                f"{self.words} has triangle {row} with vertices {self.triangles[row].tolist()}",
                f"use indices from 0 to {len(self.vertices) - 1}",
                subject=subject,
            )
        if not self.area() > 1e-14 * float(np.ptp(self.vertices[self.triangles.ravel()], axis=0).max()) ** 2:
            raise SceneError(f"{self.words} has zero area: all its faces are lines or points", "use faces with an area", subject=subject)

    def check_inside(self, subject: str) -> None:
        """Check that the mesh has a volume, after `check`. Raises SceneError."""
        size = float(np.ptp(self.closed.vertices, axis=0).max())
        if size > 0.0 and self._thickness() < _FLATTEST * size:
            raise SceneError(f"{self.words} is flat, so it has no volume", Action.THICKEN, subject=subject)
        if self.opening() > LARGEST_OPENING:
            raise SceneError(
                f"{self.words} has no volume: its openings have {self.opening():.0%} of the area of its faces, and at "
                f"most {LARGEST_OPENING:.0%} can be closed",
                "close it, or give it a thickness (Solidify modifier)",
                subject=subject,
            )
        if not self.volume() > 1e-9 * self.area() * size:
            raise SceneError(
                f"{self.words} has no volume: its faces enclose {max(self.volume(), 0.0):g} m^3",
                "close it, or give it a thickness (Solidify modifier)",
                subject=subject,
            )

    def _thickness(self) -> float:
        """The extent [m] in the direction in which the mesh extends least."""
        points = self.vertices[np.unique(self.triangles)]
        points = points - points.mean(axis=0)
        _lengths, directions = np.linalg.eigh(points.T @ points)
        return float(np.ptp(points @ directions[:, 0]))

    def bounds(self) -> Floats:
        return mesh_topology.bounds(self.vertices, self.triangles)

    def area(self) -> float:
        """The area of all triangles [m^2]; repeated ones count once."""
        return self._area

    @cached_property
    def _area(self) -> float:
        return mesh_topology.area(self.closed.vertices, self.closed.triangles[: len(self.triangles)])

    def opening(self) -> float:
        """The area of the caps relative to the mesh's own area; 0 for a closed mesh, and for one without area."""
        return self._opening

    @cached_property
    def _opening(self) -> float:
        caps, area = self.closed.triangles[len(self.triangles) :], self.area()
        return mesh_topology.area(self.closed.vertices, caps) / area if area > 0.0 else 0.0

    def holes(self) -> list[mesh_topology.Hole]:
        """The holes that are closed to make an inside, the largest first."""
        return [] if self.closed is self else mesh_topology.holes(self.vertices, self.triangles)

    def volume(self) -> float:
        """The volume of the inside of the closed mesh [m^3]; what parts share counts once."""
        return self._volume

    @cached_property
    def _volume(self) -> float:
        return inside_volume(self.closed.vertices, self.closed.triangles)

    @cached_property
    def closed(self) -> "Mesh":
        """This mesh with each hole capped and, if it was inverted, flipped; the same object if neither is needed.

        Its first triangles are this mesh's own; repeated ones have no area.
        """
        vertices, triangles = mesh_topology.closed_mesh(self.vertices, self.triangles)
        return self if triangles is self.triangles else Mesh(vertices, triangles, self.source)

    @cached_property
    def digest(self) -> bytes:
        """A digest that is the same for meshes with the same vertices and triangles."""
        found = hashlib.blake2b(self.vertices.tobytes(), digest_size=16)
        found.update(self.triangles.tobytes())
        return found.digest()

    @cached_property
    def prepared(self) -> dict[float, Any]:
        """The sampled distances of this mesh by grid spacing [m], stored by the code that samples them."""
        return {}

    @cached_property
    def surface(self) -> Any:
        """The search trees over the triangles (a `surface.Surface`)."""
        from ..surface import Surface

        return Surface(self.vertices, self.triangles)

    @property
    def center(self) -> Floats:
        """The middle of the bounds [m], shape (3,), the origin of the surface and the cells."""
        return mesh_topology.center(self.vertices, self.triangles)

    @cached_property
    def cells(self) -> Any:
        """The triangles of a closed mesh in cells (a `mesh_cells.MeshCells`), relative to the center."""
        from ..mesh_cells import build_cells

        return build_cells(self.vertices - self.center, self.triangles)

    def signed_distance(self, points: Floats) -> Floats:
        if self.closed is not self:
            return self.surface.signed_distance(points, is_inverted=self.is_inverted)
        from ..inside import inside_test

        return np.where(inside_test(self)(points), -1.0, 1.0) * self.surface.distance(points)

    @cached_property
    def is_inverted(self) -> bool:
        """Whether the triangles run clockwise seen from outside."""
        return mesh_topology.volume(*mesh_topology.capped(self.vertices, self.triangles)) < 0.0
