"""TOML tables as declared parameters: unknown keys and missing values are refused, and every message names their place."""

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ..core.errors import MpmError, SceneError
from ..core.parameters import parameters_of, suggestion
from .plain_files import LARGEST_TEXT, check_toml_text, check_values, read_plain

Table = Mapping[str, Any]


def read_toml(path: Path, error: type[MpmError], *, most: int = LARGEST_TEXT) -> dict[str, Any]:
    """The content of a TOML file of at most `most` bytes.

    Raises:
        MpmError: of the given type, if the file is missing, unreadable or not TOML.
    """
    try:
        text = read_plain(path, most).decode("utf-8")
        check_toml_text(text)
        table = tomllib.loads(text)
        check_values(table, is_finite=False)
        return table
    except FileNotFoundError:
        raise error(f"{path}: the file does not exist; check the path.") from None
    except OSError as problem:
        raise error(f"{path}: cannot be read ({problem.strerror}); check the path and its permissions.") from problem
    except (ValueError, RecursionError) as problem:  # TOMLDecodeError is a ValueError, as is the error for numbers with too many digits
        raise error(f"{path}: is not valid TOML ({problem}); correct it there.") from problem


def check_keys(table: Any, known: Collection[str], subject: str) -> None:
    """Check that `table` is a table with only known keys.

    Raises:
        SceneError: naming the first unknown key, its place and the closest known one.
    """
    if not isinstance(table, Mapping):
        raise SceneError(f"{table!r} is not a table", "use keys with values", subject=subject)
    for key in table:
        if key not in known:
            hint = suggestion(key, known)
            raise SceneError(f'unknown key "{key}"{hint}', f"use one of {', '.join(known)}", subject=subject)


def check_schema(table: Table, subject: str, *, newest: int) -> None:
    """Check the integer `schema` of a file. Raises SceneError if it is missing, invalid or of a later version."""
    if "schema" not in table:
        raise SceneError("schema is missing", f"begin with schema = {newest}", subject=subject)
    schema = table["schema"]
    if isinstance(schema, bool) or not isinstance(schema, int) or not 1 <= schema <= newest:
        raise SceneError(f"this version does not support schema {schema!r}", f"use {newest}", subject=subject)


def declared_values(owner: type, table: Table, subject: str) -> dict[str, Any]:
    """The values in `table` of the parameters that the dataclass `owner` declares.

    Raises:
        SceneError: a required parameter is missing.
    """
    values = {}
    for declared in parameters_of(owner):
        if declared.name in table:
            values[declared.name] = declared.check(table[declared.name], subject)
        elif declared.is_required:
            raise SceneError(f"{declared.name} is missing", f"use {declared.limits()}", subject=subject)
    return values


def parameter_names(owner: type) -> tuple[str, ...]:
    """The names of the parameters that the dataclass `owner` declares."""
    return tuple(declared.name for declared in parameters_of(owner))


def table_of(instance: Any) -> dict[str, Any]:
    """The declared parameters of a dataclass instance as TOML values, without those that are None."""
    values = {name: getattr(instance, name) for name in parameter_names(type(instance))}
    given = {name: value for name, value in values.items() if value is not None}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def look_up(word: Any, known: Mapping[str, Any], noun: str, subject: str) -> Any:
    """The entry of `known` named `word`.

    Raises:
        SceneError: it is unknown; the message suggests the closest.
    """
    if not isinstance(word, str) or word not in known:
        hint = suggestion(word, known) if isinstance(word, str) else ""
        shown = f'"{word}"' if isinstance(word, str) else repr(word)
        raise SceneError(f"{noun} {shown} is unknown{hint}", f"use one of {', '.join(known)}", subject=subject)
    return known[word]
