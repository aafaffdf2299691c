"""Twenty small scenes, one for each section of docs/manual/recipes.md. `make recipes` saves them as .blend files in build/recipes."""

import os
import sys
from collections.abc import Callable, Mapping
from math import radians
from pathlib import Path
from typing import Any

import bpy as blender

bpy: Any = blender  # its stubs know neither the operators nor the settings of an extension
ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "recipes"
Point = tuple[float, float, float]


def box(name: str, size: Point, location: Point, rotation: Point = (0.0, 0.0, 0.0)) -> Any:
    """A box. Lengths in meters, angles in degrees."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=location, rotation=tuple(map(radians, rotation)))
    return _named(name, size)


def ball(name: str, radius: float, location: Point) -> Any:
    bpy.ops.mesh.primitive_uv_sphere_add(radius=radius, location=location, segments=24, ring_count=12)
    return _named(name)


def pole(name: str, radius: float, depth: float, location: Point) -> Any:
    """An upright cylinder."""
    bpy.ops.mesh.primitive_cylinder_add(radius=radius, depth=depth, location=location)
    return _named(name)


def _named(name: str, size: Point = (1.0, 1.0, 1.0)) -> Any:
    item: Any = bpy.context.object
    item.name, item.scale = name, size
    return item


def give(group: Any, settings: Mapping[str, Any]) -> None:
    """Set properties; optional ones are turned on."""
    for name, value in settings.items():
        if hasattr(group, f"use_{name}"):
            setattr(group, f"use_{name}", True)
        setattr(group, name, value)


def emit(item: Any, preset: str, **settings: Any) -> Any:
    """Make an object an emitter of a preset."""
    item.mpm.type, item.display_type, item.hide_render = "emitter", "WIRE", True
    bpy.context.view_layer.objects.active = item
    bpy.ops.mpm.material_choose(name=preset)
    give(item.mpm.emitter, settings)
    return item


def customize(item: Any, **values: Any) -> None:
    """Press Edit Values, and change some."""
    bpy.context.view_layer.objects.active = item
    bpy.ops.mpm.material_customize()
    give(getattr(item.mpm.material, item.mpm.material.law), values)


def collide(item: Any, **settings: Any) -> Any:
    item.mpm.type = "collider"
    give(item.mpm.collider, settings)
    return item


def floor(**settings: Any) -> Any:
    return collide(box("Floor", (4.0, 4.0, 0.3), (0.0, 0.0, -0.15)), **settings)


def keyed(item: Any, path: str, values: Mapping[int, Any]) -> None:
    for frame, value in values.items():
        setattr(item, path, value)
        item.keyframe_insert(path, frame=frame)


def scene(cell: float, last: int, time_scale: float = 1.0) -> Any:
    """Set the cell size [m] and the frames; returns the scene's settings."""
    settings = bpy.context.scene.mpm
    settings.solver.grid_spacing = cell
    settings.use_frame_range, settings.frame_end, settings.time_scale = True, last, time_scale
    return settings


def tank(settings: Any, low: Point, high: Point) -> None:
    """A domain with walls, open at the top."""
    settings.domain.kind, settings.domain.min, settings.domain.max = "box", low, high
    settings.domain.z_max.surface = "open"


def footprint_in_snow() -> None:
    floor(surface="sticky")
    emit(box("Snow", (0.9, 0.6, 0.2), (0.0, 0.0, 0.105)), "wet_snow")
    sole = collide(box("Sole", (0.3, 0.12, 0.08), (0.0, 0.0, 0.4)))
    keyed(sole, "location", {1: (0.0, 0.0, 0.4), 14: (0.0, 0.0, 0.14), 18: (0.0, 0.0, 0.14), 36: (0.1, 0.0, 0.5)})
    scene(0.02, 40)


def snow_off_a_roof() -> None:
    floor()
    collide(box("Roof", (1.4, 1.0, 0.12), (0.0, 0.0, 1.0), (0.0, 35.0, 0.0)), friction=0.1)
    emit(box("Snow", (1.0, 0.8, 0.14), (-0.02, 0.0, 1.19), (0.0, 35.0, 0.0)), "snow")
    scene(0.03, 72)


def powder_in_the_wind() -> None:
    floor()
    emit(box("Snow", (0.8, 0.8, 0.12), (-0.6, 0.0, 0.065)), "powder_snow")
    bpy.ops.object.effector_add(type="WIND", location=(-2.0, 0.0, 0.3), rotation=(0.0, radians(70.0), 0.0))
    bpy.context.object.field.strength = 25.0
    scene(0.03, 48)


def sand_over_a_ball() -> None:
    floor()
    collide(ball("Ball", 0.25, (0.0, 0.0, 0.25)))
    emit(pole("Nozzle", 0.12, 0.12, (0.0, 0.0, 1.0)), "dry_sand", mode="inflow", velocity=(0.0, 0.0, -1.0), frame_end=60)
    scene(0.03, 72)


def gravel_from_a_tray() -> None:
    floor()
    tray = collide(box("Tray", (0.8, 0.6, 0.06), (0.0, 0.0, 0.8)))
    emit(box("Gravel", (0.5, 0.4, 0.16), (0.0, 0.0, 0.915)), "gravel")
    keyed(tray, "rotation_euler", {10: (0.0, 0.0, 0.0), 40: (0.0, radians(50.0), 0.0)})
    scene(0.03, 60)


def castle_under_a_ball() -> None:
    floor()
    emit(pole("Castle", 0.25, 0.4, (0.0, 0.0, 0.205)), "wet_sand")
    collide(ball("Ball", 0.12, (0.0, 0.0, 1.0)), dynamic=True, density=2500.0)
    scene(0.025, 40)


def crate_in_water() -> None:
    settings = scene(0.04, 72)
    tank(settings, (-0.6, -0.4, 0.0), (0.6, 0.4, 1.2))
    emit(box("Water", (1.2, 0.8, 0.4), (0.0, 0.0, 0.2)), "water")
    collide(box("Crate", (0.3, 0.3, 0.3), (0.1, 0.0, 0.75), (0.0, 20.0, 15.0)), dynamic=True, density=400.0)


def paddle_waves() -> None:
    settings = scene(0.04, 96)
    tank(settings, (-1.2, -0.3, 0.0), (1.2, 0.3, 1.0))
    emit(box("Water", (2.0, 0.6, 0.3), (0.2, 0.0, 0.15)), "water")
    paddle = collide(box("Paddle", (0.12, 0.56, 0.8), (-0.95, 0.0, 0.42)))
    keyed(paddle, "location", {frame: (-0.95 + 0.1 * (frame // 12 % 2), 0.0, 0.42) for frame in range(1, 97, 12)})


def fountain_with_a_drain() -> None:
    floor()
    spray = {"velocity": (0.0, 0.0, 4.0), "velocity_spread": 0.15}
    emit(pole("Nozzle", 0.12, 0.1, (0.0, 0.0, 0.15)), "water", mode="inflow", **spray)
    drain = box("Drain", (4.2, 4.2, 0.5), (0.0, 0.0, -0.65))
    drain.mpm.type, drain.display_type, drain.hide_render = "outflow", "WIRE", True
    scene(0.03, 60).foam.while_baking = True


def round_drop() -> None:
    drop = emit(box("Drop", (0.004, 0.004, 0.004), (0.0, 0.0, 0.0)), "water")
    customize(drop, surface_tension=0.072, cohesion=0.0)
    solver = scene(0.0004, 48, 0.05).solver
    solver.use_scene_gravity, solver.gravity = False, (0.0, 0.0, 0.0)


def honey_on_a_ball() -> None:
    floor()
    collide(ball("Ball", 0.05, (0.0, 0.0, 0.05)))
    emit(pole("Spoon", 0.012, 0.01, (0.0, 0.0, 0.16)), "honey", mode="inflow", velocity=(0.0, 0.0, -0.3))
    scene(0.004, 48)


def swirl_of_cream() -> None:
    floor(surface="sticky")
    nozzle = emit(pole("Nozzle", 0.03, 0.02, (0.05, 0.0, 0.12)), "cream", mode="inflow", velocity=(0.0, 0.0, -0.25), inherit_velocity=0.0)
    circle = ((0.05, 0.0), (0.0, 0.05), (-0.05, 0.0), (0.0, -0.05))
    keyed(nozzle, "location", {1 + 12 * turn: (*circle[turn % 4], 0.12 + 0.01 * turn) for turn in range(7)})
    scene(0.01, 72)


def melting_chocolate() -> None:
    floor(surface="sticky")
    emit(box("Chocolate", (0.12, 0.06, 0.06), (0.0, 0.0, 0.032)), "chocolate", temperature=25.0)
    give(scene(0.01, 60).solver, {"ambient_temperature": 80.0, "heat_speed": 100.0})


def pinned_jelly() -> None:
    floor()
    jelly = emit(box("Jelly", (0.4, 0.4, 0.5), (0.0, 0.0, 0.6)), "gelatin", goal=0.8, goal_frequency=6.0)
    bpy.context.view_layer.objects.active = jelly
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=6)
    bpy.ops.object.mode_set(mode="OBJECT")
    top = [vertex.index for vertex in jelly.data.vertices if vertex.co.z > 0.49]
    jelly.vertex_groups.new(name="Held").add(top, 1.0, "REPLACE")
    jelly.mpm.emitter.goal_attribute = "Held"
    keyed(jelly, "location", {1: (0.0, 0.0, 0.6), 12: (0.5, 0.0, 0.6), 24: (-0.3, 0.0, 0.6), 36: (0.0, 0.0, 0.6)})
    scene(0.04, 60)


def pulled(preset: str, distance: float, **values: Any) -> None:
    """A strip between two sticky blocks that move apart."""
    strip = emit(box("Strip", (0.6, 0.16, 0.12), (0.0, 0.0, 0.5)), preset)
    if values:
        customize(strip, **values)
    for side in (-1.0, 1.0):
        block = collide(box("Grip", (0.2, 0.24, 0.2), (0.33 * side, 0.0, 0.5)), surface="sticky")
        keyed(block, "location", {1: (0.33 * side, 0.0, 0.5), 40: ((0.33 + distance) * side, 0.0, 0.5)})
    scene(0.02, 48)


def stretched_rubber() -> None:
    pulled("rubber", 0.4, young_modulus=2e5)


def torn_jelly() -> None:
    pulled("jelly", 0.5, tear_stretch=1.3)


def pressed_clay() -> None:
    floor(surface="sticky")
    emit(ball("Clay", 0.2, (0.0, 0.0, 0.2)), "clay")
    press = collide(box("Press", (0.6, 0.6, 0.1), (0.0, 0.0, 0.5)))
    keyed(press, "location", {1: (0.0, 0.0, 0.5), 30: (0.0, 0.0, 0.25), 48: (0.0, 0.0, 0.6)})
    scene(0.025, 48)


def dropped_glass() -> None:
    floor()
    emit(pole("Glass", 0.12, 0.3, (0.0, 0.0, 1.4)), "glass").rotation_euler = (0.0, radians(70.0), 0.0)
    scene(0.02, 32, 0.6).debris.while_baking = True


def split_beam() -> None:
    for x in (-0.4, 0.4):
        collide(box("Support", (0.1, 0.4, 0.3), (x, 0.0, 0.15)))
    beam = emit(box("Beam", (1.0, 0.12, 0.1), (0.0, 0.0, 0.352)), "wood")
    customize(beam, grain_direction=(1.0, 0.0, 0.0))
    collide(ball("Weight", 0.12, (0.0, 0.0, 1.4)), dynamic=True, density=8000.0)
    scene(0.02, 32)


def dropped_brick() -> None:
    floor()
    brick = collide(box("Brick", (0.25, 0.12, 0.07), (0.0, 0.0, 2.5), (20.0, 35.0, 0.0)), dynamic=True, density=1900.0)
    brick.mpm.collider.use_fracture = True
    give(brick.mpm.collider.fracture, {"strength": 3e5, "crack_radius": 0.12, "smallest_piece": 0.03, "piece_limit": 6})
    scene(0.03, 40)


RECIPES: tuple[Callable[[], None], ...] = (
    footprint_in_snow,
    snow_off_a_roof,
    powder_in_the_wind,
    sand_over_a_ball,
    gravel_from_a_tray,
    castle_under_a_ball,
    crate_in_water,
    paddle_waves,
    fountain_with_a_drain,
    round_drop,
    honey_on_a_ball,
    swirl_of_cream,
    melting_chocolate,
    pinned_jelly,
    stretched_rubber,
    torn_jelly,
    pressed_clay,
    dropped_glass,
    split_beam,
    dropped_brick,
)


def save(recipe: Callable[[], None], folder: Path) -> Path:
    """Make a recipe in a new file and save it to a folder; returns the file's path."""
    folder.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    recipe()
    path = folder / f"{recipe.__name__}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)
    return path


def main() -> None:
    sys.path.insert(0, str(ROOT))
    import mpm_addon

    mpm_addon.register()
    for recipe in RECIPES:
        save(recipe, FOLDER)
    print(f"recipes: {len(RECIPES)} in {FOLDER.relative_to(ROOT)}", flush=True)
    os._exit(0)  # bpy may hang or crash while Python shuts down


if __name__ == "__main__":
    main()
