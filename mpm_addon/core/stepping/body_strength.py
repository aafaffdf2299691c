"""What a whole brittle body bears: its strength, also if it is damaged, against its weight, its turning and its vibration. Plain numpy."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..bonds import neighbors
from ..components import components
from ..forecast.brittle_bodies import turning_stress, weight_stress
from ..laws.brittle import Brittle
from .breaking import CRACKED
from .held_particles import Held
from .material_instances import MaterialInstance
from .rigid_fragments import Piece, inertia_of

Floats = NDArray[np.float64]

# the share of a body that is a chip of it, the least of one that is a layer of it, and the steps by which layers begin, of their thickness
CHIP, LEAST_LAYER, STEPS = 0.03, 1e-4, 4
# Patches of damage show where cracks run: their size in edges of particles, and how thin they must be, in variances.
PATCH, FLATNESS = 4, 0.4
# normals as near as this count once, and so many at most
ALIKE, MOST_NORMALS = 0.1, 48
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
    Sections are layers as thick as a particle, across the principal axes and along the cracks, wherever they begin. If sound particles are
    no longer connected, nothing is left. A crack that could only cut off a chip does not count.
    """
    left, is_sound = 1.0 - rows.damage, rows.damage < CRACKED
    if not rows.damage.any():
        return 1.0
    edge = float(np.cbrt(np.average(rows.volume, weights=rows.volume)))
    if _is_cut(rows, is_sound, edge):
        return 0.0
    weakest, own = 1.0, np.linalg.eigh(np.cov(rows.place.T, aweights=rows.mass, ddof=0))[1].T
    weights = np.stack([rows.volume, rows.volume * left, rows.volume * is_sound])
    for axis in (*own, *_crack_normals(rows, edge)):
        weakest = min(weakest, _weakest_layer(rows.place @ axis / edge, weights))
    return weakest


def _weakest_layer(along: Floats, weights: Floats) -> float:
    """The least share of strength of the layers across an axis.

    Args:
        along: particles along the axis [edges of particles], (n,).
        weights: of each particle the volume, that times what damage has left, and that if it is sound [m^3], (3, n).
    """
    step = np.floor((along - along.min()) * STEPS + 0.5).astype(np.int64)
    # volumes up to the end of each step, after as many empty ones as a layer has
    up_to = np.array([np.cumsum(np.bincount(step + STEPS, each)) for each in weights])
    volume, strong, sound = up_to[:, STEPS:] - up_to[:, :-STEPS]
    total = float(weights[0].sum())
    beyond = np.minimum(up_to[0, STEPS:], total - up_to[0, :-STEPS])
    counts = (volume > LEAST_LAYER * total) & (beyond >= CHIP * total)
    return float((strong[counts] * sound[counts] / volume[counts] ** 2).min(initial=1.0))


def _is_cut(rows: Held, is_sound: NDArray[np.bool_], edge: float) -> bool:
    """Whether neighbors no longer connect the sound particles, except for chips."""
    if is_sound.all():
        return False
    if not is_sound.any():
        return True
    place, volume = rows.place[is_sound], rows.volume[is_sound]
    starts, ends = neighbors(place, edge).T
    part = np.arange(len(place))
    part[starts] = part[ends] = components(starts, ends, len(place))
    sizes = np.bincount(part, volume)
    return float(sizes.sum() - sizes.max()) >= CHIP * float(rows.volume.sum())


def _crack_normals(rows: Held, edge: float) -> Floats:
    """The directions across damage: in patches of it that are flat, and of all of it, (m, 3)."""
    its = rows.damage > 0.0
    # a high power, so that cracks show in matter with little damage
    place, weight = rows.place[its] / edge, (rows.damage[its] / rows.damage.max()) ** 4 * rows.volume[its]
    patch = np.unique(np.floor((place - place.min(axis=0)) / PATCH).astype(np.int64), axis=0, return_inverse=True)[1].ravel()
    # all of it is one more patch
    patch = np.concatenate([patch, np.full(len(place), patch.max() + 1)])
    place, weight = np.tile(place, (2, 1)), np.tile(weight, 2)
    mass = np.bincount(patch, weight)
    center = np.stack([np.bincount(patch, weight * column) for column in place.T], axis=1) / mass[:, None]
    apart = place - center[patch]
    products = (apart[:, :, None] * apart[:, None, :]).reshape(-1, 9)
    spread = np.stack([np.bincount(patch, weight * column) for column in products.T], axis=1).reshape(-1, 3, 3) / mass[:, None, None]
    values, axes = np.linalg.eigh(spread)
    is_flat = (values[:, 0] < FLATNESS * values[:, 1]) & (np.bincount(patch) >= PATCH)
    normals, mass = axes[is_flat, :, 0], mass[is_flat]
    largest = np.take_along_axis(normals, np.abs(normals).argmax(axis=1)[:, None], axis=1)
    turned = np.where(largest < 0.0, -normals, normals)
    # those that are almost the same count once, and of many, those of most damage
    _, kind = np.unique(np.round(turned / ALIKE), axis=0, return_inverse=True)
    order = np.argsort(-mass, kind="stable")
    _, first = np.unique(kind.ravel()[order], return_index=True)
    return turned[order[np.sort(first)[:MOST_NORMALS]]]


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
