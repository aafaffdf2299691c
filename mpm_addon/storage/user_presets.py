"""Material presets that users save: TOML files in a folder of theirs, read as the built-in ones are. Data only, never code."""

import functools
import re
import unicodedata
from pathlib import Path

from ..core.errors import PresetError
from .atomic import write_atomically
from .installation import require
from .presets import LONGEST_LABEL, MATERIAL_SCHEMA, MaterialPreset, read_material_preset
from .toml_tables import table_of

# Presets of a folder that are listed.
MOST = 500
SUFFIX = ".toml"

# What Windows calls devices, whatever the ending.
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)")


def file_name(label: str) -> str:
    """The name of a preset's file, without its ending: letters, digits and _ of the label, safe on every system.

    Raises:
        PresetError: nothing of the label is left.
    """
    plain = unicodedata.normalize("NFKC", label).strip().lower()
    cleaned = re.sub(r"[^\w]+", "_", plain)[:LONGEST_LABEL].strip("_")
    if not cleaned:
        raise PresetError(f'Preset name "{label}" has no letter and no digit', "give it another name")
    return f"{cleaned}_preset" if _DEVICES.fullmatch(cleaned) else cleaned


def preset_files(folder: Path) -> tuple[Path, ...]:
    """The files of presets in a folder, sorted; none where it is missing or cannot be read."""
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix == SUFFIX)
    except OSError:
        return ()
    return tuple(found[:MOST])


def listed(path: Path) -> MaterialPreset | None:
    """The preset of a file, or None where it is none; read again only when the file changed."""
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
    """The file of the preset with a name. Raises PresetError where the name is no plain one or there is no such file."""
    path = folder / f"{name}{SUFFIX}"
    if path not in preset_files(folder):
        raise PresetError(f'Preset "{name}" is not in {folder}', "choose one that is listed, or save it again")
    return path


def save_preset(folder: Path, preset: MaterialPreset, *, replace: bool = False) -> Path:
    """Write a preset; its name is ignored, the file is called after its label.

    Raises:
        PresetError: there is one of this name and `replace` is not given, or the folder cannot be written.
    """
    toml = require("tomli_w", "tomli-w", "saving a preset")
    path = folder / f"{file_name(preset.label)}{SUFFIX}"
    if path.exists() and not replace:
        raise PresetError(f'Preset "{preset.label}" is there already', "choose Replace, or give it another name")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lambda file: file.write(toml.dumps(preset_table(preset)).encode()))
    except OSError as error:
        raise PresetError(
            f"the preset cannot be written ({error.strerror})", "check the folder and its permissions", subject=str(folder)
        ) from error
    return path


def remove_preset(folder: Path, name: str) -> None:
    """Delete the file of a preset. Raises PresetError where there is none or it cannot be deleted."""
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
    return {**table, "parameters": table_of(preset.law)}
