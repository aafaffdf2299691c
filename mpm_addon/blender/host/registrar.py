"""What the add-on adds to Blender, taken back in the opposite order. Parts register through it and need nothing to unregister."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

import bpy


class Registrar:
    """Adds to Blender, and remembers how each thing is taken back."""

    def __init__(self) -> None:
        self._removals = ExitStack()

    def on_removal(self, function: Callable[..., object], *arguments: Any) -> None:
        """Let a function be called when everything is taken back, before what was added earlier is."""
        self._removals.callback(function, *arguments)

    def take_back(self) -> None:
        """Take everything back, the last first. What fails keeps nothing else from it."""
        self._removals.close()

    def classes(self, classes: Iterable[type]) -> None:
        for cls in classes:
            bpy.utils.register_class(cls)
            self.on_removal(bpy.utils.unregister_class, cls)

    def settings(self, owner: Any, name: str, definition: Any) -> None:
        """Give one of Blender's types a property."""
        setattr(owner, name, definition)
        self.on_removal(delattr, owner, name)

    def member(self, functions: list[Any], function: Callable[..., object]) -> None:
        """Put a function on a list of those that are called, such as Blender's handlers."""
        functions.append(function)
        self.on_removal(functions.remove, function)

    def import_handler(self, function: Callable[..., object]) -> None:
        """Call a function when something is appended or linked. Blender before 4.3 does not tell."""
        if hasattr(bpy.app.handlers, "blend_import_post"):
            self.member(bpy.app.handlers.blend_import_post, function)

    def entry(self, menu: Any, draw: Callable[..., object]) -> None:
        """Let a function draw at the end of a menu or a panel."""
        menu.append(draw)
        self.on_removal(menu.remove, draw)

    def timer(self, function: Callable[[], float | None], seconds: float) -> None:
        """Call a function in so many seconds, and then when it says, whatever file is open."""
        bpy.app.timers.register(function, first_interval=seconds, persistent=True)
        self.on_removal(_end_timer, function)


def _end_timer(function: Callable[[], float | None]) -> None:
    if bpy.app.timers.is_registered(function):  # it may have said that it is done
        bpy.app.timers.unregister(function)
