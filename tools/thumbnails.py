"""Writes presets/materials/*.png: a small picture of every material preset. `make thumbnails` runs it.

Bakes a scene for each (thumbnail_scenes.py), renders it in Blender (thumbnail_render.py) and puts a sheet of all into build/.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
from environments import ROOT
from PIL import Image

sys.path.insert(0, str(ROOT))

from thumbnail_scenes import portrait

from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage.presets import material_preset_names

OUTPUT = ROOT / "build" / "thumbnails"
PICTURES = ROOT / "presets" / "materials"
SIZE, COLORS, COLUMNS = 128, 160, 6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these presets alone")
    parser.add_argument("--render-only", action="store_true", help="render what was baked before")
    arguments = parser.parse_args()
    names = arguments.only or list(material_preset_names())
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for name in () if arguments.render_only else names:
        bake(name)
        print(f"thumbnails: {name} is baked", flush=True)
    with (OUTPUT / "render.log").open("wb") as log:
        script = Path(__file__).parent / "thumbnail_render.py"
        subprocess.run([sys.executable, str(script), str(OUTPUT), *names], check=True, stdout=log, stderr=subprocess.STDOUT)
    for name in names:
        shrink(OUTPUT / f"{name}.png", PICTURES / f"{name}.png")
    write_sheet()
    total = sum(path.stat().st_size for path in PICTURES.glob("*.png"))
    print(f"thumbnails: {len(names)} written, {total / 1000:.0f} kB in all; look at {(OUTPUT / 'sheet.png').relative_to(ROOT)}")
    return 0


def bake(name: str) -> None:
    """Simulate a portrait and keep its last frame."""
    shown = portrait(name)
    *_, last = Simulation(shown.scene).frames()
    np.savez(OUTPUT / f"{name}.npz", position=last.position, rest=last.arrays["rest_position"], spacing=shown.scene.solver.grid_spacing)
    (OUTPUT / f"{name}.json").write_text(json.dumps({"ball": shown.ball}), encoding="utf-8")


def shrink(source: Path, target: Path) -> None:
    """A render as a small picture with a palette."""
    small = Image.open(source).convert("RGB").resize((SIZE, SIZE), Image.Resampling.LANCZOS)
    small.quantize(COLORS, dither=Image.Dither.FLOYDSTEINBERG).save(target, optimize=True)


def write_sheet() -> None:
    """All pictures side by side, as an artist sees them."""
    names = material_preset_names()
    sheet = Image.new("RGB", (COLUMNS * SIZE, -(-len(names) // COLUMNS) * SIZE))
    for number, name in enumerate(names):
        if (PICTURES / f"{name}.png").is_file():
            row, column = divmod(number, COLUMNS)
            sheet.paste(Image.open(PICTURES / f"{name}.png").convert("RGB"), (column * SIZE, row * SIZE))
    sheet.save(OUTPUT / "sheet.png")


if __name__ == "__main__":
    sys.exit(main())
