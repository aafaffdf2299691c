"""Contact between bodies of different velocity fields, at the nodes where several have mass (Bardenhagen, Guilkey and others 2001).

At a node two bodies exchange an impulse along their common normal, so that they do not approach once they touch, and one along their
surfaces, at most the friction coefficient times the first (Coulomb). Momentum is conserved at every node.

The normal points against the difference of their fullness's gradients; between a solid and a fluid, against the solid's, whose surface is
smoother (Nairn, Hammerquist and Smith 2020 compare choices). Bodies whose masses overlap at nodes do not touch yet: a node's mass tells how
far the surface of a body is, since it is the part of the node's kernel beyond that. Both distances together are the gap. Bodies that
overlap push each other out, as if the softer were compressed by as much. A fluid has no such surface:
it touches a solid wherever they share nodes.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..laws import ElasticLaw, FluidLaw, Law
from ..transfer.blocks import BLOCK, NEIGHBORS, NODE
from ..transfer.layout import PIECE_COUNT, Layout
from ..transfer.node_lookup import node_of_place
from ..transfer.particle_store import ParticleStore

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# A body's nodes are full where they have its greatest mass nearby; where only few particles are nearby, at least this share of a full cell.
LEAST_FULL = 0.5
# farther apart, adhesion no longer holds [cells]
ADHESION_REACH = 0.25
# Bodies that overlap by less are stopped by their elasticity, as one body would be, and not at once, which would take energy [cells].
DEEPEST = 0.2
# What overlaps comes apart by at most this share of the overlap in a substep, so that light nodes stay stable.
FASTEST_PARTING = 0.1
# several bodies at a node share it, so their pairs are solved repeatedly
SWEEPS = 4
# a normal from a shorter vector, in shares of full cells, is arbitrary
LEAST_SLOPE = 1e-12
# nodes of a block and two more on each side
MARGIN = 2
WIDTH = BLOCK + 2 * MARGIN
# The standard deviation of the cubic spline over that of the quadratic one, whose integral tells distances.
CUBIC_WIDTH = math.sqrt(4.0 / 3.0)


class Meetings(NamedTuple):
    """The places where the node blocks of several velocity fields lie.

    Attributes:
        first: (places + 1,) the first row of each place.
        blocks: (rows,) the node blocks of a place, in order of their fields; their fields: (rows,).
        neighbors: (node blocks, 27 or 9) the node blocks of the same field around each, -1 for none.
    """

    first: Ints
    blocks: Ints
    fields: Ints
    neighbors: Ints


class Room(NamedTuple):
    """Memory for the bodies in one place, a row for each of the pieces that threads take.

    Attributes:
        patches: (pieces, bodies, WIDTH, WIDTH or 1, WIDTH), see `gather_masses`; fulls: (pieces, bodies) masses of full cells [kg].
        slopes: (pieces, WIDTH, WIDTH or 1, WIDTH, 3), see `find_slopes`.
        contacts: (pieces, pairs times nodes of a block, 8), see `find_contacts`.
    """

    patches: NDArray[np.float32]
    fulls: Floats
    slopes: NDArray[np.float32]
    contacts: Floats


class Surfaces(NamedTuple):
    """What contact knows about the matter of each velocity field.

    Attributes:
        full: mass of a full cell [kg], (fields,).
        is_fluid: (fields,).
        friction: Coulomb coefficient, (fields,).
        adhesion: [Pa], (fields,).
        modulus: of the softest of its compression waves [Pa], (fields,).
    """

    full: Floats
    is_fluid: NDArray[np.bool_]
    friction: Floats
    adhesion: Floats
    modulus: Floats


class BodyContact:
    """Contact between the velocity fields of a store.

    Args:
        spacing: cell size [m].
        is_cubic: whether the transfers' spline is cubic.
    """

    def __init__(self, spacing: float, dimension: int, *, is_cubic: bool) -> None:
        self._spacing = spacing
        self._dimension = dimension
        self._width = CUBIC_WIDTH if is_cubic else 1.0
        self._meetings: Meetings | None = None
        self._room = room_for(2, dimension)
        self._laws: list[Law] = []
        nothing = np.zeros(0)
        self._surfaces = Surfaces(nothing, np.zeros(0, np.bool_), nothing, nothing, nothing)

    def find(self, layout: Layout) -> None:
        """Find where fields meet, after a sort."""
        self._meetings = meetings_of(layout) if layout.has_twins else None
        if self._meetings is not None:
            most = int(np.diff(self._meetings.first).max())
            if most > self._room.fulls.shape[1]:
                self._room = room_for(most, self._dimension)

    def meet(self, store: ParticleStore, laws: Sequence[Law], dt: float) -> None:
        """Exchange the impulses of a substep of dt [s]; `laws`: of the store's bodies."""
        if self._meetings is not None:
            if self._laws != laws:
                self._laws, self._surfaces = list(laws), surfaces_of(laws, store, self._spacing**self._dimension)
            meet_bodies(store.nodes, self._meetings, self._surfaces, self._room, self._spacing, self._width, dt)


def meetings_of(layout: Layout) -> Meetings:
    """The places where several fields have node blocks."""
    order = np.lexsort((layout.node_fields, layout.origins))
    origins = layout.origins[order]
    is_shared = np.bincount(origins)[origins] > 1
    blocks, places = order[is_shared], origins[is_shared]
    first = np.append(np.flatnonzero(np.diff(places, prepend=-1)), len(places))
    return Meetings(first, blocks, layout.node_fields[blocks], layout.node_neighbors(blocks))


def room_for(bodies: int, dimension: int) -> Room:
    """Room for places with at most so many bodies."""
    patch = (WIDTH, WIDTH if dimension == 3 else 1, WIDTH)
    return Room(
        np.zeros((PIECE_COUNT, bodies, *patch), np.float32),
        np.zeros((PIECE_COUNT, bodies)),
        np.zeros((PIECE_COUNT, *patch, 3), np.float32),
        np.zeros((PIECE_COUNT, bodies * (bodies - 1) // 2 * BLOCK**dimension, 8)),
    )


def surfaces_of(laws: Sequence[Law], store: ParticleStore, cell_volume: float) -> Surfaces:
    """The densest matter of each field, and the mean friction and adhesion of its solids."""
    groups = [[laws[number] for number in bodies] for bodies in store.fields]
    solids = [[law for law in group if isinstance(law, ElasticLaw)] for group in groups]

    def mean(name: str) -> Floats:
        return np.array([np.mean([getattr(law, name) for law in group] or [0.0]) for group in solids])

    full = np.array([cell_volume * max(law.density for law in group) for group in groups])
    is_fluid = np.array([all(isinstance(law, FluidLaw) for law in group) for group in groups])
    modulus = np.array([min(law.density * law.wave_speed() ** 2 for law in group) for group in groups])
    return Surfaces(full, is_fluid, mean("contact_friction"), mean("adhesion"), modulus)


@kernel
def surface_distance(fullness):
    """How far outside of a flat surface a node is whose quadratic kernel is so full [cells]: the inverse of the spline's integral."""
    if fullness <= 1.0 / 6.0:
        return 1.5 - (6.0 * max(fullness, 0.0)) ** (1.0 / 3.0)
    if fullness >= 5.0 / 6.0:
        return (6.0 * max(1.0 - fullness, 0.0)) ** (1.0 / 3.0) - 1.5
    distance = (0.5 - fullness) / 0.75
    for _ in range(2):
        rest = 0.5 - 0.75 * distance + distance * distance * distance / 3.0 - fullness
        distance += rest / (0.75 - distance * distance)
    return distance


@kernel
def shares_nodes(nodes, block, its):
    """Whether two node blocks in one place have mass at the same node."""
    least = 0.0
    for node in range(nodes.shape[1] // NODE):
        least = max(least, min(nodes[block, NODE * node + 3], nodes[its, NODE * node + 3]))
    return least > 0.0


@kernel
def gather_masses(nodes, around, patch):
    """The masses at the nodes of a block and around it [kg], in `patch` (WIDTH, WIDTH or 1, WIDTH); returns the greatest.

    Args:
        around: (27 or 9,) the node blocks around it, -1 for none.
    """
    begins, ends = (0, MARGIN, MARGIN + BLOCK), (MARGIN, MARGIN + BLOCK, WIDTH)
    is_plane = around.size != NEIGHBORS
    most = 0.0
    for place in range(around.size):
        number = around[place]
        i, j, k = (place // 3, 0, place % 3) if is_plane else (place // 9, place // 3 % 3, place % 3)
        low, high = (0, 1) if is_plane else (begins[j], ends[j])
        for x in range(begins[i], ends[i]):
            for y in range(low, high):
                at = (x - MARGIN & BLOCK - 1) * BLOCK
                at = at if is_plane else (at + (y - MARGIN & BLOCK - 1)) * BLOCK
                for z in range(begins[k], ends[k]):
                    mass = 1.0 * nodes[number, NODE * (at + (z - MARGIN & BLOCK - 1)) + 3] if number >= 0 else 0.0
                    patch[x, y, z] = mass
                    most = max(most, mass)
    return most


@kernel
def find_slopes(one, other, scale, its_scale, slopes):
    """The change of fullness from one body to another at the nodes that both reach, weighted by the masses of both.

    Args:
        one, other: patches of both.
        scale, its_scale: what the masses' differences are multiplied by.
        slopes: (WIDTH, WIDTH or 1, WIDTH, 3) result.
    """
    depth = one.shape[1]
    for x in range(1, WIDTH - 1):
        for y in range(min(1, depth - 1), max(depth - 1, 1)):
            for z in range(1, WIDTH - 1):
                weight = one[x, y, z] * other[x, y, z]
                slopes[x, y, z, :] = 0.0
                if weight == 0.0:
                    continue
                slopes[x, y, z, 0] = weight * (
                    its_scale * (other[x + 1, y, z] - other[x - 1, y, z]) - scale * (one[x + 1, y, z] - one[x - 1, y, z])
                )
                if depth > 1:
                    slopes[x, y, z, 1] = weight * (
                        its_scale * (other[x, y + 1, z] - other[x, y - 1, z]) - scale * (one[x, y + 1, z] - one[x, y - 1, z])
                    )
                slopes[x, y, z, 2] = weight * (
                    its_scale * (other[x, y, z + 1] - other[x, y, z - 1]) - scale * (one[x, y, z + 1] - one[x, y, z - 1])
                )


@kernel
def mean_slope(slopes, x, y, z):
    """The sum of the slopes at a node and those around it.

    At a node above a surface that the edge of another body slides along, that body's own gradient points along the surface; where
    both are half full, they face each other.
    """
    u, v, w = 0.0, 0.0, 0.0
    for i in range(x - 1, x + 2):
        for j in range(max(y - 1, 0), min(y + 2, slopes.shape[1])):
            for k in range(z - 1, z + 2):
                u += slopes[i, j, k, 0]
                v += slopes[i, j, k, 1]
                w += slopes[i, j, k, 2]
    return u, v, w


@kernel
def distance_at(patch, x, y, z, normal, least_full, width):
    """How far outside of the surface a node of a patch is [cells], from the nodes on both sides along the normal's longest component.

    Nodes that are half full tell it best. The fullest of the nodes up to two cells away counts as full.
    """
    nx, ny, nz = normal
    i = 1 if abs(nx) >= max(abs(ny), abs(nz)) else 0
    j = 1 if i == 0 and abs(ny) >= abs(nz) else 0
    k = 1 - i - j
    slope = nx * i + ny * j + nz * k
    total, weights, full = 0.0, 0.0, least_full
    for step in range(-MARGIN, MARGIN + 1):
        full = max(full, patch[x + step * i, min(max(y + step * j, 0), patch.shape[1] - 1), z + step * k])
    for step in range(-1, 2):
        fullness = min(patch[x + step * i, y + step * j, z + step * k] / full, 1.0)
        weight = fullness * (1.0 - fullness) + 1e-9
        total += weight * (width * surface_distance(fullness) - step * slope)
        weights += weight
    return total / weights


@kernel
def find_contacts(pair, first, last, fulls, slopes, least, its_least, width, contacts, count):
    """Find the nodes of a block where two bodies have mass: their numbers in it, the normal, the gap [cells], and the area [cells^2].

    Args:
        pair: numbers of the bodies; first, last: their patches; fulls: (bodies,) mass of a full cell [kg].
        least, its_least: the least mass that counts as full, for distances [kg].
        contacts: (n, 8) result: both numbers, the node, the normal, gap and area, from row `count` on.

    Returns:
        The new number of contacts.
    """
    full, its_full = fulls[pair[0]], fulls[pair[1]]
    is_plane = first.shape[1] == 1
    for node in range(BLOCK * BLOCK if is_plane else BLOCK * BLOCK * BLOCK):
        ix, iy, iz = node_of_place(node, BLOCK * BLOCK if is_plane else BLOCK * BLOCK * BLOCK)
        x, y, z = ix + MARGIN, 0 if is_plane else iy + MARGIN, iz + MARGIN
        if first[x, y, z] <= 0.0 or last[x, y, z] <= 0.0:
            continue
        nx, ny, nz = mean_slope(slopes, x, y, z)
        length = math.sqrt(nx * nx + ny * ny + nz * nz)
        if length <= LEAST_SLOPE * full * its_full:
            continue
        normal, against = (nx / length, ny / length, nz / length), (-nx / length, -ny / length, -nz / length)
        contacts[count, 0], contacts[count, 1], contacts[count, 2] = pair[0], pair[1], node
        contacts[count, 3], contacts[count, 4], contacts[count, 5] = normal
        contacts[count, 6] = distance_at(first, x, y, z, normal, least, width) + distance_at(last, x, y, z, against, its_least, width)
        contacts[count, 7] = 0.5 * (area_at(first, x, y, z, full, normal) + area_at(last, x, y, z, its_full, normal))
        count += 1
    return count


@kernel
def area_at(patch, x, y, z, full, normal):
    """The part of a body's surface, with this normal, that belongs to a node [cells^2, in the plane cells]."""
    i, k = (patch[x + 1, y, z] - patch[x - 1, y, z]) * normal[0], (patch[x, y, z + 1] - patch[x, y, z - 1]) * normal[2]
    j = (patch[x, y + 1, z] - patch[x, y - 1, z]) * normal[1] if patch.shape[1] > 1 else 0.0
    return 0.5 * abs(i + j + k) / full


@kernel
def exchange_impulses(nodes, block, its, contact, terms, spacing, dt):
    """Change the velocities of two bodies at a node to what their contact allows.

    Args:
        block, its: the node blocks of both bodies.
        contact: a row of `find_contacts`.
        terms: modulus [Pa], friction, adhesion [Pa], and whether only one is a fluid.
    """
    at = NODE * int(contact[2])
    nx, ny, nz = contact[3], contact[4], contact[5]
    modulus, friction, adhesion, is_wet = terms
    # a fluid has no surface: it touches wherever both have mass
    gap = 0.0 if is_wet else contact[6]
    area = contact[7] * (spacing * spacing if nodes.shape[1] > NODE * BLOCK * BLOCK else spacing)
    mass, its_mass = 1.0 * nodes[block, at + 3], 1.0 * nodes[its, at + 3]
    reduced = mass * its_mass / (mass + its_mass)
    u, v, w = nodes[its, at] - nodes[block, at], nodes[its, at + 1] - nodes[block, at + 1], nodes[its, at + 2] - nodes[block, at + 2]
    parting = u * nx + v * ny + w * nz
    # they may approach by the gap, and by what an elastic impact overlaps
    room = 0.0 if is_wet else max(gap + DEEPEST, 0.0)
    pressing = reduced * (-room * spacing / dt - parting)
    hold = adhesion * area * dt if gap < ADHESION_REACH else 0.0
    pressing = max(pressing, -min(hold, reduced * max(parting, 0.0)))
    outward = -gap * spacing * FASTEST_PARTING / dt
    if gap < 0.0 and parting < outward:
        pressing += min(-gap * modulus * area * dt, reduced * (outward - max(parting, 0.0)))
    if pressing == 0.0 and hold == 0.0:
        return
    u, v, w = u - parting * nx, v - parting * ny, w - parting * nz
    sliding = math.sqrt(u * u + v * v + w * w)
    most = friction * max(pressing + hold, 0.0)
    rub = min(1.0, most / (reduced * sliding)) * reduced if sliding > 0.0 else 0.0
    px, py, pz = rub * u - pressing * nx, rub * v - pressing * ny, rub * w - pressing * nz
    nodes[block, at] += px / mass
    nodes[block, at + 1] += py / mass
    nodes[block, at + 2] += pz / mass
    nodes[its, at] -= px / its_mass
    nodes[its, at + 1] -= py / its_mass
    nodes[its, at + 2] -= pz / its_mass


@kernel
def terms_of(surfaces, one, other):
    """What contact between the matter of two fields is like; see `exchange_impulses`."""
    return (
        min(surfaces.modulus[one], surfaces.modulus[other]),
        math.sqrt(surfaces.friction[one] * surfaces.friction[other]),
        math.sqrt(surfaces.adhesion[one] * surfaces.adhesion[other]),
        surfaces.is_fluid[one] != surfaces.is_fluid[other],
    )


@kernel
def find_all_contacts(nodes, meetings, begin, end, surfaces, width, room, piece):
    """Find the contacts of the bodies in one place, whose rows are [begin, end); returns their number."""
    patches, fulls, slopes, contacts = room.patches[piece], room.fulls[piece], room.slopes[piece], room.contacts[piece]
    fulls[:] = 0.0
    count = 0
    for one in range(end - begin - 1):
        for other in range(one + 1, end - begin):
            if not shares_nodes(nodes, meetings.blocks[begin + one], meetings.blocks[begin + other]):
                continue
            for each in (one, other):
                if fulls[each] == 0.0:
                    most = gather_masses(nodes, meetings.neighbors[meetings.blocks[begin + each]], patches[each])
                    fulls[each] = max(most, LEAST_FULL * surfaces.full[meetings.fields[begin + each]])
            field, its_field = meetings.fields[begin + one], meetings.fields[begin + other]
            # the surface of a solid is smoother than that of a fluid
            is_wet = surfaces.is_fluid[field] != surfaces.is_fluid[its_field]
            scale = 0.0 if is_wet and surfaces.is_fluid[field] else 1.0 / fulls[one]
            its_scale = 0.0 if is_wet and surfaces.is_fluid[its_field] else 1.0 / fulls[other]
            find_slopes(patches[one], patches[other], scale, its_scale, slopes)
            least, its_least = LEAST_FULL * surfaces.full[field], LEAST_FULL * surfaces.full[its_field]
            count = find_contacts((one, other), patches[one], patches[other], fulls, slopes, least, its_least, width, contacts, count)
    return count


@parallel_kernel
def meet_bodies(tickets, nodes, meetings, surfaces, room, spacing, width, dt):
    """Let the bodies of different fields meet at all nodes where several have mass.

    Args:
        nodes: (node blocks, 4 * block nodes) velocities [m/s] and masses [kg]; the velocities are changed.
        meetings, surfaces, room: see `Meetings`, `Surfaces` and `Room`.
        spacing: cell size [m].
        width: of the spline, over that of the quadratic one.
        dt: [s].
    """
    places, pieces = meetings.first.size - 1, room.fulls.shape[0]
    for piece in shared(tickets[0], pieces, 1):
        contacts = room.contacts[piece]
        for index in range(places * piece // pieces, places * (piece + 1) // pieces):
            begin, end = meetings.first[index], meetings.first[index + 1]
            count = find_all_contacts(nodes, meetings, begin, end, surfaces, width, room, piece)
            for _ in range(1 if end - begin == 2 else SWEEPS):
                for number in range(count):
                    one, other = begin + int(contacts[number, 0]), begin + int(contacts[number, 1])
                    terms = terms_of(surfaces, meetings.fields[one], meetings.fields[other])
                    exchange_impulses(nodes, meetings.blocks[one], meetings.blocks[other], contacts[number], terms, spacing, dt)
