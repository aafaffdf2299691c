"""Snow breaks into chunks and powder: the pieces of a snowball that has hit a wall."""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from mpm_addon.core.scene.description import Scene
from mpm_addon.core.scene.randomness import UNIFORM
from mpm_addon.core.stepping.simulation import Simulation
from tests.verification.cases.setting import Floats

from .setting import everyday_scene

# Particles nearer than this belong together [particle spacings].
REACH = 1.5
# A piece has at least this share of the mass; what is smaller is powder.
LEAST_SHARE = 0.01
# What is compared between resolutions has the same seeds: they differ by more than resolutions do.
SEEDS = range(5)


def pieces(position: Floats, spacing: float) -> Floats:
    """The pieces of particles of equal mass, as shares of the mass, the largest first.

    Args:
        position: [m], shape (n, 3).
        spacing: of the particles at rest [m].
    """
    pairs = cKDTree(position).query_pairs(REACH * spacing, output_type="ndarray")
    links = coo_matrix((np.ones(len(pairs)), pairs.T), (len(position), len(position)))
    _, labels = connected_components(links, directed=False)
    shares = np.sort(np.bincount(labels))[::-1] / len(position)
    return shares[shares >= LEAST_SHARE]


def snowball(*, particles: int, seed: int = 0, is_random: bool = True) -> Scene:
    """The scene, on the grid on which the ball has about so many particles, eight in each cell."""
    scene = everyday_scene("snowball")
    (ball,) = scene.emitters
    spacing = (8.0 * ball.shape.volume() / particles) ** (1.0 / 3.0)
    randomness = replace(ball.randomness, seed=seed) if is_random else UNIFORM
    solver = replace(scene.solver, grid_spacing=spacing, seed=seed)
    return replace(scene, solver=solver, emitters=(replace(ball, randomness=randomness),))


@lru_cache
def broken(*, particles: int, seed: int = 0, is_random: bool = True) -> Floats:
    """The pieces a tenth of a second after the impact, as `pieces` gives them."""
    scene = snowball(particles=particles, seed=seed, is_random=is_random)
    *_, last = Simulation(scene).frames()
    return pieces(last.position.astype(np.float64), 0.5 * scene.solver.grid_spacing)


def largest(*, particles: int, seeds: Iterable[int] = SEEDS) -> float:
    """The mass of the three largest pieces over that of the ball, median of some seeds, which are patterns of weak spots."""
    return float(np.median([broken(particles=particles, seed=seed)[:3].sum() for seed in seeds]))


def powder(*, particles: int, seeds: Iterable[int] = SEEDS) -> float:
    """The mass that is in no piece over that of the ball, median of some seeds."""
    return float(np.median([1.0 - broken(particles=particles, seed=seed).sum() for seed in seeds]))
