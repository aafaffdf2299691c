"""Material on a grid: how full the space around each node is, and the velocity there, from the particles of one frame.

Nodes are a grid spacing apart, in blocks of 4^3, and exist only near particles. Weights are those of the quadratic B-spline.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..errors import MpmError
from ..transfer.blocks import find, insert

# Blocks are numbered along each axis with so many bits; particles farther from the origin are left out.
_BITS = 21
_MIDDLE = 1 << (_BITS - 1)
BLOCK_NODES = 64
# The sizes of the hash table; twice as large as the number of blocks, each of which takes a kilobyte.
_FIRST_TABLE, _LARGEST_TABLE = 1 << 14, 1 << 22
_GRAIN = 2048


class Fill(NamedTuple):
    """Material at a frame.

    Attributes:
        spacing: between nodes [m].
        keys, slots: a hash table with the number of each block.
        around: (blocks, 8) the numbers of a block and the next ones along x, y and z; 0 where there is none.
        nodes: (64 blocks, 4) fullness, which is 1 inside the material, and velocity [m/s]; those of block 0 are empty.
    """

    spacing: float
    keys: NDArray[np.int64]
    slots: NDArray[np.int64]
    around: NDArray[np.int32]
    nodes: NDArray[np.float32]


@kernel
def key_of(x, y, z):
    """The key of a block, or -1 if it is too far away."""
    if max(abs(x), abs(y), abs(z)) >= _MIDDLE - 2:
        return np.int64(-1)
    return ((x + _MIDDLE) << (2 * _BITS)) | ((y + _MIDDLE) << _BITS) | (z + _MIDDLE)


@kernel
def find_blocks(position, spacing, keys, slots, unique):
    """Number the blocks with nodes near particles from 1, in order of first appearance.

    Args:
        position: (n, 3) [m].
        spacing: between nodes [m].
        keys, slots: an empty hash table.
        unique: result: the key of each block; half as long as the table.

    Returns:
        The number of blocks, including the empty block 0; -1 if the table is too small.
    """
    count, last_low, last_high = 1, np.int64(-1), np.int64(-1)
    for particle in range(position.shape[0]):
        low_x = math.floor(position[particle, 0] / spacing - 0.5)
        low_y = math.floor(position[particle, 1] / spacing - 0.5)
        low_z = math.floor(position[particle, 2] / spacing - 0.5)
        low = key_of(low_x >> 2, low_y >> 2, low_z >> 2)
        high = key_of((low_x + 2) >> 2, (low_y + 2) >> 2, (low_z + 2) >> 2)
        if low < 0 or high < 0 or (low == last_low and high == last_high):
            continue
        last_low, last_high = low, high
        for x in range(low_x >> 2, ((low_x + 2) >> 2) + 1):
            for y in range(low_y >> 2, ((low_y + 2) >> 2) + 1):
                for z in range(low_z >> 2, ((low_z + 2) >> 2) + 1):
                    key = key_of(x, y, z)
                    if insert(keys, slots, key, count) == count:
                        if count + 1 >= unique.size:
                            return -1
                        unique[count] = key
                        count += 1
    return count


@kernel
def link_blocks(unique, count, keys, slots, around):
    """Find the blocks next to each other; see `Fill.around`."""
    for corner in range(8):
        around[0, corner] = 0
        step = np.int64(corner >> 2) << (2 * _BITS) | np.int64((corner >> 1) & 1) << _BITS | np.int64(corner & 1)
        for block in range(1, count):
            around[block, corner] = max(find(keys, slots, unique[block] + step), np.int64(0))


@kernel
def weights(offset):
    """The three weights of the quadratic B-spline, given the distance from the first node [spacings], and their derivatives."""
    middle = offset - 1.0
    values = 0.5 * (0.5 - middle) ** 2, 0.75 - middle * middle, 0.5 * (0.5 + middle) ** 2
    return values, (middle - 0.5, -2.0 * middle, middle + 0.5)


@kernel
def first_node(fill, x, y, z):
    """The block of the first of the 27 nodes around a point (-1 if there is none), its place along each axis, and the offsets from it."""
    sx, sy, sz = x / fill.spacing, y / fill.spacing, z / fill.spacing
    low_x, low_y, low_z = math.floor(sx - 0.5), math.floor(sy - 0.5), math.floor(sz - 0.5)
    key = key_of(low_x >> 2, low_y >> 2, low_z >> 2)
    block = find(fill.keys, fill.slots, key) if key >= 0 else np.int64(-1)
    return block, (low_x & 3, low_y & 3, low_z & 3), (sx - low_x, sy - low_y, sz - low_z)


@kernel
def node_at(fill, block, x, y, z):
    """The row of a node, given its place from the first corner of a block, at most two blocks away."""
    other = fill.around[block, (x >> 2) * 4 + (y >> 2) * 2 + (z >> 2)]
    return other * BLOCK_NODES + (x & 3) * 16 + (y & 3) * 4 + (z & 3)


@kernel
def spread(position, velocity, volume, fill):
    """Add the volumes [m^3] (n,) of particles and their momenta to the nodes, and divide. One after another, in a fixed order."""
    nodes, share = fill.nodes, 1.0 / fill.spacing**3
    for particle in range(position.shape[0]):
        block, (px, py, pz), (ox, oy, oz) = first_node(fill, position[particle, 0], position[particle, 1], position[particle, 2])
        if block < 0:
            continue
        (wx, _), (wy, _), (wz, _) = weights(ox), weights(oy), weights(oz)
        u, v, w = velocity[particle, 0], velocity[particle, 1], velocity[particle, 2]
        for i in range(3):
            for j in range(3):
                part = wx[i] * wy[j] * volume[particle] * share
                for k in range(3):
                    node, weight = node_at(fill, block, px + i, py + j, pz + k), part * wz[k]
                    nodes[node, 0] += weight
                    nodes[node, 1] += weight * u
                    nodes[node, 2] += weight * v
                    nodes[node, 3] += weight * w
    for node in range(nodes.shape[0]):
        if nodes[node, 0] > 0.0:
            for axis in range(1, 4):
                nodes[node, axis] /= nodes[node, 0]


@kernel
def sample(fill, x, y, z):
    """The fullness at a point, its gradient [1/m], and the mean velocity of the material around [m/s]; all 0 where there is none."""
    block, (px, py, pz), (ox, oy, oz) = first_node(fill, x, y, z)
    full, gx, gy, gz, u, v, w = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if block >= 0:
        (wx, dx), (wy, dy), (wz, dz) = weights(ox), weights(oy), weights(oz)
        for i in range(3):
            for j in range(3):
                # sums along z first: most of the work is done once for three nodes
                here, steep, su, sv, sw = 0.0, 0.0, 0.0, 0.0, 0.0
                for k in range(3):
                    node = node_at(fill, block, px + i, py + j, pz + k)
                    some = float(fill.nodes[node, 0])
                    steep += dz[k] * some
                    some *= wz[k]
                    here += some
                    su += some * fill.nodes[node, 1]
                    sv += some * fill.nodes[node, 2]
                    sw += some * fill.nodes[node, 3]
                weight = wx[i] * wy[j]
                full += weight * here
                gx += dx[i] * wy[j] * here
                gy += wx[i] * dy[j] * here
                gz += weight * steep
                u += weight * su
                v += weight * sv
                w += weight * sw
        if full > 0.0:
            u, v, w = u / full, v / full, w / full
    return full, (gx / fill.spacing, gy / fill.spacing, gz / fill.spacing), (u, v, w)


@kernel
def flow(fill, x, y, z):
    """The fullness at a point, and the mean velocity of the material around [m/s], as `sample`."""
    block, (px, py, pz), (ox, oy, oz) = first_node(fill, x, y, z)
    full, u, v, w = 0.0, 0.0, 0.0, 0.0
    if block >= 0:
        (wx, _), (wy, _), (wz, _) = weights(ox), weights(oy), weights(oz)
        for i in range(3):
            for j in range(3):
                weight = wx[i] * wy[j]
                for k in range(3):
                    node = node_at(fill, block, px + i, py + j, pz + k)
                    some = weight * wz[k] * fill.nodes[node, 0]
                    full += some
                    u += some * fill.nodes[node, 1]
                    v += some * fill.nodes[node, 2]
                    w += some * fill.nodes[node, 3]
        if full > 0.0:
            u, v, w = u / full, v / full, w / full
    return full, (u, v, w)


@parallel_kernel
def fullnesses(tickets, position, fill, fullness):
    """The fullness at points.

    Args:
        position: (n, 3) [m].
        fill: see `Fill`.
        fullness: (n,) result.
    """
    count = fullness.size
    for piece in shared(tickets[0], (count + _GRAIN - 1) // _GRAIN, 1):
        for number in range(piece * _GRAIN, min((piece + 1) * _GRAIN, count)):
            fullness[number] = flow(fill, float(position[number, 0]), float(position[number, 1]), float(position[number, 2]))[0]


def fill_of(
    position: NDArray[np.float32], velocity: NDArray[np.float32], volume: NDArray[np.float64], spacing: float, subject: str = "Foam"
) -> Fill:
    """Particles on a grid.

    Args:
        position, velocity: (n, 3) [m], [m/s].
        volume: at rest, (n,) [m^3].
        spacing: between nodes [m].
        subject: how a message names what is made.

    Raises:
        MpmError: the particles are so far apart that the grid would not fit into memory.
    """
    size = _FIRST_TABLE
    while True:
        keys, slots = np.full(size, -1, np.int64), np.zeros(size, np.int64)
        unique = np.full(size // 2, -1, np.int64)
        count = int(find_blocks(position, spacing, keys, slots, unique))
        if count >= 0:
            break
        size *= 4
        if size > _LARGEST_TABLE:
            raise MpmError(
                "the material is spread so far that its grid does not fit into memory",
                "remove what flies away with an outflow",
                subject=subject,
            )
    around = np.zeros((count, 8), np.int32)
    link_blocks(unique, count, keys, slots, around)
    fill = Fill(float(spacing), keys, slots, around, np.zeros((count * BLOCK_NODES, 4), np.float32))
    spread(position, velocity, volume, fill)
    return fill
