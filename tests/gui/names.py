"""Functions for the walk, loaded into the window's Blender next to those of tools/gui/interface.py."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bl_ext.user_default.mpm_addon.blender.baking import session  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.blender.baking.bake_facts import facts_of  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.blender.baking.bake_view import view_of  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.blender.interface.panels import all_panels  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.blender.playback import particle_objects  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.blender.settings import paths  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.core.errors import MpmError  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.storage import open_cache  # type: ignore[import-not-found]

CONTEXT: Any = bpy.context


def scene() -> Any:
    return CONTEXT.window_manager.windows[0].scene


def cache() -> Path:
    """The folder of the scene's frames."""
    return paths.absolute(paths.cache_path(scene()))


def baked() -> list[int]:
    """The baked frames."""
    try:
        return list(open_cache(cache()).frames)
    except MpmError:
        return []


def view() -> dict[str, str]:
    """The bake's state and all texts in its panel."""
    shown = view_of(facts_of(scene()))
    return {"state": shown.state.name, "text": shown.text}


def wanted() -> list[int]:
    """The frames of the scene."""
    return list(range(scene().frame_start, scene().frame_end + 1))


def is_live() -> bool:
    """Whether a bake runs."""
    return session.current() is not None


def points() -> dict[str, Any]:
    """The number of points of the particle object, or of the mesh that is shown in their place, and their center."""
    shown = particle_objects.result_objects(scene())
    if not shown:
        return {"count": 0, "middle": [0.0, 0.0, 0.0]}
    skins = [part.skin for part in shown[0].mpm.display.parts if part.skin is not None]
    vertices = shown[0].data.vertices or (skins[0].data.vertices if skins else ())
    if not len(vertices):
        return {"count": 0, "middle": [0.0, 0.0, 0.0]}
    places = np.empty(3 * len(vertices), np.float32)
    vertices.foreach_get("co", places)
    return {"count": len(vertices), "middle": places.reshape(-1, 3).mean(axis=0).tolist()}


def open_all_panels() -> None:
    """Open every panel of the extension, as if its header had been clicked."""
    panels = [item for item in all_panels.CLASSES if issubclass(item, bpy.types.Panel)]
    for panel in reversed(panels):
        bpy.utils.unregister_class(panel)
    for panel in panels:
        panel.bl_options = set(getattr(panel, "bl_options", ())) - {"DEFAULT_CLOSED"}
        bpy.utils.register_class(panel)


def choose_theme(name: str) -> None:
    """Use one of Blender's own themes."""
    path = Path(bpy.utils.preset_paths("interface_theme")[0]) / f"{name}.xml"
    bpy.ops.script.execute_preset(filepath=str(path), menu_idname="USERPREF_MT_interface_theme_presets")
