"""Constitutive laws, one file each. To add a law, write its file and add it to `LAWS`."""

from .brittle import Brittle
from .corotated import Corotated
from .damped_elastic import DampedElastic
from .elasticity import ElasticLaw
from .hencky import HenckyLaw
from .hyperelastic import HyperelasticLaw
from .law import DirectedLaw, FluidLaw, Law, PrincipalLaw, TensorLaw
from .neo_hookean import NeoHookean
from .sand import Sand
from .snow import Snow
from .stress_free import StressFree
from .viscoplastic import Viscoplastic
from .von_mises import VonMises
from .water import Water

# Laws of one family are consecutive; menus keep this order.
LAWS: dict[str, type[Law]] = {
    law.name: law for law in (Water, Viscoplastic, DampedElastic, Corotated, NeoHookean, Brittle, VonMises, Sand, Snow, StressFree)
}


def constants_types() -> dict[str, type]:
    """The types of the constants of all laws, by `Law.kernel_name`."""
    return {name: kind for law in LAWS.values() for name, kind in {law.name: law.constants_type, **law.variants}.items()}


__all__ = [
    "LAWS",
    "DirectedLaw",
    "ElasticLaw",
    "FluidLaw",
    "HenckyLaw",
    "HyperelasticLaw",
    "Law",
    "PrincipalLaw",
    "TensorLaw",
    "constants_types",
]
