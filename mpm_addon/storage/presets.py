"""Presets: named materials (TOML files) and scenes (scene packages) that ship with the extension."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core.errors import PresetError, SceneError
from ..core.laws import LAWS, Law
from ..core.laws.finish import Finish
from ..core.parameters import suggestion
from ..core.scene.material import Material
from ..core.scene.randomness import UNIFORM, Randomness
from ..core.scene.thermal import Curves, Thermal
from .installation import presets_folder
from .toml_tables import check_keys, check_schema, declared_values, look_up, parameter_names, read_toml, table_of

MATERIAL_SCHEMA = 1
# Limits on the file of a material preset [bytes] and on its texts [characters].
LARGEST_PRESET = 64_000
LONGEST_LABEL, LONGEST_TEXT = 60, 1000

_KEYS = (
    "schema",
    "label",
    "description",
    "source",
    "law",
    "color",
    "parameters",
    "finish",
    "randomness",
    "thermal",
    "curves",
    "melts_into",
)


@dataclass(frozen=True)
class MaterialPreset:
    """A named material.

    Attributes:
        name: the name in scene files, which is also the file's.
        label: the name in the interface.
        description: its use, and how it differs from the real material.
        source: the source of its numbers.
        law: the law with its parameters.
        color: display color, linear RGB; None for the law's color.
        finish: the surface of its particles in Blender; None for the law's.
        randomness: noise on its parameters, for emitters that do not have their own.
        thermal: how it takes up and conducts heat, in scenes with temperatures; None if it keeps its temperature.
        curves: parameters that follow from the temperature then, see `Material`.
        melts_into: the law of the fluid that it melts into then; None if it keeps its law.
    """

    name: str
    label: str
    description: str
    source: str
    law: Law
    color: tuple[float, float, float] | None = None
    finish: Finish | None = None
    randomness: Randomness = UNIFORM
    thermal: Thermal | None = None
    curves: Curves = field(default_factory=dict)
    melts_into: Law | None = None

    @property
    def family(self) -> str:
        """The heading under which similar presets are shown."""
        return self.law.family

    @property
    def picture(self) -> Path:
        """The path of its picture, which may not exist."""
        return presets_folder() / "materials" / f"{self.name}.png"


def material_preset_names() -> tuple[str, ...]:
    """The names of all material presets, sorted."""
    return tuple(sorted(path.stem for path in (presets_folder() / "materials").glob("*.toml")))


def material_presets() -> tuple[MaterialPreset, ...]:
    """All material presets, grouped by family; families are in the order of their laws."""
    presets = [material_preset(name) for name in material_preset_names()]
    families = list(dict.fromkeys(law.family for law in LAWS.values()))
    return tuple(sorted(presets, key=lambda preset: (families.index(preset.family), preset.label)))


def scene_preset_folders() -> dict[str, Path]:
    """Name -> folder of every scene preset, sorted."""
    return {path.parent.name: path.parent for path in sorted((presets_folder() / "scenes").glob("*/scene.toml"))}


def load_material_preset(name: str) -> Law:
    """The law, with its parameters, of a material preset.

    Raises:
        PresetError: there is no such preset (the message suggests the closest), or its file is malformed.
    """
    return material_preset(name).law


def material_preset(name: str) -> MaterialPreset:
    """A material preset with its texts. Raises as `load_material_preset`."""
    names = material_preset_names()
    if name not in names:
        hint = suggestion(name, names)
        raise PresetError(f'material preset "{name}" is unknown{hint}', f"use one of {', '.join(names)}")
    return read_material_preset(presets_folder() / "materials" / f"{name}.toml")


def read_material_preset(path: Path) -> MaterialPreset:
    """A material preset from any file. Raises PresetError if it is malformed."""
    table = read_toml(path, PresetError, most=LARGEST_PRESET)
    subject = f'Material preset "{path.stem}"'
    try:
        check_keys(table, _KEYS, subject)
        check_schema(table, subject, newest=MATERIAL_SCHEMA)
        law = look_up(table.get("law"), LAWS, "law", subject)
        parameters = table.get("parameters", {})
        check_keys(parameters, parameter_names(law), subject)
        preset = MaterialPreset(
            path.stem,
            _text(table, "label", subject, LONGEST_LABEL),
            _text(table, "description", subject, LONGEST_TEXT),
            _text(table, "source", subject, LONGEST_TEXT),
            law=law(**declared_values(law, parameters, subject)),
            color=_color(table, subject),
            finish=_finish(table, law, f"{subject}, finish"),
            randomness=read_randomness(table.get("randomness", {}), UNIFORM, subject),
            thermal=read_thermal(table.get("thermal"), None, subject),
            curves=read_curves(table.get("curves", {}), subject),
            melts_into=read_fluid(table["melts_into"], subject) if "melts_into" in table else None,
        )
        Material(path.stem, preset.law, thermal=preset.thermal, curves=preset.curves, melts_into=preset.melts_into)
        preset.law.check(subject)
        preset.randomness.check_factors(law.scalable, law.name, preset.name, subject)
    except SceneError as error:
        raise PresetError.of(error.message) from None
    return preset


def _text(table: dict[str, object], key: str, subject: str, longest: int) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise SceneError(f"{key} {value!r} is not allowed", "use one or two sentences", subject=subject)
    if len(value) > longest or not value.isprintable():
        raise SceneError(f"{key} is not a single line of at most {longest} characters", "shorten it", subject=subject)
    return value


def _color(table: dict[str, object], subject: str) -> tuple[float, float, float] | None:
    if "color" not in table:
        return None
    value = table["color"]
    numbers: list[Any] = value if isinstance(value, list) and len(value) == 3 else [None]
    if not all(isinstance(number, (int, float)) and not isinstance(number, bool) and 0.0 <= number <= 1.0 for number in numbers):
        raise SceneError(f"color {value!r} is not allowed", "use red, green and blue from 0 to 1", subject=subject)
    red, green, blue = (float(number) for number in numbers)
    return red, green, blue


def _finish(table: dict[str, Any], law: type[Law], subject: str) -> Finish | None:
    if "finish" not in table:
        return None
    check_keys(table["finish"], parameter_names(Finish), subject)
    return replace(law.finish, **declared_values(Finish, table["finish"], subject))


def read_randomness(table: Any, given: Randomness, subject: str) -> Randomness:
    """The randomness in a table; values that it leaves out are those of `given`. Raises SceneError naming `subject`."""
    subject = f"{subject}, randomness"
    check_keys(table, parameter_names(Randomness), subject)
    return replace(given, **declared_values(Randomness, table, subject))


def read_thermal(table: Any, given: Thermal | None, subject: str) -> Thermal | None:
    """The thermal values in a table, or None; values that it leaves out are those of `given`. Raises SceneError naming `subject`."""
    if table is None:
        return given
    subject = f"{subject}, thermal"
    check_keys(table, parameter_names(Thermal), subject)
    return replace(given or Thermal(), **declared_values(Thermal, table, subject))


def read_curves(table: Any, subject: str) -> Curves:
    """The curves in a table: parameter -> [[temperature, value], ...]. Raises SceneError naming `subject`."""
    if not isinstance(table, dict):
        raise SceneError(f"{table!r} is not a table", "use parameters with lists of temperatures and values", subject=f"{subject}, curves")
    return table


def read_fluid(value: Any, subject: str) -> Law:
    """The law that a material melts into: that of a named preset, or of a table with `law` or `preset` and parameters.

    Raises SceneError or PresetError naming `subject`.
    """
    subject = f"{subject}, melts_into"
    table = {"preset": value} if isinstance(value, str) else value
    if not isinstance(table, dict) or ("law" in table) == ("preset" in table):
        raise SceneError(f"{value!r} is not a fluid", "use the name of a preset, or a table with either law or preset", subject=subject)
    if "law" in table:
        law = look_up(table["law"], LAWS, "law", subject)
        given = law()
    else:
        name = table["preset"]
        # the preset of a preset is not read further, so that none can name itself
        if not isinstance(name, str) or name not in material_preset_names():
            known = material_preset_names()
            hint = suggestion(name, known) if isinstance(name, str) else ""
            raise SceneError(f"material preset {name!r} is unknown{hint}", f"use one of {', '.join(known)}", subject=subject)
        given = law_of_preset(presets_folder() / "materials" / f"{name}.toml")
        law = type(given)
    check_keys(table, ("law", "preset", *parameter_names(law)), subject)
    return replace(given, **law.completed(declared_values(law, table, subject)))


def law_of_preset(path: Path) -> Law:
    """The law, with its parameters, in the file of a material preset. Raises SceneError or PresetError if these are malformed."""
    table, subject = read_toml(path, PresetError, most=LARGEST_PRESET), f'Material preset "{path.stem}"'
    law = look_up(table.get("law"), LAWS, "law", subject)
    parameters = table.get("parameters", {})
    check_keys(parameters, parameter_names(law), subject)
    return law(**declared_values(law, parameters, subject))


def fluid_table(law: Law) -> dict[str, Any]:
    """A law that a material melts into, as its table."""
    return {"law": law.name, **table_of(law)}


def preset_file(name: str) -> Path:
    """The file of a material or scene preset.

    Raises:
        PresetError: there is no such preset; the message suggests the closest.
    """
    scenes = scene_preset_folders()
    if name in scenes:
        return scenes[name] / "scene.toml"
    names = material_preset_names()
    if name in names:
        return presets_folder() / "materials" / f"{name}.toml"
    known = (*names, *scenes)
    raise PresetError(f'preset "{name}" is unknown{suggestion(name, known)}', f"use one of {', '.join(known)}")
