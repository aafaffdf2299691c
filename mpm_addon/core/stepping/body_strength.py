"""What a whole brittle body bears: its strength, also if it is damaged, against its weight, its turning and its vibration. Plain numpy."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..forecast.brittle_bodies import turning_stress, weight_stress
from ..laws.brittle import Brittle
from .breaking import CRACKED
from .held_particles import Held
from .material_instances import MaterialInstance
from .rigid_fragments import Piece, inertia_of

Floats = NDArray[np.float64]

# the thickness of a layer that damage is averaged over, in edges of particles, and the share of a body that is a chip of it
LAYER, CHIP = 2.0, 0.03
# the least square of a stretch, for its logarithm
LEAST_SQUARE = 1e-12


def strengths(instances: Sequence[MaterialInstance]) -> tuple[Floats, Floats]:
    """The least strength of each instance along any direction [Pa], and the speed at which waves have that stress [m/s], (n,)."""
    values = np.full((2, len(instances)), np.inf)
    for number, each in enumerate(instances):
        if isinstance(each.law, Brittle):
            strength = each.law.strength_in_cells(each.stiffness_scale) * min(1.0, each.law.grain_strength)
            values[:, number] = strength, strength / (each.law.density * each.law.wave_speed(each.stiffness_scale, each.dimension))
    return values[0], values[1]


def strength_left(rows: Held) -> float:
    """The share of its strength that a body with damage d has left: of its weakest section, mean (1 - d) times the part not cracked.

    A beam that is cracked through half of its height bears a quarter of the moment, and one with the same damage everywhere 1 - d of it.
    Sections are layers across the principal axes; a crack that could only cut off a chip does not count.
    """
    left, is_sound = 1.0 - rows.damage, rows.damage < CRACKED
    total, weakest = float(rows.volume.sum()), 1.0
    if not rows.damage.any():
        return weakest
    edge = float(np.cbrt(np.average(rows.volume, weights=rows.volume)))
    for axis in np.linalg.eigh(np.cov(rows.place.T, aweights=rows.mass, ddof=0))[1].T:
        along = rows.place @ axis
        layer = np.floor(((along - along.min()) / edge + 0.5) / LAYER).astype(np.int64)
        volume, strong, sound = (np.bincount(layer, rows.volume * each) for each in (np.ones_like(left), left, is_sound))
        through = np.cumsum(volume)
        beyond = np.minimum(through, total - through + volume)
        counts = (volume > 0.0) & (beyond >= CHIP * total)
        shares = strong[counts] * sound[counts] / volume[counts] ** 2
        weakest = min(weakest, float(shares.min(initial=1.0)))
    return weakest


def turning_of(piece: Piece) -> float:
    """The angular speed of a piece [rad/s]."""
    return float(np.linalg.norm(np.linalg.solve(inertia_of(piece.rows), piece.spin)))


def bears_turning(rows: Held, turning: float, strength: float) -> bool:
    """Whether a body cannot tear itself apart by its turning [rad/s]."""
    density, reach = _density_and_reach(rows)
    return turning_stress(density, turning, reach) < strength


def bears_weight(rows: Held, strength: float, gravity: float) -> bool:
    """Whether a body cannot break under its weight [m/s^2], wherever it is supported."""
    density, reach = _density_and_reach(rows)
    # the height of a box with the variance of its particles, which are cubes: as points, n layers have s^2 (n^2 - 1) / 12
    own = float(np.average(rows.volume ** (2.0 / 3.0), weights=rows.mass))
    height = math.sqrt(max(12.0 * float(np.linalg.eigvalsh(np.cov(rows.place.T, aweights=rows.mass, ddof=0))[0]), 0.0) + own)
    return weight_stress(density, gravity, reach, height) < strength


def _density_and_reach(rows: Held) -> tuple[float, float]:
    return float(rows.mass.sum() / rows.volume.sum()), float(np.linalg.norm(rows.place, axis=1).max())


def elastic_energy(rows: Held, instances: Sequence[MaterialInstance]) -> float:
    """The elastic energy of particles [J], mu |e|^2 + lambda / 2 tr(e)^2 per volume, with the Hencky strain e."""
    deformation = rows.deformation.reshape(-1, 3, 3)
    strains = 0.5 * np.log(np.maximum(np.linalg.eigvalsh(np.swapaxes(deformation, 1, 2) @ deformation), LEAST_SQUARE))
    energy = 0.0
    for number in np.unique(rows.instance):
        its, instance = rows.instance == number, instances[number]
        law = instance.law
        assert isinstance(law, Brittle)
        mu, lam = law.lame(instance.stiffness_scale)
        energy += float(rows.volume[its] @ (mu * (strains[its] ** 2).sum(axis=1) + 0.5 * lam * strains[its].sum(axis=1) ** 2))
    return energy
