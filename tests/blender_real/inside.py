"""What scripts in the isolated Blender share: they press, draw and look as a person does with the installed extension.

Imported there as `tests.blender_real.inside`; knows nothing of the repository's own mpm_addon, which is out of sight.
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
# what was pressed: operator -> how often
pressed: dict[str, int] = {}
# what no operator foresaw, and what was written besides
unexpected: list[str] = []


class _Refusal:
    """Lets nobody load what compiles in Blender's process; it can be found, as the extension asks whether it is there."""

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
    """Enable the installed extension, and catch what it did not foresee."""
    sys.meta_path.insert(0, _Refusal())  # type: ignore[arg-type]
    sys.excepthook = lambda kind, error, trace: unexpected.append("".join(traceback.format_exception(kind, error, trace)))
    addon_utils.enable(MODULE, default_set=True)
    # a person sees what the next redraw finds; a script looks once
    part("blender.baking.watching").SLICE, part("blender.baking.watching").REST = math.inf, 0.0
    part("blender.reading.freshness").REST = 0.0


def end(**answer: Any) -> None:
    """Tell the test what was found, and let go of everything."""
    assert unexpected == [], "\n".join(unexpected)
    assert [name for name in sys.modules if name.partition(".")[0] in (*COMPILERS, "mpm_addon")] == []
    print("ANSWER", json.dumps(answer), flush=True)
    addon_utils.disable(MODULE)


def run(steps: Iterable[Callable[[Path], None]], folder: Path) -> None:
    """Go through steps, each with a folder to save into; the first that fails ends the process."""
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
    """The file that Blender starts with; returns its scene."""
    bpy.ops.wm.read_homefile(app_template="")
    return bpy.context.scene


def press(name: str, /, **settings: Any) -> None:
    """Press a button that has to work."""
    pressed[name] = pressed.get(name, 0) + 1
    assert getattr(bpy.ops.mpm, name)(**settings) == {"FINISHED"}, name


def refusal(name: str, /, **settings: Any) -> str:
    """What a button says that has to refuse, in one line."""
    pressed[name] = pressed.get(name, 0) + 1
    try:
        outcome = getattr(bpy.ops.mpm, name)(**settings)
    except RuntimeError as error:
        said = str(error).strip().removeprefix("Error: ")
        assert "\n" not in said and "Traceback" not in said, said
        return said
    raise AssertionError(f"{name} did not refuse: {outcome}")


def draw_all() -> list[str]:
    """Draw every panel and menu of the extension, and what it adds to Blender's; returns their texts."""
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
    """What the panel says of the scene's bake: the name of its state."""
    view = part("blender.baking.bake_view").view_of(part("blender.baking.bake_facts").facts_of(bpy.context.scene, object_name))
    return view.state.name


def expect(name: str) -> None:
    """Fail, with all that is known, where the bake is in another state than this one."""
    assert state() == name, (state(), part("blender.baking.bake_facts").facts_of(bpy.context.scene))


def shown(scene: Any = None) -> list[Any]:
    """The objects that show baked particles."""
    return [item for item in (scene or bpy.context.scene).objects if item.mpm.cache]


def points(frame: int, item: Any = None) -> np.ndarray:
    """The particles at a frame, in the world, shape (n, 3)."""
    bpy.context.scene.frame_set(frame)
    item = item or shown()[0]
    flat = np.empty(3 * len(item.data.vertices), np.float32)
    if len(flat):
        item.data.attributes["position"].data.foreach_get("vector", flat)
    matrix = np.array(item.matrix_world)
    return flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def drawn_points() -> int:
    """How many particles the viewport and renders get."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    clouds = [each.object.data for each in depsgraph.object_instances if each.is_instance and each.object.type == "POINTCLOUD"]
    return sum(len(cloud.points) for cloud in clouds)


def bounds(item: Any) -> tuple[np.ndarray, np.ndarray]:
    """The box around an object as it is evaluated, in the world."""
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world)
    corners = np.array([tuple(corner) for corner in evaluated.bound_box]) @ matrix[:3, :3].T + matrix[:3, 3]
    return corners.min(axis=0), corners.max(axis=0)


def select(*items: Any) -> None:
    for item in bpy.context.view_layer.objects:
        item.select_set(item in items)
    bpy.context.view_layer.objects.active = items[-1] if items else None


def suzanne(height: float = 1.5) -> Any:
    """The file without its cube, with Suzanne, selected."""
    for name in ("Cube",):
        if name in bpy.data.objects:
            bpy.data.objects.remove(bpy.data.objects[name])
    bpy.ops.mesh.primitive_monkey_add(size=1.0, location=(0.0, 0.0, height))
    return bpy.context.object


@contextmanager
def running_bake(**order: Any) -> Iterator[Any]:
    """A bake that runs beside Blender, as its window follows it; polled by the block."""
    session = part("blender.baking.session")
    yield session.start(bpy.context, **order)
    session.end()
