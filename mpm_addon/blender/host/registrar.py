"""Registers the add-on's parts with Blender and removes them in reverse order, so that they need no unregister function."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

import bpy


class Registrar:
    """Registers things with Blender, and remembers how to remove each."""

    def __init__(self) -> None:
        self._removals = ExitStack()

    def on_removal(self, function: Callable[..., object], *arguments: Any) -> None:
        """Register a function that is called during removal, before things registered earlier are removed."""
        self._removals.callback(function, *arguments)

    def take_back(self) -> None:
        """Remove everything in reverse order. A failure does not stop the rest."""
        self._removals.close()

    def classes(self, classes: Iterable[type]) -> None:
        for cls in classes:
            bpy.utils.register_class(cls)
            self.on_removal(bpy.utils.unregister_class, cls)

    def settings(self, owner: Any, name: str, definition: Any) -> None:
        """Add a property to one of Blender's types."""
        setattr(owner, name, definition)
        self.on_removal(delattr, owner, name)

    def member(self, functions: list[Any], function: Callable[..., object]) -> None:
        """Add a function to a list of callbacks, such as Blender's handlers."""
        functions.append(function)
        self.on_removal(functions.remove, function)

    def import_handler(self, function: Callable[..., object]) -> None:
        """Call a function when something is appended or linked; Blender before 4.3 has no such handler."""
        if hasattr(bpy.app.handlers, "blend_import_post"):
            self.member(bpy.app.handlers.blend_import_post, function)

    def entry(self, menu: Any, draw: Callable[..., object]) -> None:
        """Append a draw function to a menu or a panel."""
        menu.append(draw)
        self.on_removal(menu.remove, draw)

    def timer(self, function: Callable[[], float | None], seconds: float) -> None:
        """Call a function after so many seconds, and then as its return value says, whichever file is open."""
        bpy.app.timers.register(function, first_interval=seconds, persistent=True)
        self.on_removal(_end_timer, function)


def _end_timer(function: Callable[[], float | None]) -> None:
    if bpy.app.timers.is_registered(function):  # it may have finished by itself
        bpy.app.timers.unregister(function)
