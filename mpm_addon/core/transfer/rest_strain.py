"""F, stress and forces of bodies from their rest nodes; see `rest_grid`."""

from typing import NamedTuple

from ..arithmetic.linalg import determinant, multiply, squared_norm, times_transpose
from ..arithmetic.operations import absolute, any_of, constant, floor, generic, maximum, minimum, sqrt
from ..arithmetic.symmetric import least_eigenvalue, lower_bound
from ..arithmetic.vector import LANE_COUNT, flush_tiny, largest, load, restore_tiny, store_as_int32
from ..compilation.tickets import shared
from ..laws.dispatch import LEAST_SQUARE, elastic_response, law_kernel, rest_speed_squared
from .extent import LEAST_WAY, nodes_between, open_arena, range_of
from .gather import gathered_from
from .packing import group_end
from .rest_passes import PLACE, gather_part, inverse_transposed, prepare_part, scaled
from .rows import DEFORMATION, MASS, POSITION, STRESS, VOLUME
from .scatter import scatter_lanes, store_momenta, store_pairs
from .scheme import all_weights
from .scratch import ALONG_Z, CHUNK, GATHERED_BEFORE, LANES, LANES_BEFORE
from .table import LANE_ROW, live_count, load_matrix, load_vector, store_matrix, store_vector

EXTREME_COUNT = 7
# where in the scratch the nodes of the previous substep are gathered
BEFORE = GATHERED_BEFORE, LANES_BEFORE
# Viscosity in compression, in shares of the wave speed and of the rate; it fades with the rate below the first.
LINEAR_SHARE = 0.3
QUADRATIC_SHARE = 1.0
ONSET = 3.0
# It is omitted where neighbors move relative to one another at less than this share of the wave speed: 6e-5 of the stiffness.
QUIET = 4e-3
# What is compressed to a stretch s has J / s^2 times its viscosity at the rest nodes. It may have this multiple of that at rest.
MOST_VISCOUS = 1.5
# a wave speed is computed exactly only if its square may exceed the greatest so far by more than this factor
SLACK = 1.02


class Strain(NamedTuple):
    """What one pass of `strain_particles` does.

    Attributes:
        instance: number of the material instance.
        dt: length of the substep since the last pass [s]; 0 if there was none since the last sort.
        is_shown: whether the stress is stored.
    """

    instance: int
    dt: float
    is_shown: bool


@law_kernel(parallel=True)
def strain_particles(tickets, constants, scheme, particles, grid, task, scratch, arenas, extremes):
    """Compute F and the stress of one material instance from its body's rest nodes, and scatter the forces.

    F = I + sum u_I (outer) g_I and f_I = -V0 P g_I, with the displacements u_I of the nodes and MLS-MPM's gradient of the weights,
    g_I = D^-1 w_I (X_I - X_p): forces are exactly the negative derivative of the energy (total Lagrangian; de Vaucorbeil, Nguyen and
    Hutchinson 2020, eq. 20 to 25). Velocity and F' are the changes since the last pass, or gathered right after a sort.

    Args:
        constants: the law's constants; their type selects the law.
        scheme: see `scheme`.
        particles: in the rest state; F and the place are written.
        grid: `nodes`: displacement [cells] of the rest nodes; `nodes_before`: their velocity [m/s].
        task: see `Strain`.
        scratch: see `Scratch`.
        arenas: result: forces [N] and masses.
        extremes: (pieces, 7) result: largest speed [m/s], largest displacement along an axis [cells], largest wave speed [m/s] or up to
            one percent more, largest |L| [1/s], largest -J, 0, or NaN if something is not finite, and the largest J / s^2 with the least
            principal stretch s, or more while that is no more than `MOST_VISCOUS`.
    """
    first, pieces, instance_count = particles.runs
    for piece in shared(tickets[0], pieces.size - 1, 1):
        before = flush_tiny()
        numbers, index = scratch.values[piece], scratch.lowest[piece]
        peaks = no_peaks(constant(0.0, load(particles.table[MASS], 0, LANE_COUNT)))
        sound = grid.spacing, loudness(constants, grid.spacing, peaks[0])
        behind, room = pieces[piece], arenas.rooms[task.instance, piece]
        while behind < pieces[piece + 1]:
            begin = behind
            behind = group_end(particles.runs, task.instance, begin, pieces[piece + 1])
            room = open_arenas(scheme, particles, grid, task.instance, (begin, behind), arenas, room)
            low, high = first[begin * instance_count + task.instance], first[(behind - 1) * instance_count + task.instance + 1]
            for chunk in range(low, high, CHUNK):
                part = begin, behind, low, chunk, min(high - chunk, CHUNK)
                gather_displacements(scheme, particles, grid, task, part, numbers, index)
                for at in range(0, part[4], LANE_COUNT):
                    peaks = strain_lanes(constants, scheme, particles.table, task, sound, (chunk + at, at), (numbers, index), peaks)
                scatter_forces(scheme, particles, task.instance, part, numbers, index, arenas)
        fastest, farthest, _, loosest, steepest, flattest, check, crowded = peaks
        extremes[piece, 0] = largest(sqrt(fastest))
        extremes[piece, 1] = task.dt / grid.spacing * largest(farthest)
        extremes[piece, 2] = largest(sqrt(loosest))
        extremes[piece, 3] = largest(sqrt(steepest))
        extremes[piece, 4] = largest(flattest)
        extremes[piece, 5] = largest(check)
        extremes[piece, 6] = largest(crowded)
        restore_tiny(before)


@generic
def open_arenas(scheme, particles, grid, instance, blocks, arenas, room):
    """Open the arenas of an instance's runs in blocks [begin, behind); returns the first free room behind them."""
    first, _, instance_count = particles.runs
    begin, behind = blocks
    for block in range(begin, behind):
        run = block * instance_count + instance
        if first[run] < first[run + 1]:
            touched = nodes_between(scheme, range_of(scheme, particles.table, first[run], first[run + 1]), LEAST_WAY)
            room = open_arena(arenas, block, run, room, touched, grid.neighbors[block])
    return room


@generic
def gather_displacements(scheme, particles, grid, task, part, numbers, index):
    """Gather displacements for a part of a group, see `gather_part`, and velocities right after a sort."""
    prepare_part(scheme, particles.table, part[3], part[4], numbers, index)
    if task.dt == 0.0:
        gather_part(scheme, particles, grid.nodes_before, grid.neighbors, task.instance, part, numbers, index, BEFORE)
    gather_part(scheme, particles, grid.nodes, grid.neighbors, task.instance, part, numbers, index)


@generic
def strain_lanes(constants, scheme, table, task, sound, place, room, peaks):
    """Strain a vector of particles, and prepare their forces; returns the greatest values so far.

    Args:
        sound: the spacing [m], and `loudness`.
        place: the first slot, and its number in the chunk.
        room: the scratch.
    """
    (spacing, _), (slot, at), (numbers, index) = sound, place, room
    position = load_vector(table, POSITION, slot)
    deformation, velocity, rate = motion_of(scheme, table, task, spacing, slot, position, numbers, LANE_ROW * at)
    inverse = inverse_transposed(deformation)
    a, b, c, d, e, f, g, h, i = inverse
    gradient = multiply(rate, (a, d, g, b, e, h, c, f, i))
    _, _, stiffest, _, _, _, _, _ = peaks
    response = response_to(constants, deformation, gradient, sound, stiffest)
    shown, stress, _, _, _, _, _ = response
    if task.is_shown:
        xx, xy, xz, yy, yz, zz = shown
        store_vector(table, STRESS, slot, (xx, xy, xz))
        store_vector(table, STRESS + 3, slot, (yy, yz, zz))
    xx, xy, xz, yy, yz, zz = stress
    force = multiply((xx, xy, xz, xy, yy, yz, xz, yz, zz), inverse)
    share = (-scheme.inverse_inertia / spacing) * load(table[VOLUME], slot, LANE_COUNT)
    prepare_forces(scheme, position, load(table[MASS], slot, LANE_COUNT), scaled(share, force), numbers, index, at)
    return with_peaks(peaks, velocity, response)


@generic
def motion_of(scheme, table, task, spacing, slot, position, numbers, row):
    """F, velocity [m/s] and F' [1/s] of a vector of particles, from what they gathered. Stores F and the place."""
    way, slope, _, _ = gathered_from(scheme, position, 1.0, numbers, LANES + row)
    place, deformation = moved(position, way), with_unit(slope)
    if task.dt > 0.0:
        per_second = 1.0 / task.dt
        velocity = change_of(load_vector(table, PLACE, slot), place, per_second * spacing)
        rate = changes_of(load_matrix(table, DEFORMATION, slot), deformation, per_second)
    else:
        velocity, rate, _, _ = gathered_from(scheme, position, spacing, numbers, LANES_BEFORE + row)
    store_vector(table, PLACE, slot, place)
    store_matrix(table, DEFORMATION, slot, deformation)
    return deformation, velocity, rate


@generic
def loudness(constants, spacing, like):
    """The square of the |L| above which viscosity in compression is computed [1/s^2]."""
    one = constant(1.0, like)
    return (QUIET / spacing) ** 2 * rest_speed_squared(constants, one, one)


@generic
def response_to(constants, deformation, gradient, sound, stiffest):
    """The response of a law to F and L [1/s].

    Eigenvalues are computed only where the wave speed, or what viscosity does at the rest nodes, may depend on them.

    Args:
        sound: the spacing [m], and `loudness`.
        stiffest: the greatest square of a wave speed so far that is exact [m^2/s^2].

    Returns:
        tau to show, tau to act [Pa], J, |L|^2, the square of the wave speed and the greatest so far that is exact, and J / s^2.
    """
    spacing, loud = sound
    ratio, squared = determinant(deformation), squared_norm(gradient)
    squares = times_transpose(deformation, deformation)
    one, smallest = constant(1.0, ratio), constant(LEAST_SQUARE, ratio)
    least = maximum(lower_bound(squares), smallest)
    wave_squared = rest_speed_squared(constants, ratio, least)
    is_loud = any_of(squared > loud)
    if is_loud or any_of((wave_squared > SLACK * stiffest) | (MOST_VISCOUS * least < ratio)):
        least = maximum(least_eigenvalue(squares), smallest)
        wave_squared = rest_speed_squared(constants, ratio, least)
        stiffest = maximum(stiffest, wave_squared)
    bearable = minimum(MOST_VISCOUS * least / maximum(ratio, smallest), one)
    stress, _ = elastic_response(constants, deformation, scaled(bearable, gradient))
    shown = stress
    if is_loud:
        stress = cushioned(stress, gradient, wave_squared, constants.density * minimum(least, one), spacing)
    return shown, stress, ratio, squared, wave_squared, stiffest, ratio / least


@generic
def no_peaks(zero):
    """What `with_peaks` starts from."""
    return zero, zero, zero, zero, zero, constant(-1e30, zero), zero, zero


@generic
def with_peaks(peaks, velocity, response):
    """The greatest values so far, with those of another vector of particles.

    They are v^2, |v| along an axis, the exact and the bounded squares of wave speeds, |L|^2, -J, 0 or NaN, and J / s^2.
    """
    fastest, farthest, _, loosest, steepest, flattest, check, crowded = peaks
    _, (xx, _, _, yy, _, zz), ratio, squared, wave_squared, stiffest, crowding = response
    u, v, w = velocity
    farthest = maximum(farthest, maximum(absolute(u), maximum(absolute(v), absolute(w))))
    fastest = maximum(fastest, u * u + v * v + w * w)
    steepest, flattest = maximum(steepest, squared), maximum(flattest, -ratio)
    check = check + 0.0 * (u + v + w + squared + wave_squared + xx + yy + zz)
    loosest, crowded = maximum(loosest, wave_squared), maximum(crowded, crowding)
    return fastest, farthest, stiffest, loosest, steepest, flattest, check, crowded


@generic
def scatter_forces(scheme, particles, instance, part, numbers, index, arenas):
    """Scatter what `prepare_forces` has stored, for a part of a group; see `gather_part`."""
    begin, behind, _, chunk, count = part
    first, _, instance_count = particles.runs
    live = live_count(particles.table, chunk, count)
    for block in range(begin, behind):
        run = block * instance_count + instance
        start, end = max(first[run] - chunk, 0), min(first[run + 1] - chunk, live)
        scatter_lanes(scheme, start, end, numbers, index, arenas, run)


@generic
def prepare_forces(scheme, position, mass, affine, numbers, index, at):
    """`prepare_scatter` without momentum, for particles whose weights across z are in the scratch: they do not move."""
    lowest, (dx, dy, dz), _, _, wz = all_weights(scheme, position)
    even = 2.0 * floor(0.5 * lowest)
    store_as_int32(index, at, even)
    store_pairs(scheme, numbers, ALONG_Z + LANE_ROW * at, even < lowest, wz)
    zero = constant(0.0, mass)
    store_momenta(numbers, LANES + LANE_ROW * at, (dx, dy, dz + (lowest - even)), mass, (zero, zero, zero), affine)


@generic
def change_of(old, new, factor):
    """factor (new - old), three values."""
    (x, y, z), (u, v, w) = old, new
    return factor * (u - x), factor * (v - y), factor * (w - z)


@generic
def changes_of(old, new, factor):
    """factor (new - old), nine values."""
    a, b, c, d, e, f, g, h, i = old
    p, q, r, s, t, u, v, w, x = new
    return (
        factor * (p - a), factor * (q - b), factor * (r - c),
        factor * (s - d), factor * (t - e), factor * (u - f),
        factor * (v - g), factor * (w - h), factor * (x - i),
    )  # fmt: skip


@generic
def moved(position, way):
    (x, y, z), (u, v, w) = position, way
    return x + u, y + v, z + w


@generic
def with_unit(m):
    """I + m."""
    a, b, c, d, e, f, g, h, i = m
    return a + 1.0, b, c, d, e + 1.0, f, g, h, i + 1.0


@generic
def cushioned(stress, gradient, wave_squared, density, spacing):
    """tau with viscosity in compression: tau + rho0 s^2 h (min(.3 c, 3 h |e|) + h |e|) D, where e is the least eigenvalue of D if negative.

    Without it, bodies that snap back from a large stretch fold up below the size of a cell. After von Neumann and Richtmyer (1950),
    but with the tensor D, so that it always dissipates energy, and without the linear part in slow motion. Where matter is compressed to a
    stretch s, cells have a width of s h, which sound crosses at s c; `density` is rho0 s^2.
    """
    a, b, c, d, e, f, g, h, i = gradient
    xy, xz, yz = 0.5 * (b + d), 0.5 * (c + g), 0.5 * (f + h)
    speed = spacing * maximum(-least_eigenvalue((a, xy, xz, e, yz, i)), constant(0.0, a))
    viscosity = (density * spacing) * (minimum(LINEAR_SHARE * sqrt(wave_squared), ONSET * speed) + QUADRATIC_SHARE * speed)
    txx, txy, txz, tyy, tyz, tzz = stress
    return (
        txx + viscosity * a, txy + viscosity * xy, txz + viscosity * xz,
        tyy + viscosity * e, tyz + viscosity * yz, tzz + viscosity * i,
    )  # fmt: skip
