"""Named arrays in .npz files: plain data only, sizes checked before memory is allocated, every byte checked by a CRC.

An .npz file is a zip archive of .npy files, as written by `numpy.savez` and read by `numpy.load`. Nothing is ever
unpickled.
"""

import contextlib
import errno
import hashlib
import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..core.errors import CacheError
from ..core.messages import Action
from .atomic import write_atomically
from .plain_files import open_plain

Arrays = Mapping[str, NDArray[Any]]

# The errors that zipfile and numpy raise for damaged archives; RuntimeError for one whose encryption flag is set.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, SyntaxError, AttributeError, LookupError,
    ValueError, TypeError, EOFError, OverflowError, RuntimeError,
)  # fmt: skip

# Limit on the size of a file's arrays: this many bytes, or this many times the size of the file, whichever is greater.
ALWAYS_ALLOWED = 256_000_000
LARGEST_EXPANSION = 32
MOST_MEMBERS = 1000

# Kinds of numpy types that are allowed; flags count as 0 and 1.
NUMBERS_AND_FLAGS = "fiub"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_CHUNK = 1 << 20


class ArrayFileError(Exception):
    """A file of arrays is damaged or has other contents.

    Attributes:
        problem: completes a sentence that begins with the file's path.
        remedies: what to do, in order.
        file: the name of the file, if a folder was read.
    """

    def __init__(self, problem: str, *remedies: str, file: str = "") -> None:
        self.problem, self.remedies, self.file = problem, remedies, file
        super().__init__("; ".join((f"{file} {problem}" if file else problem, *remedies)))

    def at(self, path: Path, *remedies: str | Action) -> CacheError:
        """The error for a cache, given what was read, with further remedies."""
        return CacheError(f"it {self.problem}", *self.remedies, *remedies, subject=str(path / self.file if self.file else path))


def write_arrays(path: Path, arrays: Arrays, *, is_durable: bool = True) -> None:
    """Write named arrays, uncompressed; the bytes depend only on the arrays.

    Raises:
        OSError: the file could not be written.
    """
    write_atomically(path, lambda file: write_arrays_to(file, arrays), is_durable=is_durable)


def write_arrays_to(file: IO[bytes], arrays: Arrays) -> None:
    """Write named arrays into an open file."""
    np.savez(file, **{name: np.asarray(array, order="C") for name, array in arrays.items()})


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of a file, of numbers and Booleans.

    Raises:
        ArrayFileError: it is not an .npz file, is truncated or damaged, or contains anything else.
        OSError: it cannot be read.
    """
    try:
        with open_plain(path) as file, zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _check_members(members, os.fstat(file.fileno()).st_size)
            return {info.filename.removesuffix(".npy"): _read_member(archive, info) for info in members}
    except _DAMAGE as error:
        raise ArrayFileError(f"is damaged or not an .npz file ({error or type(error).__name__})") from error
    except OSError as error:
        # a damaged member may claim to begin before the file
        if error.errno == errno.EINVAL:
            raise ArrayFileError("is damaged or not an .npz file") from error
        raise


def is_whole(path: Path) -> bool:
    """Whether a file looks complete: a truncated archive lacks its directory. Reads only a few hundred bytes."""
    try:
        with open_plain(path) as file, zipfile.ZipFile(file) as archive:
            return bool(archive.infolist())
    except (OSError, *_DAMAGE):
        return False


def digest(arrays: Arrays) -> str:
    """A SHA-256 hash of names, types, shapes and values, as hexadecimal text."""
    hasher = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        hasher.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        hasher.update(array.tobytes())
    return hasher.hexdigest()


def _check_members(members: list[zipfile.ZipInfo], file_size: int) -> None:
    """Check the archive's directory before anything is unpacked. Raises ValueError."""
    names = [info.filename for info in members]
    if len(names) > MOST_MEMBERS:
        raise ValueError(f"{len(names)} arrays; at most {MOST_MEMBERS} are read")
    if len(set(names)) < len(names):
        raise ValueError("two arrays have the same name")
    if any(info.compress_type not in _METHODS for info in members):
        raise ValueError("an array is compressed by a method that numpy does not use")
    size, most = sum(info.file_size for info in members), max(ALWAYS_ALLOWED, LARGEST_EXPANSION * file_size)
    if size > most:
        raise ValueError(
            f"its arrays need {size / 1e9:.3g} GB, but a file of {file_size / 1e6:.3g} MB may have at most {most / 1e9:.3g} GB"
        )


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    if not info.filename.endswith(".npy"):
        raise ValueError(f'unexpected member "{info.filename}"')
    with contextlib.closing(archive.open(info)) as stream:
        version = npy.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"array format {version} is unknown")
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, is_fortran, dtype = read_header(stream)
        if dtype.hasobject:
            raise ValueError(f'"{info.filename}" contains Python objects')
        if dtype.kind not in NUMBERS_AND_FLAGS:
            raise ValueError(f'"{info.filename}" contains {dtype}, not numbers')
        if any(extent < 0 for extent in shape):
            raise ValueError(f'"{info.filename}" has the shape {shape}')
        size = math.prod(shape) * dtype.itemsize
        if stream.tell() + size != info.file_size:
            raise ValueError(f'"{info.filename}" does not have the length that it states')
        # in chunks, so that memory is only allocated for data that exists; at the end, zipfile checks the CRC
        data = bytearray()
        while piece := stream.read(_CHUNK):
            data += piece
    return np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if is_fortran else "C")
