"""Noise in space: three octaves of value noise, a function of position and seed alone.

The values at the points of a lattice are independent random numbers, and those around a position are blended by weights w and
divided by sqrt(sum w^2). Without that division, noise would be weaker between the points of the lattice than at them; with it,
the variance is 1 everywhere.
"""

import itertools

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]

OCTAVES = 3
# amplitude of an octave over that of the one of twice its size
PERSISTENCE = 0.5
# points at a time, which bounds the memory
_CHUNK = 2**16
# standard deviation of the sum of four independent integers below 2^16
_DEVIATION = (4.0 * (2.0**32 - 1.0) / 12.0) ** 0.5
_STRIDES = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)


def noise(points: Floats, size: float, seed: int) -> Floats:
    """Noise of zero mean and unit variance.

    Args:
        points: positions [m], shape (n, 3).
        size: distance of the lattice's points in the coarsest octave [m], about that of a high from the next low.
        seed: another seed gives independent noise.

    Returns:
        shape (n,). A value depends on its own position alone, not on other points.
    """
    amplitudes = PERSISTENCE ** np.arange(OCTAVES)
    amplitudes /= np.linalg.norm(amplitudes)
    generator = np.random.default_rng(seed)
    # octaves whose lattices share points would have their extremes there
    origins, keys = generator.random((OCTAVES, 3)), generator.integers(2**64, size=OCTAVES, dtype=np.uint64)
    values = np.zeros(len(points))
    for start in range(0, len(points), _CHUNK):
        part = points[start : start + _CHUNK] / size
        for octave, amplitude in enumerate(amplitudes):
            values[start : start + _CHUNK] += amplitude * _octave(part * 2.0**octave + origins[octave], keys[octave])
    return values


def _octave(places: Floats, key: np.uint64) -> Floats:
    """Value noise at places (n, 3) in units of the lattice."""
    cells = np.floor(places)
    share = places - cells
    share = share**3 * (share * (6.0 * share - 15.0) + 10.0)
    # numbers of cells wrap around beyond 2^63, where places have no fraction anyway
    lattice = cells.astype(np.int64).astype(np.uint64) * _STRIDES
    total = np.zeros(len(places))
    for corner in itertools.product((0, 1), repeat=3):
        weight = np.prod(np.where(corner, share, 1.0 - share), axis=1)
        total += weight * _random((lattice + np.array(corner, np.uint64) * _STRIDES).sum(axis=1, dtype=np.uint64) + key)
    return total / np.sqrt(np.prod(share**2 + (1.0 - share) ** 2, axis=1))


def _random(numbers: Hashes) -> Floats:
    """A nearly normal random number of unit variance for each integer: the mixer of splitmix64 (Steele, Lea and Flood 2014)."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    parts = np.stack([(mixed >> np.uint64(16 * part)) & np.uint64(0xFFFF) for part in range(4)])
    return (parts.sum(axis=0).astype(np.float64) - 2.0 * (2**16 - 1)) / _DEVIATION
