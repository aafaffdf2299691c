"""The pose and velocity of an object between the frames that a scene specifies. Plain numpy.

A pose matrix is split into translation, rotation and scale (M = R S, S symmetric; S is negative if M mirrors). Between two frames,
translation and scale change linearly, and the rotation is about a fixed axis at a constant rate (the geodesic of SO(3)). The vertices of a
deforming mesh move on straight lines at constant velocities from frame to frame. Before the first and after the last frame, the pose is
constant.
"""

import numpy as np

from ..scene.animation import Motion
from .rotation import Floats, rotation_matrix, rotation_vector


def pose_at(motion: Motion, frame: float) -> Floats:
    """The pose of a `Motion` at a (fractional) frame: world from local, shape (4, 4)."""
    first, second, share = interval(motion, frame)
    matrices = _matrices(motion)
    return matrices[first].copy() if first == second else _between(matrices[first], matrices[second], share)


def velocity_at(motion: Motion, frame: float, frame_rate: float) -> tuple[Floats, Floats, Floats]:
    """The pose of a `Motion` at a (fractional) frame, and its velocity from then on.

    Args:
        motion: a `Motion` with `frames` (k,) and `matrices` (k, 4, 4).
        frame: frame number; at a given frame, the velocity is that of the interval that begins there.
        frame_rate: frames per second of simulated time [1/s].

    Returns:
        World from local (4, 4), velocity of the local origin [m/s] (3,), angular velocity in world axes [rad/s] (3,).
        A change of scale is part of the pose, but not of these velocities.
    """
    first, second, share = interval(motion, frame)
    matrices = _matrices(motion)
    start, end = matrices[first], matrices[second]
    if first == second:
        return start.copy(), np.zeros(3), np.zeros(3)
    rate = frame_rate / float(motion.frames[second] - motion.frames[first])
    turn = rotation_vector(_rotation_and_scale(end)[0] @ _rotation_and_scale(start)[0].T)
    return _between(start, end, share), (end[:3, 3] - start[:3, 3]) * rate, turn * rate


def vertices_at(motion: Motion, frame: float, frame_rate: float) -> tuple[Floats, Floats]:
    """The positions of a deforming mesh's vertices at a (fractional) frame, and their velocities from then on.

    Args:
        motion: a `Motion` with `frames` (k,) and `vertices` (k, n, 3).
        frame: frame number; at a given frame, the velocity is that of the interval that begins there.
        frame_rate: frames per second of simulated time [1/s].

    Returns:
        Positions [m] (n, 3) and the velocities [m/s] (n, 3) that lead to the positions at the next given frame.
    """
    if motion.vertices is None:
        raise ValueError("the motion is that of a rigid shape and has no vertices")
    first, second, share = interval(motion, frame)
    start, end = (np.asarray(motion.vertices[number], dtype=np.float64) for number in (first, second))
    if first == second:
        return start, np.zeros_like(start)
    rate = frame_rate / float(motion.frames[second] - motion.frames[first])
    return (1.0 - share) * start + share * end, (end - start) * rate


def _matrices(motion: Motion) -> Floats:
    if motion.matrices is None:
        raise ValueError("the motion is that of a deforming mesh and has no pose")
    return np.asarray(motion.matrices, dtype=np.float64)


def interval(motion: Motion, frame: float) -> tuple[int, int, float]:
    """The indices of the frames around `frame`, and its relative place between them; one index twice where the pose is constant."""
    frames = np.asarray(motion.frames, dtype=np.float64)
    first = int(np.searchsorted(frames, frame, side="right")) - 1
    if first < 0 or first == len(frames) - 1:
        return (0, 0, 0.0) if first < 0 else (first, first, 0.0)
    return first, first + 1, float((frame - frames[first]) / (frames[first + 1] - frames[first]))


def _between(start: Floats, end: Floats, share: float) -> Floats:
    start_rotation, start_scale = _rotation_and_scale(start)
    end_rotation, end_scale = _rotation_and_scale(end)
    turn = rotation_vector(end_rotation @ start_rotation.T)
    pose = np.eye(4)
    pose[:3, :3] = rotation_matrix(share * turn) @ start_rotation @ ((1.0 - share) * start_scale + share * end_scale)
    pose[:3, 3] = (1.0 - share) * start[:3, 3] + share * end[:3, 3]
    return pose


def _rotation_and_scale(matrix: Floats) -> tuple[Floats, Floats]:
    """The polar decomposition of the upper left 3x3 block, with a proper rotation even if it mirrors."""
    block = matrix[:3, :3]
    mirror = -1.0 if np.linalg.det(block) < 0.0 else 1.0
    left, sizes, right = np.linalg.svd(mirror * block)
    if np.linalg.det(left @ right) < 0.0:  # only where a size is zero, so its sign is free
        left[:, 2] = -left[:, 2]
    rotation = np.asarray(left @ right, dtype=np.float64)
    return rotation, mirror * (right.T * sizes) @ right
