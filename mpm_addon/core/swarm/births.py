"""What decides where material makes new particles: random numbers that follow from ids, and how fast the material around moves apart."""

import math

from ..compilation.kernel import kernel
from ..transfer.blocks import hashed
from .fill import first_node, node_at, sample, weights

# Of the quadratic B-spline along an axis [spacings^2].
_VARIANCE = 0.25


@kernel
def chance(first, second, third):
    """A number in [0, 1) that depends only on three whole numbers."""
    key = hashed((int(first) << 32) ^ int(second))
    return (hashed((key << 32) ^ int(third)) & 0xFFFFFFFF) / 4294967296.0


@kernel
def share_of(value, low, high):
    """How far a value is between two limits, in [0, 1]."""
    return min(max((value - low) / (high - low), 0.0), 1.0)


@kernel
def approach(fill, place, speed, sense):
    """How fast the material around a point approaches one that moves with it [m/s]; with the opposite sense, how fast they part.

    Four times the mean of max(0, -u . x), which is the relative speed where directions are random. Ihmsen and others 2012 also count what
    passes by, and so the turning of material as a whole.

    Args:
        fill: see `Fill`.
        place: [m], three numbers.
        speed: [m/s], three numbers.
        sense: 1 for what approaches, -1 for what parts.
    """
    block, (px, py, pz), (ox, oy, oz) = first_node(fill, place[0], place[1], place[2])
    total = 0.0
    if block < 0:
        return total
    _, (gx, gy, gz), _ = sample(fill, place[0], place[1], place[2])
    gx, gy, gz = gx * fill.spacing, gy * fill.spacing, gz * fill.spacing
    steep = math.sqrt(gx * gx + gy * gy + gz * gz)
    (wx, _), (wy, _), (wz, _) = weights(ox), weights(oy), weights(oz)
    for i in range(3):
        for j in range(3):
            for k in range(3):
                node = node_at(fill, block, px + i, py + j, pz + k)
                du, dv, dw = speed[0] - fill.nodes[node, 1], speed[1] - fill.nodes[node, 2], speed[2] - fill.nodes[node, 3]
                full = fill.nodes[node, 0]
                # the material of a node is not around the node where it is at the surface, but farther inside
                pull = min(_VARIANCE / max(full, 1e-9), 1.0 / max(steep, 1e-9))
                dx, dy, dz = ox - i - pull * gx, oy - j - pull * gy, oz - k - pull * gz
                along = (du * dx + dv * dy + dw * dz) / max(math.sqrt(dx * dx + dy * dy + dz * dz), 1e-9)
                total += wx[i] * wy[j] * wz[k] * full * 4.0 * max(-sense * along, 0.0)
    return total
