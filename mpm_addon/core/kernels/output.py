"""What a frame shows of the particles, and their sums."""

import math

import numpy as np
from numba import prange

from .blocks import BLOCK
from .compilation import kernel
from .linalg import determinant, polar_rotation
from .rows import DEFORMATION, MASS, POSITION, STATE, STRESS, VELOCITY


@kernel(parallel=True)
def world_positions(table, slots, block_of, coordinates, spacing, result):
    """World positions [m] of slots (n,), shape (n, 3); `block_of` gives the block of each."""
    for index in prange(slots.size):
        for axis in range(3):
            cells = np.float64(table[POSITION + axis, slots[index]]) + BLOCK * coordinates[block_of[index], axis]
            result[index, axis] = cells * spacing


@kernel(parallel=True)
def show_particles(table, slots, is_fluid, density_ratio, stress, rotation):
    """What can be seen of the deformation of slots (n,).

    Args:
        is_fluid: (n,) whether the particle keeps J as its state and no F.
        density_ratio: (n,) result: J.
        stress: (n,) result: von Mises equivalent of the Cauchy stress [Pa].
        rotation: (n, 4) result: quaternion w, x, y, z of the polar rotation of F.
    """
    for index in prange(slots.size):
        slot = slots[index]
        if is_fluid[index]:
            volume_ratio = np.float64(table[STATE, slot])
            rotation[index, 0], rotation[index, 1], rotation[index, 2], rotation[index, 3] = 1.0, 0.0, 0.0, 0.0
        else:
            f = deformation_of(table, slot)
            volume_ratio = determinant(f)
            write_quaternion(polar_rotation(f), rotation[index])
        density_ratio[index] = volume_ratio
        xx, xy, xz = table[STRESS, slot], table[STRESS + 1, slot], table[STRESS + 2, slot]
        yy, yz, zz = table[STRESS + 3, slot], table[STRESS + 4, slot], table[STRESS + 5, slot]
        shear = 0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3.0 * (xy**2 + xz**2 + yz**2)
        stress[index] = math.sqrt(shear) / max(volume_ratio, 1e-6)


@kernel
def deformation_of(table, slot):
    """F of one slot, 9 values."""
    return (
        np.float64(table[DEFORMATION, slot]), np.float64(table[DEFORMATION + 1, slot]), np.float64(table[DEFORMATION + 2, slot]),
        np.float64(table[DEFORMATION + 3, slot]), np.float64(table[DEFORMATION + 4, slot]), np.float64(table[DEFORMATION + 5, slot]),
        np.float64(table[DEFORMATION + 6, slot]), np.float64(table[DEFORMATION + 7, slot]), np.float64(table[DEFORMATION + 8, slot]),
    )  # fmt: skip


@kernel
def write_quaternion(r, result):
    """The unit quaternion w, x, y, z with w >= 0 of a rotation (Shepperd 1978)."""
    a, b, c, d, e, f, g, h, i = r
    trace = a + e + i
    if trace >= max(a, e, i):
        w, x, y, z = 1.0 + trace, h - f, c - g, d - b
    elif a >= max(e, i):
        w, x, y, z = h - f, 1.0 + a - e - i, b + d, c + g
    elif e >= i:
        w, x, y, z = c - g, b + d, 1.0 - a + e - i, f + h
    else:
        w, x, y, z = d - b, c + g, f + h, 1.0 - a - e + i
    scale = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    scale = -scale if w < 0.0 else scale
    result[0], result[1], result[2], result[3] = scale * w, scale * x, scale * y, scale * z


@kernel(parallel=True)
def totals(table, pieces, first, material_count, result):
    """Mass, momentum and kinetic energy of each piece: (pieces, 5) [kg, kg m/s, J]; weightless copies add nothing."""
    for piece in prange(pieces.size - 1):
        mass, mx, my, mz, energy = 0.0, 0.0, 0.0, 0.0, 0.0
        for slot in range(first[pieces[piece] * material_count], first[pieces[piece + 1] * material_count]):
            m = np.float64(table[MASS, slot])
            u, v, w = np.float64(table[VELOCITY, slot]), np.float64(table[VELOCITY + 1, slot]), np.float64(table[VELOCITY + 2, slot])
            mass += m
            mx += m * u
            my += m * v
            mz += m * w
            energy += 0.5 * m * (u * u + v * v + w * w)
        result[piece, 0] = mass
        result[piece, 1], result[piece, 2], result[piece, 3] = mx, my, mz
        result[piece, 4] = energy
