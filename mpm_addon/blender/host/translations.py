"""The interface in the language of its user: the dictionaries of `mpm_addon/locale`, and texts that are put together.

Blender itself translates what it is given as it stands: labels of panels and operators, names and descriptions of properties, and
`text="..."` in a layout. A text with values in it is translated before they are filled in:

    from .translations import text
    layout.label(text=text("Frame {number} was not baked", number=12))

What is missing in a language, or not translated yet, is shown in English.
"""

from typing import Any

import bpy

from ...storage.catalogue import dictionaries
from .registrar import Registrar

# The stubs say that Blender's functions return nothing.
blender: Any = bpy.app.translations

_NAME = __name__


def text(template: str, **values: Any) -> str:
    """A text of the interface: the template in the user's language, with its values filled in as `str.format` does."""
    return blender.pgettext_iface(template).format(**values)


def tip(template: str, **values: Any) -> str:
    """A tooltip, as an operator's `description` returns it."""
    return blender.pgettext_tip(template).format(**values)


def message(template: str, **values: Any) -> str:
    """What an operator reports, or says where it cannot run."""
    return blender.pgettext_rpt(template).format(**values)


def register(registrar: Registrar) -> None:
    blender.register(_NAME, dictionaries())
    registrar.on_removal(blender.unregister, _NAME)
