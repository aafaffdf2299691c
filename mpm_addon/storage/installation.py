"""Where this installation keeps things: its version and its presets."""

import importlib.metadata
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
