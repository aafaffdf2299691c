"""Shapes whose exact distance is a formula."""

from abc import abstractmethod

import numpy as np

from ...scene.shape import Floats, Shape


class ClosedForm(Shape):
    """A shape whose distance and normal are closed forms, exact everywhere, inside and outside."""

    @abstractmethod
    def distance_and_normal(self, points: Floats) -> tuple[Floats, Floats]:
        """The signed distance [m] of points (n, 3), shape (n,), and its gradient, unit vectors (n, 3).

        If several surface points are equally near (at the center of a sphere), the normal is that of one of them.
        """

    def signed_distance(self, points: Floats) -> Floats:
        return self.distance_and_normal(points)[0]


def distance_to_corner(slabs: Floats) -> tuple[Floats, Floats]:
    """Distance to the region where all coordinates are negative, and its gradient.

    Args:
        slabs: signed distance from each bounding plane [m], shape (n, k).

    Returns:
        Distance (n,) and unit gradient (n, k): from the nearest point of the corner if outside, from the nearest plane if inside.
    """
    outward = np.maximum(slabs, 0.0)
    outside = np.sqrt(np.einsum("ij,ij->i", outward, outward))
    nearest = np.argmax(slabs, axis=1)
    depth = np.take_along_axis(slabs, nearest[:, None], axis=1)[:, 0]
    gradient = np.zeros_like(slabs)
    np.put_along_axis(gradient, nearest[:, None], 1.0, axis=1)
    is_outside = outside > 0.0
    gradient[is_outside] = outward[is_outside] / outside[is_outside, None]
    return np.where(is_outside, outside, depth), gradient


def length_and_direction(vectors: Floats) -> tuple[Floats, Floats]:
    """The lengths (n,) and unit directions (n, k) of vectors (n, k); the last axis if a length is zero."""
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    direction = np.zeros_like(vectors)
    direction[:, -1] = 1.0
    np.divide(vectors, length[:, None], out=direction, where=length[:, None] > 0.0)
    return length, direction
