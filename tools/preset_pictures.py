"""Makes the pictures of the material presets: `make thumbnails` and `make sheet`.

thumbnails: presets/materials/*.png, each preset in its variant of tools/portraits/scene.toml; build/thumbnails.png shows all of them.
sheet: docs/materials.png, every preset as the block of the scene preset material_drop, at three times.

Particles are simulated here and rendered by preset_render.py in a process with Blender.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
from environments import ROOT
from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(ROOT))

from mpm_addon.core.scene.description import Scene
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage import read_scene
from mpm_addon.storage.presets import material_preset, material_preset_names

RENDERER = Path(__file__).with_name("preset_render.py")
PORTRAITS = ROOT / "tools" / "portraits"
SIZE, COLORS = 128, 160

SHEET = ROOT / "docs" / "materials.png"
SHEET_SCENE = ROOT / "presets" / "scenes" / "material_drop"
# The material of the scene itself; every other preset is a variant.
FIRST_MATERIAL = "water"
FPS, FRAMES = 10.0, {"0.3 s": 4, "0.6 s": 7, "2 s": 21}
LABEL_HEIGHT = 22


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("thumbnails", "sheet"))
    parser.add_argument("--only", nargs="+", metavar="NAME", default=material_preset_names(), help="bake and render only these presets")
    arguments = parser.parse_args()
    folder = ROOT / "build" / arguments.kind
    folder.mkdir(parents=True, exist_ok=True)
    simulate, finish = {"thumbnails": (last_frame, write_thumbnails), "sheet": (three_times, write_sheet)}[arguments.kind]
    for name in arguments.only:
        np.savez(folder / f"{name}.npz", **simulate(name))
        print(f"pictures: {name} is baked", flush=True)
    with (folder / "render.log").open("wb") as log:
        command = [sys.executable, str(RENDERER), arguments.kind, str(folder), *arguments.only]
        subprocess.run(command, check=True, stdout=log, stderr=subprocess.STDOUT)
    print(f"pictures: {finish(folder, arguments.only).relative_to(ROOT)}")
    return 0


def portrait(name: str) -> tuple[Scene, tuple[float, ...]]:
    """The scene of a preset's thumbnail, and the collider "Ball" that is visible in it: center and radius; () where there is none."""
    scene = read_scene(PORTRAITS, name)
    ball: Any = next((collider for collider in scene.colliders if collider.name == "Ball"), None)
    return scene, () if ball is None else (*ball.motion.matrices[-1, :3, 3], ball.shape.radius)


def last_frame(name: str) -> dict[str, Any]:
    """The particles in the last frame of a portrait, its grid spacing, and the ball."""
    scene, ball = portrait(name)
    *_, last = Simulation(scene).frames()
    return {"cloud": last.position, "spacing": scene.solver.grid_spacing, "ball": ball}


def write_thumbnails(folder: Path, names: Sequence[str]) -> Path:
    """Shrink the rendered pictures to presets/materials; returns an overview of all presets."""
    for name in names:
        small = Image.open(folder / f"{name}.png").convert("RGB").resize((SIZE, SIZE), Image.Resampling.LANCZOS)
        small.quantize(COLORS, dither=Image.Dither.FLOYDSTEINBERG).save(material_preset(name).picture, optimize=True)
    pictures = [path for path in (material_preset(name).picture for name in material_preset_names()) if path.is_file()]
    overview = folder.with_suffix(".png")
    tiled([Image.open(path).convert("RGB") for path in pictures], columns=6)[0].save(overview)
    return overview


def three_times(name: str) -> dict[str, Any]:
    """The particles of the falling block at each of the times, and the grid spacing."""
    scene = read_scene(SHEET_SCENE, None if name == FIRST_MATERIAL else name)
    scene = dataclasses.replace(scene, time=dataclasses.replace(scene.time, fps=FPS, frame_end=max(FRAMES.values())))
    clouds = {f"frame {frame.number}": frame.position for frame in Simulation(scene).frames() if frame.number in FRAMES.values()}
    return {**clouds, "spacing": scene.solver.grid_spacing}


def write_sheet(folder: Path, _: Sequence[str]) -> Path:
    """Put the strips of all presets together, each with its name and its times; returns the sheet."""
    names = material_preset_names()
    strips = [Image.open(folder / f"{name}.png").convert("RGB") for name in names]
    sheet, corners = tiled(strips, columns=2, above=LABEL_HEIGHT)
    draw, (width, height) = ImageDraw.Draw(sheet), strips[0].size
    for name, (left, top) in zip(names, corners, strict=True):
        draw.text((left + 6, top + 2), material_preset(name).label, font=ImageFont.load_default(15), fill="black")
        for place, time in enumerate(FRAMES):
            at = (left + (place + 1) * width // len(FRAMES) - 6, top + LABEL_HEIGHT + height - 3)
            draw.text(at, time, font=ImageFont.load_default(12), anchor="rs", fill="white")
    sheet.quantize(256, dither=Image.Dither.FLOYDSTEINBERG).save(SHEET, optimize=True)
    return SHEET


def tiled(pictures: Sequence[Image.Image], *, columns: int, above: int = 0) -> tuple[Image.Image, list[tuple[int, int]]]:
    """Pictures of one size side by side, each below a white strip `above` pixels high; also returns the corners of the tiles."""
    width, height = pictures[0].width, pictures[0].height + above
    corners = [(number % columns * width, number // columns * height) for number in range(len(pictures))]
    sheet = Image.new("RGB", (columns * width, corners[-1][1] + height), "white")
    for picture, (left, top) in zip(pictures, corners, strict=True):
        sheet.paste(picture, (left, top + above))
    return sheet, corners


if __name__ == "__main__":
    sys.exit(main())
