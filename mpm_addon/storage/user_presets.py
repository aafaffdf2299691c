"""Material presets saved by users: TOML files in the user's folder, read like the built-in ones. Data only, never code."""

import functools
import re
import unicodedata
from pathlib import Path

from ..core.errors import PresetError
from .atomic import write_atomically
from .installation import require
from .presets import LONGEST_LABEL, MATERIAL_SCHEMA, MaterialPreset, fluid_table, read_material_preset
from .toml_tables import table_of

# Limit on the presets listed from a folder.
MOST = 500
SUFFIX = ".toml"

# Names of devices in Windows, with any suffix.
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)")


def file_name(label: str) -> str:
    """The name of a preset's file, without its suffix: letters, digits and _ from the label, safe on every system.

    Raises:
        PresetError: the label has no letters or digits.
    """
    plain = unicodedata.normalize("NFKC", label).strip().lower()
    cleaned = re.sub(r"[^\w]+", "_", plain)[:LONGEST_LABEL].strip("_")
    if not cleaned:
        raise PresetError("it has no letters or digits", "choose another name", subject=f'Preset name "{label}"')
    return f"{cleaned}_preset" if _DEVICES.fullmatch(cleaned) else cleaned


def preset_files(folder: Path) -> tuple[Path, ...]:
    """The preset files in a folder, sorted; none if it is missing or cannot be read."""
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix == SUFFIX)
    except OSError:
        return ()
    return tuple(found[:MOST])


def listed(path: Path) -> MaterialPreset | None:
    """The preset in a file, or None if it is not valid; read again only when the file changes."""
    try:
        status = path.stat()
    except OSError:
        return None
    return _read(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=2 * MOST)
def _read(path: Path, _changed: int, _size: int) -> MaterialPreset | None:
    try:
        return read_material_preset(path)
    except PresetError:
        return None


def preset_path(folder: Path, name: str) -> Path:
    """The file of the preset with a name. Raises PresetError if it is not in the folder."""
    path = folder / f"{name}{SUFFIX}"
    if path not in preset_files(folder):
        raise PresetError(f"it is not in {folder}", "choose a listed one, or save it again", subject=f'Preset "{name}"')
    return path


def save_preset(folder: Path, preset: MaterialPreset, *, replace: bool = False) -> Path:
    """Write a preset to a file named after its label; its name is ignored.

    Raises:
        PresetError: it already exists and `replace` is False, or the folder cannot be written.
    """
    toml = require("tomli_w", "tomli-w", "saving a preset")
    path = folder / f"{file_name(preset.label)}{SUFFIX}"
    if path.exists() and not replace:
        raise PresetError("it already exists", "choose Replace, or another name", subject=f'Preset "{preset.label}"')
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lambda file: file.write(toml.dumps(preset_table(preset)).encode()))
    except OSError as error:
        raise PresetError(
            f"the preset cannot be written ({error.strerror})", "check the folder and its permissions", subject=str(folder)
        ) from error
    return path


def remove_preset(folder: Path, name: str) -> None:
    """Delete the file of a preset. Raises PresetError if it does not exist or cannot be deleted."""
    path = preset_path(folder, name)
    try:
        path.unlink()
    except OSError as error:
        raise PresetError(
            f"the preset cannot be deleted ({error.strerror})", "check the folder and its permissions", subject=str(path)
        ) from error


def preset_table(preset: MaterialPreset) -> dict[str, object]:
    """A preset as the table of its file."""
    table: dict[str, object] = {"schema": MATERIAL_SCHEMA, "label": preset.label, "description": preset.description}
    table |= {"source": preset.source, "law": preset.law.name}
    if preset.color is not None:
        table["color"] = list(preset.color)
    table["parameters"] = table_of(preset.law)
    if preset.randomness.amounts:
        table["randomness"] = table_of(preset.randomness)
    if preset.thermal is not None:
        table["thermal"] = table_of(preset.thermal)
    if preset.melts_into is not None:
        table["melts_into"] = fluid_table(preset.melts_into)
    if preset.curves:
        table["curves"] = {name: [list(point) for point in points] for name, points in preset.curves.items()}
    return table
