"""The pictures of material presets as icons. Without a window there are none; a picture that is missing or broken is none."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import bpy.utils.previews

from ...storage.presets import material_presets

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LARGEST = 1_000_000

_collections: list[Any] = []


def loaded(pictures: Iterable[tuple[str, Path]]) -> Mapping[str, int]:
    """Name -> number of the icon, of those that have one; the pictures are held until `unregister`."""
    collection = bpy.utils.previews.new()
    _collections.append(collection)
    icons = {name: collection.load(name, str(path), "IMAGE").icon_id for name, path in pictures if _is_picture(path)}
    return {name: icon for name, icon in icons.items() if icon}


def _is_picture(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return path.stat().st_size <= _LARGEST and file.read(len(_SIGNATURE)) == _SIGNATURE
    except OSError:
        return False


_icons: dict[str, int] = {}


def icon(name: str) -> int:
    """The number of a preset's icon; 0 where there is none."""
    return _icons.get(name, 0)


def has_icons() -> bool:
    """Whether there are pictures to choose from."""
    return bool(_icons)


def register() -> None:
    _icons.update(loaded((preset.name, preset.picture) for preset in material_presets()))


def unregister() -> None:
    _icons.clear()
    while _collections:
        bpy.utils.previews.remove(_collections.pop())
