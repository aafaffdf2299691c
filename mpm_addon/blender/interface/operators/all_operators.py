"""The list of all baking operators."""

from ...baking import preflight, session
from ...host.registrar import Registrar
from . import bake_operators, cache_operators, preflight_operators, take_operators

CLASSES: tuple[type, ...] = (
    *bake_operators.CLASSES,
    *take_operators.CLASSES,
    *preflight_operators.CLASSES,
    *cache_operators.CLASSES,
)


def register(registrar: Registrar) -> None:
    registrar.classes(CLASSES)
    registrar.on_removal(preflight.end)
    registrar.on_removal(session.leave)
