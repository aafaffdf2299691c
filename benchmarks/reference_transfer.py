"""The lean reference's transfers: quadratic splines on one dense grid whose nodes are four numbers, momentum (later velocity) and mass."""

from typing import Any, NamedTuple

from mpm_addon.core.arithmetic.operations import constant, generic, maximum, minimum
from mpm_addon.core.arithmetic.vector import broadcast, load, store, store_as_int32
from mpm_addon.core.transfer.scheme import quadratic_axis
from mpm_addon.core.transfer.table import load_eight_rows, store_rows

from .reference_laws import WIDTH

CHUNK = 64
# nine weights for each particle of a chunk, and behind them rows of sixteen numbers
ROWS = 9 * CHUNK
ROW = 16
NODE = 4
SCRATCH_SIZE = ROWS + ROW * CHUNK


class Chunk(NamedTuple):
    """Scratch data for a chunk of particles in a pass: `scratch` of `SCRATCH_SIZE` numbers, and the lowest node of each particle."""

    scratch: Any
    nodes: Any


class Step(NamedTuple):
    """The length of a step [s], a float32; a particle's mass, and the factor of its stress, in cells and seconds."""

    length: Any
    mass: float
    force: float


@generic
def weigh(x: Any, y: Any, z: Any, cells: int, chunk: Any, at: int) -> Any:
    """Write the weights and the lowest nodes of a vector of particles; returns the offsets from the center nodes [cells]."""
    scratch = chunk.scratch
    cx, dx, wx = quadratic_axis(x)
    cy, dy, wy = quadratic_axis(y)
    cz, dz, wz = quadratic_axis(z)
    store(scratch, at, wx[0])
    store(scratch, at + CHUNK, wx[1])
    store(scratch, at + 2 * CHUNK, wx[2])
    store(scratch, at + 3 * CHUNK, wy[0])
    store(scratch, at + 4 * CHUNK, wy[1])
    store(scratch, at + 5 * CHUNK, wy[2])
    store(scratch, at + 6 * CHUNK, wz[0])
    store(scratch, at + 7 * CHUNK, wz[1])
    store(scratch, at + 8 * CHUNK, wz[2])
    # below 2^24 nodes: whole numbers that a float holds
    store_as_int32(chunk.nodes, at, ((cx - 1.0) * float(cells) + (cy - 1.0)) * float(cells) + (cz - 1.0))
    return dx, dy, dz


@generic
def prepare(particles: Any, slot: int, chunk: Any, at: int) -> None:
    """Write the weights of a vector of particles."""
    position = particles.position
    x, y, z = load(position[0], slot, WIDTH), load(position[1], slot, WIDTH), load(position[2], slot, WIDTH)
    weigh(x, y, z, particles.cells, chunk, at)


@generic
def gather_row(grid: Any, at: int, w0: Any, w1: Any, w2: Any) -> Any:
    """The weighted sum over three nodes along z, and the slope along it."""
    v0, v1, v2 = w0 * load(grid, at, NODE), w1 * load(grid, at + NODE, NODE), w2 * load(grid, at + 2 * NODE, NODE)
    return v0 + v1 + v2, v2 - v0


@generic
def gather_plane(grid: Any, at: int, along_y: int, wy: Any, wz: Any) -> Any:
    """The weighted sum over three rows, and the slopes along y and z."""
    w0, w1, w2 = wz
    y0, y1, y2 = wy
    r0, s0 = gather_row(grid, at, w0, w1, w2)
    r1, s1 = gather_row(grid, at + along_y, w0, w1, w2)
    r2, s2 = gather_row(grid, at + 2 * along_y, w0, w1, w2)
    r0, r2 = y0 * r0, y2 * r2
    return r0 + y1 * r1 + r2, r2 - r0, y0 * s0 + y1 * s1 + y2 * s2


@generic
def three(scratch: Any, at: int) -> Any:
    return broadcast(scratch, at, NODE), broadcast(scratch, at + CHUNK, NODE), broadcast(scratch, at + 2 * CHUNK, NODE)


@generic
def gather(grid: Any, cells: int, chunk: Any, lane: int) -> None:
    """Write a particle's velocity and its slopes along x, y and z."""
    along_y, along_x = NODE * cells, NODE * cells * cells
    at, scratch = NODE * int(chunk.nodes[lane]), chunk.scratch
    wx, wy, wz = three(scratch, lane), three(scratch, lane + 3 * CHUNK), three(scratch, lane + 6 * CHUNK)
    p0, y0, z0 = gather_plane(grid, at, along_y, wy, wz)
    p1, y1, z1 = gather_plane(grid, at + along_x, along_y, wy, wz)
    p2, y2, z2 = gather_plane(grid, at + 2 * along_x, along_y, wy, wz)
    p0, p2 = wx[0] * p0, wx[2] * p2
    row = ROWS + ROW * lane
    store(scratch, row, p0 + wx[1] * p1 + p2)
    store(scratch, row + NODE, p2 - p0)
    store(scratch, row + 2 * NODE, wx[0] * y0 + wx[1] * y1 + wx[2] * y2)
    store(scratch, row + 3 * NODE, wx[0] * z0 + wx[1] * z1 + wx[2] * z2)


@generic
def moved(advance: Any, particles: Any, slot: int, chunk: Any, at: int, step: Any) -> None:
    """Move a vector of particles, advance their state, and write what they scatter."""
    position, scratch = particles.position, chunk.scratch
    dt, mass, force = step
    x, y, z = load(position[0], slot, WIDTH), load(position[1], slot, WIDTH), load(position[2], slot, WIDTH)
    _, dx, _ = quadratic_axis(x)
    _, dy, _ = quadratic_axis(y)
    _, dz, _ = quadratic_axis(z)
    row = ROWS + ROW * at
    u, v, w, _ = load_eight_rows(scratch, row)
    a, d, g, _ = load_eight_rows(scratch, row + NODE)
    b, e, h, _ = load_eight_rows(scratch, row + 2 * NODE)
    c, f, i, _ = load_eight_rows(scratch, row + 3 * NODE)
    a, b, c = 4.0 * (a - u * dx), 4.0 * (b - u * dy), 4.0 * (c - u * dz)
    d, e, f = 4.0 * (d - v * dx), 4.0 * (e - v * dy), 4.0 * (f - v * dz)
    g, h, i = 4.0 * (g - w * dx), 4.0 * (h - w * dy), 4.0 * (i - w * dz)
    low, high = constant(2.0, x), constant(particles.cells - 3.0, x)
    x, y, z = x + dt * u, y + dt * v, z + dt * w
    x, y, z = maximum(low, minimum(high, x)), maximum(low, minimum(high, y)), maximum(low, minimum(high, z))
    store(position[0], slot, x)
    store(position[1], slot, y)
    store(position[2], slot, z)
    xx, xy, xz, yy, yz, zz = advance(particles.state, slot, (a, b, c, d, e, f, g, h, i), dt)
    a, b, c = mass * a - force * xx, mass * b - force * xy, mass * c - force * xz
    d, e, f = mass * d - force * xy, mass * e - force * yy, mass * f - force * yz
    g, h, i = mass * g - force * xz, mass * h - force * yz, mass * i - force * zz
    dx, dy, dz = weigh(x, y, z, particles.cells, chunk, at)
    zero, weight = constant(0.0, x), constant(mass, x)
    u, v, w = mass * u - (a * dx + b * dy + c * dz), mass * v - (d * dx + e * dy + f * dz), mass * w - (g * dx + h * dy + i * dz)
    store_rows(scratch, row, u, v, w, weight)
    store_rows(scratch, row + NODE, a, d, g, zero)
    store_rows(scratch, row + 2 * NODE, b, e, h, zero)
    store_rows(scratch, row + 3 * NODE, c, f, i, zero)


@generic
def scatter_row(grid: Any, at: int, weight: Any, value: Any, slope: Any, wz: Any) -> None:
    w0, w1, w2 = wz
    value, slope = weight * value, weight * slope
    store(grid, at, load(grid, at, NODE) + w0 * (value - slope))
    store(grid, at + NODE, load(grid, at + NODE, NODE) + w1 * value)
    store(grid, at + 2 * NODE, load(grid, at + 2 * NODE, NODE) + w2 * (value + slope))


@generic
def scatter_plane(grid: Any, at: int, along_y: int, weight: Any, value: Any, slope_y: Any, slope_z: Any, wy: Any, wz: Any) -> None:
    y0, y1, y2 = wy
    scatter_row(grid, at, weight * y0, value - slope_y, slope_z, wz)
    scatter_row(grid, at + along_y, weight * y1, value, slope_z, wz)
    scatter_row(grid, at + 2 * along_y, weight * y2, value + slope_y, slope_z, wz)


@generic
def scatter(grid: Any, cells: int, chunk: Any, lane: int) -> None:
    """Add a particle's momentum and mass to its nodes."""
    along_y, along_x = NODE * cells, NODE * cells * cells
    at, scratch = NODE * int(chunk.nodes[lane]), chunk.scratch
    wx, wy, wz = three(scratch, lane), three(scratch, lane + 3 * CHUNK), three(scratch, lane + 6 * CHUNK)
    row = ROWS + ROW * lane
    value, slope_x = load(scratch, row, NODE), load(scratch, row + NODE, NODE)
    slope_y, slope_z = load(scratch, row + 2 * NODE, NODE), load(scratch, row + 3 * NODE, NODE)
    scatter_plane(grid, at, along_y, wx[0], value - slope_x, slope_y, slope_z, wy, wz)
    scatter_plane(grid, at + along_x, along_y, wx[1], value, slope_y, slope_z, wy, wz)
    scatter_plane(grid, at + 2 * along_x, along_y, wx[2], value + slope_x, slope_y, slope_z, wy, wz)


@generic
def move_plane(momenta: Any, emptied: Any, x: int, cells: int, gravity: Any, margin: int) -> None:
    """Momenta of a plane of nodes to velocities, with gravity, and the floor that holds particles up; the other grid is emptied."""
    zero = constant(0.0, load(momenta, 0, NODE))
    at = NODE * x * cells * cells
    for _ in range(cells):
        for z in range(cells):
            mass = momenta[at + 3]
            if mass > 0.0:
                store(momenta, at, load(momenta, at, NODE) / broadcast(momenta, at + 3, NODE))
                momenta[at + 2] += gravity
                if z <= margin and momenta[at + 2] < 0.0:
                    momenta[at + 2] = 0.0
            store(emptied, at, zero)
            at += NODE
