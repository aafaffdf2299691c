"""How the material of an emitter takes up heat: its own values, or those of the preset that it is or is based on."""

import functools
from typing import Any

import numpy as np

from ...core.laws.law import Law
from ...core.scene.thermal import Thermal
from ...storage.presets import MaterialPreset, material_preset, material_presets
from .declarations import values_of


@functools.cache
def _presets_by_label() -> dict[str, MaterialPreset]:
    """The presets that ship with the extension, read once: their files take longer than all else about an emitter."""
    return {preset.label: preset for preset in material_presets()}


def base_of(settings: Any) -> MaterialPreset | None:
    """The built-in preset that a material is, or that its custom values are based on while it has the same law; None if there is none."""
    if settings.source == "preset":
        return material_preset(settings.preset) if settings.preset else None
    found = _presets_by_label().get(settings.origin)
    return found if found is not None and found.law.name == settings.law else None


def own_thermal(settings: Any) -> Thermal | None:
    """The thermal values of a custom material; None if they are those of its preset, or if it takes up no heat."""
    return Thermal(**values_of(settings.thermal, Thermal)) if settings.source == "custom" and settings.use_thermal else None


def heat_of(settings: Any, law: Law, *, is_animated: bool) -> dict[str, Any]:
    """The thermal values of a custom material, and the curves of the parameters that are still those of its preset."""
    own, base = own_thermal(settings), base_of(settings)
    if base is None:
        return {"thermal": own}
    kept = {} if is_animated else base.curves
    is_same = {name: np.isclose(getattr(law, name), getattr(base.law, name), rtol=1e-5) for name in kept}
    curves = {name: points for name, points in kept.items() if is_same[name]}
    return {"thermal": own or base.thermal, "curves": curves, "melts_into": None if is_animated else base.melts_into}
