"""Bakes and renders the project's pictures.

Like a user, with the extension's zip in an isolated Blender:

demo: the demonstration, a contact sheet and an animation (`make demo`).
gallery: a contact sheet of each feature scene, for docs/features.md (`make gallery`).
ready_scenes: a picture of each ready scene of Add > MPM, for the README and the manual (`make ready-scenes`).
full: the same of those in full size, for docs/pictures.md.
surfaces: a liquid of these as points, as a surface of geometry nodes and as that of the bake, from the file that ready_scenes made.

With the command line, displayed by the extension of the source tree:

display: scene presets in each display mode, for the README and the manual.
thumbnails: presets/materials/*.png, each preset in its variant of demo/portraits/scene.toml, and docs/materials.jpg, which shows
    them all (`make thumbnails`).
scene_presets: scene presets at four times, for docs/pictures.md (demo/preset_scenes.toml).

Cropped from the screenshots of `make test-gui` in build/gui:

window: pictures of the interface, for the README and the manual.

With names, only these are made. Files, caches and pictures go to build/KIND/.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from making import DEMO, ROOT, DemoError, IsolatedBlender, animation, built_zip, contact_sheet, opened, write_jpeg, write_png

sys.path.insert(0, str(ROOT))
from mpm_addon.storage import read_scene
from mpm_addon.storage.presets import material_preset, material_preset_names

SCENES = tomllib.loads((DEMO / "scenes.toml").read_text(encoding="utf-8"))
PRESET_SCENES = tomllib.loads((DEMO / "preset_scenes.toml").read_text(encoding="utf-8"))
DEMONSTRATION = ("four_materials",)
PICTURES = ROOT / "docs" / "pictures"
FPS = 24
ANIMATED = range(1, 49, 3)
# Ready scenes, and the frame to render.
READY_SCENES = {
    "snowball": 26,
    "dam_break": 14,
    "sand_castle": 22,
    "hourglass": 40,
    "jelly_stack": 12,
    "honey_suzanne": 60,
    "pouring_bowl": 31,
    "avalanche": 20,
    "boot_in_mud": 12,
    "lava_flow": 36,
    "dropped_bowl": 20,
    "brick_wall": 14,
}


class Shot(NamedTuple):
    """A scene preset at a frame, its display mode and color, and the camera's distance relative to the particles' extent."""

    scene: str
    frame: int
    mode: str = "automatic"
    color_by: str = "materials"
    distance: float = 2.6


SHOTS = {
    "water_surface": Shot("bowl", 15, distance=2.7),
    "jelly_surface": Shot("jelly_drop", 18, distance=3.4),
    "sand_grains": Shot("sand_column", 20),
    "snow_grains": Shot("snowball_wall", 12, distance=3.4),
    "sand_speed": Shot("sand_column", 8, "spheres", "speed", distance=3.0),
    "jelly_stress": Shot("jelly_drop", 13, "surface", "stress", distance=3.4),
}


# For each picture of the window: the step of the walk, and the region of the screen: left, top, right, bottom.
WINDOW = {
    "add_menu": ("add_menu", (300, 150, 1000, 720)),
    "baking": ("frame_of_running_bake", (200, 60, 1320, 820)),
    "resume": ("cancelled", (1020, 60, 1320, 620)),
    "baked": ("baked", (0, 0, 1600, 900)),
    "emitter": ("ready_scene", (1340, 210, 1600, 880)),
}


def demonstration(name: str, blender: IsolatedBlender, folder: Path) -> str:
    """Bake and render the demonstration."""
    blend_file, cache = folder / f"{name}.blend", folder / "cache_mpm"
    shutil.rmtree(cache, ignore_errors=True)
    blender.run("bake.py", built_zip(), name, blend_file, is_shown=True)
    stills = SCENES[name]["stills"]
    rendered = blender.render(blend_file, folder / "stills", stills, size=(640, 360), samples=12)
    contact_sheet(rendered, [f"frame {number}" for number in stills]).save(folder / "contact_sheet.png", optimize=True)
    frames = blender.render(blend_file, folder / "animation", ANIMATED, size=(320, 180), samples=8)
    animation(frames, folder / "animation.gif", seconds_per_frame=ANIMATED.step / FPS)
    baked = baked_frames(cache)
    if len(baked) < max(stills):
        raise DemoError(f"the cache holds {len(baked)} frames, not {max(stills)}")
    return f"{len(baked)} frames with {baked[-1]['particles']:,} particles; contact_sheet.png and animation.gif in {folder}"


def baked_frames(cache: Path) -> list[dict[str, int]]:
    """The command line's description of a cache's frames. Raises DemoError if it cannot read the cache."""
    command = [sys.executable, "-m", "mpm_addon", "info", str(cache), "--json"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise DemoError(answer.stderr.strip())
    return json.loads(answer.stdout)["frames"]


def feature(name: str, blender: IsolatedBlender, folder: Path) -> str:
    """Bake and render a feature scene."""
    shutil.rmtree(folder / name, ignore_errors=True)
    (folder / name).mkdir(parents=True)
    blend_file, stills = folder / name / f"{name}.blend", SCENES[name]["stills"]
    blender.run("bake.py", built_zip(), name, blend_file)
    rendered = blender.render(blend_file, folder / name, stills, size=(480, 270), samples=12)
    sheet = contact_sheet(rendered, [f"frame {number}" for number in stills])
    return write_jpeg(sheet, ROOT / "docs" / "features" / f"{name}.jpg", quality=82)


def ready_scene(name: str, blender: IsolatedBlender, folder: Path) -> str:
    """Add, bake and render a ready scene, as F12 does."""
    return _ready_scene(name, blender, folder, "draft")


def full_scene(name: str, blender: IsolatedBlender, folder: Path) -> str:
    """Add, bake and render a ready scene in its full size."""
    return _ready_scene(name, blender, folder, "full", size=(1920, 1080), samples=32)


def _ready_scene(name: str, blender: IsolatedBlender, folder: Path, kind: str, **settings: Any) -> str:
    """Bake a ready scene to the frame after that of the picture, which motion blur reads, and render it; returns a line about it."""
    blend_file, frame = folder / name / f"{name}.blend", READY_SCENES[name]
    shutil.rmtree(folder / name, ignore_errors=True)
    (folder / name).mkdir(parents=True)
    seconds = [processor_seconds()]
    blender.run("bake.py", built_zip(), f"ready:{name}:{kind}:{frame + 1}", blend_file)
    seconds.append(processor_seconds())
    (rendered,) = blender.render(blend_file, folder / name, [frame], **settings)
    seconds.append(processor_seconds())
    target = PICTURES / ("ready_scenes" if kind == "draft" else kind) / f"{name}.jpg"
    path = write_jpeg(opened(rendered), target, quality=82)
    (cache,) = (folder / name).glob("cache_mpm_*")
    count, stored = baked_frames(cache)[-1]["particles"], sum(item.stat().st_size for item in cache.rglob("*") if item.is_file())
    spent = f"processor time: bake and surfaces {seconds[1] - seconds[0]:.0f} s, picture {seconds[2] - seconds[1]:.0f} s"
    return f"{path}; {count:,} particles, {frame + 1} frames of {stored / (frame + 1) / 1e6:.1f} MB; {spent}"


def surfaces(name: str, blender: IsolatedBlender, folder: Path) -> str:
    """Render a baked ready scene in each way of showing a liquid."""
    blend_file = folder.parent / "ready_scenes" / name / f"{name}.blend"
    blender.run("compare.py", built_zip(), blend_file, folder, 480, 270, 24, READY_SCENES[name])
    rendered = [folder / f"{way}.png" for way in ("points", "nodes", "files")]
    sheet = contact_sheet(rendered, ["points", "surface of geometry nodes", "surface of the bake"], columns=3)
    return write_jpeg(sheet, PICTURES / "surfaces" / f"{name}.jpg", quality=85)


def processor_seconds() -> float:
    """Processor time of all programs that this one has run."""
    spent = os.times()
    return spent.children_user + spent.children_system


def display(name: str, _: IsolatedBlender, folder: Path) -> str:
    """Render a scene preset in a display mode."""
    shot = SHOTS[name]
    cache = baked(f"presets/scenes/{shot.scene}", folder / shot.scene)
    (rendered,) = rendered_cache("display", cache, folder / name, [shot.frame], shot.mode, shot.color_by, shot.distance)
    return write_jpeg(opened(rendered), PICTURES / "display" / f"{name}.jpg", quality=85)


def scene_preset(name: str, _: IsolatedBlender, folder: Path) -> str:
    """Bake a scene preset and render its row of frames."""
    row, seconds = PRESET_SCENES[name], [processor_seconds()]
    shutil.rmtree(folder / name, ignore_errors=True)
    cache = baked(f"presets/scenes/{name}", folder / name)
    seconds.append(processor_seconds())
    pictures = folder / f"{name}_pictures"
    what = json.dumps([str(cache), str(pictures), row["frames"], row])
    subprocess.run([sys.executable, str(DEMO / "preset_render.py"), what], check=True, stdout=subprocess.DEVNULL)
    seconds.append(processor_seconds())
    frames, fps = baked_frames(cache), read_scene(ROOT / "presets" / "scenes" / name).time.fps
    captions = [f"{1000.0 * (number - 1) / fps:.0f} ms" for number in row["frames"]]
    picture = contact_sheet([pictures / f"{number:04d}.png" for number in row["frames"]], captions)
    path = write_jpeg(picture, PICTURES / "scene_presets" / f"{name}.jpg", quality=85)
    stored = sum(item.stat().st_size for item in cache.rglob("*") if item.is_file())
    spent = f"processor time: bake {seconds[1] - seconds[0]:.0f} s, meshes and pictures {seconds[2] - seconds[1]:.0f} s"
    return f"{path}; {frames[-1]['particles']:,} particles, {len(frames)} frames of {stored / len(frames) / 1e6:.2f} MB; {spent}"


def thumbnail(name: str, _: IsolatedBlender, folder: Path) -> str:
    """Render a material preset in the last frame of its portrait; docs/materials.jpg shows the pictures of all presets."""
    cache = baked("demo/portraits", folder / name, "--variant", name)
    last = read_scene(ROOT / "demo" / "portraits", name).time.frame_end
    (rendered,) = rendered_cache("portrait", cache, folder / f"{name}_picture", [last], name)
    path = write_png(opened(rendered, (128, 128)), material_preset(name).picture, colors=160)
    return f"{path}, {material_sheet()}"


def material_sheet() -> str:
    """Write the pictures of all material presets side by side; returns the path."""
    presets = [material_preset(name) for name in material_preset_names()]
    shown = [preset for preset in presets if preset.picture.is_file()]
    sheet = contact_sheet([preset.picture for preset in shown], [preset.label for preset in shown], columns=7, letters=11)
    return write_jpeg(sheet, ROOT / "docs" / "materials.jpg", quality=88)


def window(name: str, _: IsolatedBlender, __: Path) -> str:
    """Crop a picture from the screenshot of a step. Raises DemoError if there is none."""
    step, part = WINDOW[name]
    shots = sorted((ROOT / "build" / "gui" / "5.2" / "walk").glob(f"*_{step}.png"))
    if not shots:
        raise DemoError(f"build/gui/5.2/walk has no {step}; run make test-gui")
    return write_png(opened(shots[-1]).crop(part), PICTURES / "window" / f"{name}.png", colors=192)


def baked(scene: str, cache: Path, *options: str) -> Path:
    """Bake the missing frames of a scene; returns the cache."""
    command = [sys.executable, "-m", "mpm_addon", "bake", scene, "--cache", str(cache), *options]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return cache


def rendered_cache(kind: str, cache: Path, folder: Path, frames: Sequence[int], *details: object) -> list[Path]:
    """Render frames of a cache into a folder; returns the pictures."""
    what = json.dumps([kind, str(cache), str(folder), frames, *details])
    subprocess.run([sys.executable, str(DEMO / "cache_render.py"), what], check=True, stdout=subprocess.DEVNULL)
    return [folder / f"{number:04d}.png" for number in frames]


# The names of each kind, and the function that makes one of them and returns a line about it.
KINDS: dict[str, tuple[Iterable[str], Callable[[str, IsolatedBlender, Path], str]]] = {
    "demo": (DEMONSTRATION, demonstration),
    "gallery": ([name for name in SCENES if name not in DEMONSTRATION], feature),
    "ready_scenes": (READY_SCENES, ready_scene),
    "full": (READY_SCENES, full_scene),
    "surfaces": (("honey_suzanne",), surfaces),
    "display": (SHOTS, display),
    "scene_presets": (PRESET_SCENES, scene_preset),
    "thumbnails": (material_preset_names(), thumbnail),
    "window": (WINDOW, window),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    names, make = KINDS[arguments.kind]
    if unknown := set(arguments.names) - set(names):
        parser.error(f"no {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    folder = ROOT / "build" / arguments.kind
    shutil.rmtree(folder / "blender", ignore_errors=True)
    # shared, so that kernels are compiled once
    blender = IsolatedBlender(folder / "blender")
    status = 0
    for name in arguments.names or names:
        started = time.perf_counter()
        print(f"demo: {name}: baking and rendering ...", flush=True)
        try:
            print(f"demo: {name}: {make(name, blender, folder)} ({time.perf_counter() - started:.0f} s)", flush=True)
        except (DemoError, subprocess.CalledProcessError) as error:
            print(f"demo: error: {name}: {error}", file=sys.stderr, flush=True)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
