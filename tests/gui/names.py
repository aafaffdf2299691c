"""Functions for the walk, loaded into the window's Blender next to those of tools/gui/interface.py."""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bl_ext.user_default.mpm_addon.blender.baking import (  # type: ignore[import-not-found]
    cache_watch,
    derived_facts,
    derived_kinds,
    derived_processes,
    preflight,
    previews,
    session,
)
from bl_ext.user_default.mpm_addon.blender.baking.bake_facts import facts_of  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.blender.baking.bake_view import view_of  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.blender.interface.panels import all_panels, graphs  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.blender.live import live_session  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.blender.playback import particle_objects  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.blender.settings import paths  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.core.errors import MpmError  # type: ignore[import-not-found]
from bl_ext.user_default.mpm_addon.storage import open_cache  # type: ignore[import-not-found]

if TYPE_CHECKING:  # Blender has these already
    from tools.gui.interface import area_of, within

CONTEXT: Any = bpy.context
# copies of the extension's panels, which Blender would go on drawing when the extension is gone
_COPIES: list[Any] = []


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


def open_all_panels(category: str) -> None:
    """Show copies of all panels of the sidebar, open, in a tab of their own: in their own tab, Blender keeps whether a panel is closed."""
    panels = [item for item in all_panels.CLASSES if issubclass(item, bpy.types.Panel) and item.bl_space_type == "VIEW_3D"]
    for panel in (*panels, getattr(bpy.types, "MPM_PT_export")):  # noqa: B009
        parent = getattr(panel, "bl_parent_id", "")
        options = set(getattr(panel, "bl_options", ())) - {"DEFAULT_CLOSED"}
        _register_copy(panel, category, {"bl_options": options, "bl_parent_id": f"{parent}_{category}" if parent else ""})


def open_panels(names: Sequence[str], category: str) -> None:
    """Show copies of panels, open, in a tab of their own, without those around them."""
    for number, name in enumerate(names):
        _register_copy(getattr(bpy.types, name), category, {"bl_options": set(), "bl_parent_id": "", "bl_order": number})


def forget_copies() -> None:
    """Remove the copies of panels, those inside of others first."""
    while _COPIES:
        bpy.utils.unregister_class(_COPIES.pop())


def _register_copy(panel: Any, category: str, changed: dict[str, Any]) -> None:
    name = f"{panel.__name__}_{category}"
    copied = {key: value for key, value in vars(panel).items() if not key.startswith("__") and key != "bl_rna"}
    made = type(name, panel.__bases__, {**copied, **changed, "bl_idname": name, "bl_category": category})
    bpy.utils.register_class(made)
    _COPIES.append(made)


def panels_shown() -> list[str]:
    """The extension's panels in the sidebar that the scene has, without those inside of others."""
    sides = [item for item in all_panels.CLASSES if issubclass(item, bpy.types.Panel) and item.bl_space_type == "VIEW_3D"]
    with within("VIEW_3D", "UI"):
        return [
            item.bl_idname for item in sides if not getattr(item, "bl_parent_id", "") and (not hasattr(item, "poll") or item.poll(CONTEXT))
        ]


def last_report() -> Generator[None, None, str]:
    """The newest line of the Info editor."""
    area = area_of("DOPESHEET_EDITOR")[1]
    area.ui_type = "INFO"
    yield
    yield
    with within("INFO"):
        bpy.ops.info.select_all(action="SELECT")
        bpy.ops.info.report_copy()
    area.ui_type = "TIMELINE"
    return str(CONTEXT.window_manager.clipboard).strip().splitlines()[-1]


def select(*names: str) -> None:
    """Select these objects alone; the first becomes active."""
    for item in scene().objects:
        item.select_set(item.name in names)
    CONTEXT.view_layer.objects.active = scene().objects[names[0]]


def edited(what: str = "Edit") -> None:
    """An edit that Undo takes back by itself, as one made by mouse."""
    bpy.ops.ed.undo_push(message=what)


def emitters() -> list[str]:
    return [item.name for item in scene().objects if item.mpm.type == "emitter"]


def results() -> list[str]:
    """The objects that show the bake."""
    return [item.name for item in particle_objects.result_objects(scene())]


def add_flat_emitter() -> None:
    """A plane as emitter: it has no volume, so it is refused."""
    bpy.ops.mesh.primitive_plane_add(location=(3.0, 0.0, 1.0))
    CONTEXT.object.name = "Flat"
    CONTEXT.object.mpm.type = "emitter"


def takes() -> list[Any]:
    """The takes of the cache."""
    found = cache_watch.watch(cache()).look()
    return [] if found is None else list(found.takes)


def take_numbers() -> list[int]:
    return [take.take for take in takes()]


def take_names() -> list[str]:
    return [take.name for take in takes()]


def shown_take() -> int:
    return next(take.take for take in takes() if take.is_shown)


def curve_colors() -> dict[str, list[int]]:
    """The color of each curve of the statistics, 0 to 255."""
    curves = graphs.curves(cache_watch.watch(cache()).look())
    return {curve.name: [round(255.0 * part) for part in curve.color] for curve in curves}


def previewed() -> bool:
    """Whether a preview is shown."""
    return previews.shown(scene()) is not None


def live_text() -> str:
    """What the live simulation says of itself; "" without one."""
    running = live_session.current()
    return "" if running is None else running.text


def made(kind: str) -> dict[str, int]:
    """The number of frames that have derived data, up to date and outdated."""
    found = derived_facts.facts_of(scene(), kind)
    return {"made": found.made, "outdated": found.outdated}


def is_deriving(kind: str) -> bool:
    """Whether a process makes derived data."""
    return derived_processes.current(kind) is not None


def derived_objects(kind: str) -> list[str]:
    """The objects of the scene that show derived data."""
    found = [derived_kinds.DERIVED_KINDS[kind].object_of(item) for item in particle_objects.result_objects(scene())]
    return [item.name for item in found if item is not None and item.name in scene().objects]


def file_dialog() -> Any:
    """The file browser that asks for a file; None without one."""
    browsers = [area for window in CONTEXT.window_manager.windows for area in window.screen.areas if area.type == "FILE_BROWSER"]
    return browsers[0].spaces.active if browsers else None


def preflight_answer() -> dict[str, Any]:
    """What the pre-flight has found; empty while it runs."""
    found, _ = preflight.kept_report(scene())
    return dict(found or {})


def choose_theme(name: str) -> None:
    """Use one of Blender's own themes."""
    path = Path(bpy.utils.preset_paths("interface_theme")[0]) / f"{name}.xml"
    bpy.ops.script.execute_preset(filepath=str(path), menu_idname="USERPREF_MT_interface_theme_presets")
