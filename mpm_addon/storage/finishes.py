"""The finish of materials: that of the material's preset, or else of its law. Knows nothing of Blender."""

import functools

from ..core.laws import LAWS
from ..core.laws.finish import PLAIN, Finish
from .presets import material_presets


def finish_of(law: str, material: str) -> Finish:
    """The finish of the material's preset, or else of its law; a plain finish if the law is unknown."""
    known = LAWS.get(law)
    return _finishes().get(material) or (PLAIN if known is None else known.finish)


@functools.cache
def _finishes() -> dict[str, Finish]:
    """The finishes of the presets that ship with the extension, which never change."""
    return {preset.name: preset.finish for preset in material_presets() if preset.finish is not None}
