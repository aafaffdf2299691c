"""Turbulence: smooth, divergence-free noise, the curl of gradient noise (Perlin 1985; Bridson et al. 2007).

Three potentials are summed over the corners of a unit lattice, with gradients chosen by each corner's hash; their derivatives are in
closed form. In 2D only the potential along y counts, so the result lies in the plane and is divergence-free there.
"""

import math

import numpy as np

from ..compilation.kernel import kernel

# from a cube's center to the midpoints of its edges
GRADIENTS = np.array(
    [
        [1, 1, 0], [-1, 1, 0], [1, -1, 0], [-1, -1, 0], [1, 0, 1], [-1, 0, 1],
        [1, 0, -1], [-1, 0, -1], [0, 1, 1], [0, -1, 1], [0, 1, -1], [0, -1, -1],
    ],
    np.float64,
)  # fmt: skip
OCTAVES = 3
# scales for a root mean square of 0.1755 per component, that of Blender's turbulence of strength 1, in 3D and 2D
SPACE_SCALE = 0.1537
PLANE_SCALE = 0.2125


@kernel
def mixed(key):
    """A hash in which every bit depends on all bits of the key: multiplied and folded, twice (Steele, Lea and Flood 2014)."""
    key = (key ^ (key >> np.int64(30))) * np.int64(-4658895280553007687)
    key = (key ^ (key >> np.int64(27))) * np.int64(-7723592293110705685)
    return key ^ (key >> np.int64(31))


@kernel
def corner_hash(x, y, z, seed):
    """A hash of a lattice corner and a seed."""
    key = mixed(np.int64(x) + mixed(np.int64(seed) + np.int64(0x1F3D5B79)))
    return mixed(np.int64(z) + mixed(np.int64(y) + key))


@kernel
def random_number(key):
    """A number in [0, 1) from a hash."""
    return ((key >> np.int64(11)) & np.int64(0xFFFFFFFFFFFFF)) / 4503599627370496.0


@kernel
def ease(x):
    """A smooth step on [0, 1] whose first two derivatives vanish at both ends (Perlin 2002), and its derivative."""
    return x * x * x * (x * (6.0 * x - 15.0) + 10.0), 30.0 * x * x * (x * (x - 2.0) + 1.0)


@kernel
def lattice_curl(x, y, z, seed, is_plane):
    """The curl of one octave; lengths are in cells of the lattice."""
    ix, iy, iz = math.floor(x), math.floor(y), math.floor(z)
    (ex, dx), (ey, dy), (ez, dz) = ease(x - ix), ease(y - iy), ease(z - iz)
    u, v, w = 0.0, 0.0, 0.0
    for corner in range(8):
        cx, cy, cz = corner >> 2, corner >> 1 & 1, corner & 1
        sx, sy, sz = (ex if cx else 1.0 - ex), (ey if cy else 1.0 - ey), (ez if cz else 1.0 - ez)
        share = sx * sy * sz
        if is_plane and cy:
            continue
        gx, gy, gz = (dx if cx else -dx) * sy * sz, (dy if cy else -dy) * sx * sz, (dz if cz else -dz) * sx * sy
        px, py, pz = x - ix - cx, y - iy - cy, z - iz - cz
        key = corner_hash(ix + cx, iy + cy, iz + cz, seed)
        b = GRADIENTS[((key >> 16) & 0xFFFF) % 12]
        second = b[0] * px + b[1] * py + b[2] * pz
        u -= gz * second + share * b[2]
        w += gx * second + share * b[0]
        if not is_plane:
            a, c = GRADIENTS[(key & 0xFFFF) % 12], GRADIENTS[((key >> 32) & 0xFFFF) % 12]
            first, third = a[0] * px + a[1] * py + a[2] * pz, c[0] * px + c[1] * py + c[2] * pz
            u += gy * third + share * c[1]
            v += gz * first + share * a[2] - gx * third - share * c[0]
            w -= gy * first + share * a[1]
    return u, v, w


@kernel
def turbulence(x, y, z, size, seed, is_plane):
    """The noise at a position [m] with eddies of a given size [m]: three octaves, each half as large and half as strong as the last."""
    u, v, w = 0.0, 0.0, 0.0
    share, frequency = (PLANE_SCALE if is_plane else SPACE_SCALE), 1.0 / size
    for octave in range(OCTAVES):
        a, b, c = lattice_curl(x * frequency, y * frequency, z * frequency, seed + (octave << 32), is_plane)
        u, v, w = u + share * a, v + share * b, w + share * c
        share, frequency = 0.5 * share, 2.0 * frequency
    return u, v, w
