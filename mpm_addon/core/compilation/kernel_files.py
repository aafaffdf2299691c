"""Files with the machine code of kernels: those shipped with this version, and those compiled by this user's bakes.

A kernel's code is one file, named by the kernel and the types of its arguments: a checksum and the compressed pickle of numba's result.
The file lies in a folder or an archive whose key is a hash of all sources, the compiler versions and the processor level.
If a file is missing, truncated, damaged or compiled from other sources, the kernel is compiled again. No error here stops a bake.
"""

import hashlib
import json
import os
import pickle
import tempfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import zstandard
from numba import types
from numba.core import serialize
from numba.core.compiler import CompileResult

from ..messages import Message, SceneWarning, Topic

_DIGEST = hashlib.sha256
_SIZE = _DIGEST().digest_size
_MANIFEST = "manifest.json"
SUFFIX = ".kernel"


def type_words(kind: Any) -> str:
    """The name of an argument type, the same in every process, however the package was imported."""
    if isinstance(kind, types.NamedTuple):
        return f"{kind.instance_class.__qualname__}({', '.join(map(type_words, kind.types))})"
    return str(kind)


def file_name(function: Any, argument_types: Iterable[Any]) -> str:
    """The name of a kernel's file for given argument types."""
    words = "; ".join(map(type_words, argument_types))
    home = function.__module__.rpartition(".")[2]
    return f"{home}.{function.__name__}.{_DIGEST(words.encode()).hexdigest()[:16]}{SUFFIX}"


def packed(payload: Any) -> bytes:
    """A payload as the content of a file: a checksum, then the compressed pickle."""
    body = zstandard.compress(serialize.dumps(payload), 9)
    return _DIGEST(body).digest() + body


def is_whole(content: bytes) -> bool:
    """Whether a file's content is intact."""
    return _DIGEST(content[_SIZE:]).digest() == content[:_SIZE]


def body_of(content: bytes) -> bytes:
    """The pickle in a file's content. Raises ValueError if the content is not whole."""
    if not is_whole(content):
        raise ValueError("its checksum is wrong")
    return zstandard.decompress(content[_SIZE:])


def unpacked(content: bytes) -> Any:
    """The argument of `packed`. Raises ValueError if the content is not whole."""
    try:
        return pickle.loads(body_of(content))
    except (zstandard.ZstdError, pickle.UnpicklingError, ImportError, AttributeError, EOFError, TypeError, LookupError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


class Archive:
    """Kernels shipped with this version, in a read-only file.

    Attributes:
        path: path of the file.
        problem: why the archive is not used; None if it is used or does not exist.
    """

    def __init__(self, path: Path, key: str) -> None:
        self.path = path
        self.problem: SceneWarning | None = None
        self._file: zipfile.ZipFile | None = None
        if not path.is_file():
            return
        try:
            archive = zipfile.ZipFile(path)
            found = json.loads(archive.read(_MANIFEST))["key"]
        except (OSError, ValueError, KeyError, zipfile.BadZipFile, zlib.error, EOFError) as error:
            self.problem = _unused(path, f"cannot be read ({error})")
            return
        if found != key:
            self.problem = _unused(path, "belongs to another version")
            return
        self._file = archive

    def names(self) -> set[str]:
        """The names of its files."""
        return set() if self._file is None else {name for name in self._file.namelist() if name != _MANIFEST}

    def read(self, name: str) -> bytes | None:
        """A file's content, or None if it is missing. Raises ValueError if it is damaged."""
        if self._file is None or name not in self._file.NameToInfo:
            return None
        try:
            return self._file.read(name)
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise ValueError(str(error)) from error


def _unused(path: Path, problem: str) -> SceneWarning:
    return SceneWarning(Topic.KERNELS, Message(f"it {problem}, so kernels are compiled instead", ("reinstall the extension",), str(path)))


def write_archive(path: Path, key: str, files: dict[str, bytes]) -> None:
    """Write an archive of kernels; the same files always give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in [(_MANIFEST, json.dumps({"key": key}).encode()), *sorted(files.items())]:
            archive.writestr(zipfile.ZipInfo(name), content)


class Store:
    """The kernels of one processor level, from an archive and a folder; new ones are stored in the folder.

    Attributes:
        folder: the folder.
        problems: what went wrong; a bake reports them once.
    """

    def __init__(self, archive: Archive, folder: Path) -> None:
        self.folder = folder
        self._archive = archive
        self.problems = [] if archive.problem is None else [archive.problem]
        self._damaged: set[str] = set()
        self._is_writable = True

    def has(self, name: str) -> bool:
        """Whether a file of this name exists; its content is not checked."""
        return name not in self._damaged and (name in self._archive.names() or (self.folder / name).is_file())

    def content(self, name: str) -> bytes | None:
        """The content of a file in the folder; None if it is missing or damaged."""
        try:
            content = self._read(name)
        except OSError:
            return None
        return content if content is not None and is_whole(content) else None

    def load(self, name: str) -> Any:
        """What was saved under this name; None if it is missing or damaged."""
        found = []
        for source, read in ((self._archive.path, self._archive.read), (self.folder, self._read)):
            try:
                content = read(name)
                if content is not None:
                    return unpacked(content)
            except (OSError, ValueError) as error:
                found.append(
                    SceneWarning(Topic.KERNELS, Message(f"kernel {name} cannot be read ({error}) and is compiled again", (), str(source)))
                )
        if found:
            self._damaged.add(name)
            self.problems += found[:1]
        return None

    def refuse(self, name: str, error: Exception) -> None:
        """Record that what was loaded under this name is not usable code."""
        self._damaged.add(name)
        words = f"it cannot be used ({type(error).__name__}: {error}) and is compiled again"
        self.problems.append(SceneWarning(Topic.KERNELS, Message(words, (), f"Kernel {name}")))

    def _read(self, name: str) -> bytes | None:
        path = self.folder / name
        return path.read_bytes() if path.is_file() else None

    def save(self, name: str, payload: Any) -> None:
        """Store a kernel for later use, if the folder can be written."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix=name, suffix=".new", delete=False) as file:
                try:
                    file.write(packed(payload))
                    file.close()
                    # other users of a shared folder must be able to read the file
                    os.chmod(file.name, 0o644)
                    os.replace(file.name, self.folder / name)
                except OSError:
                    os.unlink(file.name)
                    raise
        except OSError as error:
            if self._is_writable:
                self._is_writable = False
                words = f"kernels cannot be stored ({error.strerror}), so every bake compiles them again"
                self.problems.append(
                    SceneWarning(Topic.KERNELS, Message(words, ("set NUMBA_CACHE_DIR to a writable folder",), str(self.folder)))
                )


class KernelCache:
    """The cache of one function; numba's `Dispatcher` calls these methods."""

    def __init__(self, function: Any, store: Store) -> None:
        self._function = function
        self._store = store

    @property
    def cache_path(self) -> str:
        return str(self._store.folder)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled function, or None."""
        name = file_name(self._function, _argument_types(signature))
        payload = self._store.load(name)
        if payload is None:
            return None
        target_context.refresh()
        try:
            return CompileResult._rebuild(target_context, *payload)
        except (TypeError, ValueError, AttributeError, RuntimeError) as error:
            self._store.refuse(name, error)
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        if not result.library.has_dynamic_globals:
            self._store.save(file_name(self._function, _argument_types(signature)), result._reduce())

    def enable(self) -> None:
        pass

    def disable(self) -> None:
        pass

    def flush(self) -> None:
        pass


def _argument_types(signature: Any) -> tuple[Any, ...]:
    return tuple(getattr(signature, "args", signature))
