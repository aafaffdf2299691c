"""The surface of each material preset, else of its law. Knows nothing of Blender."""

import functools

from ...core.laws import LAWS
from ...core.laws.finish import PLAIN, Finish
from ...storage.looks import Look
from ...storage.presets import material_presets


def finish_of(law: str, material: str) -> Finish:
    """The law's finish with the look of the material's preset, if it has one; a plain finish if the law is unknown.

    A look absorbs light inside, which particle materials do not: they are never clearer than their law's finish.
    """
    known = LAWS.get(law)
    finish = PLAIN if known is None else known.finish
    look = _looks().get(material)
    if look is None:
        return finish
    surface = {name: value for name, value in vars(look).items() if name in Finish._fields and value is not None}
    surface["transmission"] = min(look.transmission, finish.transmission)
    if look.absorption:
        surface |= {"ior": finish.ior, "subsurface": finish.subsurface}
    return finish._replace(**surface)


@functools.cache
def _looks() -> dict[str, Look | None]:
    return {preset.name: preset.look for preset in material_presets()}
