"""Named arrays in .npz files: plain data only, sizes checked before memory is taken, every byte checked by a CRC.

An .npz file is a zip archive of .npy files, as `numpy.savez` writes it and `numpy.load` reads it. Nothing is ever
unpickled.
"""

import contextlib
import errno
import hashlib
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

from .atomic import write_atomically

Arrays = Mapping[str, NDArray[Any]]

# What zipfile and numpy raise for damaged archives; RuntimeError for one whose encryption flag is set.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, SyntaxError,
    ValueError, TypeError, KeyError, EOFError, OverflowError, RuntimeError,
)  # fmt: skip


class ArrayFileError(Exception):
    """A file of arrays is damaged or holds something else; the message ends a sentence that begins with its path."""


def write_arrays(path: Path, arrays: Arrays, *, is_durable: bool = True) -> None:
    """Write named arrays, uncompressed; the bytes depend on the arrays alone.

    Raises:
        OSError: the file could not be written.
    """
    write_atomically(path, lambda file: write_arrays_to(file, arrays), is_durable=is_durable)


def write_arrays_to(file: IO[bytes], arrays: Arrays) -> None:
    """Write named arrays into an open file."""
    np.savez(file, **{name: np.asarray(array, order="C") for name, array in arrays.items()})


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of a file.

    Raises:
        ArrayFileError: it is no such file, truncated, damaged, or holds Python objects.
        OSError: it cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return {info.filename.removesuffix(".npy"): _read_member(archive, info) for info in archive.infolist()}
    except _DAMAGE as error:
        raise ArrayFileError(f"is damaged or no .npz file ({error or type(error).__name__})") from error
    except OSError as error:
        # a member that is said to begin before the file does
        if error.errno == errno.EINVAL:
            raise ArrayFileError("is damaged or no .npz file") from error
        raise


def is_whole(path: Path) -> bool:
    """Whether a file looks complete: a truncated archive has lost its directory. Reads a few hundred bytes only."""
    try:
        with zipfile.ZipFile(path) as archive:
            return bool(archive.infolist())
    except (OSError, *_DAMAGE):
        return False


def digest(arrays: Arrays) -> str:
    """A SHA-256 of names, types, shapes and values, as hexadecimal text."""
    hasher = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        hasher.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        hasher.update(array.tobytes())
    return hasher.hexdigest()


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
            raise ValueError(f'"{info.filename}" holds Python objects')
        count = 1
        for extent in shape:
            count *= extent
        size = count * dtype.itemsize
        if stream.tell() + size != info.file_size:
            raise ValueError(f'"{info.filename}" has another length than it says')
        # reading to the end makes zipfile compare the CRC
        data = stream.read(size)
    array = np.frombuffer(bytearray(data), dtype=dtype)
    return array.reshape(shape, order="F" if is_fortran else "C")
