"""The pictures of the display modes: bakes scene presets, renders them in each mode, and writes small pictures into docs/pictures/display/.

Start it with `python demo/display.py`, or with the names of some pictures. Caches stay in build/display/ for the next call.
"""

import subprocess
import sys
from typing import NamedTuple

from making import DEMO, ROOT, make_each
from pictures import write_small

OUTPUT = ROOT / "build" / "display"
PICTURES = ROOT / "docs" / "pictures" / "display"
LIMIT_SECONDS = 1800.0


class Shot(NamedTuple):
    """A picture: a scene preset at a frame, how it is shown, coloured and rendered, and the camera's distance in sizes of the matter."""

    scene: str
    frame: int
    mode: str = "automatic"
    color_by: str = "materials"
    engine: str = "CYCLES"
    distance: float = 2.6


SHOTS = {
    "water_surface": Shot("bowl", 36, distance=2.7),
    "water_eevee": Shot("bowl", 36, engine="EEVEE", distance=2.7),
    "jelly_surface": Shot("jelly_drop", 18, distance=3.4),
    "sand_grains": Shot("sand_column", 20),
    "snow_grains": Shot("snowball_wall", 12, distance=3.4),
    "snow_points": Shot("snowball_wall", 12, "points", distance=3.4),
    "sand_speed": Shot("sand_column", 8, "spheres", "speed", distance=3.0),
    "jelly_stress": Shot("jelly_drop", 18, "surface", "stress", distance=3.4),
    "four_materials": Shot("four_materials", 32, distance=2.0),
}


def main() -> int:
    return make_each("display", SHOTS, make)


def make(name: str) -> str:
    """Bake and render a picture; returns where it is."""
    shot = SHOTS[name]
    cache, rendered, picture = OUTPUT / shot.scene, OUTPUT / f"{name}.png", PICTURES / f"{name}.jpg"
    run("-m", "mpm_addon", "bake", f"presets/scenes/{shot.scene}", "--cache", cache)
    run(DEMO / "display_render.py", cache, rendered, shot.frame, shot.mode, shot.color_by, shot.engine, shot.distance)
    write_small(rendered, picture, quality=85)
    return str(picture.relative_to(ROOT))


def run(*words: object) -> None:
    subprocess.run([sys.executable, *map(str, words)], cwd=ROOT, check=True, timeout=LIMIT_SECONDS, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
