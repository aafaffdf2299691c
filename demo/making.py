"""Runs the demo's scripts in an isolated Blender, and combines rendered frames.

This Blender has an empty user folder and can import only bpy's own packages.
"""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

DEMO = Path(__file__).resolve().parent
ROOT = DEMO.parent
# The packages that bpy imports. numba is missing on purpose: it must come from the extension's zip.
BLENDERS_OWN_PACKAGES = ("bpy", "numpy", "numpy.libs", "requests", "urllib3", "idna", "certifi", "charset_normalizer")
LIMIT_SECONDS = 3600.0


class DemoError(Exception):
    """The demo cannot continue; the message says why."""


class IsolatedBlender:
    """A Blender with its own user folder."""

    def __init__(self, folder: Path) -> None:
        """Create `folder`, which must not exist."""
        self._folder = folder
        self._packages = folder / "packages"
        self._packages.mkdir(parents=True)
        site_packages = Path(sysconfig.get_paths()["purelib"])
        for name in BLENDERS_OWN_PACKAGES:
            if (site_packages / name).exists():
                (self._packages / name).symlink_to(site_packages / name)

    def run(self, script: str, *arguments: object, is_shown: bool = False) -> str:
        """Run a script of the demo, with its arguments in sys.argv, and return its output, or print it while the script runs.

        Raises:
            DemoError: the script failed or took more than `LIMIT_SECONDS`.
        """
        # The base interpreter without site: the packages of the development environment are not visible.
        command = [sys._base_executable, "-s", "-S", "-u", str(DEMO / script), *map(str, arguments)]  # type: ignore[attr-defined]
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        variables |= {"BLENDER_USER_RESOURCES": str(self._folder / "user"), "PYTHONPATH": str(self._packages)}
        log = self._folder / f"{Path(script).stem}.log"
        with log.open("wb") as file:
            output = None if is_shown else file
            try:
                finished = subprocess.run(
                    command, cwd=self._folder, env=variables, stdout=output, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False
                )
            except subprocess.TimeoutExpired:
                raise DemoError(f"{script} took more than {LIMIT_SECONDS:g} s; its output is in {log}.") from None
        words = log.read_text(encoding="utf-8", errors="replace")
        if finished.returncode != 0:
            raise DemoError(f"{script} ended with status {finished.returncode}:\n{words[-3000:]}")
        return words

    def render(
        self, blend_file: Path, folder: Path, frames: Sequence[int], *, size: tuple[int, int] | None = None, samples: int | None = None
    ) -> list[Path]:
        """Render frames of a baked file into a folder, in its own size unless one is given; returns the pictures. Raises DemoError."""
        folder.mkdir(exist_ok=True)
        self.run("render.py", json.dumps([str(blend_file), str(folder), list(frames), size, samples]))
        return [folder / f"{number:04d}.png" for number in frames]


def built_zip() -> Path:
    """The newest zip of the extension in build/. Raises DemoError if there is none."""
    archives = sorted((ROOT / "build").glob("mpm_addon-*.zip"), key=lambda path: path.stat().st_mtime)
    if not archives:
        raise DemoError("build/ holds no zip of the extension; run make build")
    return archives[-1]


def contact_sheet(frames: Sequence[Path], captions: Sequence[str], *, columns: int = 2, letters: int = 16) -> Image.Image:
    """Pictures of the same size side by side, each with a caption in the lower left corner."""
    pictures = [opened(path) for path in frames]
    width, height = pictures[0].size
    sheet = Image.new("RGB", (columns * width, -(-len(pictures) // columns) * height), "white")
    for place, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        row, column = divmod(place, columns)
        sheet.paste(picture, (column * width, row * height))
        at = (column * width + letters // 2, (row + 1) * height - letters // 2)
        font = ImageFont.load_default(letters)
        ImageDraw.Draw(sheet).text(at, caption, font=font, anchor="lb", fill="white", stroke_width=1, stroke_fill="black")
    return sheet


def animation(frames: Sequence[Path], target: Path, *, seconds_per_frame: float) -> None:
    """Write pictures as a GIF that loops, all with the same 256 colors, so that static parts do not flicker."""
    pictures = [opened(path) for path in frames]
    width, height = pictures[0].size
    strip = Image.new("RGB", (width, len(pictures) * height))
    for number, picture in enumerate(pictures):
        strip.paste(picture, (0, number * height))
    palette = strip.quantize(256, method=Image.Quantize.MAXCOVERAGE)
    first, *others = (picture.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG) for picture in pictures)
    first.save(target, save_all=True, append_images=others, duration=round(1000 * seconds_per_frame), loop=0)


def write_jpeg(picture: Image.Image, target: Path, *, quality: int) -> str:
    """Write a picture for a page; returns its path in the repository."""
    target.parent.mkdir(parents=True, exist_ok=True)
    picture.save(target, quality=quality, optimize=True)
    return str(target.relative_to(ROOT))


def write_png(picture: Image.Image, target: Path, *, colors: int) -> str:
    """Write a picture with few colors; returns its path in the repository."""
    picture.quantize(colors, dither=Image.Dither.FLOYDSTEINBERG).save(target, optimize=True)
    return str(target.relative_to(ROOT))


def opened(path: Path, size: tuple[int, int] | None = None) -> Image.Image:
    """A picture in RGB, resized if a size is given."""
    with Image.open(path) as picture:
        return picture.convert("RGB").resize(size or picture.size, Image.Resampling.LANCZOS)
