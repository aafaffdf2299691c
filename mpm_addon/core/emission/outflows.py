"""Outflows: shapes that remove the particles that enter them.

Particles are checked whenever they are sorted: at every frame, and before one can move farther than a cell. Relative to the outflow,
which may move, each particle has moved along a straight path since the previous sort; it is removed if that path touches the shape. So
even a thin outflow misses no particle, and no frame has particles inside an outflow.
"""

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from ..geometry.distance import distance_query
from ..geometry.motion import pose_at
from ..geometry.section import section_of
from ..scene.animation import value_at
from ..scene.description import Outflow, Scene
from ..transfer.particle_store import NewParticles, ParticleStore

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# a path touches a shape if it comes nearer than this [cells]
TOUCH = 1e-3
# how far an outflow may move during one segment of a path [cells]
LONGEST_SEGMENT = 0.5
MOST_SEGMENTS = 64


class Outflows:
    """The outflows of a scene."""

    def __init__(self, scene: Scene) -> None:
        self._volumes = [_Volume(outflow, scene) for outflow in scene.outflows]
        self._spacing = scene.solver.grid_spacing
        self._frame = float(scene.time.frame_start)
        self._before = np.zeros((0, 3))

    def add_checked(self, store: ParticleStore, particles: NewParticles, frame: float) -> None:
        """Add particles of a checkpoint, which have already been checked, at a moment in frames."""
        store.sort(particles)
        if self._volumes:
            self._before, self._frame = store.positions(self._spacing), frame

    def sort(self, store: ParticleStore, new: NewParticles | None, limits: Floats, frame: float) -> int:
        """Sort a store's particles and remove those that have entered an outflow since the last call.

        Args:
            store: the particles.
            new: particles to add, unless they are in an outflow.
            limits: see `ParticleStore.sort`.
            frame: the moment, in frames.

        Returns:
            The number of particles that were removed, by outflows and limits.
        """
        if not self._volumes:
            return store.sort(new, limits)
        deleted = self._take(store, self._before, self._frame, frame)
        deleted += store.sort(new, limits)
        if new is not None:
            inside = self._take(store, store.positions(self._spacing), frame, frame)
            if inside:
                deleted += inside + store.sort(None, limits)
        self._before, self._frame = store.positions(self._spacing), frame
        return deleted

    def _take(self, store: ParticleStore, before: Floats, since: float, frame: float) -> int:
        """Remove the particles whose paths from `before` (slots, 3) touch an outflow; returns how many."""
        slots = np.flatnonzero(store.live)
        acting = [volume for volume in self._volumes if volume.is_enabled(frame)]
        if not acting or len(slots) == 0:
            return 0
        start, end = before[slots], store.positions(self._spacing)[slots]
        is_taken = np.zeros(len(slots), np.bool_)
        for volume in acting:
            left = np.flatnonzero(~is_taken)
            is_taken[left] = volume.is_touched(start[left], end[left], since, frame)
        store.ids[slots[is_taken]] = -1
        return int(np.count_nonzero(is_taken))


class _Volume:
    """One outflow."""

    def __init__(self, outflow: Outflow, scene: Scene) -> None:
        self._outflow = outflow
        self._spacing = scene.solver.grid_spacing
        is_plane = scene.solver.dimension == 2
        shape = section_of(outflow.shape, f'Outflow "{outflow.name}"') if is_plane else outflow.shape
        self._query = distance_query(shape, self._spacing)
        self._bounds = np.array(shape.bounds())
        if is_plane:
            self._bounds[:, 1] = -np.inf, np.inf

    def is_enabled(self, frame: float) -> bool:
        return bool(value_at(self._outflow, "enabled", frame))

    def is_touched(self, start: Floats, end: Floats, since: float, frame: float) -> NDArray[np.bool_]:
        """Which of the paths from `start` to `end` (n, 3) [m], between two moments in frames, touch the shape."""
        touched = np.zeros(len(start), np.bool_)
        segments = self._segment_count(since, frame, np.vstack([start, end]))
        for segment in range(segments):
            low, high = segment / segments, (segment + 1) / segments
            first, scale = self._local(start + low * (end - start), since + low * (frame - since))
            second, _ = self._local(start + high * (end - start), since + high * (frame - since))
            near = np.flatnonzero(self._is_near(first, second) & ~touched)
            touched[near] = self._is_crossed(first[near], second[near], TOUCH * self._spacing / scale)
        return touched

    def _local(self, points: Floats, frame: float) -> tuple[Floats, float]:
        if self._outflow.motion is None:
            return points, 1.0
        pose = pose_at(self._outflow.motion, frame)
        scale = float(np.cbrt(abs(np.linalg.det(pose[:3, :3]))))
        return (points - pose[:3, 3]) @ np.linalg.inv(pose[:3, :3]).T, scale

    def _segment_count(self, since: float, frame: float, points: Floats) -> int:
        """The number of segments to divide paths into, so that the outflow hardly moves near the particles during each."""
        if self._outflow.motion is None or frame == since or len(points) == 0:
            return 1
        corners = np.stack(np.meshgrid(*np.stack([points.min(axis=0), points.max(axis=0)], axis=1), indexing="ij"), axis=-1).reshape(-1, 3)
        moments = np.linspace(since, frame, 9)
        seen = [self._local(corners, moment) for moment in moments]
        way = sum(scale * np.linalg.norm(b - a, axis=1).max() for (a, scale), (b, _) in itertools.pairwise(seen))
        return min(MOST_SEGMENTS, max(1, math.ceil(way / (LONGEST_SEGMENT * self._spacing))))

    def _is_near(self, first: Floats, second: Floats) -> NDArray[np.bool_]:
        """Whether the bounding boxes of paths overlap that of the shape."""
        margin = 2.0 * TOUCH * self._spacing
        low, high = np.minimum(first, second) - margin, np.maximum(first, second) + margin
        return ((low <= self._bounds[1]) & (high >= self._bounds[0])).all(axis=1)

    def _is_crossed(self, first: Floats, second: Floats, touch: float) -> NDArray[np.bool_]:
        """Whether paths touch the shape, by sphere tracing (Hart 1996), which never steps over a surface."""
        length = np.linalg.norm(second - first, axis=1)
        direction = (second - first) / np.maximum(length, 1e-300)[:, None]
        crossed, gone = np.zeros(len(first), np.bool_), np.zeros(len(first))
        going = np.arange(len(first))
        while len(going):
            points = first[going] + gone[going, None] * direction[going]
            distance = self._query(np.ascontiguousarray(points))[0]
            crossed[going] = distance <= touch
            gone[going] += np.maximum(distance, touch)
            going = going[~crossed[going] & (gone[going] <= length[going])]
        return crossed
