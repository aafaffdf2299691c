"""Functions that are called when a setting changes how an object shows its cache."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..host.blender_types import Context
from ..host.runtime import OfSession, runtime


@dataclass
class PlaybackListeners(OfSession):
    """Called with the scene when a user or a script changes which frame or which surface an object shows."""

    functions: list[Callable[[Any], None]] = field(default_factory=list)


@dataclass
class FogListeners(OfSession):
    """Called with an object whose foam or dust is to be shown as a volume, or no longer."""

    functions: list[Callable[[Any], None]] = field(default_factory=list)


def fog_changed(settings: Any, context: Context) -> None:
    """The update function of such a setting."""
    for listener in runtime.of(FogListeners).functions:
        listener(settings.id_data)
    playback_changed(settings, context)


def playback_changed(_settings: Any, context: Context) -> None:
    """The update function of such a setting."""
    for listener in runtime.of(PlaybackListeners).functions:
        listener(context.scene)
