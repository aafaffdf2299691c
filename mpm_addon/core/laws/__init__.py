"""Constitutive laws, one file each. Adding a law: its file, and its line in `LAWS`."""

from .corotated import Corotated
from .damped_elastic import DampedElastic
from .hencky import HenckyLaw
from .law import FluidLaw, Law, PrincipalLaw, TensorLaw
from .neo_hookean import NeoHookean
from .sand import Sand
from .snow import Snow
from .stress_free import StressFree
from .viscoplastic import Viscoplastic
from .von_mises import VonMises
from .water import Water

# Those of one family follow each other, as families do in menus.
LAWS: dict[str, type[Law]] = {
    law.name: law for law in (Water, Viscoplastic, DampedElastic, Corotated, NeoHookean, VonMises, Sand, Snow, StressFree)
}

__all__ = ["LAWS", "FluidLaw", "HenckyLaw", "Law", "PrincipalLaw", "TensorLaw"]
