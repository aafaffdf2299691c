"""What the pictures of material presets have in common: matter is baked here, rendered in Blender, and put together on a sheet."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

RENDERER = Path(__file__).with_name("preset_render.py")


def bake(folder: Path, names: Iterable[str], arrays: Callable[[str], dict[str, Any]]) -> None:
    """Keep the arrays of some presets in a folder, for the renderer: clouds of particles, spacing and ball."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        np.savez(folder / f"{name}.npz", **arrays(name))
        print(f"pictures: {name} is baked", flush=True)


def render(kind: str, folder: Path, names: Iterable[str]) -> None:
    """Render what was baked, as NAME.png in the same folder."""
    with (folder / "render.log").open("wb") as log:
        subprocess.run([sys.executable, str(RENDERER), kind, str(folder), *names], check=True, stdout=log, stderr=subprocess.STDOUT)


def tiled(pictures: Sequence[Image.Image], columns: int, *, above: int = 0) -> tuple[Image.Image, list[tuple[int, int]]]:
    """Pictures of one size side by side, with white above each [pixels]; returns also the corners of what each has."""
    width, height = pictures[0].width, pictures[0].height + above
    corners = [(number % columns * width, number // columns * height) for number in range(len(pictures))]
    sheet = Image.new("RGB", (columns * width, corners[-1][1] + height), "white")
    for picture, (left, top) in zip(pictures, corners, strict=True):
        sheet.paste(picture, (left, top + above))
    return sheet, corners
