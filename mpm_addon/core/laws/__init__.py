"""Constitutive laws, one file each. Adding a law: its file, and its line in `LAWS`."""

from .corotated import Corotated
from .law import FluidLaw, Law, PrincipalLaw, TensorLaw
from .neo_hookean import NeoHookean
from .sand import Sand
from .snow import Snow
from .water import Water

LAWS: dict[str, type[Law]] = {law.name: law for law in (Water, NeoHookean, Corotated, Snow, Sand)}

__all__ = ["LAWS", "FluidLaw", "Law", "PrincipalLaw", "TensorLaw"]
