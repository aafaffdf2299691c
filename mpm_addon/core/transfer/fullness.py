"""Fullness: the share of the space around a particle that material or a collider occupies. Fluids use it to keep their volume.

After some corrections, fullness follows from the masses at the nodes. Other materials, including those of other velocity fields, count by
their volume at rest instead of their mass, and colliders by the part of each node's kernel that they cover. A free surface does not count
as thin material: where the mass decreases as it does below the surface of a half space, it is divided by what it would be there.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba.extending import overload

from ..arithmetic.operations import constant, generic, maximum, minimum, sqrt
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..laws.law import FluidLaw, Law
from .blocks import BLOCK, NEIGHBORS, NODE, ROW
from .extent import RECORD, box_of
from .grid import overlap
from .layout import Layout
from .particle_store import ParticleStore
from .scheme import is_cubic, is_plane
from .sparse import IS_RECORDS, add_mass_of_record

# A particle gathers more of its own mass than the space around it holds on average; its neighbors, which keep a distance, compensate for
# most of this. The rest, relative to the mean sum of squared weights; measured in stirred water (4 and 9 particles a cell in 2D, 8 in 3D).
OWN_EXCESS = 0.08
QUADRATIC_SQUARES, CUBIC_SQUARES = 11.0 / 20.0, 151.0 / 315.0
# 1 / (mass gathered below a flat surface), as a polynomial in t = h |grad m| / m, averaged over the positions of the surface between nodes:
# accurate to 0.3 % from half a particle above the surface downward; and the largest t for which it is used.
QUADRATIC_SURFACE = (0.305, 0.310, 0.167)
CUBIC_SURFACE = (0.350, 0.420, 0.257)
STEEPEST = 1.5
# At a free surface half of the space is full; below the first share there is only spray, from the second on a surface.
SPARSE, DENSE = 0.35, 0.45
# Particles are also spaced unevenly inside a fluid. The mean of t^2 that this causes, and the variance of fullness in 2D and in 3D, all
# relative to the share of one particle; measured in Poisson-disk samples and in stirred water.
NOISE = 0.02
PLANE_UNEVENNESS, SPACE_UNEVENNESS = 0.009, 0.0045
# prevents a division by zero in slots without mass around; particles always gather some of their own mass [kg]
LEAST_MASS = 1e-30


class MixedNodes:
    """The nodes where a fluid meets materials of another density or of another velocity field.

    Args:
        laws: of the instances.
        cell_volume: [m^3], in 2D [m^2].

    Attributes:
        full_mass: mass of a cell full of the first fluid [kg], the unit of fullness; 0 without fluids.
    """

    def __init__(self, laws: Sequence[Law], cell_volume: float) -> None:
        self._is_fluid = np.array([isinstance(law, FluidLaw) and law.takes_space for law in laws])
        densities = np.array([law.density for law in laws])
        reference = float(densities[self._is_fluid][0]) if self._is_fluid.any() else 0.0
        self.full_mass = reference * cell_volume
        self._volumes = np.where([law.takes_space for law in laws], reference / densities, 0.0)
        self._blocks = np.zeros(0, np.int64)

    def find(self, layout: Layout) -> None:
        """Find the node blocks of fluids that need a correction."""
        is_other = self._volumes != 1.0
        if self.full_mass == 0.0 or not (is_other.any() or layout.has_twins):
            # fields in contact before the sort may have separated
            self._blocks = np.zeros(0, np.int64)
            return
        holds = np.diff(layout.runs.first).reshape(-1, len(self._volumes)) > 0
        # one row more, for the number that stands for no block
        holds = np.concatenate([holds, np.zeros_like(holds[:1])])
        around, field = layout.node_arenas, layout.node_fields
        is_wanted = np.zeros(len(around), np.bool_)
        for number, its in enumerate(layout.fields):
            is_own = np.isin(np.arange(holds.shape[1]), its)
            counts = np.where(is_own, is_other, self._volumes > 0.0)
            fluid, other = holds[:, self._is_fluid & is_own].any(axis=1), holds[:, counts].any(axis=1)
            nodes = field == number
            is_wanted[nodes] = fluid[around[nodes]].any(axis=1) & other[around[nodes]].any(axis=1)
        self._blocks = np.flatnonzero(is_wanted)

    def count_volumes(self, store: ParticleStore) -> None:
        """Convert masses at these nodes to those of the first fluid in the same volume; only for gathering."""
        if len(self._blocks):
            count_volumes(store.arenas, store.layout.node_arenas, self._blocks, self._volumes, store.nodes)


@parallel_kernel
def count_volumes(tickets, arenas, node_arenas, mixed, volumes, nodes):
    """Correct the masses at nodes so that each instance counts by its volume.

    Args:
        arenas: see `Arenas`; those of the substep.
        node_arenas: (node blocks, 27 or 9) particle blocks around each node block, -1 where there is none.
        mixed: (n,) node blocks.
        volumes: (instances,) density of the reference over the instance's, 0 for instances that take up no space.
        nodes: (node blocks, 4 * block nodes) velocities [m/s] and masses [kg]; the masses are changed.
    """
    instance_count = volumes.size
    is_in_space = node_arenas.shape[1] == NEIGHBORS
    for index in shared(tickets[0], mixed.size, 4):
        number = mixed[index]
        for place in range(node_arenas.shape[1]):
            block = node_arenas[number, place]
            if block < 0:
                continue
            for instance in range(instance_count):
                is_in_sum = arenas.instances[number, 0] <= instance < arenas.instances[number, 1]
                factor = volumes[instance] - 1.0 if is_in_sum else volumes[instance]
                if factor != 0.0:
                    add_masses(arenas, block * instance_count + instance, place, is_in_space, factor, nodes[number])


@generic
def add_masses(arenas, run, place, is_in_space, factor, node):
    """Add the masses in the arena of a run of the neighbor number `place`, times a factor, to those of a node block.

    Nodes without mass are skipped: they are not reset, and nothing gathers from them.
    """
    if arenas.boxes[run, 0] == IS_RECORDS:
        for each in range(int(arenas.boxes[run, 1])):
            add_mass_of_record(arenas.values, arenas.starts[run] + RECORD * each, place, factor, node)
        return
    x0, x1, y0, y1, z0, z1 = box_of(arenas, run)
    low_x, high_x, ax = overlap((place // 9 if is_in_space else place // 3) - 1, x0, x1)
    low_y, high_y, ay = overlap(place // 3 % 3 - 1, y0, y1) if is_in_space else (0, 1, 0)
    low_z, high_z, az = overlap(place % 3 - 1, z0, z1)
    for x in range(low_x, high_x):
        for y in range(low_y, high_y):
            row = NODE * BLOCK * (x * BLOCK + y if is_in_space else x)
            at = arenas.starts[run] + ((x + ax - x0) * (y1 - y0) + y + ay - y0) * ROW
            for z in range(low_z, high_z):
                if node[row + NODE * z + 3] > 0.0:
                    node[row + NODE * z + 3] += factor * arenas.values[at + NODE * (z + az) + 3]


def fullness(scheme: Any, mass: Any, mass_around: Any, slope: Any, full_mass: Any) -> Any:
    """The share of the space around a particle that is occupied, and its standard deviation due to the uneven spacing of particles.

    Args:
        mass: mass of the first fluid in the particle's rest volume [kg].
        mass_around: mass gathered from the nodes, see `MixedNodes` [kg].
        slope: its gradient times the cell size [kg], 3 values.
        full_mass: mass of a full cell [kg]; 0 gives 0.
    """
    raise TypeError("fullness is for kernels")


@overload(fullness, jit_options={"forceinline": True})
def _overload_fullness(scheme, mass, mass_around, slope, full_mass):
    first, second, third = CUBIC_SURFACE if is_cubic(scheme) else QUADRATIC_SURFACE
    unevenness = PLANE_UNEVENNESS if is_plane(scheme) else SPACE_UNEVENNESS
    own_excess = OWN_EXCESS * (CUBIC_SQUARES if is_cubic(scheme) else QUADRATIC_SQUARES) ** (2 if is_plane(scheme) else 3)

    def full(scheme, mass, mass_around, slope, full_mass):
        x, y, z = slope
        zero, one = constant(0.0, mass), constant(1.0, mass)
        per_mass = 1.0 / maximum(mass_around, constant(LEAST_MASS, mass))
        squared = maximum(zero, (x * x + y * y + z * z) * per_mass - NOISE * mass) * per_mass
        steepness = minimum(constant(STEEPEST, mass), sqrt(squared))
        factor = 1.0 + steepness * (first + steepness * (second + steepness * third))
        per_full_mass = 1.0 / full_mass if full_mass > 0.0 else 0.0
        raw = per_full_mass * mass_around
        dense = minimum(one, maximum(zero, (raw - SPARSE) * (1.0 / (DENSE - SPARSE))))
        deviation = sqrt(unevenness * (mass * per_mass))
        return dense * (factor * raw - per_full_mass * own_excess * mass), deviation

    return full
