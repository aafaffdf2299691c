"""How much of the space around nodes colliders cover: for the fullness that fluids see, a collider counts as full of them."""

from ..arithmetic.operations import generic
from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..transfer.blocks import NODE

# Space beside a collider counts as far as it is full; from the first share on more than that, and wholly from the second on, since
# particles are too few to fill each node's kernel evenly.
HALF_BESIDE, FULL_BESIDE = 0.5, 0.8
LEAST_ROOM = 1e-6
# the distance from a surface, in cells, beyond which no share of a node's kernel is counted as covered, or all of it
COVER_REACH = 1.5


@generic
def covered_share(distance, is_cubic_spline):
    """The share of a node's kernel that a flat collider covers at a signed distance [cells], positive outside.

    The kernel's integral beyond the distance. What cubic splines have beyond 1.5 cells, 0.3 %, is left out.
    """
    s = abs(distance)
    if s >= COVER_REACH:
        share = 0.0
    elif is_cubic_spline:
        share = 0.5 - s * (2.0 / 3.0 - s * s * (1.0 / 3.0 - s / 8.0)) if s < 1.0 else (2.0 - s) ** 4 / 24.0
    else:
        share = 0.5 - s * (0.75 - s * s / 3.0) if s < 0.5 else (1.5 - s) ** 3 / 6.0
    return share if distance >= 0.0 else 1.0 - share


@parallel_kernel
def find_covered(tickets, level_sets, reached, is_cubic, shares):
    """The share of each node's kernel that a collider covers.

    Args:
        level_sets: see `LevelSets`.
        reached: (node blocks,) see `mark_reached`.
        is_cubic: whether the scheme's splines are cubic.
        shares: (rows, block nodes) result; 0 at nodes that no particle can reach.
    """
    blocks, distance, spacing = level_sets.blocks, level_sets.distance, level_sets.spacing
    for row in shared(tickets[0], blocks.size, 16):
        block = blocks[row]
        for place in range(distance.shape[1]):
            is_reached = block >= 0 and reached[block] >> place & 1 != 0
            shares[row, place] = covered_share(distance[row, place] / spacing, is_cubic) if is_reached else 0.0


@kernel
def cover_nodes(covered, filled, shares):
    """Add what a collider covers to what others have covered before it.

    Args:
        covered: (nodes,) the share of each node's kernel that is covered; updated.
        filled: (n,) the nodes, one for each collider that covers some of it; shares: (n,) how much.
    """
    for index in range(filled.size):
        covered[filled[index]] += (1.0 - covered[filled[index]]) * shares[index]


@kernel
def fill_nodes(nodes, covered, filled, full_mass):
    """Add to the masses of nodes what would fill the space that is covered, as far as the space beside it is full.

    Above the surface of a pool walls are not full of it, or particles would be lifted along them.

    Args:
        nodes: (4 * nodes,) velocities [m/s] and masses [kg]; masses are updated.
        covered: (nodes,) see `cover_nodes`; cleared at these nodes.
        filled: (n,) the nodes; a node may occur more than once.
        full_mass: mass of a full cell [kg].
    """
    for index in range(filled.size):
        node = filled[index]
        share = covered[node]
        if share > 0.0:
            beside = nodes[NODE * node + 3] / max((1.0 - share) * full_mass, LEAST_ROOM * full_mass)
            steep = HALF_BESIDE + (beside - HALF_BESIDE) * (1.0 - HALF_BESIDE) / (FULL_BESIDE - HALF_BESIDE)
            nodes[NODE * node + 3] += full_mass * share * min(max(beside, steep), 1.0)
            covered[node] = 0.0
