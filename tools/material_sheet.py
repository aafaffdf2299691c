"""Writes docs/materials.png: every material preset, a block that falls into a tray, at three times. `make sheet` runs it.

Bakes the scene preset material_drop with each material, renders the particles in Blender (preset_render.py), and puts the pictures
together.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from environments import ROOT
from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(ROOT))

from preset_pictures import bake, render, tiled

from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage import read_scene
from mpm_addon.storage.presets import material_preset, material_preset_names

OUTPUT = ROOT / "build" / "materials"
SHEET = ROOT / "docs" / "materials.png"
SCENE = ROOT / "presets" / "scenes" / "material_drop"
# The material of the scene itself; every other preset is a variant.
FIRST_MATERIAL = "water"
FPS, FRAMES = 10.0, {"0.3 s": 4, "0.6 s": 7, "2 s": 21}
COLUMNS, LABEL_HEIGHT = 2, 22


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="bake these anew, and take the others as they are in build/")
    names = parser.parse_args().only or material_preset_names()
    bake(OUTPUT, names, times)
    render("strip", OUTPUT, names)
    write_sheet()
    print(f"sheet: {SHEET.relative_to(ROOT)}")
    return 0


def times(name: str) -> dict[str, Any]:
    """Where the particles are at each of the times, and the grid spacing."""
    scene = read_scene(SCENE, None if name == FIRST_MATERIAL else name)
    scene = dataclasses.replace(scene, time=dataclasses.replace(scene.time, fps=FPS, frame_end=max(FRAMES.values())))
    clouds = {f"frame {frame.number}": frame.position for frame in Simulation(scene).frames() if frame.number in FRAMES.values()}
    return {**clouds, "spacing": scene.solver.grid_spacing}


def write_sheet() -> None:
    """Put the rendered strips together, each under its name and its times."""
    names = material_preset_names()
    strips = [Image.open(OUTPUT / f"{name}.png").convert("RGB") for name in names]
    sheet, corners = tiled(strips, COLUMNS, above=LABEL_HEIGHT)
    draw, (width, height) = ImageDraw.Draw(sheet), strips[0].size
    for name, (left, top) in zip(names, corners, strict=True):
        draw.text((left + 6, top + 2), material_preset(name).label, font=ImageFont.load_default(15), fill="black")
        for place, time in enumerate(FRAMES):
            at = (left + (place + 1) * width // len(FRAMES) - 6, top + LABEL_HEIGHT + height - 3)
            draw.text(at, time, font=ImageFont.load_default(12), anchor="rs", fill="white")
    sheet.quantize(256, dither=Image.Dither.FLOYDSTEINBERG).save(SHEET, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
