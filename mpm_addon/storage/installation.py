"""Where this installation keeps things: its version, its presets, the folder for compiled kernels. No numba."""

import hashlib
import importlib.metadata
import os
import platform
import sys
import tomllib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent


def presets_folder() -> Path:
    """The folder of the presets: inside the package where it is installed, beside it in the source tree."""
    inside = PACKAGE / "presets"
    return inside if inside.is_dir() else PACKAGE.parent / "presets"


def version() -> str:
    """The version: of the manifest beside (or above) the package, or of the installed distribution."""
    for folder in (PACKAGE, PACKAGE.parent):
        manifest = folder / "blender_manifest.toml"
        if manifest.is_file():
            return tomllib.loads(manifest.read_text(encoding="utf-8"))["version"]
    return importlib.metadata.version("mpm-addon")


def cache_home() -> Path:
    """The user's folder for things that can be made again: MPM_CACHE_HOME, or the platform's usual place."""
    chosen = os.environ.get("MPM_CACHE_HOME")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "mpm_addon"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mpm_addon"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "mpm_addon"


def kernel_cache_folder() -> Path:
    """The folder for numba's compiled kernels, under NUMBA_CACHE_DIR or `cache_home`.

    Numba checks the age of a kernel's own file only, so that a change in a file which the kernel calls would come
    back stale. The folder's name is therefore a digest of every source of the core, and of the libraries' versions.
    """
    hasher = hashlib.sha256()
    for source in sorted((PACKAGE / "core").rglob("*.py")):
        hasher.update(source.relative_to(PACKAGE).as_posix().encode())
        hasher.update(source.read_bytes())
    for library in ("numba", "numpy"):
        hasher.update(importlib.metadata.version(library).encode())
    hasher.update(platform.python_version().encode())
    name = f"kernels_{hasher.hexdigest()[:16]}"
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or cache_home())
    return base if base.name == name else base / name
