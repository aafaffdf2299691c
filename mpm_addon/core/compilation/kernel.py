"""Compiling kernels and storing their machine code. Every kernel is made by `kernel`.

Scalars are computed without fastmath; lanes have their own flags (see `vector`).

Code is stored under a hash of all source files that kernels are compiled from, so editing any of them invalidates it.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import njit
from numba.core.registry import cpu_target
from numba.extending import register_jitable

from ..arithmetic import operations, vector, vector_arithmetic  # noqa: F401  (registers the arithmetic of lanes with numba)
from ..messages import Message, SceneWarning, Topic
from ..processor import NATIVE, level_of, platform_tag, shipped_file
from .kernel_files import Archive, KernelCache, Store
from .linking import link_what_is_not_entered

# whole packages, in addition to all other modules of the core that make kernels
PACKAGES_WITH_KERNELS = ("arithmetic", "compilation", "geometry", "laws", "transfer")
MAKES_KERNELS = (b".compilation.kernel import ", b".compilation.team import parallel_kernel", b".arithmetic.operations import ")
CORE = Path(__file__).resolve().parent.parent
# the package from which a stored kernel imports its types
PACKAGE = __name__.partition(".core.")[0]

_target: Any = cpu_target.target_context
link_what_is_not_entered(_target)


def compiled_level() -> tuple[str, str]:
    """The name of the level that numba compiles for, and a name that distinguishes its machine code."""
    target: Any = cpu_target.target_context
    triple, cpu, features = target.codegen().magic_tuple()
    name = level_of(cpu, features)
    return name, name if name != NATIVE else f"{NATIVE}-{hashlib.sha256(f'{triple} {cpu} {features}'.encode()).hexdigest()[:8]}"


def kernel_sources() -> list[Path]:
    """The source files that kernels are compiled from."""
    sources = sorted(CORE.rglob("*.py"))
    return [each for each in sources if each.relative_to(CORE).parts[0] in PACKAGES_WITH_KERNELS or _makes_kernels(each)]


def _makes_kernels(source: Path) -> bool:
    text = source.read_bytes()
    return any(sign in text for sign in MAKES_KERNELS)


@cache
def source_hash() -> str:
    """A hash of the sources of all kernels and everything else that their code depends on, except the processor level."""
    versions = f"{numba.__version__} {llvmlite.__version__} {platform_tag()} {PACKAGE}"
    digest = hashlib.sha256(versions.encode())
    for source in kernel_sources():
        digest.update(source.relative_to(CORE).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def cache_folder() -> Path:
    """The folder for kernels compiled on this computer: in NUMBA_CACHE_DIR if it is set, else in the user's cache folder."""
    base = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else _user_cache_folder() / "mpm_addon" / "kernels"
    return base / source_hash() / compiled_level()[1]


@cache
def shipped_archive() -> Archive:
    """The kernels of this process's level that shipped with this version."""
    return Archive(shipped_file(compiled_level()[1]), source_hash())


@cache
def store() -> Store:
    """The kernels of this process's level."""
    archive = shipped_archive()
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return Store(archive, folder)
    except OSError as error:
        stored = Store(archive, Path(tempfile.mkdtemp(prefix="mpm_addon_kernels_")))
        words = f"kernels cannot be stored ({error.strerror}), so every bake compiles those that are not shipped"
        stored.problems.append(SceneWarning(Topic.KERNELS, Message(words, ("set NUMBA_CACHE_DIR to a writable folder",), str(folder))))
        return stored


def register_generic_functions() -> None:
    """Make every function marked `generic` so far callable from kernels."""
    while operations.UNREGISTERED:
        register_jitable(forceinline=True, no_cfunc_wrapper=True, _nrt=False)(operations.UNREGISTERED.pop())


def kernel(function: Callable[..., Any] | None = None, *, is_stored: bool = True, allocates: bool = False) -> Any:
    """Compile a module-level function of arrays and scalars; by default its code is stored on disk.

    The code of functions outside this package is never stored, because changes to their source cannot be detected.

    Args:
        is_stored: whether its code is stored.
        allocates: whether it, or a kernel that it calls, makes arrays. Only then does its code count references to arrays. Counters are
            shared by all threads, so counting can take longer than the work.
    """
    if function is None:
        return lambda function: kernel(function, is_stored=is_stored, allocates=allocates)
    register_generic_functions()
    # kernels are never called from C, and a C wrapper would also be compiled for each function that they call
    dispatcher = njit(nogil=True, error_model="numpy", boundscheck=False, no_cfunc_wrapper=True, _nrt=allocates)(function)
    if is_stored and function.__module__.startswith(f"{PACKAGE}."):
        dispatcher._cache = KernelCache(function, store())
    return dispatcher
