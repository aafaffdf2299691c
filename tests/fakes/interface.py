"""bpy.app.translations and bpy.utils.previews of a Blender without a window: translations work, pictures have no icon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

DEFAULT_CONTEXT = "*"
Messages = Mapping[str, Mapping[tuple[str, str], str]]


class Translations:
    """The dictionaries that add-ons registered; a test sets the language through `locale`, initially Blender's "English"."""

    def __init__(self) -> None:
        self.registered: dict[str, Messages] = {}
        self.locale = ""

    def register(self, module_name: str, translations_dict: Messages) -> None:
        if module_name in self.registered:
            raise ValueError(f"translations message cache already contains some data for addon '{module_name}'")
        for messages in translations_dict.values():
            for key, translated in messages.items():
                if not (isinstance(key, tuple) and len(key) == 2 and isinstance(translated, str)):
                    raise TypeError(f"bpy.app.translations.register: expected (context, message) -> text, got {key!r}: {translated!r}")
        self.registered[module_name] = translations_dict

    def unregister(self, module_name: str) -> None:
        self.registered.pop(module_name, None)

    def gettext(self, msgid: str, msgctxt: str | None = None) -> str:
        """The message in the current language; as in Blender, dictionaries of de_DE or de serve de_DE."""
        for messages in self.registered.values():
            for language in (self.locale, self.locale.partition("_")[0]):
                found = messages.get(language, {}).get((msgctxt or DEFAULT_CONTEXT, msgid))
                if found is not None:
                    return found
        return msgid

    def functions(self) -> dict[str, Callable[..., Any]]:
        names = ("pgettext", "pgettext_iface", "pgettext_tip", "pgettext_rpt", "pgettext_data")
        return {**dict.fromkeys(names, self.gettext), "register": self.register, "unregister": self.unregister}


class _Pixels:
    """Pixels of a preview, four floats each."""

    def __init__(self) -> None:
        self.values = np.zeros(0, np.float32)

    def foreach_set(self, values: Any) -> None:
        if len(values) != len(self.values):
            raise RuntimeError(f"internal error setting the array: {len(self.values)} values expected, got {len(values)}")
        self.values[:] = values


class ImagePreview:
    """A picture in two sizes; without a window it has no icon."""

    icon_id = 0

    def __init__(self, path: str = "") -> None:
        self.path = path
        self._sizes = {"image": (0, 0), "icon": (0, 0)}
        self.image_pixels_float, self.icon_pixels_float = _Pixels(), _Pixels()

    def _resize(self, kind: str, size: tuple[int, int]) -> None:
        self._sizes[kind] = tuple(size)
        getattr(self, f"{kind}_pixels_float").values = np.zeros(4 * size[0] * size[1], np.float32)

    image_size = property(lambda self: self._sizes["image"], lambda self, size: self._resize("image", size))
    icon_size = property(lambda self: self._sizes["icon"], lambda self, size: self._resize("icon", size))


class PreviewCollection(dict[str, ImagePreview]):
    """Pictures by name; each name can be used once."""

    def new(self, name: str) -> ImagePreview:
        if name in self:
            raise KeyError(f"key {name!r} already exists")
        self[name] = ImagePreview()
        return self[name]

    def load(self, name: str, filepath: str, filetype: str, force_reload: bool = False) -> ImagePreview:
        if name in self:
            raise KeyError(f"key {name!r} already exists")
        if filetype not in ("IMAGE", "MOVIE", "BLEND", "FONT"):
            raise ValueError(f"expected IMAGE, MOVIE, BLEND or FONT, got {filetype!r}")
        self[name] = ImagePreview(str(Path(filepath)))
        return self[name]


class Previews:
    """The collections that were not removed yet."""

    def __init__(self) -> None:
        self.collections: list[PreviewCollection] = []

    def new(self) -> PreviewCollection:
        self.collections.append(PreviewCollection())
        return self.collections[-1]

    def remove(self, pcoll: PreviewCollection) -> None:
        remaining = [collection for collection in self.collections if collection is not pcoll]
        if len(remaining) == len(self.collections):
            raise KeyError("the collection is not one of bpy.utils.previews.new()")
        self.collections[:] = remaining
