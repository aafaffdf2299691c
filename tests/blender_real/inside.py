"""Shared by scripts in the isolated Blender: press buttons, draw panels and inspect results as a user does.

Imported as `tests.blender_real.inside`; knows nothing of the repository's own mpm_addon, which is hidden.
"""

from __future__ import annotations

import importlib.machinery
import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import addon_utils
import bpy
import numpy as np

from tests.fakes import layout

MODULE = "bl_ext.user_default.mpm_addon"
COMPILERS = ("numba", "llvmlite")
# pressed operators -> how often
pressed: dict[str, int] = {}
# unexpected errors, and unexpected output
unexpected: list[str] = []


class _Refusal:
    """Fails imports of compiling packages in Blender's process; they can still be found, because the extension checks for them."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target) if name in COMPILERS else None
        if spec is not None:
            spec.loader = self  # type: ignore[assignment]
        return spec

    def create_module(self, spec: Any) -> Any:
        raise AssertionError(f"{spec.name} was about to be loaded in Blender's process")

    def exec_module(self, module: Any) -> None:
        raise NotImplementedError


def begin() -> None:
    """Enable the installed extension, and record unexpected errors."""
    sys.meta_path.insert(0, _Refusal())  # type: ignore[arg-type]
    sys.excepthook = lambda kind, error, trace: unexpected.append("".join(traceback.format_exception(kind, error, trace)))
    addon_utils.enable(MODULE, default_set=True)
    # a user sees the result of the next redraw; a script checks once
    part("blender.baking.cache_watch").SLICE, part("blender.baking.cache_watch").REST = math.inf, 0.0
    part("blender.reading.freshness").REST = 0.0


def end(**answer: Any) -> None:
    """Report the results to the test, and clean up."""
    assert unexpected == [], "\n".join(unexpected)
    assert [name for name in sys.modules if name.partition(".")[0] in (*COMPILERS, "mpm_addon")] == []
    print("ANSWER", json.dumps(answer), flush=True)
    addon_utils.disable(MODULE)


def run(steps: Iterable[Callable[[Path], None]], folder: Path) -> None:
    """Run steps, each with a folder to save into; the first failure ends the process."""
    begin()
    try:
        for step in steps:
            print("STEP", step.__name__, flush=True)
            step(folder)
            assert unexpected == [], "\n".join(unexpected)
    except BaseException:  # noqa: BLE001 - told on stderr; Blender may not survive Python's own end
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def part(name: str) -> Any:
    """A module of the installed extension."""
    return importlib.import_module(f"{MODULE}.{name}")


def new_file() -> Any:
    """Open Blender's startup file; returns its scene."""
    bpy.ops.wm.read_homefile(app_template="")
    return bpy.context.scene


def press(name: str, /, **settings: Any) -> None:
    """Press a button that must succeed."""
    pressed[name] = pressed.get(name, 0) + 1
    assert getattr(bpy.ops.mpm, name)(**settings) == {"FINISHED"}, name


def refusal(name: str, /, **settings: Any) -> str:
    """The one-line report of a button that must refuse."""
    pressed[name] = pressed.get(name, 0) + 1
    try:
        outcome = getattr(bpy.ops.mpm, name)(**settings)
    except RuntimeError as error:
        said = str(error).strip().removeprefix("Error: ")
        assert "\n" not in said and "Traceback" not in said, said
        return said
    raise AssertionError(f"{name} did not refuse: {outcome}")


def draw_all() -> list[str]:
    """Draw every panel and menu of the extension, and its entries in Blender's own; returns their texts."""
    drawings = [layout.draw(bpy, cls) for base in ("Panel", "Menu") for cls in layout.registered_classes(bpy, base)]
    for name, functions in layout.appended_functions(bpy).items():
        drawings += [layout.draw_appended(bpy, name, function) for function in functions]
    shown = [each for each in drawings if each is not None]
    for drawn in shown:
        for call in drawn.find("template_list"):
            if call.arguments["listtype_name"].startswith("MPM_"):
                layout.draw_list(bpy, call)
    return [text for drawn in shown for text in drawn.texts()]


def state(object_name: str = "") -> str:
    """The name of the bake's state in the scene's panel."""
    view = part("blender.baking.bake_view").view_of(part("blender.baking.bake_facts").facts_of(bpy.context.scene, object_name))
    return view.state.name


def expect(name: str) -> None:
    """Fail with full information if the bake is in a different state."""
    assert state() == name, (state(), part("blender.baking.bake_facts").facts_of(bpy.context.scene))


def shown(scene: Any = None) -> list[Any]:
    """The objects that show baked particles."""
    return [item for item in (scene or bpy.context.scene).objects if item.mpm.cache]


def points(frame: int, item: Any = None) -> np.ndarray:
    """The particles at a frame in world space, shape (n, 3); also where a surface or the emitter's own mesh is shown instead."""
    item = item or shown()[0]
    has_surface, item.mpm.surface.is_shown = item.mpm.surface.is_shown, False
    for each in item.mpm.display.parts:
        each.viewport = "points"
    bpy.context.scene.frame_set(frame)
    flat = np.empty(3 * len(item.data.vertices), np.float32)
    if len(flat):
        item.data.attributes["position"].data.foreach_get("vector", flat)
    matrix = np.array(item.matrix_world)
    item.mpm.surface.is_shown = has_surface
    return flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def drawn_points() -> int:
    """The number of particles in the viewport and in renders."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    clouds = [each.object.data for each in depsgraph.object_instances if each.is_instance and each.object.type == "POINTCLOUD"]
    return sum(len(cloud.points) for cloud in clouds)


def bounds(item: Any) -> tuple[np.ndarray, np.ndarray]:
    """The bounding box of an evaluated object in world space."""
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world)
    corners = np.array([tuple(corner) for corner in evaluated.bound_box]) @ matrix[:3, :3].T + matrix[:3, 3]
    return corners.min(axis=0), corners.max(axis=0)


def select(*items: Any) -> None:
    """Select objects as their rows in the panel do, also those that are hidden while their particles show."""
    for item in items:
        part("blender.host.eye").show_marked(item, bpy.context.view_layer)
    for item in bpy.context.view_layer.objects:
        item.select_set(item in items)
    bpy.context.view_layer.objects.active = items[-1] if items else None


def suzanne(height: float = 1.5) -> Any:
    """The startup file with a selected Suzanne instead of the cube."""
    for name in ("Cube",):
        if name in bpy.data.objects:
            bpy.data.objects.remove(bpy.data.objects[name])
    bpy.ops.mesh.primitive_monkey_add(size=1.0, location=(0.0, 0.0, height))
    return bpy.context.object


@contextmanager
def running_bake(**order: Any) -> Iterator[Any]:
    """A running bake, as a window would follow it; polled by the block."""
    session = part("blender.baking.session")
    yield session.start(bpy.context, **order)
    session.end()
