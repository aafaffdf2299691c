"""This installation: its version, its presets, and optional packages."""

import importlib
import importlib.metadata
import tomllib
from pathlib import Path
from typing import Any

from ..core.errors import SceneError

PACKAGE = Path(__file__).resolve().parent.parent


def presets_folder() -> Path:
    """The folder of the presets: inside an installed package, next to it in the source tree."""
    inside = PACKAGE / "presets"
    return inside if inside.is_dir() else PACKAGE.parent / "presets"


def version() -> str:
    """The version, from the manifest in or above the package, or from the installed distribution."""
    for folder in (PACKAGE, PACKAGE.parent):
        manifest = folder / "blender_manifest.toml"
        if manifest.is_file():
            return tomllib.loads(manifest.read_text(encoding="utf-8"))["version"]
    return importlib.metadata.version("mpm-addon")


def require(module: str, distribution: str, purpose: str) -> Any:
    """Import a package that only some files need.

    Args:
        module: the name to import.
        distribution: the name to install.
        purpose: the purpose, for the message: "writing scenes".

    Raises:
        SceneError: the package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise SceneError(f"{purpose} needs the package {module}, which is missing", f"pip install {distribution}") from error
