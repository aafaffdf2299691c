"""The gallery: every feature scene baked and rendered, a contact sheet each.

Writes into build/gallery/: for each feature its .blend file, its cache, its stills and its sheet, and the sheet into docs/features/, for
docs/features.md. Start it with `make gallery`, which builds the extension's zip first; GALLERY="drum fountain" makes these alone.
"""

import functools
import shutil
import sys
import time

from making import DEMO, ROOT, IsolatedBlender, built_zip, make_each, told
from pictures import contact_sheet, write_small

OUTPUT = ROOT / "build" / "gallery"
PAGE_PICTURES = ROOT / "docs" / "features"
SIZE, SAMPLES = (480, 270), 12


def main() -> int:
    shutil.rmtree(OUTPUT / "blender", ignore_errors=True)
    # one for all, so that kernels are compiled once
    blender = IsolatedBlender(OUTPUT / "blender")
    names = sorted(path.stem for path in (DEMO / "features").glob("*.py") if path.stem != "__init__")
    return make_each("gallery", names, functools.partial(make, blender=blender))


def make(name: str, blender: IsolatedBlender) -> str:
    """Bake and render a feature scene; returns a line about it. Raises DemoError."""
    started = time.perf_counter()
    folder = OUTPUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    blend_file, sheet = folder / f"{name}.blend", OUTPUT / f"{name}.png"
    stills = list(map(int, told(blender.run("bake.py", built_zip(), f"features.{name}", blend_file), "stills")))
    baked = time.perf_counter() - started
    contact_sheet(blender.render(blend_file, folder, stills, SIZE, SAMPLES), stills, sheet)
    write_small(sheet, PAGE_PICTURES / f"{name}.jpg", quality=82)
    return f"{sheet.relative_to(ROOT)}: baked in {baked:.0f} s, rendered in {time.perf_counter() - started - baked:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
