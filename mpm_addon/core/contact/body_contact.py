"""Contact between bodies of different velocity fields, at the nodes where several have mass (Bardenhagen, Guilkey and others 2001).

At a node, two bodies exchange an impulse along their common normal, which prevents them from approaching once they touch, and one along
their surfaces, at most the friction coefficient times the first (Coulomb). Momentum is conserved at every node, and the normal impulse of
two approaching bodies dissipates energy; only where overlapping bodies slide, they separate a little, see `SLIDING_SHARE`.

The normal points against the difference of the gradients of both bodies' fullness; between a solid and a fluid, against that of the
solid, whose surface is smoother (Nairn, Hammerquist and Smith 2020 compare choices). Bodies do not touch yet just because both have mass
at a node: the masses give the distance of each body's surface (`node_surfaces`), and the sum of both distances is the gap. A fluid has no
such surface: it touches a solid inside of it and where both together fill a node, and is pushed out where they overfill it.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..laws import Law
from ..transfer.blocks import BLOCK, NODE
from ..transfer.layout import PIECE_COUNT, Layout
from ..transfer.node_lookup import node_of_place
from ..transfer.particle_store import ParticleStore
from .body_pair import LEAST_FULL, Surfaces, is_full, missing_share, pair_of, surfaces_of
from .node_surfaces import MARGIN, WIDTH, area_at, distance_at, find_slopes, gather_masses, mean_slope

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Nodes with less of a body than this share of a full cell have no contact: the particles, which are far away, gather next to nothing there.
LIGHT = 1e-3
# Where a fluid and a solid overfill a node, they part in a substep by this share of the excess [cells]. At a common surface they fill each
# node exactly; particles are uneven, so without this, fluid would seep in where they do not fill it yet.
DRAINING = 0.03
# greatest gap across which adhesion acts [cells]
ADHESION_REACH = 0.25
# Overlapping bodies that slide separate at no less than this share of their sliding speed. The edges of a body have slanted normals: it is
# stopped where its leading edge runs up the other body, and without this nothing would push its trailing edge in return, so it would drag.
SLIDING_SHARE = 0.15
# Overlapping bodies separate by at most this share of the overlap in a substep.
FASTEST_PARTING = 0.1
# number of sweeps over the pairs at nodes that more than two bodies share
SWEEPS = 4
# a normal from a shorter vector, in shares of full cells, is arbitrary
LEAST_SLOPE = 1e-12
# The standard deviation of the cubic spline over that of the quadratic one, whose integral gives distances.
CUBIC_WIDTH = math.sqrt(4.0 / 3.0)


class Meetings(NamedTuple):
    """The places with node blocks of several velocity fields.

    Attributes:
        first: (places + 1,) the first row of each place.
        blocks: (rows,) the node blocks of a place, in order of their fields; their fields: (rows,).
        neighbors: (node blocks, 27 or 9) the node blocks of the same field around each, -1 for none.
        held: (node blocks,) a bit for each node that pinned particles hold.
    """

    first: Ints
    blocks: Ints
    fields: Ints
    neighbors: Ints
    held: Ints


class Room(NamedTuple):
    """Working memory for the bodies in one place, with a row for each piece of work.

    Attributes:
        patches: (pieces, bodies, WIDTH, WIDTH or 1, WIDTH), see `gather_masses`; fulls: (pieces, bodies) masses of full cells [kg].
        slopes: (pieces, WIDTH, WIDTH or 1, WIDTH, 8), see `find_slopes`.
        contacts: (pieces, pairs times nodes of a block, 8), see `find_contacts`.
    """

    patches: NDArray[np.float32]
    fulls: Floats
    slopes: NDArray[np.float32]
    contacts: Floats


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
        self._surfaces = Surfaces(nothing, nothing, np.zeros(0, np.bool_), nothing, nothing)

    def find(self, layout: Layout) -> None:
        """Find the places with several fields, after a sort."""
        self._meetings = meetings_of(layout) if layout.has_twins else None
        if self._meetings is not None:
            most = int(np.diff(self._meetings.first).max())
            if most > self._room.fulls.shape[1]:
                self._room = room_for(most, self._dimension)

    def meet(self, store: ParticleStore, laws: Sequence[Law], held: Ints, dt: float) -> None:
        """Exchange the impulses of a substep of dt [s].

        Args:
            store: the particles.
            laws: of the store's material instances.
            held: (node blocks,) a bit for each node that does not give way, because pinned particles hold it.
            dt: [s].
        """
        if self._meetings is not None:
            if self._laws != laws:
                self._laws, self._surfaces = list(laws), surfaces_of(laws, store, self._spacing**self._dimension)
            meetings = self._meetings._replace(held=held)
            meet_bodies(store.nodes, store.node_rows, meetings, self._surfaces, self._room, self._spacing, self._width, dt)


def meetings_of(layout: Layout) -> Meetings:
    """The places where several fields have node blocks."""
    order = np.lexsort((layout.node_fields, layout.origins))
    origins = layout.origins[order]
    is_shared = np.bincount(origins)[origins] > 1
    blocks, places = order[is_shared], origins[is_shared]
    first = np.append(np.flatnonzero(np.diff(places, prepend=-1)), len(places))
    return Meetings(first, blocks, layout.node_fields[blocks], layout.node_neighbors(blocks), np.zeros(layout.node_count, np.int64))


def room_for(bodies: int, dimension: int) -> Room:
    """Working memory for places with at most this number of bodies."""
    patch = (WIDTH, WIDTH if dimension == 3 else 1, WIDTH)
    return Room(
        np.zeros((PIECE_COUNT, bodies, *patch), np.float32),
        np.zeros((PIECE_COUNT, bodies)),
        np.zeros((PIECE_COUNT, *patch, 8), np.float32),
        np.zeros((PIECE_COUNT, bodies * (bodies - 1) // 2 * BLOCK**dimension, 8)),
    )


@kernel
def shares_nodes(nodes, node_rows, block, its, least, its_least):
    """Whether two node blocks in one place have more than these masses [kg] at a common node."""
    if node_rows[block] & node_rows[its] == 0:
        return False
    count = 0
    for at in range(3, nodes.shape[1], NODE):
        count += nodes[block, at] > least and nodes[its, at] > its_least
    return count > 0


@kernel
def find_contacts(nodes, pair, first, last, slopes, width, contacts, count):
    """Find the nodes of a block at which two bodies may touch.

    Args:
        first, last: patches of both.
        contacts: (n, 8) result: both bodies, the node, the normal, the gap [cells], or between a fluid and a solid `missing_share`,
            and the area [cells^2] (0 without adhesion), from row `count` on.

    Returns:
        The new number of contacts.
    """
    block_nodes = nodes.shape[1] // NODE
    for node in range(block_nodes):
        mass, its_mass = nodes[pair.block, NODE * node + 3], nodes[pair.its, NODE * node + 3]
        if mass <= LIGHT * pair.full or its_mass <= LIGHT * pair.its_full:
            continue
        if pair.is_wet and not is_full(pair, mass, its_mass):
            continue
        ix, iy, iz = node_of_place(node, block_nodes)
        x, y, z = ix + MARGIN, 0 if first.shape[1] == 1 else iy + MARGIN, iz + MARGIN
        nx, ny, nz = mean_slope(slopes, x, y, z)
        length = math.sqrt(nx * nx + ny * ny + nz * nz)
        if length <= LEAST_SLOPE * pair.full * pair.its_full:
            continue
        normal, against = (nx / length, ny / length, nz / length), (-nx / length, -ny / length, -nz / length)
        if not pair.is_wet and pair.is_alone and pair.adhesion == 0.0 and is_parting(nodes, pair, NODE * node, normal):
            continue
        contacts[count, 0], contacts[count, 1], contacts[count, 2] = pair.one, pair.other, node
        contacts[count, 3], contacts[count, 4], contacts[count, 5] = normal
        contacts[count, 6] = contacts[count, 7] = 0.0
        if pair.is_wet:
            contacts[count, 6] = missing_share(pair, mass, its_mass)
        else:
            distance = distance_at(first, x, y, z, normal, pair.least, width)
            contacts[count, 6] = distance + distance_at(last, x, y, z, against, pair.its_least, width)
        if pair.adhesion > 0.0:
            area, its_area = area_at(first, x, y, z, pair.full, normal), area_at(last, x, y, z, pair.its_full, normal)
            contacts[count, 7] = 0.5 * (area + its_area)
        count += 1
    return count


@kernel
def is_parting(nodes, pair, at, normal):
    """Whether two bodies separate so fast at a node that contact would not change their velocities."""
    u, v = nodes[pair.its, at] - nodes[pair.block, at], nodes[pair.its, at + 1] - nodes[pair.block, at + 1]
    w = nodes[pair.its, at + 2] - nodes[pair.block, at + 2]
    return u * normal[0] + v * normal[1] + w * normal[2] >= SLIDING_SHARE * math.sqrt(u * u + v * v + w * w)


@kernel
def mobility(nodes, held, block, node):
    """The change of velocity that an impulse causes at a node of a block [1/kg]: 0 where pinned particles hold it."""
    return 0.0 if held[block] >> node & 1 else 1.0 / nodes[block, NODE * node + 3]


@kernel
def exchange_impulses(nodes, held, pair, contact, spacing, dt):
    """Change the velocities of two bodies at a node to those that their contact allows; contact: a row of `find_contacts`."""
    node, block, its = int(contact[2]), pair.block, pair.its
    at = NODE * node
    nx, ny, nz, gap = contact[3], contact[4], contact[5], contact[6]
    area = contact[7] * (spacing * spacing if nodes.shape[1] > NODE * BLOCK * BLOCK else spacing)
    ease, its_ease = mobility(nodes, held, block, node), mobility(nodes, held, its, node)
    if ease + its_ease == 0.0:
        return
    reduced = 1.0 / (ease + its_ease)
    u, v, w = nodes[its, at] - nodes[block, at], nodes[its, at + 1] - nodes[block, at + 1], nodes[its, at + 2] - nodes[block, at + 2]
    parting = u * nx + v * ny + w * nz
    u, v, w = u - parting * nx, v - parting * ny, w - parting * nz
    sliding = math.sqrt(u * u + v * v + w * w)
    # the bodies may approach by the gap
    wanted = -max(gap, 0.0) * spacing / dt
    if pair.is_wet:
        wanted = -gap * spacing * DRAINING / dt
    elif gap < 0.0:
        wanted = min(-gap * spacing * FASTEST_PARTING / dt, SLIDING_SHARE * sliding)
    hold = pair.adhesion * area * dt if gap < ADHESION_REACH else 0.0
    pressing = max(reduced * (wanted - parting), -min(hold, reduced * max(parting, 0.0)))
    if pressing == 0.0 and hold == 0.0:
        return
    most = pair.friction * max(pressing + hold, 0.0)
    rub = min(1.0, most / (reduced * sliding)) * reduced if sliding > 0.0 else 0.0
    px, py, pz = rub * u - pressing * nx, rub * v - pressing * ny, rub * w - pressing * nz
    nodes[block, at] += ease * px
    nodes[block, at + 1] += ease * py
    nodes[block, at + 2] += ease * pz
    nodes[its, at] -= its_ease * px
    nodes[its, at + 1] -= its_ease * py
    nodes[its, at + 2] -= its_ease * pz


@kernel
def find_all_contacts(nodes, node_rows, meetings, place, surfaces, width, room, piece):
    """Find the contacts of the bodies in a place; returns their number."""
    patches, fulls, slopes, contacts = room.patches[piece], room.fulls[piece], room.slopes[piece], room.contacts[piece]
    begin, end = meetings.first[place], meetings.first[place + 1]
    fulls[:] = 0.0
    count = 0
    for one in range(end - begin - 1):
        for other in range(one + 1, end - begin):
            block, its = meetings.blocks[begin + one], meetings.blocks[begin + other]
            full, its_full = surfaces.full[meetings.fields[begin + one]], surfaces.full[meetings.fields[begin + other]]
            if not shares_nodes(nodes, node_rows, block, its, LIGHT * full, LIGHT * its_full):
                continue
            for each in (one, other):
                if fulls[each] == 0.0:
                    most = gather_masses(nodes, meetings.neighbors[meetings.blocks[begin + each]], patches[each])
                    fulls[each] = max(most, LEAST_FULL * surfaces.full[meetings.fields[begin + each]])
            pair = pair_of(meetings, begin, end, surfaces, fulls, one, other)
            # the surface of a solid is smoother than that of a fluid
            scale = 0.0 if pair.is_wet and pair.is_fluid else 1.0 / fulls[one]
            its_scale = 0.0 if pair.is_wet and not pair.is_fluid else 1.0 / fulls[other]
            find_slopes(patches[one], patches[other], scale, its_scale, slopes)
            count = find_contacts(nodes, pair, patches[one], patches[other], slopes, width, contacts, count)
    return count


@parallel_kernel
def meet_bodies(tickets, nodes, node_rows, meetings, surfaces, room, spacing, width, dt):
    """Exchange impulses between the bodies of different fields at all nodes where several have mass.

    Args:
        nodes: (node blocks, 4 * block nodes) velocities [m/s] and masses [kg]; the velocities are changed.
        node_rows: (node blocks,) the rows that may be nonzero, see `update_grid`.
        meetings, surfaces, room: see `Meetings`, `Surfaces` and `Room`.
        spacing: cell size [m].
        width: of the spline, over that of the quadratic one.
        dt: [s].
    """
    places, pieces = meetings.first.size - 1, room.fulls.shape[0]
    for piece in shared(tickets[0], pieces, 1):
        contacts = room.contacts[piece]
        for place in range(places * piece // pieces, places * (piece + 1) // pieces):
            begin, end = meetings.first[place], meetings.first[place + 1]
            count = find_all_contacts(nodes, node_rows, meetings, place, surfaces, width, room, piece)
            pair = pair_of(meetings, begin, end, surfaces, room.fulls[piece], 0, 1)
            for _ in range(1 if end - begin == 2 else SWEEPS):
                for number in range(count):
                    one, other = int(contacts[number, 0]), int(contacts[number, 1])
                    if one != pair.one or other != pair.other:
                        pair = pair_of(meetings, begin, end, surfaces, room.fulls[piece], one, other)
                    exchange_impulses(nodes, meetings.held, pair, contacts[number], spacing, dt)
