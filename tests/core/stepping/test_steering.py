"""Steering: colliders, forces and gravity moved by hand while a scene is simulated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.motion import pose_at, velocity_at
from mpm_addon.core.geometry.rotation import rotation_matrix
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.force import Force
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.stepping.steering import LONGEST_MOVE, Steering
from tests.core.scenes import LATTICE, box, material, scene

SPACING = 0.05


def floating_cube(**settings: Any) -> Scene:
    """A jelly in space, an attracting force that is too weak to be seen, and a ball beside it."""
    return scene(
        Emitter("cube", box((0.0, 0.0, 0.0), 0.2), "corotated", **LATTICE),
        materials=(material("corotated", young_modulus=2e4),),
        forces=(Force("pull", strength=-1e-6),),
        colliders=(Collider("ball", SHAPES["sphere"](center=(-0.6, 0.0, 0.0), radius=0.2)),),
        frames=12,
        **{"grid_spacing": SPACING, "gravity": (0.0, 0.0, 0.0), **settings},
    )


def steered(described: Scene, hand: Any) -> list[np.ndarray]:
    """The center of mass at every frame; `hand(frame, steering)` is asked after each and says whether anything is new."""
    steering = Steering(described)
    simulation = Simulation(steering.scene)
    frames, centers = simulation.frames(), []
    for number in described.time.frames:
        frame = next(frames)
        centers.append(frame.position.astype(np.float64).mean(axis=0))
        if hand(number, steering):
            simulation = Simulation(steering.scene, snapshot=simulation.snapshot())
            frames = simulation.frames()
        steering.begin(number)
    return centers


def test_particles_follow_a_dragged_attractor() -> None:
    def drag(frame: int, steering: Steering) -> bool:
        return steering.steer("pull", center=(2.0 + 0.2 * frame, 0.0, 1.0 + 0.1 * frame), values={"strength": -5.0})

    centers = steered(floating_cube(), drag)
    # a pull of 5 m/s^2 along one line for 11 frames of 1/24 s, of which the first counts half, while the strength rises
    assert centers[-1] == pytest.approx(0.5 * 5.0 * (10.5 / 24.0) ** 2 * np.array([2.0, 0.0, 1.0]) / np.sqrt(5.0), rel=0.1, abs=5e-3)
    still = steered(floating_cube(), lambda _frame, _steering: False)
    assert np.linalg.norm(still[-1]) < 1e-3


def test_a_collider_pushes_with_the_speed_of_the_hand() -> None:
    def push(frame: int, steering: Steering) -> bool:
        return steering.steer("ball", center=(-0.6 + 0.05 * frame, 0.0, 0.0))

    centers = steered(floating_cube(), push)
    # it touches where its middle is at -0.3 m, moves at 1.2 m/s, and what it pushed is no slower
    assert centers[-1][0] > 0.5 * (-0.6 + 0.05 * 11 + 0.3)
    assert (centers[-1][0] - centers[-2][0]) * 24.0 > 0.9 * 0.05 * 24.0


def test_steering_gives_the_same_as_a_motion_known_in_advance() -> None:
    described = floating_cube()

    def push(frame: int, steering: Steering) -> bool:
        return steering.steer("ball", center=(-0.6 + 0.04 * frame, 0.0, 0.0))

    matrices = np.tile(np.eye(4), (12, 1, 1))
    matrices[:, 0, 3] = 0.04 * np.arange(12)
    known = Collider("ball", described.colliders[0].shape, motion=Motion(np.arange(1.0, 13.0), matrices=matrices))
    expected = [frame.position.astype(np.float64).mean(axis=0) for frame in simulate(Scene(**{**vars(described), "colliders": (known,)}))]
    assert np.abs(np.array(steered(described, push)) - expected).max() < 1e-5


def test_nothing_changes_to_the_bit_while_nothing_is_steered() -> None:
    described = floating_cube(gravity=(0.0, 0.0, -9.81))
    plain = [frame.position for frame in simulate(described)]
    steering = Steering(described)
    assert steering.scene is described
    for expected, frame in zip(plain, Simulation(steering.scene).frames(), strict=True):
        steering.begin(frame.number)
        np.testing.assert_array_equal(frame.position, expected)


def test_gravity_can_be_turned() -> None:
    centers = steered(floating_cube(), lambda _frame, steering: steering.steer_gravity((5.0, 0.0, 0.0)))
    assert centers[-1][0] == pytest.approx(0.5 * 5.0 * (10.5 / 24.0) ** 2, rel=0.05)


def test_a_hand_that_jumps_is_followed_as_fast_as_the_grid_allows() -> None:
    steering = Steering(floating_cube())
    steering.steer("ball", center=(99.4, 0.0, 0.0))
    motion = steering.scene.colliders[0].motion
    assert motion is not None
    for frame in (1, 2):
        steering.begin(frame)
        _, linear, _ = velocity_at(motion, frame, 24.0)
        assert linear == pytest.approx([LONGEST_MOVE * SPACING * 24.0, 0.0, 0.0])
    assert pose_at(motion, 3.0)[:3, 3] == pytest.approx([2 * LONGEST_MOVE * SPACING, 0.0, 0.0])


def test_an_object_turns_about_its_own_center() -> None:
    steering = Steering(floating_cube())
    moved = np.eye(4)
    moved[:3, :3] = rotation_matrix(np.array([0.0, 0.0, 0.8]))
    middle = np.array([-0.6, 0.0, 0.0])
    moved[:3, 3] = middle - moved[:3, :3] @ middle
    steering.steer("ball", matrix=moved)
    steering.begin(1)
    motion = steering.scene.colliders[0].motion
    assert motion is not None
    for share in (0.0, 0.25, 0.5, 1.0):
        pose = pose_at(motion, 1.0 + share)
        assert pose[:3, :3] @ middle + pose[:3, 3] == pytest.approx(middle, abs=1e-9)
        assert pose[1, 0] == pytest.approx(np.sin(0.8 * share))


def test_what_was_reached_stays_at_rest() -> None:
    steering = Steering(floating_cube())
    steering.steer("ball", center=(-0.5, 0.0, 0.0))
    motion = steering.scene.colliders[0].motion
    steering.begin(1)
    steering.begin(2)
    assert motion is not None
    matrix, linear, angular = velocity_at(motion, 2.0, 24.0)
    assert (matrix[:3, 3], linear, angular) == (pytest.approx([0.1, 0, 0]), pytest.approx([0, 0, 0]), pytest.approx([0, 0, 0]))


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"name": "pul", "center": (0, 0, 0)}, '"pul" is not a collider or force of the scene (did you mean "pull"?)'),
        ({"name": "ball", "center": (0, 0)}, 'Collider "ball": center is (0, 0); use 3 finite numbers.'),
        ({"name": "ball", "matrix": np.zeros((4, 4))}, 'Collider "ball": its matrix flattens or mirrors it'),
        ({"name": "ball", "values": {"friction": 1.0}}, '"friction" cannot be steered; use one of: none.'),
        ({"name": "pull", "values": {"strength": 1e9}}, 'Force "pull": strength'),
    ],
)
def test_what_cannot_be_steered_is_refused(wish: dict[str, Any], words: str) -> None:
    with pytest.raises(SceneError) as error:
        Steering(floating_cube()).steer(**wish)
    assert words in str(error.value)


def test_animated_objects_cannot_be_steered() -> None:
    described = floating_cube()
    motion = Motion(np.array([1.0]), matrices=np.eye(4)[None])
    known = Collider("ball", described.colliders[0].shape, motion=motion)
    with pytest.raises(SceneError, match="is animated, so it cannot be steered"):
        Steering(Scene(**{**vars(described), "colliders": (known,)})).steer("ball", center=(0.0, 0.0, 0.0))
