"""Variants: named sets of changes to a scene, in the scene's own file. Works on tables regardless of their meaning."""

from collections.abc import Mapping
from typing import Any

from ..core.errors import SceneError
from ..core.parameters import suggestion
from .toml_tables import Table, check_keys

# Lists whose entries variants refer to by name, and the word for an entry.
_LISTS = {"emitters": "Emitter", "colliders": "Collider", "forces": "Force", "outflows": "Outflow"}

# A new entry needs one of these keys.
_WHOLE = {
    "materials": ("law", "preset"),
    "emitters": ("shape",),
    "colliders": ("shape",),
    "forces": ("kind",),
    "outflows": ("shape",),
}

_PLACES = ("time", "solver", "domain", *_WHOLE)
_KEYS = ("description", "leave_out", *_PLACES)

# A table with one of these keys replaces the scene's table, because other kinds have other keys.
_SORTS = ("kind", "law", "preset")


def entry_name(entry: Table, number: int, section: str) -> Any:
    """The name of entry `number`, counted from 1, in a list of tables."""
    return entry.get("name", f"{_LISTS[section].lower()}_{number}")


def variants_of(table: Table, subject: str) -> dict[str, Table]:
    """Name -> changes of every variant of a scene file; messages call it `subject`.

    Raises:
        SceneError: a variant is not a table, or has an unknown key.
    """
    variants = table.get("variants", {})
    if not isinstance(variants, Mapping):
        raise SceneError(f"variants {variants!r} is not a table", "begin each with [variants.NAME]", subject=subject)
    for name, changes in variants.items():
        check_keys(changes, _KEYS, f'Variant "{name}"')
    return dict(variants)


def check_place(path: tuple[str, ...], table: Table, subject: str) -> None:
    """Check that a dotted path names an existing section of a scene file, and an existing entry if the section has entries.

    Args:
        path: its parts, such as ("materials", "snow", "young_modulus").
        table: the scene file.
        subject: how messages name the path.

    Raises:
        SceneError: it does not; the message suggests the closest section or entry.
    """
    section = path[0]
    check_keys({section: None}, _PLACES, subject)
    depth = 3 if section in _WHOLE else 2
    if len(path) < depth:
        place = "NAME.KEY" if section in _WHOLE else "KEY"
        raise SceneError("it is not the path of a value", f"use {section}.{place}", subject=subject)
    if section not in _WHOLE:
        return
    entries = table.get(section, {})
    names = list(_by_name(entries, section, subject) if section in _LISTS and isinstance(entries, list) else entries)
    if path[1] not in names:
        raise SceneError(
            f'"{path[1]}" is not in {section}{suggestion(path[1], names)}',
            f"use one of {', '.join(names) or 'none'}, in quotes if a name has dots or spaces",
            subject=subject,
        )


def with_changes(table: Table, changes: Table, variant: str) -> dict[str, Any]:
    """A scene file's tables with the changes of a variant.

    Tables are merged key by key; one with `kind`, `law` or `preset` replaces the scene's. Emitters, colliders, forces and
    outflows are found by name. A new name adds an entry at the end; `leave_out` lists entries to remove.

    Args:
        table: the scene file, already checked without its variants.
        changes: the changes of the variant.
        variant: its name, for messages.

    Raises:
        SceneError: a name is unknown (the message suggests the closest), or something is not a table.
    """
    subject = f'Variant "{variant}"'
    known = {key: value for key, value in table.items() if key != "variants"}
    known.update({section: _by_name(table[section], section, subject) for section in _LISTS if section in table})
    for section in _WHOLE:
        _check_entries(changes.get(section, {}), known.get(section, {}), section, f"{subject}, {section}")
    changes = {section: change for section, change in changes.items() if section != "description"}
    left_out = changes.pop("leave_out", [])
    result = _merged(known, changes)
    _check_left_out(left_out, [name for section in _LISTS for name in result.get(section, {})], subject)
    for section in _LISTS:
        if section in result:
            result[section] = [{**entry, "name": name} for name, entry in result[section].items() if name not in left_out]
    return result


def _by_name(entries: list[dict[str, Any]], section: str, subject: str) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for number, entry in enumerate(entries, start=1):
        name = entry_name(entry, number, section)
        if name in named:
            raise SceneError(f'{_LISTS[section]} "{name}" appears twice', "rename one, because variants find it by name", subject=subject)
        named[name] = entry
    return named


def _check_entries(changes: Any, known: Table, section: str, place: str) -> None:
    """Refuse an unknown name without the keys that a new entry needs."""
    if not isinstance(changes, Mapping):
        raise SceneError(f"{changes!r} is not a table", "use the entries' names as keys", subject=place)
    for name, entry in changes.items():
        if not isinstance(entry, Mapping):
            raise SceneError(f"{entry!r} is not a table", "use keys with values", subject=f"{place}.{name}")
        if name not in known and not any(key in entry for key in _WHOLE[section]):
            raise SceneError(
                f'"{name}" is not in the scene{suggestion(name, known)}',
                f"use one of {', '.join(known) or 'none'}, or set {' or '.join(_WHOLE[section])} to add it",
                subject=place,
            )
        if section in _LISTS and entry.get("name", name) != name:
            raise SceneError(f'"{name}" cannot be renamed to {entry["name"]!r}', "remove name", subject=place)


def _merged(known: Table, changes: Table) -> dict[str, Any]:
    result = dict(known)
    for key, value in changes.items():
        is_merged = isinstance(value, Mapping) and isinstance(known.get(key), Mapping) and not any(sort in value for sort in _SORTS)
        result[key] = _merged(known[key], value) if is_merged else value
    return result


def _check_left_out(names: Any, known: list[str], subject: str) -> None:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SceneError(
            f"leave_out {names!r} is not allowed", "use a list of names of emitters, colliders, forces and outflows", subject=subject
        )
    for name in names:
        if name not in known:
            raise SceneError(f'leave_out "{name}" is unknown{suggestion(name, known)}', f"use names of {', '.join(known)}", subject=subject)
