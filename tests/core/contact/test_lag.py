"""How far the surfaces of moving colliders among the nodes may lag behind their poses."""

import math
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.contact.deforming_obstacle import DeformingObstacle
from mpm_addon.core.contact.obstacle import MOST_LAG, Obstacle, nodes_of
from mpm_addon.core.contact.obstacles import ObstacleGroup
from mpm_addon.core.geometry.shapes import SHAPES, Mesh
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.stepping.stepper import Stepper
from mpm_addon.core.transfer.blocks import BLOCK
from mpm_addon.core.transfer.particle_store import ParticleStore
from tests.core.contact.test_deforming_obstacles import bulging, grid_plate
from tests.core.scenes import LATTICE, box, material, scene

SPACING = 0.02
LAW = material("water")


def turning(angle: float, shift: tuple[float, float, float]) -> Motion:
    """A turn about y and a shift within two frames, faster in the second."""
    poses = np.stack([np.eye(4)] * 3)
    for pose, share in zip(poses, (0.0, 0.2, 1.0), strict=True):
        c, s = np.cos(share * angle), np.sin(share * angle)
        pose[:3, :3] = [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]
        pose[:3, 3] = np.array(shift) * share
    return Motion(np.array([1.0, 2.0, 3.0]), matrices=poses)


def beside(collider: Collider) -> Scene:
    """Water that falls onto a collider."""
    water = Emitter("water", box((0.0, 0.0, 0.07), (0.2, 0.2, 0.12)), "water", velocity=(0.0, 0.0, -0.5), **LATTICE)
    return scene(water, materials=(LAW,), colliders=(collider,), grid_spacing=SPACING, frames=3)


class Watch:
    """Compares the surfaces of moving colliders among the nodes with their poses in each substep.

    Attributes:
        distances: the error of the distance in each substep that only a tenth of the nodes nearest to the surface exceed [cells]: at
            edges, the nearest surface changes while the distance is carried on.
        velocities: the greatest error of a rigid collider's velocity at its feet, over the greatest there.
        found: how often surfaces were found.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.distances: list[float] = []
        self.velocities: list[float] = []
        self.found = 0
        move, find = Stepper.move_obstacles, ObstacleGroup.find_surfaces

        def moved(stepper: Stepper, frame: float) -> float:
            fastest = move(stepper, frame)
            for group in stepper.obstacles:
                if group.is_moving and (group._level_sets.blocks >= 0).any():
                    self._compare(group)
            return fastest

        def counted(group: ObstacleGroup, store: ParticleStore) -> None:
            self.found += group.is_moving
            find(group, store)

        monkeypatch.setattr(Stepper, "move_obstacles", moved)
        monkeypatch.setattr(ObstacleGroup, "find_surfaces", counted)

    def _compare(self, group: ObstacleGroup) -> None:
        sets, feet, count = group._level_sets, group.footing.feet, group.footing.foot_count
        rows = np.flatnonzero(sets.blocks >= 0)
        nodes = nodes_of(sets.coordinates[sets.blocks[rows]], 3) * SPACING
        obstacle = group.obstacles[0]
        exact = obstacle.distance(nodes.reshape(-1, 3))[0].reshape(nodes.shape[:2])
        errors = np.abs(sets.distance[rows] - exact)[np.abs(exact) < 0.5 * SPACING]
        self.distances.append(float(np.quantile(errors, 0.9)) / SPACING if len(errors) else 0.0)
        if isinstance(obstacle, Obstacle) and count:
            blocks = sets.coordinates[sets.blocks[feet.rows[:count] // BLOCK**3]]
            places = (BLOCK * blocks + feet.places[: 4 * count].reshape(-1, 4)[:, :3]) * SPACING
            own, known = obstacle.velocity_at(places), feet.velocities[: 4 * count].reshape(-1, 4)[:, :3]
            self.velocities.append(float(np.abs(known - own).max() / np.abs(own).max()))


PADDLE = Collider("paddle", box((0.0, 0.0, -0.05), (0.3, 0.3, 0.09)), surface="separate", motion=turning(0.3, (0.02, 0.0, 0.03)))
FLOOR = SHAPES["plane"](point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0))
LIFT = Collider("lift", FLOOR, motion=turning(0.0, (0.0, 0.0, 0.05)))
TILTED = Collider("tilted", FLOOR, motion=turning(0.2, (0.0, 0.0, 0.0)))
PLATE = grid_plate(0.3, 0.1)
BULGE = Collider("bulge", PLATE, motion=bulging(PLATE, 0.04, 3))


@pytest.mark.parametrize("collider", [PADDLE, LIFT, TILTED, BULGE], ids=lambda collider: collider.name)
def test_a_moving_surface_lags_by_a_fiftieth_of_a_cell_at_most(collider: Collider, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(monkeypatch)
    for _ in Simulation(beside(collider)).frames():
        pass
    # besides, the distance is carried on to first order, see `MOST_WAY`
    assert max(watch.distances) < MOST_LAG + 0.01
    assert max(watch.velocities, default=0.0) < 1e-5
    # an infinite plane that turns moves infinitely far
    most = 1.0 if collider is TILTED else 0.75
    assert 0.05 * len(watch.distances) < watch.found <= most * len(watch.distances) + 4


@pytest.mark.parametrize("shape", [box((0.0, 0.0, 0.0), 0.1), PLATE], ids=["rigid", "deforming"])
def test_a_collider_that_appears_lags_for_ever(shape: Any) -> None:
    """However little it has moved, its surface must be found."""
    is_rigid = shape is not PLATE
    motion = turning(0.0, (0.0, 0.0, 1e-6)) if is_rigid else bulging(PLATE, 1e-6, 3)
    shown = Animation(np.array([1.0, 1.5, 1.7]), {"enabled": np.array([1.0, 0.0, 1.0])})
    collider = Collider("shown", shape, motion=motion, animation=shown)
    made = beside(collider)
    obstacle = Obstacle(collider, made) if is_rigid else DeformingObstacle(collider, made)
    nothing = np.zeros(0, np.int64)
    for frame, is_lost in ((1.1, True), (1.2, False), (1.6, True), (1.65, False), (1.8, True)):
        obstacle.take_values(frame)
        obstacle.move_to(frame)
        assert math.isinf(obstacle.lag()) == is_lost
        obstacle.note_pose()
        obstacle.measure(0, nothing, nothing.reshape(0, 3))


def test_a_fast_part_far_away_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collider is measured, and its surface found, as often as the part near the material has moved."""
    far = PLATE.vertices + np.array([30.0, 0.0, 0.0])
    both = Mesh(np.concatenate([PLATE.vertices, far]), np.concatenate([PLATE.triangles, PLATE.triangles + len(far)]))
    bulge = np.asarray(bulging(PLATE, 0.04, 3).vertices)
    swing = np.array([0.0, 3.0, 0.0])
    found = []
    for shift in (0.0 * swing, swing):
        poses = np.concatenate([bulge, far + np.array([0.0, 1.0, 2.0])[:, None, None] * shift], axis=1)
        watch = Watch(monkeypatch)
        collider = Collider("both", both, motion=Motion(np.array([1.0, 2.0, 3.0]), vertices=poses))
        for _ in Simulation(beside(collider)).frames():
            pass
        assert max(watch.distances) < MOST_LAG + 0.01
        found.append(watch.found)
        monkeypatch.undo()
    assert found[0] == found[1]
