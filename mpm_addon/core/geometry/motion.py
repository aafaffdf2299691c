"""The pose and velocity of an object between the frames that a scene specifies. Plain numpy.

A pose matrix is split into translation, rotation and scale (M = R S, S symmetric; S is negative if M mirrors). Between two frames,
translation and scale change linearly, and the rotation is about a fixed axis at a constant rate (the geodesic of SO(3)). The vertices of a
deforming mesh move on straight lines at constant velocities from frame to frame. Before the first and after the last frame, the pose is
constant.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..scene.animation import Motion
from .rotation import Floats, rotation_matrix, rotation_vector


def pose_at(motion: Motion, frame: float) -> Floats:
    """The pose of a `Motion` at a (fractional) frame: world from local, shape (4, 4)."""
    first, second, share = interval(motion, frame)
    matrices = _matrices(motion)
    return matrices[first].copy() if first == second else _way(matrices[first], matrices[second]).at(share)


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
    way = _way(start, end)
    return way.at(share), (end[:3, 3] - start[:3, 3]) * rate, way.turn * rate


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


class _Way(NamedTuple):
    """The way from one pose to another: both, their scales (3, 3), the first rotation (3, 3), and the turn between them [rad], (3,)."""

    start: Floats
    end: Floats
    start_scale: Floats
    end_scale: Floats
    start_rotation: Floats
    turn: Floats

    def at(self, share: float) -> Floats:
        """The pose at a share of the way, (4, 4)."""
        pose = np.eye(4)
        scale = (1.0 - share) * self.start_scale + share * self.end_scale
        pose[:3, :3] = rotation_matrix(share * self.turn) @ self.start_rotation @ scale
        pose[:3, 3] = (1.0 - share) * self.start[:3, 3] + share * self.end[:3, 3]
        return pose


def _way(start: Floats, end: Floats) -> _Way:
    return _known_way(start.tobytes(), end.tobytes())


# every substep asks for the pose of each collider, and its way changes once a frame
@lru_cache(maxsize=256)
def _known_way(start_bytes: bytes, end_bytes: bytes) -> _Way:
    start, end = (np.frombuffer(pose).reshape(4, 4) for pose in (start_bytes, end_bytes))
    start_rotation, start_scale = _rotation_and_scale(start)
    end_rotation, end_scale = _rotation_and_scale(end)
    return _Way(start, end, start_scale, end_scale, start_rotation, rotation_vector(end_rotation @ start_rotation.T))


def _rotation_and_scale(matrix: Floats) -> tuple[Floats, Floats]:
    """The polar decomposition of the upper left 3x3 block, with a proper rotation even if it mirrors."""
    block = matrix[:3, :3]
    mirror = -1.0 if np.linalg.det(block) < 0.0 else 1.0
    left, sizes, right = np.linalg.svd(mirror * block)
    if np.linalg.det(left @ right) < 0.0:  # only where a size is zero, so its sign is free
        left[:, 2] = -left[:, 2]
    rotation = np.asarray(left @ right, dtype=np.float64)
    return rotation, mirror * (right.T * sizes) @ right
