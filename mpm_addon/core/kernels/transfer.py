"""Transfers between particles and grid: MLS-MPM (Hu et al. 2018) with APIC (Jiang et al. 2015) and quadratic B-splines.

Eight particles at a time: weights and affine momenta are made for eight lanes at once; then each particle's 27 nodes are read or
written as vectors of four numbers (momentum and mass). Nodes are counted -1, 0, +1 from the centre one, so that the sums
over rows and planes serve the velocity and its gradient alike. See `blocks` for the layout of slots and arenas.
"""

from numba import prange

from .arithmetic import absolute, constant, generic, maximum, sqrt
from .blocks import ARENA, ARENA_NODES, BLOCK, BLOCK_NODES, NEIGHBOURS
from .compilation import kernel
from .rows import DENSITY, MASS, POSITION, STRESS, VELOCITY, VELOCITY_GRADIENT, VOLUME
from .vector import LANE_COUNT, floor, largest, load, shuffled, splat, store, store_as_int32

NODE = 4
ROW = NODE * ARENA
PLANE = ROW * ARENA
# scratch of a piece: weights (9 x 8 lanes), then four vectors of four numbers a lane, then an arena of velocities
TABLE = 9 * LANE_COUNT
GATHERED = TABLE + 16 * LANE_COUNT
SCRATCH_SIZE = GATHERED + NODE * ARENA_NODES


@generic
def quadratic_weights(d):
    """The weights of the nodes at -1, 0 and +1 for an offset d in [-1/2, 1/2] from the centre node."""
    low = 0.5 - d
    high = 0.5 + d
    return 0.5 * (low * low), 0.75 - d * d, 0.5 * (high * high)


@generic
def prepare_weights(x, y, z, scratch, index):
    """Write the weights of eight particles to `scratch` and their first node's number to `index`; returns the offsets."""
    bx = floor(x - 0.5)
    by = floor(y - 0.5)
    bz = floor(z - 0.5)
    dx, dy, dz = x - bx - 1.0, y - by - 1.0, z - bz - 1.0
    w0, w1, w2 = quadratic_weights(dx)
    store(scratch, 0, w0)
    store(scratch, LANE_COUNT, w1)
    store(scratch, 2 * LANE_COUNT, w2)
    w0, w1, w2 = quadratic_weights(dy)
    store(scratch, 3 * LANE_COUNT, w0)
    store(scratch, 4 * LANE_COUNT, w1)
    store(scratch, 5 * LANE_COUNT, w2)
    w0, w1, w2 = quadratic_weights(dz)
    store(scratch, 6 * LANE_COUNT, w0)
    store(scratch, 7 * LANE_COUNT, w1)
    store(scratch, 8 * LANE_COUNT, w2)
    # whole numbers below 512: exact in any float
    store_as_int32(index, 0, ((bx + 1.0) * float(ARENA) + (by + 1.0)) * float(ARENA) + (bz + 1.0))
    return dx, dy, dz


@generic
def weight(scratch, number, lane):
    """Four copies of weight `number` of one lane."""
    return splat(scratch[number * LANE_COUNT + lane], 4)


@generic
def store_rows(table, column, a, b, c, d):
    """Write eight lanes of four values as eight rows of four, 16 numbers apart."""
    ab_low = shuffled(a, b, (0, 8, 1, 9, 4, 12, 5, 13))
    ab_high = shuffled(a, b, (2, 10, 3, 11, 6, 14, 7, 15))
    cd_low = shuffled(c, d, (0, 8, 1, 9, 4, 12, 5, 13))
    cd_high = shuffled(c, d, (2, 10, 3, 11, 6, 14, 7, 15))
    r04 = shuffled(ab_low, cd_low, (0, 1, 8, 9, 4, 5, 12, 13))
    r15 = shuffled(ab_low, cd_low, (2, 3, 10, 11, 6, 7, 14, 15))
    r26 = shuffled(ab_high, cd_high, (0, 1, 8, 9, 4, 5, 12, 13))
    r37 = shuffled(ab_high, cd_high, (2, 3, 10, 11, 6, 7, 14, 15))
    store(table, column, shuffled(r04, r04, (0, 1, 2, 3)))
    store(table, column + 16, shuffled(r15, r15, (0, 1, 2, 3)))
    store(table, column + 32, shuffled(r26, r26, (0, 1, 2, 3)))
    store(table, column + 48, shuffled(r37, r37, (0, 1, 2, 3)))
    store(table, column + 64, shuffled(r04, r04, (4, 5, 6, 7)))
    store(table, column + 80, shuffled(r15, r15, (4, 5, 6, 7)))
    store(table, column + 96, shuffled(r26, r26, (4, 5, 6, 7)))
    store(table, column + 112, shuffled(r37, r37, (4, 5, 6, 7)))


@generic
def load_rows(table, column):
    """Read eight rows of four, 16 numbers apart, as four vectors of eight lanes."""
    together = (0, 1, 2, 3, 4, 5, 6, 7)
    r04 = shuffled(load(table, column, 4), load(table, column + 64, 4), together)
    r15 = shuffled(load(table, column + 16, 4), load(table, column + 80, 4), together)
    r26 = shuffled(load(table, column + 32, 4), load(table, column + 96, 4), together)
    r37 = shuffled(load(table, column + 48, 4), load(table, column + 112, 4), together)
    ab_low = shuffled(r04, r15, (0, 8, 1, 9, 4, 12, 5, 13))
    ab_high = shuffled(r26, r37, (0, 8, 1, 9, 4, 12, 5, 13))
    cd_low = shuffled(r04, r15, (2, 10, 3, 11, 6, 14, 7, 15))
    cd_high = shuffled(r26, r37, (2, 10, 3, 11, 6, 14, 7, 15))
    a = shuffled(ab_low, ab_high, (0, 1, 8, 9, 4, 5, 12, 13))
    b = shuffled(ab_low, ab_high, (2, 3, 10, 11, 6, 7, 14, 15))
    c = shuffled(cd_low, cd_high, (0, 1, 8, 9, 4, 5, 12, 13))
    d = shuffled(cd_low, cd_high, (2, 3, 10, 11, 6, 7, 14, 15))
    return a, b, c, d


@generic
def load_vector(particles, row, slot):
    """Three rows of eight slots."""
    return load(particles[row], slot, 8), load(particles[row + 1], slot, 8), load(particles[row + 2], slot, 8)


@generic
def store_vector(particles, row, slot, value):
    a, b, c = value
    store(particles[row], slot, a)
    store(particles[row + 1], slot, b)
    store(particles[row + 2], slot, c)


@generic
def load_symmetric(particles, row, slot):
    """Six rows of eight slots: xx xy xz yy yz zz."""
    a, b, c = load_vector(particles, row, slot)
    d, e, f = load_vector(particles, row + 3, slot)
    return a, b, c, d, e, f


@generic
def load_matrix(particles, row, slot):
    """Nine rows of eight slots."""
    a, b, c = load_vector(particles, row, slot)
    d, e, f = load_vector(particles, row + 3, slot)
    g, h, i = load_vector(particles, row + 6, slot)
    return a, b, c, d, e, f, g, h, i


@generic
def store_matrix(particles, row, slot, value):
    a, b, c, d, e, f, g, h, i = value
    store_vector(particles, row, slot, (a, b, c))
    store_vector(particles, row + 3, slot, (d, e, f))
    store_vector(particles, row + 6, slot, (g, h, i))


# Particles to grid


@generic
def scatter_row(arena, at, share, momentum, along_z, wz0, wz1, wz2):
    """Add to three nodes along z: share * weight * (momentum + (node - centre) along_z)."""
    centre = share * momentum
    slope = share * along_z
    store(arena, at, load(arena, at, 4) + wz0 * (centre - slope))
    store(arena, at + NODE, load(arena, at + NODE, 4) + wz1 * centre)
    store(arena, at + 2 * NODE, load(arena, at + 2 * NODE, 4) + wz2 * (centre + slope))


@generic
def scatter_plane(arena, at, share, momentum, along_y, along_z, wy0, wy1, wy2, wz0, wz1, wz2):
    scatter_row(arena, at, share * wy0, momentum - along_y, along_z, wz0, wz1, wz2)
    scatter_row(arena, at + ROW, share * wy1, momentum, along_z, wz0, wz1, wz2)
    scatter_row(arena, at + 2 * ROW, share * wy2, momentum + along_y, along_z, wz0, wz1, wz2)


@generic
def prepare_momenta(particles, slot, scratch, offsets, spacing, stress_factor):
    """Write each lane's momentum at its centre node, with its mass, and the slopes of the momentum along x, y and z."""
    dx, dy, dz = offsets
    mass = load(particles[MASS], slot, 8)
    volume = load(particles[VOLUME], slot, 8)
    u, v, w = load_vector(particles, VELOCITY, slot)
    a, b, c, d, e, f, g, h, i = load_matrix(particles, VELOCITY_GRADIENT, slot)
    xx, xy, xz, yy, yz, zz = load_symmetric(particles, STRESS, slot)
    affine = spacing * mass
    force = stress_factor * volume
    a, b, c = affine * a - force * xx, affine * b - force * xy, affine * c - force * xz
    d, e, f = affine * d - force * xy, affine * e - force * yy, affine * f - force * yz
    g, h, i = affine * g - force * xz, affine * h - force * yz, affine * i - force * zz
    store_rows(
        scratch,
        TABLE,
        mass * u - (a * dx + b * dy + c * dz),
        mass * v - (d * dx + e * dy + f * dz),
        mass * w - (g * dx + h * dy + i * dz),
        mass,
    )
    zero = constant(0.0, mass)
    store_rows(scratch, TABLE + 4, a, d, g, zero)
    store_rows(scratch, TABLE + 8, b, e, h, zero)
    store_rows(scratch, TABLE + 12, c, f, i, zero)


@generic
def scatter_lane(arena, at, scratch, lane):
    """Add one particle's momentum and mass to its 27 nodes."""
    wx0, wx1, wx2 = weight(scratch, 0, lane), weight(scratch, 1, lane), weight(scratch, 2, lane)
    wy0, wy1, wy2 = weight(scratch, 3, lane), weight(scratch, 4, lane), weight(scratch, 5, lane)
    wz0, wz1, wz2 = weight(scratch, 6, lane), weight(scratch, 7, lane), weight(scratch, 8, lane)
    row = TABLE + 16 * lane
    momentum = load(scratch, row, 4)
    along_x, along_y, along_z = load(scratch, row + 4, 4), load(scratch, row + 8, 4), load(scratch, row + 12, 4)
    scatter_plane(arena, at, wx0, momentum - along_x, along_y, along_z, wy0, wy1, wy2, wz0, wz1, wz2)
    scatter_plane(arena, at + PLANE, wx1, momentum, along_y, along_z, wy0, wy1, wy2, wz0, wz1, wz2)
    scatter_plane(arena, at + 2 * PLANE, wx2, momentum + along_x, along_y, along_z, wy0, wy1, wy2, wz0, wz1, wz2)


@kernel(parallel=True)
def particles_to_grid(particles, first, material_count, pieces, dt, spacing, scratch, index, arenas):
    """Scatter mass and momentum, with the impulse of the stress, into each block's arena.

    (mv)_i += w [m v + (m C - dt V0 D^-1 tau)(x_i - x_p)], D^-1 = 4/h^2 (Hu et al. 2018, eq. 16 and 29).

    Args:
        particles: (ROW_COUNT, slots).
        first: first slot of each run.
        pieces: first block of each piece of work.
        dt: [s]; spacing: cell size [m].
        scratch: (pieces, SCRATCH_SIZE); index: (pieces, 8) int32.
        arenas: (blocks, 4 * ARENA_NODES) result [kg m/s, kg].
    """
    stress_factor = 4.0 * dt / spacing
    for piece in prange(pieces.size - 1):
        table = scratch[piece]
        nodes = index[piece]
        for block in range(pieces[piece], pieces[piece + 1]):
            arena = arenas[block]
            arena[:] = 0
            for slot in range(first[block * material_count], first[(block + 1) * material_count], LANE_COUNT):
                x, y, z = load_vector(particles, POSITION, slot)
                offsets = prepare_weights(x, y, z, table, nodes)
                prepare_momenta(particles, slot, table, offsets, spacing, stress_factor)
                for lane in range(LANE_COUNT):
                    scatter_lane(arena, NODE * nodes[lane], table, lane)


# Grid to particles


@generic
def gather_row(arena, at, wz0, wz1, wz2):
    """The weighted sum over three nodes along z, and the difference that gives the slope."""
    low = wz0 * load(arena, at, 4)
    high = wz2 * load(arena, at + 2 * NODE, 4)
    return low + wz1 * load(arena, at + NODE, 4) + high, high - low


@generic
def gather_plane(arena, at, wy0, wy1, wy2, wz0, wz1, wz2):
    value, slope = gather_row(arena, at, wz0, wz1, wz2)
    low, along_z = wy0 * value, wy0 * slope
    value, slope = gather_row(arena, at + ROW, wz0, wz1, wz2)
    middle, along_z = wy1 * value, along_z + wy1 * slope
    value, slope = gather_row(arena, at + 2 * ROW, wz0, wz1, wz2)
    high, along_z = wy2 * value, along_z + wy2 * slope
    return low + middle + high, high - low, along_z


@generic
def gather_lane(arena, at, scratch, lane):
    """One particle's velocity, and its sums over nodes -1 and +1 along x, y and z, as four rows of the table."""
    wx0, wx1, wx2 = weight(scratch, 0, lane), weight(scratch, 1, lane), weight(scratch, 2, lane)
    wy0, wy1, wy2 = weight(scratch, 3, lane), weight(scratch, 4, lane), weight(scratch, 5, lane)
    wz0, wz1, wz2 = weight(scratch, 6, lane), weight(scratch, 7, lane), weight(scratch, 8, lane)
    value, slope_y, slope_z = gather_plane(arena, at, wy0, wy1, wy2, wz0, wz1, wz2)
    low, along_y, along_z = wx0 * value, wx0 * slope_y, wx0 * slope_z
    value, slope_y, slope_z = gather_plane(arena, at + PLANE, wy0, wy1, wy2, wz0, wz1, wz2)
    middle, along_y, along_z = wx1 * value, along_y + wx1 * slope_y, along_z + wx1 * slope_z
    value, slope_y, slope_z = gather_plane(arena, at + 2 * PLANE, wy0, wy1, wy2, wz0, wz1, wz2)
    high, along_y, along_z = wx2 * value, along_y + wx2 * slope_y, along_z + wx2 * slope_z
    row = TABLE + 16 * lane
    store(scratch, row, low + middle + high)
    store(scratch, row + 4, high - low)
    store(scratch, row + 8, along_y)
    store(scratch, row + 12, along_z)


@generic
def gather_arena(nodes, neighbours, scratch):
    """Copy the nodes that a block's particles touch from the 27 node blocks into the scratch's arena."""
    for ax in range(ARENA):
        block_x = (ax + 3) // BLOCK
        for ay in range(ARENA):
            block_y = (ay + 3) // BLOCK
            inside = ((ax + 3) % BLOCK * BLOCK + (ay + 3) % BLOCK) * BLOCK * NODE
            at = GATHERED + (ax * ARENA + ay) * ROW
            column = (block_x * 3 + block_y) * 3
            below, middle, above = nodes[neighbours[column]], nodes[neighbours[column + 1]], nodes[neighbours[column + 2]]
            store(scratch, at, load(below, inside + 3 * NODE, 4))
            store(scratch, at + NODE, load(middle, inside, 8))
            store(scratch, at + 3 * NODE, load(middle, inside + 2 * NODE, 8))
            store(scratch, at + 5 * NODE, load(above, inside, 8))
            store(scratch, at + 7 * NODE, load(above, inside + 2 * NODE, 4))


@kernel(parallel=True)
def grid_to_particles(particles, first, material_count, pieces, neighbours, nodes, dt, spacing, scratch, index, extremes):
    """Gather velocity, affine velocity and the density around, and move the particles.

    v = sum w v_i, C = D^-1 sum w v_i (x_i - x_p)^T, x += dt v (Hu et al. 2018, eq. 17; Jiang et al. 2015).

    Args:
        neighbours: (blocks, 27) node blocks around each block.
        nodes: (node blocks, 4 * BLOCK_NODES) velocities and masses.
        extremes: (pieces, 3) results: greatest speed [m/s], greatest displacement along an axis [cells], and 0, or NaN
            where a velocity is not a finite number.
    """
    gradient_factor = 4.0 / spacing
    step = dt / spacing
    per_volume = 1.0 / spacing**3
    for piece in prange(pieces.size - 1):
        table = scratch[piece]
        numbers = index[piece]
        fastest = constant(0.0, load(particles[MASS], 0, 8))
        farthest = fastest
        check = fastest
        arena = table[GATHERED:]
        for block in range(pieces[piece], pieces[piece + 1]):
            gather_arena(nodes, neighbours[block], table)
            for slot in range(first[block * material_count], first[(block + 1) * material_count], LANE_COUNT):
                x, y, z = load_vector(particles, POSITION, slot)
                dx, dy, dz = prepare_weights(x, y, z, table, numbers)
                for lane in range(LANE_COUNT):
                    gather_lane(arena, NODE * numbers[lane], table, lane)
                u, v, w, mass = load_rows(table, TABLE)
                a, d, g, _ = load_rows(table, TABLE + 4)
                b, e, h, _ = load_rows(table, TABLE + 8)
                c, f, i, _ = load_rows(table, TABLE + 12)
                store(particles[DENSITY], slot, per_volume * mass)
                a, b, c = gradient_factor * (a - u * dx), gradient_factor * (b - u * dy), gradient_factor * (c - u * dz)
                d, e, f = gradient_factor * (d - v * dx), gradient_factor * (e - v * dy), gradient_factor * (f - v * dz)
                g, h, i = gradient_factor * (g - w * dx), gradient_factor * (h - w * dy), gradient_factor * (i - w * dz)
                store_vector(particles, VELOCITY, slot, (u, v, w))
                store_matrix(particles, VELOCITY_GRADIENT, slot, (a, b, c, d, e, f, g, h, i))
                mx, my, mz = step * u, step * v, step * w
                store_vector(particles, POSITION, slot, (x + mx, y + my, z + mz))
                fastest = maximum(fastest, u * u + v * v + w * w)
                farthest = maximum(farthest, maximum(absolute(mx), maximum(absolute(my), absolute(mz))))
                check = check + 0.0 * (u + v + w)
        extremes[piece, 0] = largest(sqrt(fastest))
        extremes[piece, 1] = largest(farthest)
        extremes[piece, 2] = largest(check)


# The grid


@kernel(parallel=True)
def update_grid(arenas, node_arenas, nodes, dt, gx, gy, gz):
    """Sum the arenas into nodes, then v_i = (mv)_i / m_i + dt g where m_i > 0.

    Args:
        arenas: (blocks, 4 * ARENA_NODES).
        node_arenas: (node blocks, 27) particle blocks around each node block, -1 where there is none.
        nodes: (node blocks, 4 * BLOCK_NODES) results: velocity [m/s] and mass [kg].
        gx, gy, gz: acceleration [m/s^2].
    """
    for number in prange(node_arenas.shape[0]):
        node = nodes[number]
        node[:] = 0
        for place in range(NEIGHBOURS):
            block = node_arenas[number, place]
            if block >= 0:
                add_arena(arenas[block], place, node)
        for at in range(0, NODE * BLOCK_NODES, NODE):
            mass = node[at + 3]
            if mass > 0.0:
                node[at] = node[at] / mass + dt * gx
                node[at + 1] = node[at + 1] / mass + dt * gy
                node[at + 2] = node[at + 2] / mass + dt * gz


@generic
def add_arena(arena, place, node):
    """Add what the arena of the neighbour number `place` holds of a node block."""
    x0, x1, ax = overlap(place // 9 - 1)
    y0, y1, ay = overlap(place // 3 % 3 - 1)
    z0, z1, az = overlap(place % 3 - 1)
    for x in range(x0, x1):
        for y in range(y0, y1):
            at = ((x * BLOCK + y) * BLOCK + z0) * NODE
            other = (((x + ax) * ARENA + y + ay) * ARENA + z0 + az) * NODE
            for _ in range(z0, z1):
                store(node, at, load(node, at, 4) + load(arena, other, 4))
                at += NODE
                other += NODE


@generic
def overlap(offset):
    """The nodes [low, high) of a node block that the arena of the block at `offset` reaches, and what to add for its own count."""
    if offset < 0:
        return 0, 3, 5
    if offset == 0:
        return 0, 4, 1
    return 3, 4, -3
