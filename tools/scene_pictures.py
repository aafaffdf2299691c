"""Makes the pictures of the published scenes in docs/pictures/published: `make scene-pictures`.

Each run is a row of four moments, simulated on the grid of its test. Particles have the colors of their emitters; colliders are cut
through the middle.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

import numpy as np
from environments import ROOT
from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(ROOT))

from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.description import Scene
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage import read_scene
from mpm_addon.storage.presets import scene_preset_folders
from mpm_addon.wedge.points import View, draw_points, view_of
from tests.presets.coarse import coarser

FOLDER = ROOT / "docs" / "pictures" / "published"
TILE, LABEL, COLORS = (220, 190), 20, 64
BACKGROUND, COLLIDER, UNCOLORED = (44, 47, 53), (0.55, 0.55, 0.58), (0.86, 0.9, 0.95)


@dataclass(frozen=True)
class Row:
    """A run, its grid spacing [m] in the picture, and the frames that are shown."""

    label: str
    preset: str
    variant: str | None
    spacing: float
    frames: tuple[int, ...]


PICTURES: dict[str, tuple[Row, ...]] = {
    "blazevic": (
        Row("stream over a ball", "blazevic_stream", None, 0.05, (20, 50, 200, 440)),
        Row("three jellies", "blazevic_jellies", None, 0.04, (1, 13, 18, 40)),
        Row("jelly on a small ball", "blazevic_jelly_on_sphere", None, 0.04, (1, 10, 13, 22)),
        Row("snow column", "blazevic_snow_column", None, 0.04, (1, 13, 20, 31)),
        Row("snowball, slip", "blazevic_snowball", None, 0.04, (1, 14, 17, 24)),
        Row("snowball, sticky", "blazevic_snowball", "sticky", 0.04, (1, 14, 17, 24)),
        Row("sand column", "blazevic_sand_column", None, 0.05, (1, 10, 40, 120)),
        Row("heavy water on jelly", "blazevic_tearing", None, 0.03, (1, 10, 14, 20)),
        Row("water in 3D", "blazevic_water_3d", None, 0.06, (1, 8, 16, 30)),
        Row("jelly in 3D", "blazevic_jelly_3d", None, 0.06, (1, 10, 15, 50)),
    ),
    "garcia_balls": (
        Row("noQY", "garcia_no_stress", None, 0.04, (1, 3, 6, 11)),
        Row("noQ", "garcia_no_stress", "noQ", 0.04, (1, 3, 6, 11)),
        Row("nPlastic6", "garcia_elastic", "nPlastic6", 0.04, (1, 4, 20, 33)),
        Row("snow1", "garcia_snowball", None, 0.03, (1, 4, 6, 9)),
        Row("snow2", "garcia_snowball", "snow2", 0.03, (1, 3, 5, 13)),
        Row("snow2.2", "garcia_snowballs", None, 0.03, (1, 3, 5, 9)),
        Row("snow2.3", "garcia_snowballs", "snow2_3", 0.03, (1, 3, 5, 9)),
        Row("snow2.7", "garcia_snowballs", "snow2_7", 0.03, (1, 3, 5, 9)),
        Row("snow2.8", "garcia_snowballs", "snow2_8", 0.03, (1, 3, 5, 9)),
        Row("hard5", "garcia_hardening", None, 0.04, (1, 18, 20, 25)),
        Row("hard2", "garcia_hardening", "hard2", 0.04, (1, 4, 6, 13)),
        Row("superDeff", "garcia_super_soft", None, 0.025, (1, 25, 31, 41)),
        Row("superDeffCor", "garcia_super_soft", "superDeffCor", 0.025, (1, 25, 31, 41)),
    ),
    "garcia_cubes": (
        Row("cmp1", "garcia_cubes", None, 0.04, (1, 18, 20, 33)),
        Row("cmp2", "garcia_cubes", "cmp2", 0.04, (1, 18, 26, 33)),
        Row("cmp4", "garcia_cubes", "cmp4", 0.04, (1, 18, 20, 33)),
        Row("cor2", "garcia_cubes", "cor2", 0.04, (1, 13, 20, 33)),
        Row("prog2", "garcia_wall", None, 0.04, (1, 5, 9, 15)),
        Row("prog3", "garcia_wall", "prog3", 0.04, (1, 5, 9, 15)),
        Row("prog5", "garcia_wall", "prog5", 0.04, (1, 5, 9, 15)),
        Row("gelatin", "garcia_gelatin", None, 0.04, (1, 13, 20, 33)),
        Row("sand2", "garcia_sand", None, 0.04, (1, 10, 25, 43)),
        Row("sand3", "garcia_sand", "sand3", 0.04, (1, 10, 25, 43)),
        Row("hoursand1", "garcia_hourglass", None, 0.04, (1, 14, 25, 43)),
        Row("hoursand2", "garcia_hourglass", "hoursand2", 0.04, (1, 14, 25, 43)),
        Row("2d", "garcia_2d", None, 0.03, (1, 14, 18, 25)),
    ),
    "garcia_beam": (
        Row("C1", "garcia_beam", None, 0.04, (1, 13, 21, 57)),
        Row("C3", "garcia_beam", "C3", 0.04, (1, 13, 21, 41)),
        Row("C6", "garcia_beam", "C6", 0.04, (1, 13, 24, 41)),
        Row("C7", "garcia_beam", "C7", 0.04, (1, 13, 24, 41)),
    ),
    "nekic": (
        Row("rest density 10", "nekic_fluid", None, 0.04, (1, 13, 25, 61)),
        Row("rest density 5", "nekic_fluid", "light", 0.04, (1, 13, 25, 61)),
        Row("rest density 25", "nekic_fluid", "heavy", 0.04, (1, 13, 25, 61)),
        Row("k 0.005", "nekic_fluid", "soft", 0.04, (1, 13, 25, 61)),
        Row("k 0.5", "nekic_fluid", "stiff", 0.04, (1, 13, 25, 61)),
        Row("g 0.00981", "nekic_fluid", "weak_gravity", 0.04, (1, 13, 25, 61)),
        Row("g 0.981", "nekic_fluid", "strong_gravity", 0.04, (1, 13, 25, 61)),
        Row("pointer attracts", "nekic_fluid", "attracting", 0.04, (1, 13, 25, 61)),
        Row("pointer repels", "nekic_fluid", "repelling", 0.04, (1, 13, 25, 61)),
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=sorted(PICTURES), default=list(PICTURES), help="make only these")
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in arguments.only:
        sheet = Image.new("RGB", (len(PICTURES[name][0].frames) * TILE[0], len(PICTURES[name]) * (TILE[1] + LABEL)), "white")
        for number, row in enumerate(PICTURES[name]):
            paste(sheet, row, number * (TILE[1] + LABEL))
            print(f"pictures: {row.label}", flush=True)
        path = FOLDER / f"{name}.png"
        sheet.quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)
        print(f"pictures: {path.relative_to(ROOT)}")
    return 0


def moments(row: Row) -> tuple[Scene, dict[int, Frame]]:
    """The scene of a run as it is simulated, and the frames that are shown, by number."""
    scene = read_scene(scene_preset_folders()[row.preset], row.variant)
    fraction = (max(row.frames) - scene.time.frame_start) / (scene.time.frame_end - scene.time.frame_start)
    scene = coarser(scene, row.spacing / scene.solver.grid_spacing, frames=fraction)
    return scene, {frame.number: frame for frame in Simulation(scene).frames() if frame.number in row.frames}


def paste(sheet: Image.Image, row: Row, top: int) -> None:
    """Simulate a run and paste its moments side by side below its name."""
    scene, shown = moments(row)
    solid = collider_points(scene)
    low, high = (np.asarray(corner) for corner in (scene.domain.min, scene.domain.max))
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    view = view_of([corners.astype(np.float32)], scene.solver.dimension)
    draw = ImageDraw.Draw(sheet)
    draw.text((6, top + 2), row.label, font=ImageFont.load_default(14), fill="black")
    for place, number in enumerate(row.frames):
        left = place * TILE[0]
        sheet.paste(Image.fromarray(tile(scene, shown[number], solid, view)), (left, top + LABEL))
        at = (left + TILE[0] - 6, top + LABEL + TILE[1] - 4)
        draw.text(at, f"{shown[number].time:.2f} s", font=ImageFont.load_default(11), anchor="rs", fill="white")


def tile(scene: Scene, frame: Frame, solid: np.ndarray, view: View) -> np.ndarray:
    """One moment, shape (height, width, 3)."""
    emitters = np.array([UNCOLORED if emitter.color is None else emitter.color[:3] for emitter in scene.emitters])
    colors = np.concatenate([emitters[frame.attribute("emitter_index")], np.tile(COLLIDER, (len(solid), 1))])
    radius = 0.5 * float(np.median(frame.attribute("scale"))) if len(frame.position) else 0.0
    return draw_points(np.concatenate([frame.position, solid]), colors, radius, view, TILE, BACKGROUND)


def collider_points(scene: Scene) -> np.ndarray:
    """Points of the section of all bounded colliders with the plane through the middle of the domain, shape (n, 3)."""
    low, high = (np.asarray(corner) for corner in (scene.domain.min, scene.domain.max))
    step = (high[0] - low[0]) / 110.0
    x, z = np.meshgrid(np.arange(low[0], high[0], step), np.arange(low[2], high[2], step))
    points = np.stack([x.ravel(), np.full(x.size, (low[1] + high[1]) / 2.0), z.ravel()], axis=1)
    if not scene.colliders:
        return np.zeros((0, 3), np.float32)
    nearest = np.min([collider.shape.signed_distance(points) for collider in scene.colliders], axis=0)
    return points[nearest < 0.0].astype(np.float32)


if __name__ == "__main__":
    sys.exit(main())
