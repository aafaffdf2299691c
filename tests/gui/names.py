"""What the walk asks Blender: loaded into the window, beside the names of tools/gui/interface.py."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bl_ext.user_default.mpm_addon.blender import observation, paths, playback, session  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.core.errors import MpmError  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.storage import open_cache  # type: ignore[import-not-found]

CONTEXT: Any = bpy.context


def scene() -> Any:
    return CONTEXT.window_manager.windows[0].scene


def cache() -> Path:
    """The folder of the scene's frames."""
    return paths.absolute(paths.cache_path(scene()))


def baked() -> list[int]:
    """The frames that are there."""
    try:
        return list(open_cache(cache()).frames)
    except MpmError:
        return []


def bake_text() -> str:
    """What the panel says of the bake that runs; empty where none does."""
    running = session.current()
    return "" if running is None else running.text


def status_text() -> str:
    """How the last bake ended."""
    status = observation.status_of(cache())
    return "" if status is None else status.state


def points() -> dict[str, Any]:
    """How many points the particle object shows, and the middle of them."""
    shown = playback.result_objects(scene())
    if not shown:
        return {"count": 0, "middle": [0.0, 0.0, 0.0]}
    vertices = shown[0].data.vertices
    places = np.empty(3 * len(vertices), np.float32)
    vertices.foreach_get("co", places)
    return {"count": len(vertices), "middle": places.reshape(-1, 3).mean(axis=0).tolist() if len(vertices) else [0.0, 0.0, 0.0]}
