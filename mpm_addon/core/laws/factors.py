"""Factors on a material's parameters, from an emitter, its painting and its randomness."""

from typing import NamedTuple


class Factors(NamedTuple):
    """The factors on a material's parameters; each law says what friction and strength are (`Law.scaled`)."""

    density: float = 1.0
    stiffness: float = 1.0
    friction: float = 1.0
    strength: float = 1.0
