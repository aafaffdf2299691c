"""Reading scene files: TOML in the schema of docs/formats.md, with its array files, into a `Scene`."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.errors import MpmError, SceneError
from ..core.laws import LAWS
from ..core.parameters import suggestion
from ..core.scene.description import Collider, Emitter, Material, Outflow, Scene
from ..core.scene.force import FORCE_KINDS, Force
from ..core.scene.fracture import Fracture
from ..core.scene.randomness import UNIFORM
from ..core.scene.settings import SIDES, CacheSettings, Domain, Side, Solver, Time
from .package_files import PackageReader
from .presets import material_preset, read_curves, read_fluid, read_randomness, read_thermal
from .toml_tables import Table, check_keys, check_schema, declared_values, look_up, parameter_names, read_toml
from .variants import entry_name, variants_of, with_changes

SCENE_SCHEMA = 1
SCENE_FILE = "scene.toml"
_WORDS = ("description", "source")
_SECTIONS = (
    "schema", "name", *_WORDS, "time", "solver", "domain", "materials", "emitters", "colliders", "forces", "outflows", "cache", "variants",
)  # fmt: skip


def scene_path(path: str | Path) -> Path:
    """The scene file at a path: the path itself, or scene.toml in a folder."""
    path = Path(path)
    return path / SCENE_FILE if path.is_dir() else path


@dataclasses.dataclass(frozen=True)
class SceneWords:
    """The texts of a scene file, which have no effect on the scene.

    Attributes:
        description: what the scene shows.
        source: where it comes from.
        variants: name -> description of every variant.
    """

    description: str
    source: str
    variants: dict[str, str]


def read_scene(path: str | Path, variant: str | None = None) -> Scene:
    """The scene in a scene file or scene package.

    All variants are checked, whichever is read: a file is valid as a whole or not at all.

    Args:
        path: the TOML file, or the folder with scene.toml.
        variant: the name of one of its variants; by default the scene without changes.

    Raises:
        SceneError: something in it is wrong; one line names the object, the value, the limit and the remedy.
        PresetError: a material names a preset that does not exist.
    """
    table, subject = read_table(scene_path(path))
    scene, scenes = changed_scenes(path, table, variants_of(table, subject))
    if variant is None:
        return scene
    if not scenes:
        raise SceneError(f'variant "{variant}" is unknown, because it has no variants', "omit the variant", subject=subject)
    return look_up(variant, scenes, "variant", subject)


def changed_scenes(path: str | Path, table: Table, variants: Mapping[str, Table]) -> tuple[Scene, dict[str, Scene]]:
    """The scene of a scene file's `table`, and the scenes with the changes of `variants`, by name.

    Raises as `read_scene`; the message begins with the variant.
    """
    file = scene_path(path)
    subject, reader = _subject(file), PackageReader(file.parent)
    scene = _scene(table, file, subject, reader)
    scenes = {}
    for name, changes in variants.items():
        merged = with_changes(table, changes, name)  # its own messages name the variant
        try:
            changed = _scene(merged, file, subject, reader)
        except MpmError as error:
            raise type(error).of(error.message.within(f'Variant "{name}"')) from error
        scenes[name] = dataclasses.replace(changed, name=f"{scene.name} ({name})")
    return scene, scenes


def read_scene_words(path: str | Path) -> SceneWords:
    """The texts of a scene file. Raises SceneError if it is malformed."""
    table, subject = read_table(scene_path(path))
    variants = variants_of(table, subject)
    words = {key: _text(table, key, subject) for key in _WORDS}
    return SceneWords(**words, variants={name: _text(variants[name], "description", f'Variant "{name}"') for name in variants})


def read_table(file: Path) -> tuple[dict[str, Any], str]:
    """The tables of a scene file, and its name in messages. Raises SceneError if it is not a scene file."""
    table = read_toml(file, SceneError)
    subject = _subject(file)
    check_keys(table, _SECTIONS, subject)
    check_schema(table, subject, newest=SCENE_SCHEMA)
    return table, subject


def _subject(file: Path) -> str:
    return f"Scene {file.name}"


def _scene(table: Table, file: Path, subject: str, reader: PackageReader) -> Scene:
    for key in _WORDS:
        _text(table, key, subject)
    return Scene(
        name=_name(table, file.resolve().parent.name if file.name == SCENE_FILE else file.stem, subject),
        time=_read_plain(Time, table.get("time", {}), "time"),
        solver=_read_solver(table.get("solver"), reader),
        domain=_read_domain(table.get("domain", {})),
        materials=_read_materials(table.get("materials", {} if not table.get("emitters") else None), reader),
        emitters=tuple(_read_emitter(*entry, reader, table) for entry in _entries(table, "emitters", "Emitter")),
        colliders=tuple(_read_collider(*entry, reader) for entry in _entries(table, "colliders", "Collider")),
        forces=tuple(_read_force(*entry, reader) for entry in _entries(table, "forces", "Force")),
        outflows=tuple(_read_outflow(*entry, reader) for entry in _entries(table, "outflows", "Outflow")),
        cache=_read_plain(CacheSettings, table.get("cache", {}), "cache"),
    )


def _text(table: Table, key: str, subject: str) -> str:
    text = table.get(key, "")
    if not isinstance(text, str):
        raise SceneError(f"{key} {text!r} is not allowed", "use a sentence as text", subject=subject)
    return text


def _name(table: Table, fallback: str, subject: str) -> str:
    name = table.get("name", fallback)
    if not isinstance(name, str) or not name or not name.isprintable():
        raise SceneError(f"name {name!r} is not allowed", "use text of printable characters", subject=subject)
    return name


def _read_plain(owner: type, table: Any, subject: str) -> Any:
    """A section with only the parameters of a dataclass."""
    check_keys(table, parameter_names(owner), subject)
    return owner(**declared_values(owner, table, subject))


def _read_solver(table: Any, reader: PackageReader) -> Solver:
    if table is None:
        raise SceneError("the section is missing", "add [solver] with `grid_spacing`, in meters", subject="solver")
    check_keys(table, (*parameter_names(Solver), "animation"), "solver")
    step = table.get("time_step")
    if step == "auto":
        table = {key: value for key, value in table.items() if key != "time_step"}
    elif isinstance(step, str):
        hint = suggestion(step, ["auto"])
        raise SceneError(f'`time_step` "{step}" is not allowed{hint}', 'use "auto" or seconds', subject="solver")
    return Solver(**declared_values(Solver, table, "solver"), **_changes(table, "solver", reader))


def _read_domain(table: Any) -> Domain:
    """The domain; surface and friction of the box are the defaults for its sides."""
    side_keys = parameter_names(Side)
    check_keys(table, (*parameter_names(Domain), *side_keys, "sides"), "domain")
    values = declared_values(Domain, table, "domain")
    if values.get("kind", "unbounded") == "unbounded":
        for key in table:
            if key != "kind":
                raise SceneError(f"only a box has {key}", f'add kind = "box" or remove {key}', subject="domain")
        return Domain(**values)
    common = {key: table[key] for key in side_keys if key in table}
    given = table.get("sides", {})
    check_keys(given, SIDES, "domain.sides")
    sides = {}
    for name in SIDES:
        place = f"domain.sides.{name}" if name in given else "domain"
        side = given.get(name, {})
        check_keys(side, side_keys, place)
        sides[name] = Side(**declared_values(Side, {**common, **side}, place))
    return Domain(**values, sides=sides)


def _changes(table: Table, subject: str, reader: PackageReader) -> dict[str, Any]:
    """The `motion` and `animation` of a table, if present."""
    read = {"motion": reader.motion, "animation": reader.animation}
    return {key: read[key](table[key], subject) for key in read if key in table}


def _read_materials(table: Any, reader: PackageReader) -> dict[str, Material]:
    if not isinstance(table, dict):
        raise SceneError("none are defined", 'add a section such as [materials.water] with law = "water"', subject="materials")
    return {name: _read_material(name, entry, reader) for name, entry in table.items()}


def _read_material(name: str, table: Any, reader: PackageReader) -> Material:
    subject = f'Material "{name}"'
    if not isinstance(table, dict):
        raise SceneError(f"{table!r} is not a table", f'use [materials.{name}] with law = "..."', subject=subject)
    if ("law" in table) == ("preset" in table):
        raise SceneError(f"it needs either a law ({', '.join(LAWS)}) or a preset", "set one of them", subject=subject)
    preset = material_preset(_preset_name(table["preset"], subject)) if "preset" in table else None
    law = type(preset.law) if preset is not None else look_up(table["law"], LAWS, "law", subject)
    check_keys(table, ("law", "preset", *parameter_names(law), "animation", "thermal", "curves", "melts_into"), subject)
    values = law.completed(declared_values(law, table, subject))
    full = dataclasses.replace(preset.law, **values) if preset is not None else law(**values)
    changes = _changes(table, subject, reader)
    thermal = read_thermal(table.get("thermal"), None if preset is None else preset.thermal, subject)
    # a parameter that is given has no curve, and neither has an animated one
    of_preset = {} if preset is None or "animation" in changes else preset.curves
    kept = {each: points for each, points in of_preset.items() if each not in values}
    curves = {**kept, **read_curves(table.get("curves", {}), subject)}
    fluid_of_preset = None if preset is None or "animation" in changes else preset.melts_into
    fluid = read_fluid(table["melts_into"], subject) if "melts_into" in table else fluid_of_preset
    return Material(name, full, thermal=thermal, curves=curves, melts_into=fluid, **changes)


def _preset_name(name: Any, subject: str) -> str:
    if not isinstance(name, str):
        raise SceneError(f"preset {name!r} is not allowed", "use its name as text", subject=subject)
    return name


def _entries(table: Table, section: str, noun: str) -> list[tuple[dict[str, Any], str, str]]:
    """Every table of an array of tables, with its name and how messages name it."""
    entries = table.get(section, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise SceneError("it is not a list of tables", f"begin each with [[{section}]]", subject=str(section))
    named = []
    for number, entry in enumerate(entries, start=1):
        name = _name(entry, entry_name(entry, number, section), f"{noun} {number}")
        named.append((entry, name, f'{noun} "{name}"'))
    return named


def _read_emitter(table: dict[str, Any], name: str, subject: str, reader: PackageReader, scene: Table) -> Emitter:
    check_keys(table, ("name", "material", "shape", *parameter_names(Emitter), "motion", "animation", "painting", "randomness"), subject)
    material = table.get("material")
    if not isinstance(material, str):
        raise SceneError(f"material {material!r} is not allowed", "use the name of a material", subject=subject)
    values = {**declared_values(Emitter, table, subject), **_changes(table, subject, reader)}
    if "painting" in table:
        values["painting"] = reader.painting(table["painting"], subject)
    preset = scene["materials"].get(material, {}).get("preset")
    of_preset = UNIFORM if preset is None else material_preset(preset).randomness
    values["randomness"] = read_randomness(table.get("randomness", {}), of_preset, subject)
    return Emitter(name=name, material=material, shape=reader.shape(table.get("shape"), subject), **values)


def _read_collider(table: dict[str, Any], name: str, subject: str, reader: PackageReader) -> Collider:
    check_keys(table, ("name", "shape", *parameter_names(Collider), "motion", "animation", "fracture"), subject)
    values = {**declared_values(Collider, table, subject), **_changes(table, subject, reader)}
    if "fracture" in table:
        values["fracture"] = _read_plain(Fracture, table["fracture"], f"{subject}, fracture")
    return Collider(name=name, shape=reader.shape(table.get("shape"), subject), **values)


def _read_outflow(table: dict[str, Any], name: str, subject: str, reader: PackageReader) -> Outflow:
    check_keys(table, ("name", "shape", *parameter_names(Outflow), "motion", "animation"), subject)
    values = {**declared_values(Outflow, table, subject), **_changes(table, subject, reader)}
    return Outflow(name=name, shape=reader.shape(table.get("shape"), subject), **values)


def _read_force(table: dict[str, Any], name: str, subject: str, reader: PackageReader) -> Force:
    check_keys(table, ("name", *parameter_names(Force), "motion", "animation"), subject)
    if "kind" not in table:
        raise SceneError("kind is missing", f"use one of {', '.join(FORCE_KINDS)}", subject=subject)
    return Force(name=name, **declared_values(Force, table, subject), **_changes(table, subject, reader))
