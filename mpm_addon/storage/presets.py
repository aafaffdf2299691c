"""Presets: named materials (TOML files) and scenes (scene packages) that come with the extension."""

from dataclasses import dataclass
from pathlib import Path

from ..core.errors import PresetError, SceneError
from ..core.laws import LAWS, Law
from ..core.parameters import suggestion
from .installation import presets_folder
from .toml_tables import check_keys, check_schema, declared_values, look_up, parameter_names, read_toml

MATERIAL_SCHEMA = 1
_KEYS = ("schema", "label", "description", "source", "law", "parameters")


@dataclass(frozen=True)
class MaterialPreset:
    """A named material.

    Attributes:
        name: the word in scene files; the file's name.
        label: the words in the interface.
        description: what it is for, and what was changed against nature.
        source: where the numbers come from.
        law: the law with its parameters.
    """

    name: str
    label: str
    description: str
    source: str
    law: Law


def material_preset_names() -> tuple[str, ...]:
    """The names of all material presets, sorted."""
    return tuple(sorted(path.stem for path in (presets_folder() / "materials").glob("*.toml")))


def scene_preset_folders() -> dict[str, Path]:
    """Name -> folder of every scene preset, sorted."""
    return {path.parent.name: path.parent for path in sorted((presets_folder() / "scenes").glob("*/scene.toml"))}


def load_material_preset(name: str) -> Law:
    """The law, with its parameters, of a material preset.

    Raises:
        PresetError: there is no such preset (the nearest is named), or its file is malformed.
    """
    return material_preset(name).law


def material_preset(name: str) -> MaterialPreset:
    """A material preset with its words. Raises as `load_material_preset`."""
    names = material_preset_names()
    if name not in names:
        hint = suggestion(name, names)
        raise PresetError(f'material preset "{name}" is unknown{hint}; use one of {", ".join(names)}.')
    return read_material_preset(presets_folder() / "materials" / f"{name}.toml")


def read_material_preset(path: Path) -> MaterialPreset:
    """A material preset from any file. Raises PresetError where it is malformed."""
    table = read_toml(path, PresetError)
    subject = f'Material preset "{path.stem}"'
    try:
        check_keys(table, _KEYS, subject)
        check_schema(table, subject, newest=MATERIAL_SCHEMA)
        law = look_up(table.get("law"), LAWS, "law", subject)
        parameters = table.get("parameters", {})
        check_keys(parameters, parameter_names(law), subject)
        preset = MaterialPreset(
            path.stem,
            *(_text(table, key, subject) for key in ("label", "description", "source")),
            law=law(**declared_values(law, parameters, subject)),
        )
        preset.law.check(subject)
    except SceneError as error:
        raise PresetError(str(error)) from None
    return preset


def _text(table: dict[str, object], key: str, subject: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise SceneError(f"{subject}: {key} {value!r} is not allowed; give one or two sentences.")
    return value


def preset_file(name: str) -> Path:
    """The file of a material or scene preset.

    Raises:
        PresetError: there is no such preset; the nearest is named.
    """
    scenes = scene_preset_folders()
    if name in scenes:
        return scenes[name] / "scene.toml"
    names = material_preset_names()
    if name in names:
        return presets_folder() / "materials" / f"{name}.toml"
    known = (*names, *scenes)
    raise PresetError(f'preset "{name}" is unknown{suggestion(name, known)}; use one of {", ".join(known)}.')
