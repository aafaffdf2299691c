"""The pictures of material presets as icons. Without a window there are none; missing and broken pictures are skipped."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy.utils.previews

from ...storage.presets import material_presets
from ..host.registrar import Registrar
from ..host.runtime import OfSession, runtime

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LARGEST = 1_000_000


def icons_of(collection: Any, pictures: Iterable[tuple[str, Path]]) -> Mapping[str, int]:
    """Name -> icon ID, for presets that have one; a preview collection of Blender holds the pictures."""
    icons = {name: collection.load(name, str(path), "IMAGE").icon_id for name, path in pictures if _is_picture(path)}
    return {name: icon for name, icon in icons.items() if icon}


def _is_picture(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return path.stat().st_size <= _LARGEST and file.read(len(_SIGNATURE)) == _SIGNATURE
    except OSError:
        return False


@dataclass
class Thumbnails(OfSession):
    """Icon IDs by preset name."""

    icons: dict[str, int] = field(default_factory=dict)


def icon(name: str) -> int:
    """The ID of a preset's icon; 0 if it has none."""
    return runtime.of(Thumbnails).icons.get(name, 0)


def has_icons() -> bool:
    """Whether there are pictures to choose from."""
    return bool(runtime.of(Thumbnails).icons)


def register(registrar: Registrar) -> None:
    collection = bpy.utils.previews.new()
    registrar.on_removal(bpy.utils.previews.remove, collection)
    runtime.of(Thumbnails).icons.update(icons_of(collection, ((preset.name, preset.picture) for preset in material_presets())))
