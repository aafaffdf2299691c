"""The gallery: every feature scene baked and rendered, a contact sheet each.

Writes into build/gallery/: for each feature its .blend file, its cache, its stills and its sheet, and the sheet into docs/features/, for
docs/features.md. Start it with `make gallery`, which
builds the extension's zip first; GALLERY="drum fountain" makes these alone.
"""

import shutil
import sys
import time

from blender_process import DEMO, DemoError, IsolatedBlender
from pictures import contact_sheet
from PIL import Image
from run import ROOT, built_zip

OUTPUT = ROOT / "build" / "gallery"
PAGE_PICTURES = ROOT / "docs" / "features"
SIZE, SAMPLES = (480, 270), 12
LIMIT_SECONDS = 1800.0


def feature_names() -> list[str]:
    """The feature scenes that there are."""
    return sorted(path.stem for path in (DEMO / "features").glob("*.py") if path.stem != "__init__")


def main() -> int:
    wanted = sys.argv[1:] or feature_names()
    unknown = [name for name in wanted if name not in feature_names()]
    if unknown:
        print(f"gallery: error: no feature {', '.join(unknown)}; there are {', '.join(feature_names())}", file=sys.stderr)
        return 2
    shutil.rmtree(OUTPUT / "blender", ignore_errors=True)
    # one for all, so that kernels are compiled once
    blender = IsolatedBlender(OUTPUT / "blender")
    failed = []
    for name in wanted:
        try:
            print(f"gallery: {make(name, blender)}", flush=True)
        except DemoError as error:
            print(f"gallery: error: {name}: {error}", file=sys.stderr, flush=True)
            failed.append(name)
    return 1 if failed else 0


def make(name: str, blender: IsolatedBlender) -> str:
    """Bake and render a feature scene; returns a line about it. Raises DemoError."""
    started = time.perf_counter()
    folder = OUTPUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    blend_file = folder / f"{name}.blend"
    output = blender.run("gallery_bake.py", str(built_zip()), name, str(blend_file), limit_seconds=LIMIT_SECONDS)
    stills = next(line.split()[1:] for line in reversed(output.splitlines()) if line.startswith("stills "))
    baked = time.perf_counter() - started
    words = map(str, (blend_file, folder, *SIZE, SAMPLES, *stills))
    blender.run("render.py", *words, limit_seconds=LIMIT_SECONDS)
    sheet = OUTPUT / f"{name}.png"
    contact_sheet([folder / f"{int(number):04d}.png" for number in stills], [f"frame {number}" for number in stills], sheet)
    with Image.open(sheet) as picture:
        picture.convert("RGB").save(PAGE_PICTURES / f"{name}.jpg", quality=82, optimize=True)
    return f"{sheet.relative_to(ROOT)}: baked in {baked:.0f} s, rendered in {time.perf_counter() - started - baked:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
