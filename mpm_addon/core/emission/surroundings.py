"""The particles and colliders around an emitter when it emits."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..contact.deforming_obstacle import DeformingObstacle
from ..contact.obstacle import Obstacle
from ..contact.obstacles import ObstacleGroup
from ..scene.animation import value_at
from ..scene.description import Scene
from ..transfer.blocks import BLOCK
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import POSITION, VOLUME

Floats = NDArray[np.float64]

# How far a particle may have left its block since the last sort [cells].
LARGEST_DRIFT = 2.0


class Surroundings(Protocol):
    """What emission needs to know about the simulation."""

    def particles_in(self, bounds: Floats) -> tuple[Floats, Floats]:
        """The particles within bounds (2, 3) [m]: positions (n, 3) [m] and rest volumes (n,) [m^3]."""
        ...

    def blocked(self, points: Floats, frame: float, *, is_whole_shape: bool) -> tuple[NDArray[np.bool_], list[str]]:
        """Find the points that lie in colliders at a moment.

        Args:
            points: [m], shape (n, 3).
            frame: the moment, in frames.
            is_whole_shape: whether the points fill a whole shape at once. Sticky colliders then clamp the shape, walls of the domain are
                checked by `refuse_outside`, and the shape may reach into the thickness added to thin colliders.

        Returns:
            Which points are blocked, shape (n,), and the names of the colliders that block any.
        """
        ...


class Simulated:
    """The current surroundings in a running simulation.

    Args:
        scene: the scene.
        store: the particles; all must be in the table.
        groups: the colliders; a query moves the moving ones to its moment.
    """

    def __init__(self, scene: Scene, store: ParticleStore, groups: list[ObstacleGroup]) -> None:
        self._scene, self._store, self._groups = scene, store, groups

    def particles_in(self, bounds: Floats) -> tuple[Floats, Floats]:
        store, spacing = self._store, self._scene.solver.grid_spacing
        layout = store.layout
        cells = np.array(bounds) / spacing
        if self._scene.solver.dimension == 2:
            cells[:, 1] = -np.inf, np.inf
        low, high = BLOCK * layout.coordinates - LARGEST_DRIFT, BLOCK * (layout.coordinates + 1) + 1.0 + LARGEST_DRIFT
        near = np.flatnonzero(((low <= cells[1]) & (high >= cells[0])).all(axis=1))
        first, last = layout.first[near * store.instance_count], layout.first[(near + 1) * store.instance_count]
        counts = last - first
        slots = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        origins = np.repeat(BLOCK * layout.coordinates[near], counts, axis=0)
        position = store.table[POSITION : POSITION + 3, slots].T.astype(np.float64) + origins
        there = np.flatnonzero((store.ids[slots] >= 0) & ((position >= cells[0]) & (position <= cells[1])).all(axis=1))
        return position[there] * spacing, store.table[VOLUME, slots[there]].astype(np.float64)

    def blocked(self, points: Floats, frame: float, *, is_whole_shape: bool) -> tuple[NDArray[np.bool_], list[str]]:
        result, names = np.zeros(len(points), np.bool_), []
        for group in self._groups:
            if group.is_moving:
                group.move_to(frame)
            for obstacle in group.obstacles:
                if not self._counts(obstacle, frame, is_whole_shape=is_whole_shape):
                    continue
                is_in = obstacle.contains(points, is_whole_shape=is_whole_shape)
                if is_in.any():
                    names.append(obstacle.name)
                    result |= is_in
        return result, names

    def _counts(self, obstacle: Obstacle | DeformingObstacle, frame: float, *, is_whole_shape: bool) -> bool:
        collider = obstacle.collider
        is_wall = all(collider is not each for each in self._scene.colliders)
        if is_whole_shape and (collider.surface == "sticky" or is_wall):
            return False
        return bool(value_at(collider, "enabled", frame))
