"""A block of jelly on a slope by other means: finite elements with exact unilateral contact at their nodes, in two dimensions.

Bilinear elements in the rest state with four integration points, damped Neo-Hookean rubber in plane strain, lumped masses and symplectic
Euler. A node that would get below the slope gets the impulse that stops it there, and friction opposes its sliding (Coulomb).
"""

import itertools
from typing import NamedTuple

import numpy as np

from mpm_addon.core.laws.damped_elastic import DampedElastic
from tests.verification.cases.setting import GRAVITY, Floats

# an unstable step is about twice as long
WAVE_SHARE, DIFFUSION_SHARE = 0.25, 0.05
EDGES = 16


class Elements(NamedTuple):
    """A block of bilinear elements.

    Attributes:
        corners: the nodes of each, shape (elements, 4).
        slopes: of the shape functions at the integration points, shape (4, 4, 2).
        weight: area of an integration point [m^2].
        mass: of the nodes [kg/m], shape (nodes,).
    """

    corners: np.ndarray
    slopes: Floats
    weight: float
    mass: Floats


def block_of_elements(size: tuple[float, float], law: DampedElastic) -> tuple[Elements, Floats]:
    """A block [m], and the places of its nodes (nodes, 2) [m]: a corner lies at the origin."""
    counts = EDGES, round(EDGES * size[1] / size[0])
    place = np.stack(np.meshgrid(*(np.linspace(0.0, its, n + 1) for its, n in zip(size, counts, strict=True)), indexing="ij"), axis=-1)
    number = np.arange(place.size // 2).reshape(place.shape[:2])
    corners = np.stack([number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1).reshape(-1, 4)
    edges = np.array(size) / counts
    signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    points = np.array(list(itertools.product((-1.0, 1.0), repeat=2))) / np.sqrt(3.0)
    slopes = np.array([0.25 * signs * (1.0 + signs[:, ::-1] * point[::-1]) for point in points]) * 2.0 / edges
    area = float(edges.prod())
    mass = np.bincount(corners.reshape(-1), np.full(corners.size, law.density * area / 4.0))
    return Elements(corners, slopes, area / 4.0, mass), place.reshape(-1, 2)


def forces(elements: Elements, place: Floats, velocity: Floats, law: DampedElastic) -> Floats:
    """The forces on the nodes [N/m], shape (nodes, 2)."""
    mu, lam = law.lame(1.0)
    gradient, rate = (np.einsum("eai,gaj->egij", each[elements.corners], elements.slopes) for each in (place, velocity))
    ratio, inverse, one = np.linalg.det(gradient)[..., None, None], np.linalg.inv(gradient), np.eye(2)
    flow = rate @ inverse
    growth = np.trace(flow, axis1=-2, axis2=-1)[..., None, None]
    stress = mu * (gradient @ gradient.swapaxes(-1, -2) - one) + lam * np.log(ratio) * one
    stress = stress + law.damping_time * ratio * (mu * (flow + flow.swapaxes(-1, -2)) + lam * growth * one)
    each = -elements.weight * np.einsum("egij,gaj->eai", stress @ inverse.swapaxes(-1, -2), elements.slopes)
    found = np.zeros_like(place)
    np.add.at(found, elements.corners.reshape(-1), each.reshape(-1, 2))
    return found


def slid(angle: float, friction: float, *, size: tuple[float, float], law: DampedElastic, seconds: float) -> float:
    """The mean speed down a slope [m/s] of a block [m] that is released on it.

    Args:
        angle: of the slope [degrees].
        friction: Coulomb coefficient.
        size: of the block along the slope and away from it [m].
        law: of its material.
        seconds: since it was released [s].
    """
    elements, place = block_of_elements(size, law)
    velocity = np.zeros_like(place)
    gravity = GRAVITY * np.array([np.sin(np.radians(angle)), -np.cos(np.radians(angle))])
    mu, lam = law.lame(1.0)
    edge = size[0] / EDGES
    squared = (lam + 2.0 * mu) / law.density
    step = min(WAVE_SHARE * edge / np.sqrt(squared), DIFFUSION_SHARE * edge**2 / (law.damping_time * squared))
    count = int(np.ceil(seconds / step))
    dt = seconds / count
    for _ in range(count):
        velocity = velocity + dt * (forces(elements, place, velocity, law) / elements.mass[:, None] + gravity)
        pressing = np.maximum(0.0, -place[:, 1] / dt - velocity[:, 1])
        velocity[:, 1] += pressing
        sliding = velocity[:, 0]
        velocity[:, 0] = np.sign(sliding) * np.maximum(np.abs(sliding) - friction * pressing, 0.0)
        place = place + dt * velocity
    return float(elements.mass @ velocity[:, 0] / elements.mass.sum())
