"""The file format of caches: a JSON header and sections of bytes, each compressed by zstandard with a checksum.

    8 bytes    b"MPMCACHE"
    4 bytes    length of the compressed header, little-endian
    header     JSON: `schema`, `kind`, `sections` (a list of [compressed length, length]), and entries for the kind
    sections   one after another, to the end of the file

The header and every section are zstandard frames with the size and a checksum (XXH64) of the content, so that any flipped bit is
detected, and no memory is allocated for a false size.
"""

import hashlib
import json
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

try:
    import zstandard
except ImportError:  # everything except reading and writing caches works without it
    zstandard: Any = None

from ..core.errors import CacheError
from ..core.memory import available_memory
from ..core.messages import Message
from .arrays import ArrayFileError
from .atomic import write_atomically
from .plain_files import open_plain, parse_json

SUFFIX = ".mpm"
_MAGIC = b"MPMCACHE"
_SCHEMA = 2
_LENGTH = struct.Struct("<I")
_START = len(_MAGIC) + _LENGTH.size
_LARGEST_HEADER = 1 << 24
# Size of the content up to which available memory is not checked [bytes].
_ALWAYS_FITS = 1 << 28
# Beyond that, the largest ratio of the size of the content to that of the file.
_LARGEST_EXPANSION = 1000

# The fastest level: most bits of a frame are random and not compressed by higher levels either.
_LEVEL = 1


MISSING = Message("zstandard is missing, so caches can be neither baked nor played", ("reinstall the extension's zip for this platform",))


class Written(NamedTuple):
    """A file that was written: its size [bytes] and its SHA-256."""

    size: int
    sha256: str


class Container:
    """A file of sections that is read but not yet decompressed.

    Attributes:
        header: the file's header.
    """

    def __init__(self, header: Mapping[str, Any], sections: Sequence[memoryview], lengths: Sequence[int]) -> None:
        self.header = header
        self._sections = sections
        self._lengths = lengths

    def section(self, number: Any, length: int) -> bytes:
        """The content of a section that must have `length` bytes. Raises ArrayFileError."""
        if not isinstance(number, int) or not 0 <= number < len(self._sections) or self._lengths[number] != length:
            raise ArrayFileError("has a header that contradicts its sections")
        return _unpacked(self._sections[number], length)


def write_container(path: Path, kind: str, header: Mapping[str, Any], sections: Iterable[bytes | memoryview]) -> Written:
    """Write a file whose bytes depend only on its content (and on the release of zstandard).

    Raises:
        CacheError: zstandard is missing.
        OSError: the file cannot be written.
    """
    require_zstandard()
    packer = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True, write_content_size=True)
    packed, lengths = [], []
    for section in sections:  # one at a time: they are large
        packed.append(packer.compress(section))
        lengths.append([len(packed[-1]), len(section)])
    text = packer.compress(json.dumps({"schema": _SCHEMA, "kind": kind, "sections": lengths, **header}).encode())
    pieces = [_MAGIC, _LENGTH.pack(len(text)), text, *packed]
    write_atomically(path, lambda file: file.writelines(pieces))
    hasher = hashlib.sha256()
    for piece in pieces:
        hasher.update(piece)
    return Written(sum(map(len, pieces)), hasher.hexdigest())


def read_container(path: Path, kind: str) -> Container:
    """The file at a path.

    Raises:
        ArrayFileError: it is truncated or damaged, of another kind or version, or does not fit into memory when decompressed.
        CacheError: zstandard is missing.
        OSError: it cannot be read.
    """
    require_zstandard()
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        _check_memory(size, size)
        content = memoryview(file.read(size))
    header, end = _beginning(content, kind)
    sections, lengths = [], []
    for entry in _pairs(header.get("sections")):
        sections.append(content[end : end + entry[0]])
        lengths.append(entry[1])
        end += entry[0]
    _check_length(end, len(content))
    _check_memory(sum(lengths), len(content))
    return Container(header, sections, lengths)


def read_header(path: Path, kind: str) -> dict[str, Any]:
    """The header of the file at a path. Reads nothing else, but checks that the file is as long as it says. Raises as `read_container`."""
    require_zstandard()
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(_START)
        if len(content) == _START:
            content += file.read(min(_LENGTH.unpack(content[len(_MAGIC) :])[0], _LARGEST_HEADER))
    header, end = _beginning(memoryview(content), kind)
    _check_length(end + sum(packed for packed, _length in _pairs(header.get("sections"))), size)
    return header


def _beginning(content: memoryview, kind: str) -> tuple[dict[str, Any], int]:
    """The header at the beginning of a file, checked, and where it ends."""
    if content[: len(_MAGIC)] != _MAGIC or len(content) < _START:
        raise ArrayFileError("is damaged or not a cache file")
    end = _START + _LENGTH.unpack(content[len(_MAGIC) : _START])[0]
    header = _header(content[_START:end])
    if header.get("schema") != _SCHEMA or header.get("kind") != kind:
        found = f"{header.get('kind')!r}, schema {header.get('schema')!r}"
        raise ArrayFileError(f"is {found[:80]}, not a {kind} that this version supports (schema {_SCHEMA})")
    return header, end


def _check_length(told: int, found: int) -> None:
    if told != found:
        raise ArrayFileError(f"is damaged: it has {found} bytes instead of {told}")


def require_zstandard() -> None:
    """Raise CacheError if zstandard is missing, or made for another platform or Python."""
    if zstandard is None:
        raise CacheError.of(MISSING)


def _check_memory(total: int, file_size: int) -> None:
    """Check that a file's content may be decompressed into memory. Raises ArrayFileError."""
    if total <= _ALWAYS_FITS:
        return
    if total > _LARGEST_EXPANSION * file_size:
        raise ArrayFileError(f"needs {total / 1e9:.3g} GB of memory, more than a file of {file_size / 1e6:.3g} MB may")
    if total > available_memory():
        raise ArrayFileError(f"needs {total / 1e9:.1f} GB of memory, but only {available_memory() / 1e9:.1f} GB is available")


def _header(packed: memoryview) -> dict[str, Any]:
    try:
        size = zstandard.frame_content_size(packed)
    except zstandard.ZstdError as error:
        raise ArrayFileError("is damaged") from error
    if not 0 <= size <= _LARGEST_HEADER:
        raise ArrayFileError("has a header of an impossible size")
    try:
        header = parse_json(_unpacked(packed, size))
    except ValueError as error:
        raise ArrayFileError(f"has a damaged header ({error})") from error
    if not isinstance(header, dict):
        raise ArrayFileError("has a header that is not a table")
    return header


def _pairs(entries: Any) -> list[list[int]]:
    if not isinstance(entries, list):
        raise ArrayFileError("has a header without sections")
    for entry in entries:
        is_pair = isinstance(entry, list) and len(entry) == 2
        if not is_pair or not all(isinstance(length, int) and not isinstance(length, bool) and length >= 0 for length in entry):
            raise ArrayFileError("has a header with an impossible section")
    return entries


def _unpacked(packed: memoryview, length: int) -> bytes:
    try:
        parameters = zstandard.get_frame_parameters(packed)
        if not parameters.has_checksum:
            raise ArrayFileError("is damaged: a checksum is missing")
        if parameters.content_size != length:
            raise ArrayFileError("has a section that does not have the length that it states")
        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=max(length, 1))
    except zstandard.ZstdError as error:
        raise ArrayFileError("is damaged: a checksum does not match") from error
