"""Rotations in space: Euler angles, and the logarithm and exponential of SO(3). Plain numpy."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def euler_matrix(angles: tuple[float, float, float]) -> Floats:
    """The rotation R = Rz Ry Rx of XYZ Euler angles [degrees], as Blender's "XYZ" order; shape (3, 3).

    Quarter turns are exact, so that the faces of a box rotated by 90 degrees stay exactly aligned.
    """
    (sx, sy, sz), (cx, cy, cz) = zip(*(_sine_and_cosine(angle) for angle in angles), strict=True)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]], dtype=np.float64)
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]], dtype=np.float64)
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]], dtype=np.float64)
    return about_z @ about_y @ about_x


def _sine_and_cosine(degrees: float) -> tuple[float, float]:
    quarters, rest = divmod(degrees, 90.0)
    if rest == 0.0:
        return ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))[int(quarters) % 4]
    return math.sin(math.radians(degrees)), math.cos(math.radians(degrees))


def cross_matrix(vector: ArrayLike) -> Floats:
    """The matrix [w]x with [w]x r = w x r, shape (3, 3)."""
    x, y, z = np.asarray(vector, dtype=np.float64)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def quaternion_of(rotation: ArrayLike) -> Floats:
    """The unit quaternion (w, x, y, z) with w >= 0 of a rotation matrix (3, 3), shape (4,)."""
    rotation = np.asarray(rotation, dtype=np.float64)
    # by the largest component, which is accurate both near 0 and near pi (Shepperd 1978)
    squares = np.array([1 + np.trace(rotation), *(1 + 2 * np.diag(rotation) - np.trace(rotation))])
    skew = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    largest = int(np.argmax(squares))
    if largest == 0:
        quaternion = np.array([squares[0], *skew])
    else:
        axis = largest - 1
        vector = rotation[axis] + rotation[:, axis]
        vector[axis] = squares[largest]
        quaternion = np.array([skew[axis], *vector])
    return quaternion / (np.linalg.norm(quaternion) * (-1.0 if quaternion[0] < 0.0 else 1.0))


def quaternion_products(first: Floats, second: Floats) -> Floats:
    """The quaternions of rotations by the second and then the first, (n, 4), with w >= 0."""
    scalar = first[:, :1] * second[:, :1] - (first[:, 1:] * second[:, 1:]).sum(axis=1, keepdims=True)
    vector = first[:, :1] * second[:, 1:] + second[:, :1] * first[:, 1:] + np.cross(first[:, 1:], second[:, 1:])
    return np.hstack([scalar, vector]) * np.where(scalar < 0.0, -1.0, 1.0)


def rotation_vector(rotation: ArrayLike) -> Floats:
    """The logarithm of a rotation matrix (3, 3): axis times angle [rad], angle in [0, pi], shape (3,)."""
    quaternion = quaternion_of(rotation)
    length = float(np.linalg.norm(quaternion[1:]))
    if length == 0.0:
        return np.zeros(3)
    return quaternion[1:] * (2.0 * math.atan2(length, quaternion[0]) / length)


def rotation_matrix(vector: ArrayLike) -> Floats:
    """The exponential of a rotation vector [rad] (Rodrigues 1840), shape (3, 3)."""
    vector = np.asarray(vector, dtype=np.float64)
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    axis = cross_matrix(vector / angle)
    return np.eye(3) + math.sin(angle) * axis + (2.0 * math.sin(0.5 * angle) ** 2) * (axis @ axis)


def rotation_matrices(vectors: Floats) -> Floats:
    """`rotation_matrix` of many rotation vectors (n, 3) [rad], shape (n, 3, 3)."""
    angles = np.linalg.norm(vectors, axis=1)
    axes = vectors / np.where(angles == 0.0, 1.0, angles)[:, None]
    cross = np.zeros((len(vectors), 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -axes[:, 2], axes[:, 1], -axes[:, 0]
    cross -= cross.transpose(0, 2, 1)
    sine, half = np.sin(angles)[:, None, None], np.sin(0.5 * angles)[:, None, None]
    return np.eye(3) + sine * cross + (2.0 * half**2) * (cross @ cross)
