"""The ready scenes of Add > MPM: each added, baked and rendered as a user does it, a picture each.

Writes into build/ready_scenes/ what is baked, and into docs/pictures/ready_scenes/ the pictures, for the README and the manual. Start
it with `make ready-scenes`, which builds the extension's zip first; READY="snowball hourglass" makes these alone.
"""

import shutil
import sys
import time

from blender_process import DemoError, IsolatedBlender
from PIL import Image
from run import ROOT, built_zip

OUTPUT = ROOT / "build" / "ready_scenes"
PICTURES = ROOT / "docs" / "pictures" / "ready_scenes"
SIZE, QUALITY = (480, 270), 86
LIMIT_SECONDS = 3600.0
# scene -> the frame that tells most
STILLS = {
    "snowball": 20,
    "dam_break": 14,
    "sand_castle": 22,
    "hourglass": 40,
    "jelly_stack": 22,
    "honey_suzanne": 60,
    "pouring_bowl": 44,
}


def main() -> int:
    wanted = sys.argv[1:] or list(STILLS)
    unknown = [name for name in wanted if name not in STILLS]
    if unknown:
        print(f"ready scenes: error: no scene {', '.join(unknown)}; there are {', '.join(STILLS)}", file=sys.stderr)
        return 2
    shutil.rmtree(OUTPUT, ignore_errors=True)
    PICTURES.mkdir(parents=True, exist_ok=True)
    # one for all, so that kernels are compiled once
    blender = IsolatedBlender(OUTPUT / "blender")
    failed = []
    for name in wanted:
        try:
            print(f"ready scenes: {make(name, blender)}", flush=True)
        except DemoError as error:
            print(f"ready scenes: error: {name}: {error}", file=sys.stderr, flush=True)
            failed.append(name)
    return 1 if failed else 0


def make(name: str, blender: IsolatedBlender) -> str:
    """Add, bake and render a ready scene; returns a line about it. Raises DemoError."""
    started = time.perf_counter()
    rendered = OUTPUT / f"{name}.png"
    words = map(str, (built_zip(), name, STILLS[name], rendered))
    output = blender.run("first_two_minutes.py", *words, limit_seconds=LIMIT_SECONDS)
    told = next(line for line in reversed(output.splitlines()) if line.startswith("clicks "))
    picture = PICTURES / f"{name}.jpg"
    with Image.open(rendered) as whole:
        whole.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS).save(picture, quality=QUALITY, optimize=True)
    return f"{picture.relative_to(ROOT)} in {time.perf_counter() - started:.0f} s ({told.removeprefix('clicks ')})"


if __name__ == "__main__":
    sys.exit(main())
