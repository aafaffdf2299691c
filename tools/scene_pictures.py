"""Makes the pictures of the published scenes in docs/pictures/published: `make scene-pictures`.

Each run is a row of four moments, simulated on the grid of its test. Particles have the colors of their emitters; colliders are shown
as sections through the middle.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

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
    spacing: float
    frames: list[int]
    variant: str | None = None


TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PICTURES = {name: [Row(**row) for row in rows] for name, rows in TABLE.items()}


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
    """The simulated scene of a run, and the displayed frames by number."""
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
