"""Writes docs/materials.png: every material preset, a block that falls into a tray, at three times. `make sheet` runs it.

Bakes the scene preset material_drop with each material, renders the particles in Blender, and puts the pictures together.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
from environments import ROOT
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(ROOT))

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
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for name in names:
        np.savez(OUTPUT / f"{name}.npz", *positions(name))
        print(f"sheet: {name} is baked", flush=True)
    with (OUTPUT / "render.log").open("wb") as log:
        script = Path(__file__).parent / "material_sheet_render.py"
        subprocess.run([sys.executable, str(script), str(OUTPUT), *names], check=True, stdout=log, stderr=subprocess.STDOUT)
    write_sheet()
    print(f"sheet: {SHEET.relative_to(ROOT)}")
    return 0


def positions(name: str) -> list[NDArray[np.float32]]:
    """Where the particles are [m], shape (n, 3), at each of the times."""
    scene = read_scene(SCENE, None if name == FIRST_MATERIAL else name)
    scene = dataclasses.replace(scene, time=dataclasses.replace(scene.time, fps=FPS, frame_end=max(FRAMES.values())))
    return [frame.position for frame in Simulation(scene).frames() if frame.number in FRAMES.values()]


def write_sheet() -> None:
    """Put the rendered strips together, each under its name and its times."""
    names = material_preset_names()
    strips = [Image.open(OUTPUT / f"{name}.png").convert("RGB") for name in names]
    width, height = strips[0].size[0], strips[0].size[1] + LABEL_HEIGHT
    sheet = Image.new("RGB", (COLUMNS * width, -(-len(names) // COLUMNS) * height), "white")
    draw = ImageDraw.Draw(sheet)
    for number, (name, strip) in enumerate(zip(names, strips, strict=True)):
        row, column = divmod(number, COLUMNS)
        corner = (column * width, row * height)
        sheet.paste(strip, (corner[0], corner[1] + LABEL_HEIGHT))
        draw.text((corner[0] + 6, corner[1] + 2), material_preset(name).label, font=ImageFont.load_default(15), fill="black")
        for place, time in enumerate(FRAMES):
            at = (corner[0] + (place + 1) * width // len(FRAMES) - 6, corner[1] + height - 3)
            draw.text(at, time, font=ImageFont.load_default(12), anchor="rs", fill="white")
    sheet.quantize(256, dither=Image.Dither.FLOYDSTEINBERG).save(SHEET, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
