"""The attributes of particles in a frame, and totals."""

import math

import numpy as np

from ..arithmetic.linalg import determinant, polar_rotation
from ..arithmetic.vector import LANE_COUNT, store
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .blocks import BLOCK, NODE
from .rows import DEFORMATION, FLUID_ROW_COUNT, MASS, POSITION, STATE, STRESS, VELOCITY
from .scheme import axis_weights, dimension_of
from .table import load_matrix, store_matrix


@parallel_kernel
def world_positions(tickets, table, slots, block_of, coordinates, spacing, result):
    """World positions [m] of slots (n,), shape (n, 3); `block_of` is the block of each."""
    for index in shared(tickets[0], slots.size, 1024):
        for axis in range(3):
            cells = np.float64(table[POSITION + axis, slots[index]]) + BLOCK * coordinates[block_of[index], axis]
            result[index, axis] = cells * spacing


@parallel_kernel
def masses_around(tickets, scheme, table, slots, block_of, neighbors, nodes, result):
    """The mass around particles [kg], gathered from the nodes: sum w m.

    Args:
        scheme: see `scheme`.
        table: positions in their blocks [cells].
        slots, block_of: (n,) the particles, and the block of each.
        neighbors: (blocks, 27 or 9) node blocks around each particle block, see `Grid`.
        nodes: (node blocks, 4 * block nodes) the mass is the last of each node's four numbers.
        result: (n,).
    """
    is_in_space = dimension_of(scheme) == 3
    for index in shared(tickets[0], slots.size, 1024):
        slot, around = slots[index], neighbors[block_of[index]]
        cx, _, wx = axis_weights(scheme, np.float64(table[POSITION, slot]))
        cy, _, wy = axis_weights(scheme, np.float64(table[POSITION + 1, slot]))
        cz, _, wz = axis_weights(scheme, np.float64(table[POSITION + 2, slot]))
        total = 0.0
        for i in range(4):
            for j in range(4 if is_in_space else 1):
                for k in range(4):
                    x, y, z = int(cx) - 1 + i, int(cy) - 1 + j, int(cz) - 1 + k
                    weight = wx[i] * wz[k]
                    if is_in_space:
                        place = 9 * (x // BLOCK + 1) + 3 * (y // BLOCK + 1) + z // BLOCK + 1
                        node = (x % BLOCK * BLOCK + y % BLOCK) * BLOCK + z % BLOCK
                        weight *= wy[j]
                    else:
                        place, node = 3 * (x // BLOCK + 1) + z // BLOCK + 1, x % BLOCK * BLOCK + z % BLOCK
                    if weight > 0.0:
                        total += weight * nodes[around[place], NODE * node + 3]
        result[index] = total


@parallel_kernel(allocates=True)
def show_particles(tickets, table, places, is_fluid, volume_ratios, stress, rotation, stretch):
    """Compute the attributes of a frame that describe deformation and stress.

    Args:
        table: (rows, slots), whole vectors of slots; without rows for F if all particles are fluid.
        places: (slots,) index of each slot's particle in the results, -1 for massless copies.
        is_fluid: (slots,) whether the particle stores J as its state and no F.
        volume_ratios: (n,) result: J.
        stress: (n,) result: von Mises equivalent of the Cauchy stress [Pa].
        rotation: (n, 4) result: quaternion w, x, y, z of the polar rotation of F.
        stretch: (n, 3) result: length of each column of F, the deformed length of a unit edge along x, y and z.
    """
    rotations = np.empty((9, LANE_COUNT), table.dtype)
    deformations = np.empty((9, LANE_COUNT), table.dtype)
    ratios = np.empty(LANE_COUNT, table.dtype)
    for group in shared(tickets[0], places.size // LANE_COUNT, 64):
        begin = group * LANE_COUNT
        if table.shape[0] > FLUID_ROW_COUNT:
            f = load_matrix(table, DEFORMATION, begin)
            store_matrix(rotations, 0, 0, polar_rotation(f))
            store_matrix(deformations, 0, 0, f)
            store(ratios, 0, determinant(f))
        for lane in range(LANE_COUNT):
            slot = begin + lane
            index = places[slot]
            if index < 0:
                continue
            if is_fluid[slot]:
                volume_ratio = np.float64(table[STATE, slot])
                rotation[index, 0], rotation[index, 1], rotation[index, 2], rotation[index, 3] = 1.0, 0.0, 0.0, 0.0
                stretch[index] = max(volume_ratio, 0.0) ** (1.0 / 3.0)
            else:
                volume_ratio = np.float64(ratios[lane])
                write_quaternion(rotations[:, lane], rotation[index])
                for axis in range(3):
                    along = deformations[axis, lane] ** 2 + deformations[axis + 3, lane] ** 2 + deformations[axis + 6, lane] ** 2
                    stretch[index, axis] = math.sqrt(along)
            volume_ratios[index] = volume_ratio
            xx, xy, xz = table[STRESS, slot], table[STRESS + 1, slot], table[STRESS + 2, slot]
            yy, yz, zz = table[STRESS + 3, slot], table[STRESS + 4, slot], table[STRESS + 5, slot]
            shear = 0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3.0 * (xy**2 + xz**2 + yz**2)
            stress[index] = math.sqrt(shear) / max(volume_ratio, 1e-6)


@kernel
def write_quaternion(r, result):
    """The unit quaternion w, x, y, z with w >= 0 of a rotation, 9 numbers (Shepperd 1978)."""
    a, b, c = np.float64(r[0]), np.float64(r[1]), np.float64(r[2])
    d, e, f = np.float64(r[3]), np.float64(r[4]), np.float64(r[5])
    g, h, i = np.float64(r[6]), np.float64(r[7]), np.float64(r[8])
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


@parallel_kernel
def totals(tickets, particles, result):
    """Mass, momentum and kinetic energy of each piece of work: (pieces, 5) [kg, kg m/s, J]; massless copies add nothing."""
    table, (first, pieces, instance_count) = particles.table, particles.runs
    for piece in shared(tickets[0], pieces.size - 1, 1):
        mass, mx, my, mz, energy = 0.0, 0.0, 0.0, 0.0, 0.0
        for slot in range(first[pieces[piece] * instance_count], first[pieces[piece + 1] * instance_count]):
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
