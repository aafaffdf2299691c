"""The ready scenes of Add > MPM: each added, baked and rendered as a user does it, a picture each.

Writes into build/ready_scenes/ what is baked, and into docs/pictures/ready_scenes/ the pictures, for the README and the manual. Start
it with `make ready-scenes`, which builds the extension's zip first; READY="snowball hourglass" makes these alone.
"""

import functools
import shutil
import sys
import time

from making import ROOT, IsolatedBlender, built_zip, make_each, told
from pictures import write_small

OUTPUT = ROOT / "build" / "ready_scenes"
PICTURES = ROOT / "docs" / "pictures" / "ready_scenes"
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
    shutil.rmtree(OUTPUT, ignore_errors=True)
    # one for all, so that kernels are compiled once
    return make_each("ready scenes", STILLS, functools.partial(make, blender=IsolatedBlender(OUTPUT / "blender")))


def make(name: str, blender: IsolatedBlender) -> str:
    """Add, bake and render a ready scene; returns a line about it. Raises DemoError."""
    started = time.perf_counter()
    rendered, picture = OUTPUT / f"{name}.png", PICTURES / f"{name}.jpg"
    clicks = told(blender.run("first_two_minutes.py", built_zip(), name, STILLS[name], rendered), "clicks")
    write_small(rendered, picture, quality=86, size=(480, 270))
    return f"{picture.relative_to(ROOT)} in {time.perf_counter() - started:.0f} s ({' '.join(clicks)})"


if __name__ == "__main__":
    sys.exit(main())
