"""Two bodies in one place: what each has at a node where it is full, their friction, and where a fluid and a solid touch.

Contact itself is in `body_contact`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..laws import ElasticLaw, FluidLaw, Law
from ..transfer.particle_store import ParticleStore

Floats = NDArray[np.float64]

# The mass of a full node is the greatest mass of the body nearby, and at least this share of that of a full cell.
LEAST_FULL = 0.5
# A node that a solid fills by more than this share lies inside of it. Fluid there always touches it; if both had to fill the node, drops
# that have come in where others are missing would wander on.
INSIDE = 0.5
# A material overfills a node only with more than this share of its greatest mass nearby, which uneven particles exceed by so much.
CROWDED = 0.8


class Surfaces(NamedTuple):
    """The properties of each velocity field that contact depends on.

    Attributes:
        full: mass of a cell full of the densest of its materials [kg], (fields,); thin: of the lightest.
        is_fluid: whether one of its materials is a fluid, (fields,).
        friction: Coulomb coefficient, (fields,).
        adhesion: [Pa], (fields,).
    """

    full: Floats
    thin: Floats
    is_fluid: NDArray[np.bool_]
    friction: Floats
    adhesion: Floats


class Pair(NamedTuple):
    """Two bodies in one place.

    Attributes:
        one, other: which of the bodies there.
        block, its: their node blocks.
        is_wet: whether exactly one of them contains a fluid; is_fluid: whether the first does.
        full, its_full: masses of full cells for the normal [kg]; least, its_least: the least that count as full for distances.
        filling, its_filling: the masses with which they fill a node [kg]: a full cell of the lightest material, less where stretched.
        crowding, its_crowding: the masses above which they overfill it [kg]: more where compressed, or of a heavier material.
        friction: Coulomb coefficient between them.
        adhesion: [Pa].
        is_alone: whether these are the only bodies in the place.
    """

    one: int
    other: int
    block: int
    its: int
    is_wet: bool
    is_fluid: bool
    full: float
    its_full: float
    least: float
    its_least: float
    filling: float
    its_filling: float
    crowding: float
    its_crowding: float
    friction: float
    adhesion: float
    is_alone: bool


def surfaces_of(laws: Sequence[Law], store: ParticleStore, cell_volume: float) -> Surfaces:
    """The properties of each field; friction and adhesion are the means over its solids."""
    groups = [[laws[number] for number in instances] for instances in store.fields]
    # materials with the same values count once, regardless of the number of levels of painted factors
    solids = [{(law.contact_friction, law.adhesion): law for law in group if isinstance(law, ElasticLaw)}.values() for group in groups]

    def mean(name: str) -> Floats:
        return np.array([np.mean([getattr(law, name) for law in group] or [0.0]) for group in solids])

    full = np.array([cell_volume * max(law.density for law in group) for group in groups])
    thin = np.array([cell_volume * min(law.density for law in group) for group in groups])
    is_fluid = np.array([any(isinstance(law, FluidLaw) for law in group) for group in groups])
    return Surfaces(full, thin, is_fluid, mean("contact_friction"), mean("adhesion"))


@kernel
def pair_of(meetings, begin, end, surfaces, fulls, one, other):
    """Two of the bodies in the place with rows [begin, end); fulls: (bodies,) as in `Room`."""
    field, its_field = meetings.fields[begin + one], meetings.fields[begin + other]
    thin, its_thin, most, its_most = surfaces.thin[field], surfaces.thin[its_field], fulls[one], fulls[other]
    full, its_full = surfaces.full[field], surfaces.full[its_field]
    return Pair(
        one,
        other,
        meetings.blocks[begin + one],
        meetings.blocks[begin + other],
        surfaces.is_fluid[field] != surfaces.is_fluid[its_field],
        surfaces.is_fluid[field],
        full,
        its_full,
        LEAST_FULL * full,
        LEAST_FULL * its_full,
        min(thin, most),
        min(its_thin, its_most),
        max(thin, CROWDED * most),
        max(its_thin, CROWDED * its_most),
        math.sqrt(surfaces.friction[field] * surfaces.friction[its_field]),
        math.sqrt(surfaces.adhesion[field] * surfaces.adhesion[its_field]),
        end - begin == 2,
    )


@kernel
def is_full(pair, mass, its_mass):
    """Whether a fluid and a solid that have these masses at a node [kg] touch there."""
    share, its_share = mass / pair.filling, its_mass / pair.its_filling
    return share + its_share >= 1.0 or (its_share if pair.is_fluid else share) > INSIDE


@kernel
def missing_share(pair, mass, its_mass):
    """The share by which a fluid and a solid that have these masses at a node [kg] overfill it, negative; 0 where they do not."""
    return min(1.0 - mass / pair.crowding - its_mass / pair.its_crowding, 0.0)
