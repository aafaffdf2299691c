"""Writes presets/materials/*.png: a small picture of every material preset. `make thumbnails` runs it.

Bakes a scene for each (thumbnail_scenes.py), renders it in Blender (preset_render.py) and puts a sheet of all into build/.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from environments import ROOT
from PIL import Image

sys.path.insert(0, str(ROOT))

from preset_pictures import bake, render, tiled
from thumbnail_scenes import portrait

from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage.presets import material_preset, material_preset_names

OUTPUT = ROOT / "build" / "thumbnails"
SIZE, COLORS, COLUMNS = 128, 160, 6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these presets alone")
    parser.add_argument("--render-only", action="store_true", help="render what was baked before")
    arguments = parser.parse_args()
    names = arguments.only or material_preset_names()
    bake(OUTPUT, () if arguments.render_only else names, last_frame)
    render("portrait", OUTPUT, names)
    for name in names:
        shrink(OUTPUT / f"{name}.png", material_preset(name).picture)
    pictures = [path for path in (material_preset(name).picture for name in material_preset_names()) if path.is_file()]
    tiled([Image.open(path).convert("RGB") for path in pictures], COLUMNS)[0].save(OUTPUT / "sheet.png")
    total = sum(path.stat().st_size for path in pictures)
    print(f"thumbnails: {len(names)} written, {total / 1000:.0f} kB in all; look at {(OUTPUT / 'sheet.png').relative_to(ROOT)}")
    return 0


def last_frame(name: str) -> dict[str, Any]:
    """Simulate a portrait: its last frame, its grid spacing, and the sphere that is seen."""
    shown = portrait(name)
    *_, last = Simulation(shown.scene).frames()
    return {"cloud": last.position, "spacing": shown.scene.solver.grid_spacing, "ball": shown.ball or ()}


def shrink(source: Path, target: Path) -> None:
    """A render as a small picture with a palette."""
    small = Image.open(source).convert("RGB").resize((SIZE, SIZE), Image.Resampling.LANCZOS)
    small.quantize(COLORS, dither=Image.Dither.FLOYDSTEINBERG).save(target, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
