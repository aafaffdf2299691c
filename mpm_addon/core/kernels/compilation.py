"""How kernels are compiled and where their machine code is kept. Every kernel is made by `kernel`.

Scalars are computed without fastmath; lanes carry flags of their own (see `vector`).

Numba keys a kernel's cached code on the kernel's own file, so that a law edited in another file would come back stale. The
cache folder is therefore named by a hash of all sources in the packages that hold kernels; the core's own modules hold none.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import njit
from numba.extending import register_jitable

from . import arithmetic, vector, vector_arithmetic  # noqa: F401  (teaches numba what arithmetic means for lanes)

PACKAGES_WITH_KERNELS = ("geometry", "kernels", "laws")


def source_hash() -> str:
    """A hash of the sources of all kernels, of the compiler's versions and of the width of the lanes."""
    core = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {sys.version} {vector.LANE_COUNT}".encode())
    for source in sorted(source for package in PACKAGES_WITH_KERNELS for source in (core / package).rglob("*.py")):
        digest.update(source.relative_to(core).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def _choose_cache_folder() -> Path:
    """The kernels' folder: below NUMBA_CACHE_DIR where that is set, else below the user's cache folder, else a temporary one."""
    base = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else _user_cache_folder() / "mpm_addon" / "kernels"
    folder = base / source_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="mpm_addon_kernels_"))


# OpenMP whose threads spin while they wait takes ten times as long where other programs run; read when it is loaded
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

CACHE_FOLDER = _choose_cache_folder()
numba.config.CACHE_DIR = str(CACHE_FOLDER)

_taught = 0


def teach_generic_functions() -> None:
    """Let kernels call every function marked `generic` so far."""
    global _taught
    for function in arithmetic.GENERIC_FUNCTIONS[_taught:]:
        register_jitable(forceinline=True)(function)
    _taught = len(arithmetic.GENERIC_FUNCTIONS)


def kernel(function: Callable[..., Any] | None = None, *, is_kept: bool = True, parallel: bool = False) -> Any:
    """Compile a module-level function of arrays and scalars; its code is kept on disk unless told otherwise."""
    teach_generic_functions()
    decorate = njit(cache=is_kept, nogil=True, parallel=parallel, error_model="numpy", boundscheck=False)
    return decorate(function) if function is not None else decorate
