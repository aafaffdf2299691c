"""Translates the interface: the dictionaries of `mpm_addon/locale`, and texts that contain values.

Blender itself translates fixed texts: labels of panels and operators, names and descriptions of properties, and `text="..."` in a
layout. A text that contains values is translated first, and the values are inserted afterwards:

    from .translations import text
    layout.label(text=text("Frame {number} was not baked", number=12))

Texts without a translation are shown in English.
"""

from typing import Any

import bpy

from ...storage.catalog import dictionaries
from .registrar import Registrar

# The stubs declare that Blender's functions return nothing.
blender: Any = bpy.app.translations

_NAME = __name__


def text(template: str, **values: Any) -> str:
    """A text of the interface: the translated template, formatted with its values as by `str.format`."""
    return blender.pgettext_iface(template).format(**values)


def tip(template: str, **values: Any) -> str:
    """A tooltip, as an operator's `description` returns it."""
    return blender.pgettext_tip(template).format(**values)


def message(template: str, **values: Any) -> str:
    """A report of an operator, or its reason for being unavailable."""
    return blender.pgettext_rpt(template).format(**values)


def register(registrar: Registrar) -> None:
    blender.register(_NAME, dictionaries())
    registrar.on_removal(blender.unregister, _NAME)
