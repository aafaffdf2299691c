"""Poses between frames, on the group of rotations."""

import math

import numpy as np
import pytest

from mpm_addon.core.geometry.motion import pose_at, velocity_at
from mpm_addon.core.geometry.rotation import euler_matrix, rotation_matrix, rotation_vector
from mpm_addon.core.scene.animation import Motion


def pose(translation=(0, 0, 0), rotation=(0, 0, 0), scale=(1, 1, 1)):
    matrix = np.eye(4)
    matrix[:3, :3] = euler_matrix(rotation) @ np.diag(scale)
    matrix[:3, 3] = translation
    return matrix


def test_exponential_undoes_the_logarithm_at_every_angle():
    generator = np.random.default_rng(5)
    for angle in (0.0, 1e-9, 1e-3, 1.0, 3.0, math.pi - 1e-9, math.pi):
        axis = generator.normal(size=3)
        vector = angle * axis / np.linalg.norm(axis)
        assert np.abs(rotation_matrix(rotation_vector(rotation_matrix(vector))) - rotation_matrix(vector)).max() < 1e-14
        assert np.linalg.norm(rotation_vector(rotation_matrix(vector))) == pytest.approx(angle, abs=1e-12)


def test_turn_goes_the_short_way_at_a_constant_rate():
    motion = Motion(np.array([10.0, 14.0]), np.array([pose(rotation=(0, 0, 30)), pose(rotation=(0, 0, 110))]))
    assert pose_at(motion, 11.0) == pytest.approx(pose(rotation=(0, 0, 50)), abs=1e-14)
    matrix, velocity, spin = velocity_at(motion, 11.0, 24.0)
    assert np.array_equal(matrix, pose_at(motion, 11.0))
    # 80 degrees in 4 frames of 1/24 s.
    assert spin == pytest.approx([0, 0, math.radians(80) * 6], abs=1e-12)
    assert velocity == pytest.approx([0, 0, 0])


def test_velocity_is_the_derivative_of_the_pose():
    motion = Motion(
        np.array([1.0, 2.0, 5.0]),
        np.array([pose(), pose((1, 2, 3), (20, -50, 80)), pose((0, 1, 0), (100, 30, -20))]),
    )
    step, fps = 1e-6, 25.0
    for frame in (1.3, 2.5, 4.9):
        matrix, velocity, spin = velocity_at(motion, frame, fps)
        slope = (pose_at(motion, frame + step) - pose_at(motion, frame - step)) / (2 * step) * fps
        assert slope[:3, 3] == pytest.approx(velocity, abs=1e-7)
        for axis in range(3):
            assert slope[:3, axis] == pytest.approx(np.cross(spin, matrix[:3, axis]), abs=1e-7)


def test_rotation_stays_a_rotation_between_frames():
    motion = Motion(np.array([0.0, 1.0]), np.array([pose(rotation=(10, 20, 30)), pose(rotation=(-160, 70, 95))]))
    for frame in np.linspace(0, 1, 11):
        block = pose_at(motion, frame)[:3, :3]
        assert np.abs(block @ block.T - np.eye(3)).max() < 1e-14


@pytest.mark.parametrize("mirror", [(1, 1, 1), (-1, -1, -1), (-1, 1, 1)])
def test_scale_changes_linearly_also_where_it_mirrors(mirror):
    start, end = np.array([1.0, 2.0, 3.0]) * mirror, np.array([2.0, 3.0, 5.0]) * mirror
    motion = Motion(np.array([0.0, 4.0]), np.array([pose(scale=start), pose(scale=end)]))
    assert pose_at(motion, 1.0) == pytest.approx(pose(scale=0.75 * start + 0.25 * end), abs=1e-13)


def test_pose_is_held_outside_the_frames():
    motion = Motion(np.array([3.0, 5.0]), np.array([pose((1, 0, 0)), pose((3, 0, 0), (0, 0, 90))]))
    for frame, kept in ((-10.0, 0), (2.999, 0), (5.0, 1), (80.0, 1)):
        matrix, velocity, spin = velocity_at(motion, frame, 24.0)
        assert np.array_equal(matrix, motion.matrices[kept])
        assert not velocity.any() and not spin.any()
    assert velocity_at(motion, 3.0, 24.0)[1] == pytest.approx([24.0, 0, 0])


def test_single_frame_is_a_fixed_pose():
    motion = Motion(np.array([1.0]), pose((1, 2, 3))[None])
    assert np.array_equal(pose_at(motion, 0.0), pose_at(motion, 9.0))
    assert not velocity_at(motion, 1.0, 24.0)[1].any()
