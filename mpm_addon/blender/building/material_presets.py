"""Materials of objects as presets: the chosen preset, the values in *Custom*, and the user's own presets in a folder.

A user preset is copied into *Custom* when it is chosen, so a .blend file never needs the user's folder.
"""

from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core.errors import PresetError
from ...core.laws import LAWS, Law
from ...core.scene.randomness import UNIFORM, Randomness
from ...core.scene.thermal import Thermal
from ...storage import user_presets
from ...storage.presets import MaterialPreset, material_preset, material_preset_names, read_material_preset
from ..host.blender_types import BlenderObject
from ..settings.declarations import assign, decimal, values_of
from ..settings.heat import base_of, heat_of
from ..settings.properties import own_randomness

_PACKAGE = (__package__ or "").partition(".blender")[0]
_FOLDER = "presets/materials"
_SAVED = "Saved in Blender."


def folder() -> Path:
    """The folder of the user's presets: the extension's own folder, or that of Blender's settings when running from the source tree."""
    try:
        return Path(bpy.utils.extension_path_user(_PACKAGE, path=_FOLDER))
    except ValueError:
        return Path(bpy.utils.user_resource("CONFIG", path=f"mpm_addon/{_FOLDER}"))


def own_presets() -> list[tuple[str, MaterialPreset | None]]:
    """The user's presets: file name without extension -> preset, or None if the file is invalid."""
    return [(path.stem, user_presets.listed(path)) for path in user_presets.preset_files(folder())]


def chosen(material: Any) -> MaterialPreset | None:
    """The built-in preset of a material; None if it is custom, or if the preset does not exist."""
    return material_preset(material.preset) if material.source == "preset" and material.preset else None


def customize(item: BlenderObject, preset: MaterialPreset) -> None:
    """Copy a preset into *Custom*: its law, its values, and its color and randomness, which the particles would lose otherwise."""
    material, emitter = item.mpm.material, item.mpm.emitter
    material.law = preset.law.name
    assign(getattr(material, preset.law.name), preset.law)
    if preset.color is not None:
        emitter.use_color = True
        emitter.color = (*preset.color, 1.0)
    if preset.randomness.amounts and not emitter.use_randomness:
        emitter.use_randomness = True
        assign(emitter.randomness, preset.randomness, scale_length=_meters())
    material.source = "custom"
    material.origin = preset.label
    # those of a built-in preset hold until they are edited
    given = None if base_of(material) is not None else preset.thermal
    material.use_thermal = given is not None
    assign(material.thermal, given or preset.thermal or Thermal())


def choose(item: BlenderObject, name: str) -> None:
    """Assign a built-in preset to an object. A color and a randomness that came into *Custom* from another preset are removed."""
    material, emitter = item.mpm.material, item.mpm.emitter
    if material.source == "custom":
        origins = _named(material.origin)
        if any(np.allclose(each.color, emitter.color[:3], atol=1e-4) for each in origins if each.color is not None):
            emitter.use_color = False
        if any(each.randomness == _own_randomness(item, each.law) for each in origins):
            emitter.use_randomness = False
    material.preset = name
    material.source = "preset"


def _named(label: str) -> list[MaterialPreset]:
    """The built-in and user presets with a label."""
    built_in = [material_preset(name) for name in material_preset_names()]
    return [each for each in (*built_in, *(own for _, own in own_presets())) if each is not None and each.label == label]


def _own_randomness(item: BlenderObject, law: Law) -> Randomness:
    """The randomness of an emitter's own settings, of what a law has, rounded as in a file."""
    own = own_randomness(item.mpm.emitter, law, scale_length=_meters())
    return replaced(own, size=float(f"{own.size:.6g}"))


def _meters() -> float:
    """Meters per unit of the scene in the window."""
    scene: Any = bpy.context.scene
    return decimal(scene.unit_settings.scale_length)


def load(item: BlenderObject, name: str) -> None:
    """Copy a user preset into *Custom*. Raises PresetError if it does not exist or is malformed."""
    customize(item, read_material_preset(user_presets.preset_path(folder(), name)))


def save(item: BlenderObject, label: str, description: str, *, replace: bool) -> Path:
    """Save an object's material as a user preset.

    Raises:
        MpmError: the material is malformed, the name is taken or contains no letter, or the folder cannot be written.
    """
    base, color = chosen(item.mpm.material), item.mpm.emitter.color[:3] if item.mpm.emitter.use_color else None
    law = _law(item) if base is None else base.law
    if color is None:
        color = law.color[:3] if base is None or base.color is None else base.color
    rounded = (round(color[0], 4), round(color[1], 4), round(color[2], 4))
    plain = " ".join(label.split())
    described = " ".join(description.split()) or f"{law.label}."
    source = _SAVED if base is None else base.source
    of_preset = UNIFORM if base is None else base.randomness
    randomness = _own_randomness(item, law) if item.mpm.emitter.use_randomness else of_preset
    heat = _heat(item.mpm.material, law)
    preset = MaterialPreset("", plain, described, source, law, color=rounded, randomness=randomness, **heat)
    return user_presets.save_preset(folder(), preset, replace=replace)


def _heat(material: Any, law: Law) -> dict[str, Any]:
    """The thermal values, curves and fluid of a material, for its file."""
    base = chosen(material)
    if base is not None:
        return {"thermal": base.thermal, "curves": base.curves, "melts_into": base.melts_into}
    return heat_of(material, law, is_animated=False)


def is_taken(label: str) -> bool:
    """Whether a user preset has this name."""
    try:
        return (folder() / f"{user_presets.file_name(label)}{user_presets.SUFFIX}").exists()
    except PresetError:
        return False


def _law(item: BlenderObject) -> Law:
    """The law with the values of a custom material. Raises MpmError if they are malformed."""
    material = item.mpm.material
    if material.source == "preset" or material.law not in LAWS:
        raise PresetError(
            "its material is not available in this version", "choose another one, then save it", subject=f'Object "{item.name}"'
        )
    law = LAWS[material.law](**values_of(getattr(material, material.law), LAWS[material.law]))
    law.check(f'Object "{item.name}"')
    return law
