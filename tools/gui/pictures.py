"""Cuts the pictures of docs/pictures/window out of the screenshots that the walk through a window left in build/gui."""

import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / "build" / "gui" / "5.2"
PICTURES = ROOT / "docs" / "pictures" / "window"
# A picture's name, the step of the walk, and its part of the screen: left, top, right, bottom.
PARTS = {
    "add_menu": ("add_menu", (300, 150, 1000, 720)),
    "baking": ("frame_of_running_bake", (200, 60, 1320, 820)),
    "resume": ("cancelled", (1020, 60, 1320, 620)),
    "baked": ("baked", (0, 0, 1600, 900)),
    "emitter": ("ready_scene", (1340, 210, 1600, 880)),
}
COLORS = 192
LARGEST_BYTES = 150_000


def main() -> int:
    """Writes every picture; fails where a step's screenshot is missing or a picture is too large for a README."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, (step, part) in PARTS.items():
        found = sorted(SHOTS.glob(f"*_{step}.png"))
        if not found:
            print(f"pictures: error: {SHOTS.relative_to(ROOT)} has no {step}; run make test-gui first", file=sys.stderr)
            return 1
        path = PICTURES / f"{name}.png"
        with Image.open(found[-1]) as shot:
            shot.crop(part).quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)
        size = path.stat().st_size
        print(f"pictures: {path.relative_to(ROOT)} ({size / 1000:.0f} kB)")
        if size > LARGEST_BYTES:
            print(f"pictures: error: more than {LARGEST_BYTES / 1000:.0f} kB", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
