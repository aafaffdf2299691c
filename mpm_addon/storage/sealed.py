"""JSON tables with a checksum: manifests and the lines of journals."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .atomic import write_atomically
from .plain_files import parse_json

_CHECK = "crc32"


def sealed(table: Mapping[str, Any], *, indent: int | None = None) -> str:
    """A table as JSON, with the CRC-32 of its other entries as the last entry."""
    return json.dumps({**table, _CHECK: _crc32(table)}, indent=indent)


def write_sealed(path: Path, table: Mapping[str, Any]) -> None:
    """Write a table to a file, completely or not at all. Raises OSError."""
    text = sealed(table, indent=1).encode() + b"\n"
    write_atomically(path, lambda file: file.write(text))


def unsealed(text: str | bytes) -> dict[str, Any]:
    """The table that was sealed.

    Raises:
        ValueError: it is not JSON, not a table, or was changed.
    """
    table = parse_json(text)
    if not isinstance(table, dict):
        raise ValueError("it is not a table")
    if _CHECK not in table:
        raise ValueError("its checksum is missing")
    if table.pop(_CHECK) != _crc32(table):
        raise ValueError("its checksum does not match")
    return table


def _crc32(table: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(table).encode())
