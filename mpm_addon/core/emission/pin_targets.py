"""Where pinned particles are pulled to: places on their emitters, which move with them.

A rigid emitter moves a target with its pose, a deforming one with the nearest triangle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..geometry.motion import pose_at, vertices_at
from ..geometry.shapes.mesh import Mesh
from ..geometry.surface import closest_points
from ..scene.description import Emitter
from .emission import Batch
from .pinned_particles import bind, find_targets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PinnedPlaces:
    """The places that particles are pinned to, on their emitters.

    Attributes:
        id: (n,) of the particles.
        emitter: (n,) number of the emitter.
        share: (n,) factor on the emitter's pin strength.
        corners: (n, 3) vertices of the emitter's mesh, or -1 if the emitter is rigid.
        weights: (n, 3) barycentric weights of a point on that triangle.
        anchor: (n, 3) in the emitter's local space, or relative to that point along the triangle's axes [m].
    """

    id: NDArray[np.int32]
    emitter: Ints
    share: Floats
    corners: Ints
    weights: Floats
    anchor: Floats

    @classmethod
    def empty(cls) -> "PinnedPlaces":
        nothing = np.zeros(0)
        rows = np.zeros((0, 3))
        return cls(nothing.astype(np.int32), nothing.astype(np.int64), nothing, rows.astype(np.int64), rows, rows)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {f"pinned_{field.name}": getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "PinnedPlaces":
        return cls(*(arrays[f"pinned_{field.name}"] for field in fields(cls)))

    def joined(self, other: "PinnedPlaces") -> "PinnedPlaces":
        return PinnedPlaces(*(np.concatenate([getattr(self, field.name), getattr(other, field.name)]) for field in fields(self)))

    def taken(self, order: Ints) -> "PinnedPlaces":
        return PinnedPlaces(*(np.ascontiguousarray(getattr(self, field.name)[order]) for field in fields(self)))


def places_of(emitter: Emitter, batch: Batch, first_id: int, frame: float, frame_rate: float) -> PinnedPlaces:
    """The places of an emitter's new particles, at a moment in frames; frame_rate: frames per second of the simulation."""
    positions = np.ascontiguousarray(batch.points.position)
    count, share = len(positions), np.asarray(batch.painted.pin_share, np.float64)
    corners, weights = np.full((count, 3), -1), np.zeros((count, 3))
    motion = emitter.motion
    if motion is not None and motion.vertices is not None:
        assert isinstance(emitter.shape, Mesh), "only a mesh has vertices that move"
        vertices, triangles = vertices_at(motion, frame, frame_rate)[0], np.asarray(emitter.shape.triangles, np.int64)
        nearest, weights = closest_points(Mesh(vertices=vertices, triangles=triangles), positions)
        corners, anchor = triangles[nearest], np.empty((count, 3))
        bind(vertices, corners, weights, positions, anchor)
    else:
        back = np.eye(4) if motion is None else np.linalg.inv(pose_at(motion, frame))
        anchor = positions @ back[:3, :3].T + back[:3, 3]
    ids = np.arange(first_id, first_id + count, dtype=np.int32)
    return PinnedPlaces(ids, np.full(count, batch.emitter_index), share, corners, weights, anchor)


class PinTargets:
    """The places of all emitters at one moment, with the vertices of all meshes in one array.

    Args:
        emitters: of the scene.
        frame_rate: frames per second of the simulation.
    """

    def __init__(self, emitters: Sequence[Emitter], frame_rate: float) -> None:
        self._emitters = emitters
        self._frame_rate = frame_rate
        self._first_vertex = np.cumsum([0, *(_vertex_count(emitter) for emitter in emitters)])
        self._poses = np.tile(np.eye(4), (len(emitters), 1, 1))
        self._vertices = np.zeros((int(self._first_vertex[-1]), 3))

    def numbered(self, places: PinnedPlaces) -> PinnedPlaces:
        """The same places, with corners as vertices of the array of all meshes."""
        is_bound = places.corners[:, :1] >= 0
        first = self._first_vertex[places.emitter][:, None]
        return PinnedPlaces(**{**vars(places), "corners": np.where(is_bound, places.corners + first, -1)})

    def find(self, places: PinnedPlaces, frame: float, targets: Floats) -> None:
        """The positions of numbered places at a moment in frames, (n, 3) result [m]."""
        for number in np.unique(places.emitter):
            motion = self._emitters[number].motion
            if motion is not None and motion.vertices is not None:
                vertices, _ = vertices_at(motion, frame, self._frame_rate)
                self._vertices[self._first_vertex[number] : self._first_vertex[number + 1]] = vertices
            elif motion is not None:
                self._poses[number] = pose_at(motion, frame)
        find_targets(places.emitter, self._poses, self._vertices, places.corners, places.weights, places.anchor, targets)


def _vertex_count(emitter: Emitter) -> int:
    return 0 if emitter.motion is None or emitter.motion.vertices is None else emitter.motion.vertices.shape[1]
