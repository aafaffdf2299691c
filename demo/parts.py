"""In Blender: builds the demo's scenes on top of the extension's own stage. Lengths in meters.

Can be imported once the extension is enabled.
"""

import importlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import extension

BUILDING = ("placement", "solids", "stages", "surfaces")
placement, solids, stages, surfaces = (extension.module(f"blender.building.{name}") for name in BUILDING)
display = extension.module("blender.display")
bowls = extension.module("blender.building.ready_scenes.pouring_bowl")
Solid, ball, box, cylinder, turned = solids.Solid, solids.ball, solids.box, solids.cylinder, solids.turned
give, make_collider, make_emitter = placement.give, placement.make_collider, placement.make_emitter
make_monkey, paint = stages.make_monkey, surfaces.paint

SCENES = tomllib.loads(Path(__file__).with_name("scenes.toml").read_text(encoding="utf-8"))
FPS = 24
# The tiles [m] of the backdrop of feature scenes show how large everything is.
TILE = 0.2
DARK, GRAY = (0.12, 0.125, 0.14), (0.3, 0.31, 0.33)
LAMPS = (stages.Lamp("Key", (-0.8, -0.4, 0.8), 25.0, 0.4), stages.Lamp("Rim", (0.7, 0.7, 0.7), 9.0, 0.4))
AGX = ("AgX", "AgX - Medium High Contrast")
STUDIO = stages.Studio(LAMPS, sky=(0.55, 0.62, 0.72), brightness=0.35, bounces=12, view=AGX)


def built(name: str) -> Any:
    """The stage of a scene of scenes.toml, in an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True)
    context: Any = bpy.context
    context.scene.render.fps = FPS
    context.preferences.edit.keyframe_new_interpolation_type = "LINEAR"
    stage, described = stages.Stage(context.scene, context.scene.collection, STUDIO), SCENES[name]
    stage.frames(described["frames"])
    stage.cells(described["cell"])
    if "table" in described:
        table(stage, **described["table"])
    if "domain" in described:
        stage.domain(*described["domain"])
    if name != "four_materials":
        stage.backdrop(tuple(described["color"]), height=described.get("ground", 0.0), tile=TILE)
    getattr(_module_of(name), name)(stage)
    stage.camera(*described["camera"], lens=described.get("lens", 50.0))
    return stage


def finish(name: str, scene: Any) -> None:
    """Run the scene's own steps after a bake."""
    getattr(_module_of(name), f"{name}_baked", lambda _: None)(scene)


def _module_of(name: str) -> ModuleType:
    return importlib.import_module("four_materials" if name == "four_materials" else "features")


def table(stage: Any, *, half: float = 1.5, friction: float = 0.6) -> Any:
    """The ground of a scene, its top at z = 0; a large one is not rendered, because the backdrop lies at the same height."""
    item = stage.collider("Table", box((2.0 * half, 2.0 * half, 0.2)), (0.0, 0.0, -0.1), DARK, friction=friction)
    if half > 1.0:
        placement.show_as_wire(item)
    return item


def custom(item: Any, law: str, **parameters: Any) -> Any:
    """Give an emitter a custom material."""
    item.mpm.material.source, item.mpm.material.law = "custom", law
    placement.give(getattr(item.mpm.material, law), parameters)
    return item


def thin_water(item: Any, viscosity: float = 0.01) -> Any:
    """Give an emitter water with waves only as fast as these scenes require."""
    return custom(item, "water", bulk_modulus=2e5, viscosity=viscosity)


def keyed(item: Any, path: str, values: Mapping[int, Any]) -> None:
    """Keyframe a property of an object, as "location" or "mpm.emitter.flow_rate": frame -> value."""
    owner, _, name = path.rpartition(".")
    group = item.path_resolve(owner) if owner else item
    for frame, value in values.items():
        setattr(group, name, value)
        item.keyframe_insert(path, frame=frame)


def particle_objects(scene: Any) -> list[Any]:
    """The objects that show the baked particles."""
    return [item for item in scene.objects if item.mpm.cache]
